import type { Node, Pair, YAMLMap, YAMLSeq } from 'yaml';
import { isMap, isScalar, isSeq } from 'yaml';
import type { YamlStep, YamlText } from './yamlText.ts';
import { keyText } from './yamlText.ts';

/** A pair of a map with its nodes. */
export type TextPair = Pair<Node, Node | null>;

/** A value in a text, and what holds it. */
export interface Place {
  readonly node: Node | null;
  readonly holder:
    | { readonly kind: 'root' }
    | { readonly kind: 'pair'; readonly map: YAMLMap; readonly pair: TextPair }
    | { readonly kind: 'item'; readonly seq: YAMLSeq; readonly index: number };
  /** Whether it is inside of a flow collection (`{}` or `[]`). */
  readonly inFlow: boolean;
}

/** The deepest place on the way along a path that the text has, and how many steps lead to it. */
export function findPlace(document: YamlText, path: readonly YamlStep[]): { place: Place; depth: number } {
  let place: Place = { node: document.parsed?.contents ?? null, holder: { kind: 'root' }, inFlow: false };
  for (const [depth, step] of path.entries()) {
    const next = below(place, step);
    if (next === undefined) return { place, depth };
    place = next;
  }
  return { place, depth: path.length };
}

function below(place: Place, step: YamlStep): Place | undefined {
  const { node } = place;
  if (isMap(node)) {
    const pair = pairsOf(node).find((one) => keyText(one.key) === String(step));
    if (pair === undefined) return undefined;
    return { node: pair.value, holder: { kind: 'pair', map: node, pair }, inFlow: place.inFlow || node.flow === true };
  }
  if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
    const item = node.items[step] as Node | null;
    return { node: item, holder: { kind: 'item', seq: node, index: step }, inFlow: place.inFlow || node.flow === true };
  }
  return undefined;
}

/** The pairs of a map. */
export function pairsOf(map: YAMLMap): TextPair[] {
  return map.items as TextPair[];
}

/** Where the `:` of a pair ends; the end of its key where it has none. */
export function colonEnd(pair: TextPair): number {
  const colon = pair.srcToken?.sep?.find((token) => token.type === 'map-value-ind');
  return colon === undefined ? (pair.key.range?.[1] ?? 0) : colon.offset + 1;
}

/** Where a pair begins: its `?`, the anchor or tag of its key, or the key. */
export function pairStart(pair: TextPair): number {
  const props = pair.srcToken?.start.find((token) => ['explicit-key-ind', 'anchor', 'tag'].includes(token.type));
  return props?.offset ?? pair.key.range?.[0] ?? 0;
}

/** Where the dash of an item of a block list is. */
export function dashOf(seq: YAMLSeq, index: number): number {
  const token = seq.srcToken;
  const item = token?.type === 'block-seq' ? token.items[index] : undefined;
  return item?.start.find((one) => one.type === 'seq-item-ind')?.offset ?? 0;
}

/** Where an item of a list begins: its dash, or, in a flow list, itself with its anchor or tag. */
export function itemStart(seq: YAMLSeq, index: number): number {
  if (seq.flow !== true) return dashOf(seq, index);
  const token = seq.srcToken;
  const item = token?.type === 'flow-collection' ? token.items[index] : undefined;
  const props = item?.start.find((one) => one.type === 'anchor' || one.type === 'tag');
  return props?.offset ?? (seq.items[index] as Node | null)?.range?.[0] ?? 0;
}

/** Where the last letter of a value's own text ends; `empty` for a value that has no text. */
export function contentEnd(node: Node | null, empty: number): number {
  if (node === null || node.range === undefined || node.range === null) return empty;
  if (isScalar(node) && node.range[0] === node.range[1]) return empty;
  if (isMap(node) && node.flow !== true) {
    const last = pairsOf(node)[node.items.length - 1];
    return last === undefined ? node.range[1] : pairEnd(last);
  }
  if (isSeq(node) && node.flow !== true) {
    const index = node.items.length - 1;
    return index < 0 ? node.range[1] : contentEnd(node.items[index] as Node | null, dashOf(node, index) + 1);
  }
  return node.range[1];
}

/** Where the last letter of a pair ends. */
export function pairEnd(pair: TextPair): number {
  return contentEnd(pair.value, colonEnd(pair));
}
