import type { Json } from '../codec/json.ts';
import { dropFirst } from '../core/keepLast.ts';

/** Stands where a part was cut out of a text. No log holds it: it is another one in every process. */
export const HOLE = `cut ${crypto.randomUUID()}`;
export const HOLE_TEXT = JSON.stringify(HOLE);

/** How many characters are kept of all texts together. */
const MAX_TOTAL = 4_000_000;
const MAX_TEXT = 100_000;

/** From so many characters on it is worth looking for the one value of a text that changes. */
const MIN_CUT_TEXT = 500;
const MAX_CHANGE = 200;

/** What is known of a place: its last text in three pieces, and its value. */
interface Known {
  /** What stands around the value that changed last; both are empty until one did. */
  readonly before: string;
  readonly after: string;
  piece: string;
  /** Where in the whole the piece's value is; empty where the piece is the whole text. */
  readonly path: readonly string[];
  value: Json;
}

/**
 * The text that was met last at each place, with its value: the same text again is the same value, and another one shares with
 * the value before what is equal. Of a text that differs from the last one in one string, number or word only that is parsed.
 * Those kept longest are forgotten first.
 */
export class LastTexts {
  private readonly last = new Map<string, Known>();
  private readonly parse: (text: string) => Json | undefined;
  private total = 0;

  constructor(parse: (text: string) => Json | undefined) {
    this.parse = parse;
  }

  /** The value of a text at a place; undefined where it has none. */
  get(place: string, text: string): Json | undefined {
    const known = this.last.get(place);
    const piece = known === undefined ? undefined : pieceOf(known, text);
    if (known === undefined || piece === undefined) return this.getAnew(place, text, known);
    if (piece === known.piece) return known.value;
    const item = known.path.length === 0 ? undefined : this.parse(piece);
    if (!isPlain(item)) return this.getAnew(place, text, known);
    this.total += piece.length - known.piece.length;
    known.piece = copied(piece);
    known.value = withItem(known.value, known.path, item);
    return known.value;
  }

  private getAnew(place: string, text: string, known: Known | undefined): Json | undefined {
    const cut = known === undefined ? undefined : this.changed(textOf(known), text);
    const parsed = cut?.value ?? this.parse(text);
    if (parsed === undefined || text.length > MAX_TEXT) return parsed;
    const value = known === undefined ? parsed : shared(known.value, parsed);
    if (known !== undefined) {
      this.last.delete(place);
      this.total -= textOf(known).length;
    }
    // A copy: a slice would hold the line that it is of.
    const own = copied(text);
    const { start, end, path } = cut ?? { start: 0, end: own.length, path: [] };
    const [before, piece, after] = [own.slice(0, start), own.slice(start, end), own.slice(end)];
    this.last.set(place, { before, piece, after, path, value });
    this.total += text.length;
    while (this.total > MAX_TOTAL) this.forgetFirst();
    return value;
  }

  /** Where a text differs from another in one value, and the value of the whole; undefined where it does in more. */
  private changed(old: string, text: string): (Span & { path: readonly string[]; value: Json }) | undefined {
    const span = changedSpan(old, text);
    if (span === undefined) return undefined;
    const whole = this.parse(text.slice(0, span.start) + HOLE_TEXT + text.slice(span.end));
    const path = pathOfHole(whole);
    const item = path === undefined ? undefined : this.parse(text.slice(span.start, span.end));
    if (whole === undefined || path === undefined || !isPlain(item)) return undefined;
    return { ...span, path, value: withItem(whole, path, item) };
  }

  private forgetFirst(): void {
    for (const known of this.last.values()) {
      this.total -= textOf(known).length;
      break;
    }
    dropFirst(this.last);
  }
}

function textOf({ before, piece, after }: Known): string {
  return before + piece + after;
}

