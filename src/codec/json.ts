import { message, type Words } from '../base/message.ts';
import { AppError } from '../base/appError.ts';

/**
 * JSON with exact integers: integers beyond 2^53 are `bigint`, all other numbers are `number`.
 * Objects are plain and keep their key order; a key `__proto__` is an ordinary key.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** An integer of 16 or more digits outside a string; inside one it only costs the slow path. */
const MAYBE_BIG = /[:,[]\s*-?\d{16,}\s*[,}\]]|^\s*-?\d{16,}\s*$/;
const INTEGER = /^-?\d+$/;

/**
 * Parses JSON text without losing digits.
 * @throws AppError `invalid-json`
 */
export function parseJson(text: string): Json {
  try {
    if (!hasLongNumber(text) || !MAYBE_BIG.test(text)) return JSON.parse(text) as Json;
    return JSON.parse(text, exactInteger) as Json;
  } catch (error) {
    // A reviver is called from within, so that a deep text outgrows the stack where JSON.parse alone does not.
    if (error instanceof RangeError) return parseDeep(text);
    throw new AppError('invalid-json', message`This is not JSON: ${reasonOf(error)}`);
  }
}

/** Why a text is not JSON, without the piece of it that V8 quotes: it may be a Secret's. */
function reasonOf(error: unknown): Words {
  const said = error instanceof Error ? error.message : String(error);
  return said.replace(/(?:, )?(?:\.\.\.)?"[^]*"(?:\.\.\.)? is not valid JSON$/, '') || message`it is not a JSON value`;
}

/** Whether a text has 16 digits in a row, which few have. Every 16th letter tells: one of them is in each such row. */
function hasLongNumber(text: string): boolean {
  const isDigit = (at: number): boolean => {
    const code = text.charCodeAt(at);
    return code >= 48 && code <= 57;
  };
  for (let at = 15; at < text.length; at += 16) {
    if (!isDigit(at)) continue;
    let from = at;
    while (from > 0 && isDigit(from - 1)) from -= 1;
    let to = at + 1;
    while (to < text.length && isDigit(to)) to += 1;
    if (to - from >= 16) return true;
  }
  return false;
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
}

/** A string, or a whole number of 16 or more digits. */
const STRING_OR_BIG = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])/g;

/**
 * As `parseJson`, however deep: big integers travel as strings that begin with a mark. A text escapes every NUL, so that none of
 * its own strings begins with more of them than it has escapes.
 */
function parseDeep(text: string): Json {
  const nulls = text.split('\\u0000').length;
  const mark = '\0'.repeat(nulls);
  const escaped = '\\u0000'.repeat(nulls);
  const marked = text.replace(STRING_OR_BIG, (found) => (found.startsWith('"') ? found : `"${escaped}${found}"`));
  const root: JsonObject = { value: JSON.parse(marked) as Json };
  const waiting: (JsonObject | Json[])[] = [root];
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    const put = (item: Json, set: (value: Json) => void): void => {
      if (typeof item === 'object' && item !== null) waiting.push(item);
      else if (typeof item === 'string' && item.startsWith(mark)) set(numberOf(item.slice(mark.length)));
    };
    if (Array.isArray(holder)) {
      const list = holder;
      list.forEach((item, index) => put(item, (value) => (list[index] = value)));
    } else {
      const object = holder;
      for (const [key, item] of Object.entries(object)) put(item, (value) => setOwn(object, key, value));
    }
  }
  return root['value'] ?? null;
}

function numberOf(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Deeper than any object of Kubernetes (a CRD's schema has some 60 levels), and far from where recursion ends. */
export const DEEPEST = 500;
/** What is said of an object that is nested deeper. An API server stores up to 10,000 levels. */
export const TOO_DEEP = message`it is nested more than ${DEEPEST} levels deep`;

/** Whether objects and lists in a value are nested deeper than so many levels. Safe at any depth. */
export function isTooDeep(value: Json | undefined, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && isTooDeep(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const item = value[key];
    if (typeof item === 'object' && isTooDeep(item, levels - 1)) return true;
  }
  return false;
}

/** Prints JSON; a bigint becomes its digits. `space` as in JSON.stringify. */
export function stringifyJson(value: Json, space?: number): string {
  return JSON.stringify(
    value,
    (_key, item: unknown) => (typeof item === 'bigint' ? rawJson(item.toString()) : item),
    space,
  );
}

const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/** Prints JSON with the keys of objects in order, as Go's encoder does of maps: equal values have one text. */
export function stringifyCanonical(value: Json): string {
  return stringifyJson(withSortedKeys(value));
}

/** The same value with the keys of its objects in order. */
export function withSortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, withSortedKeys(value[key] ?? null)]),
  );
}

/** Whether a value is a JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deep equality of JSON values; key order does not matter; 1 and 1n are equal. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return equalNumbers(a, b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index += 1) if (!equalJson(a[index], b[index])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let surplus = 0;
  for (const key in a) {
    surplus += 1;
    if (key === '__proto__' && !Object.hasOwn(b, key)) return false;
    if (!equalJson(a[key], b[key])) return false;
  }
  for (const _ in b) surplus -= 1;
  return surplus === 0;
}

/** 1 and 1n are one number. */
function equalNumbers(a: Json | undefined, b: Json | undefined): boolean {
  const isNumber = (value: Json | undefined): value is number | bigint =>
    typeof value === 'number' || typeof value === 'bigint';
  return typeof a !== typeof b && isNumber(a) && isNumber(b) && a == b;
}

/** A deep copy. */
export function cloneJson<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => cloneJson(item)) as T;
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, cloneJson(item));
  return copy as T;
}

/** Sets an own property whatever the key is called (`__proto__` too). */
export function setOwn(target: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
