import type { Json } from '../codec/json.ts';
import { dropFirst } from '../core/keepLast.ts';

/** How many characters are kept of all texts together. */
const MAX_TOTAL = 4_000_000;
const MAX_TEXT = 100_000;

/**
 * The text that was met last at each place, with its value: the same text again is the same value, and another one shares with
 * the value before what is equal. Those kept longest are forgotten first.
 */
export class LastTexts {
  private readonly last = new Map<string, { readonly text: string; readonly value: Json }>();
  private readonly parse: (text: string) => Json | undefined;
  private total = 0;

  constructor(parse: (text: string) => Json | undefined) {
    this.parse = parse;
  }

  /** The value of a text at a place; undefined where it has none. */
  get(place: string, text: string): Json | undefined {
    const known = this.last.get(place);
    if (known?.text === text) return known.value;
    const parsed = this.parse(text);
    if (parsed === undefined || text.length > MAX_TEXT) return parsed;
    const value = known === undefined ? parsed : shared(known.value, parsed);
    if (known !== undefined) this.last.delete(place);
    // A copy: a slice would hold the line that it is of.
    this.last.set(place, { text: Buffer.from(text).toString(), value });
    this.total += text.length - (known?.text.length ?? 0);
    while (this.total > MAX_TOTAL) this.forgetFirst();
    return value;
  }

  private forgetFirst(): void {
    for (const { text } of this.last.values()) {
      this.total -= text.length;
      break;
    }
    dropFirst(this.last);
  }
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
