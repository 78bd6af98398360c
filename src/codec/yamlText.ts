import type { Document, Node, Pair } from 'yaml';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { resolvePlain } from './yamlScalar.ts';

/** A step into a YAML text: a key of a map or a position in a list. */
export type YamlStep = string | number;

/** A range of a text: offsets from 0, `end` behind the last letter. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A YAML text and where things are in it. */
export class YamlText {
  readonly text: string;
  /** The parsed document; undefined where the text holds none. */
  readonly parsed: Document.Parsed | undefined;
  private lineStarts: number[] | undefined;

  constructor(text: string, parsed: Document.Parsed | undefined) {
    this.text = text;
    this.parsed = parsed;
  }

  /** Line and column, both from 1, of an offset. */
  positionAt(offset: number): { line: number; column: number } {
    const line = this.lineAt(offset);
    return { line, column: offset - (this.starts()[line - 1] ?? 0) + 1 };
  }

  /** The line, from 1, of an offset. */
  lineAt(offset: number): number {
    const starts = this.starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  private starts(): number[] {
    if (this.lineStarts === undefined) {
      this.lineStarts = [0];
      for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1))
        this.lineStarts.push(at + 1);
    }
    return this.lineStarts;
  }

  /**
   * Where the value at a path stands, or its key; undefined where the text has no such place. Aliases are not followed:
   * what an alias stands for is somewhere else.
   */
  rangeAt(path: readonly YamlStep[], part: 'key' | 'value' = 'value'): TextRange | undefined {
    let node: Node | null = this.parsed?.contents ?? null;
    let key: Node | undefined;
    for (const step of path) {
      const next: Found | undefined = childOf(node, step);
      if (next === undefined) return undefined;
      key = next.key;
      node = next.value;
    }
    const wanted = part === 'key' ? (key ?? node) : (node ?? key);
    return wanted?.range === undefined || wanted.range === null
      ? undefined
      : { start: wanted.range[0], end: wanted.range[1] };
  }

  /** The path of what stands at an offset: the innermost key or value around it. */
  pathAt(offset: number): YamlStep[] {
    const path: YamlStep[] = [];
    let node: Node | null = this.parsed?.contents ?? null;
    for (;;) {
      const next = childAt(node, offset);
      if (next === undefined) return path;
      path.push(next.step);
      node = next.value;
    }
  }
}

interface Found {
  readonly key?: Node;
  readonly value: Node | null;
}

/** The JSON key that a key node means; undefined for what is no key. */
export function keyText(node: Node): string | undefined {
  if (!isScalar(node)) return undefined;
  const text = String(node.value);
  if (node.type !== 'PLAIN' || node.tag !== undefined) return text;
  const plain = resolvePlain(text);
  return plain.kind === 'bool' || plain.kind === 'int' ? String(plain.value) : text;
}

function childOf(node: Node | null, step: YamlStep): Found | undefined {
  if (isMap(node)) {
    const pairs = node.items as Pair<Node, Node | null>[];
    const pair = pairs.find((one) => keyText(one.key) === String(step));
    return pair === undefined ? undefined : { key: pair.key, value: pair.value };
  }
  if (isSeq(node) && typeof step === 'number') {
    const item = node.items[step] as Node | null | undefined;
    return item === undefined ? undefined : { value: item };
  }
  return undefined;
}

function childAt(node: Node | null, offset: number): { step: YamlStep; value: Node | null } | undefined {
  const holds = (one: Node | null | undefined): boolean =>
    one?.range !== undefined && one.range !== null && one.range[0] <= offset && offset <= one.range[1];
  if (node === null || isAlias(node)) return undefined;
  if (isMap(node)) {
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      const step = keyText(pair.key);
      if (step !== undefined && (holds(pair.key) || holds(pair.value)))
        return { step, value: holds(pair.value) ? pair.value : null };
    }
  } else if (isSeq(node)) {
    for (const [step, item] of (node.items as (Node | null)[]).entries()) if (holds(item)) return { step, value: item };
  }
  return undefined;
}
