import type { Node, YAMLMap, YAMLSeq } from 'yaml';
import { isAlias, isScalar } from 'yaml';
import type { Json } from './json.ts';
import { isJsonObject } from './json.ts';
import type { Place } from './yamlPlaces.ts';
import { colonEnd, contentEnd, dashOf, itemStart, pairEnd, pairStart, pairsOf } from './yamlPlaces.ts';
import {
  isLiteral,
  printBelow,
  printInline,
  printItem,
  printLiteral,
  printPair,
  printScalar,
  printYaml,
} from './yamlPrint.ts';

/** A replacement of a range of a text. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Makes splices for one text; `eol` is its line break. */
export class Splicer {
  private readonly text: string;
  readonly eol: string;

  constructor(text: string) {
    this.text = text;
    this.eol = text.includes('\r\n') ? '\r\n' : '\n';
  }

  /** Gives a place another value. Undefined: it cannot be done here without changing something else. */
  replace(place: Place, value: Json): Splice | undefined {
    const { node, holder, inFlow } = place;
    if (isAlias(node) && holder.kind === 'root') return undefined;
    const range = node?.range ?? undefined;
    const isEmpty = range === undefined || range[0] === range[1];
    if (inFlow) return this.replaceInFlow(place, value);
    if (!isEmpty && isScalar(node) && !isFilled(value)) return this.replaceScalar(node, value, this.columnUnder(place));
    if (holder.kind === 'root') return this.replaceRoot(node, value);
    if (holder.kind === 'item') {
      const dash = dashOf(holder.seq, holder.index);
      const end = contentEnd(node, dash + 1);
      return { start: dash, end, text: this.withBreak(printItem(value, this.column(dash), this.eol), end) };
    }
    const colon = colonEnd(holder.pair);
    const end = contentEnd(node, colon);
    const indent = this.column(pairStart(holder.pair)) + (Array.isArray(value) ? 0 : 2);
    return { start: colon, end, text: this.withBreak(printBelow(value, indent, this.eol), end) };
  }

  private replaceRoot(node: Node | null, value: Json): Splice {
    const printed = printYaml(value).replaceAll('\n', this.eol);
    if (node?.range === undefined || node.range === null) {
      const { length } = this.text;
      return { start: length, end: length, text: (length === 0 || this.text.endsWith('\n') ? '' : this.eol) + printed };
    }
    const end = contentEnd(node, node.range[1]);
    const start = node.range[0];
    const room = start > 0 && this.text[start - 1] !== '\n' && isFilled(value) ? this.eol : '';
    return {
      start,
      end,
      text: room + (this.text[end - 1] === '\n' && end > start ? printed : printed.slice(0, -this.eol.length)),
    };
  }

  private replaceInFlow(place: Place, value: Json): Splice | undefined {
    const { node, holder } = place;
    const printed = printInline(value, true);
    if (node?.range !== undefined && node.range !== null && node.range[0] !== node.range[1]) {
      return { start: node.range[0], end: node.range[1], text: printed };
    }
    if (holder.kind !== 'pair') return undefined;
    const at = colonEnd(holder.pair);
    return { start: at, end: at, text: `${this.text[at - 1] === ':' ? ' ' : ': '}${printed}` };
  }

  private replaceScalar(node: Node, value: Json, indent: number): Splice | undefined {
    if (!isScalar(node) || node.range === undefined || node.range === null) return undefined;
    const [start, end] = node.range;
    if (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED') {
      const source = this.text.slice(start, end);
      const kept = /^[|>][0-9]*\+/.test(source) ? '' : (/(?:\r?\n)((?:[ \t]*\r?\n)*)$/.exec(source)?.[1] ?? '');
      const printed =
        typeof value === 'string' && isLiteral(value)
          ? printLiteral(value, this.blockIndent(source) ?? indent, this.eol)
          : printInline(value, false);
      return { start, end, text: printed + (source.endsWith('\n') ? this.eol : '') + kept };
    }
    if (typeof value === 'string') {
      if (node.type === 'QUOTE_SINGLE' && /^[\x20-\x7E]*$/.test(value))
        return { start, end, text: `'${value.replaceAll("'", "''")}'` };
      if (node.type === 'QUOTE_DOUBLE')
        return {
          start,
          end,
          text: printInline(value, false).startsWith('"') ? printScalar(value) : JSON.stringify(value),
        };
      if (isLiteral(value)) return { start, end, text: printLiteral(value, indent, this.eol) };
    }
    return { start, end, text: printInline(value, false) };
  }

  private blockIndent(source: string): number | undefined {
    const line = /\n( +)\S/.exec(source)?.[1];
    return line?.length;
  }