/** What stands in a text between what stands around the piece of a known one; undefined where it has that not around it. */
function pieceOf({ before, after }: Known, text: string): string | undefined {
  const end = text.length - after.length;
  if (end < before.length || text.slice(0, before.length) !== before || text.slice(end) !== after) return undefined;
  return text.slice(before.length, end);
}

/** V8 makes no slice of a text as short as this, but a copy. Source: v8/src/objects/string.h, SlicedString::kMinLength. */
const SHORTEST_SLICE = 13;

/** A text that holds no other one's memory, as a slice does. */
export function copied(text: string): string {
  return text.length < SHORTEST_SLICE ? text : Buffer.from(text).toString();
}

function isPlain(value: Json | undefined): value is Exclude<Json, object> | null {
  return value !== undefined && (typeof value !== 'object' || value === null);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the one string, number or word would be that makes a text differ from another. That it is one is not known yet: the
 * text with another string at its place must be JSON, and so must what stands there.
 */
function changedSpan(old: string, text: string): Span | undefined {
  if (text.length < MIN_CUT_TEXT) return undefined;
  const most = Math.min(old.length, text.length);
  const same = longest(most, (from, to) => old.slice(from, to) === text.slice(from, to));
  const sameAtEnd = longest(
    most - same,
    (from, to) => old.slice(old.length - to, old.length - from) === text.slice(text.length - to, text.length - from),
  );
  let [start, end] = [same, text.length - sameAtEnd];
  if (end - start > MAX_CHANGE) return undefined;
  const quote = text.lastIndexOf('"', start - 1);
  if (':[,'.includes(text[quote - 1] ?? ' ')) return { start: quote, end: text.indexOf('"', end) + 1 };
  while (start > 0 && !':[,'.includes(text[start - 1] ?? ' ')) start -= 1;
  while (end < text.length && !',]}'.includes(text[end] ?? ' ')) end += 1;
  return { start, end };
}

/** How far something holds that holds for all before wherever it holds: it is asked of a stretch where all before it is known. */
function longest(most: number, holds: (from: number, to: number) => boolean): number {
  let [known, limit] = [0, most];
  while (known < limit) {
    const middle = Math.ceil((known + limit) / 2);
    if (holds(known, middle)) known = middle;
    else limit = middle - 1;
  }
  return known;
}

function pathOfHole(value: Json | undefined): string[] | undefined {
  if (value === HOLE) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries<Json>(value)) {
    const below = pathOfHole(item);
    if (below !== undefined) return [name, ...below];
  }
  return undefined;
}

/** The value with another one at a path. */
function withItem(value: Json | undefined, [name, ...rest]: readonly string[], item: Json): Json {
  if (name === undefined || typeof value !== 'object' || value === null) return item;
  if (Array.isArray(value)) return value.with(Number(name), withItem(value[Number(name)], rest, item));
  return { ...value, [name]: withItem(value[name], rest, item) };
}

/** A new value in which all that equals the old one at the same place is the old one's; the old one itself where all is equal. */
function shared(old: Json | undefined, now: Json): Json {
  if (old === now || typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return now;
  if (Array.isArray(now)) return Array.isArray(old) ? sharedList(old, now) : now;
  if (Array.isArray(old)) return now;
  let isSame = true;
  let surplus = 0;
  for (const name in now) {
    surplus += 1;
    const before = name === '__proto__' ? undefined : old[name];
    const item = now[name] ?? null;
    const kept = shared(before, item);
    if (kept !== item) now[name] = kept;
    if (kept !== before) isSame = false;
  }
  for (const _ in old) surplus -= 1;
  return isSame && surplus === 0 ? old : now;
}

function sharedList(old: Json[], now: Json[]): Json[] {
  let isSame = old.length === now.length;
  for (let index = 0; index < now.length; index += 1) {
    const item = now[index] ?? null;
    const kept = shared(old[index], item);
    if (kept !== item) now[index] = kept;
    if (kept !== old[index]) isSame = false;
  }
  return isSame ? old : now;
}