  /** Adds a key to a map, behind its last one. */
  addPair(place: Place, map: YAMLMap, key: string, value: Json): Splice | undefined {
    const last = pairsOf(map)[map.items.length - 1];
    if (last === undefined) return this.replace(place, { [key]: value });
    if (map.flow === true || place.inFlow) {
      return this.insertInFlow(pairEnd(last), `${printInline(key, true)}: ${printInline(value, true)}`);
    }
    const first = pairsOf(map)[0] ?? last;
    return this.insertLine(
      pairEnd(last),
      printPair(key, value, this.column(pairStart(first)), this.eol),
      this.column(pairStart(first)),
    );
  }

  /** Adds an item to a list, behind its last one. */
  addItem(place: Place, seq: YAMLSeq, value: Json): Splice | undefined {
    const index = seq.items.length - 1;
    if (index < 0) return this.replace(place, [value]);
    const last = seq.items[index] as Node | null;
    if (seq.flow === true || place.inFlow)
      return this.insertInFlow(contentEnd(last, itemStart(seq, index)), printInline(value, true));
    const dash = dashOf(seq, index);
    return this.insertLine(
      contentEnd(last, dash + 1),
      printItem(value, this.column(dash), this.eol),
      this.column(dash),
    );
  }

  private insertInFlow(at: number, printed: string): Splice {
    const comma = /^\s*,/.exec(this.text.slice(at))?.[0].length;
    return comma === undefined
      ? { start: at, end: at, text: `, ${printed}` }
      : { start: at + comma, end: at + comma, text: ` ${printed}` };
  }

  private insertLine(after: number, printed: string, indent: number): Splice {
    const pad = ' '.repeat(indent);
    if (this.text[after - 1] === '\n') return { start: after, end: after, text: pad + printed + this.eol };
    const at = this.lineEnd(after);
    return { start: at, end: at, text: this.eol + pad + printed };
  }

  /** Removes a place from what holds it; with it the comment behind it, not those above it. */
  remove(place: Place, parent: Place): Splice | undefined {
    const { holder } = place;
    if (holder.kind === 'root') return undefined;
    if (holder.kind === 'pair') {
      const pairs = pairsOf(holder.map);
      const index = pairs.indexOf(holder.pair);
      if (pairs.length === 1) return this.replace(parent, {});
      const starts = pairs.map(pairStart);
      const ends = pairs.map(pairEnd);
      return this.cut(index, starts, ends, place.inFlow);
    }
    const { seq, index } = holder;
    if (seq.items.length === 1) return this.replace(parent, []);
    const items = seq.items as (Node | null)[];
    const starts = items.map((_, at) => itemStart(seq, at));
    const ends = items.map((item, at) => contentEnd(item, (starts[at] ?? 0) + 1));
    return this.cut(index, starts, ends, place.inFlow);
  }

  private cut(index: number, starts: readonly number[], ends: readonly number[], inFlow: boolean): Splice {
    const start = starts[index] ?? 0;
    const end = ends[index] ?? start;
    const next = starts[index + 1];
    const before = ends[index - 1];
    if (inFlow) return next === undefined ? { start: before ?? start, end, text: '' } : { start, end: next, text: '' };
    const lineStart = this.text.lastIndexOf('\n', start - 1) + 1;
    if (/\S/.test(this.text.slice(lineStart, start).replace('\uFEFF', '')) && next !== undefined)
      return { start, end: next, text: '' };
    if (this.text[end - 1] === '\n') return { start: lineStart, end, text: '' };
    const lineEnd = this.lineEnd(end);
    const breakLength = this.text.startsWith('\r\n', lineEnd) ? 2 : this.text[lineEnd] === '\n' ? 1 : 0;
    if (breakLength > 0) return { start: lineStart, end: lineEnd + breakLength, text: '' };
    const previousBreak = this.text.startsWith('\r\n', lineStart - 2) ? 2 : Math.min(1, lineStart);
    return { start: lineStart - previousBreak, end: lineEnd, text: '' };
  }

  /** What replaces a text that ended behind its line break (a block scalar) ends with one too. */
  private withBreak(printed: string, end: number): string {
    return this.text[end - 1] === '\n' ? printed + this.eol : printed;
  }

  private lineEnd(from: number): number {
    const at = this.text.indexOf('\n', from);
    if (at < 0) return this.text.length;
    return at > from && this.text[at - 1] === '\r' ? at - 1 : at;
  }

  private column(offset: number): number {
    const lineStart = this.text.lastIndexOf('\n', offset - 1) + 1;
    return offset - lineStart - (lineStart === 0 && this.text.startsWith('\uFEFF') ? 1 : 0);
  }

  /** The indentation of what stands on lines of its own below a place. */
  private columnUnder(place: Place): number {
    const { holder } = place;
    if (holder.kind === 'root') return 2;
    return 2 + this.column(holder.kind === 'pair' ? pairStart(holder.pair) : dashOf(holder.seq, holder.index));
  }
}

function isFilled(value: Json): boolean {
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}
