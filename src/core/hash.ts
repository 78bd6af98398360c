/**
 * Hashes without a platform: a fast one for telling contents apart, and SipHash-2-4, keyed, for values that must not be
 * guessed from their hash. Neither is a signature.
 */

/** A 53-bit hash of a text as 14 hexadecimal digits. Not keyed: only for what is no secret. */
export function hashText(text: string, seed = 0): string {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (b & 0x1fffff).toString(16).padStart(6, '0') + (a >>> 0).toString(16).padStart(8, '0');
}

/** The UTF-8 bytes of a text; a lone surrogate becomes the three bytes of its own code. */
export function utf8Bytes(text: string): number[] {
  const bytes: number[] = [];
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return bytes;
}

/** 64-bit state as pairs of 32-bit halves: [low, high] of v0, v1, v2, v3. */
type SipState = Int32Array;

function add(v: SipState, to: number, from: number): void {
  const low = ((v[to] ?? 0) >>> 0) + ((v[from] ?? 0) >>> 0);
  v[to + 1] = ((v[to + 1] ?? 0) + (v[from + 1] ?? 0) + (low > 0xffffffff ? 1 : 0)) | 0;
  v[to] = low | 0;
}

function xor(v: SipState, to: number, from: number): void {
  v[to] = (v[to] ?? 0) ^ (v[from] ?? 0);
  v[to + 1] = (v[to + 1] ?? 0) ^ (v[from + 1] ?? 0);
}

function rotate(v: SipState, at: number, bits: number): void {
  let low = v[at] ?? 0;
  let high = v[at + 1] ?? 0;
  if (bits >= 32) [low, high] = [high, low];
  const by = bits % 32;
  if (by > 0) [low, high] = [(low << by) | (high >>> (32 - by)), (high << by) | (low >>> (32 - by))];
  v[at] = low;
  v[at + 1] = high;
}

function round(v: SipState): void {
  add(v, 0, 2);
  add(v, 4, 6);
  rotate(v, 2, 13);
  rotate(v, 6, 16);
  xor(v, 2, 0);
  xor(v, 6, 4);
  rotate(v, 0, 32);
  add(v, 4, 2);
  add(v, 0, 6);
  rotate(v, 2, 17);
  rotate(v, 6, 21);
  xor(v, 2, 4);
  xor(v, 6, 0);
  rotate(v, 4, 32);
}

/**
 * SipHash-2-4 of bytes as 16 hexadecimal digits (most significant first). `key` is 32 hexadecimal digits, random, and kept
 * out of everything that is stored or shown. Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF".
 */
export function sipHash(key: string, bytes: readonly number[]): string {
  const k = keyWords(key);
  const v = new Int32Array([
    0x70736575, 0x736f6d65, 0x6e646f6d, 0x646f7261, 0x6e657261, 0x6c796765, 0x79746573, 0x74656462,
  ]);
  for (let index = 0; index < 4; index += 1) {
    v[index] = (v[index] ?? 0) ^ (k[index] ?? 0);
    v[index + 4] = (v[index + 4] ?? 0) ^ (k[index] ?? 0);
  }
  const whole = bytes.length - (bytes.length % 8);
  for (let at = 0; at <= whole; at += 8) {
    const last = at === whole;
    const low = word(bytes, at);
    const high = last ? (word(bytes, at + 4) & 0xffffff) | ((bytes.length & 0xff) << 24) : word(bytes, at + 4);
    v[6] = (v[6] ?? 0) ^ low;
    v[7] = (v[7] ?? 0) ^ high;
    round(v);
    round(v);
    v[0] = (v[0] ?? 0) ^ low;
    v[1] = (v[1] ?? 0) ^ high;
  }
  v[4] = (v[4] ?? 0) ^ 0xff;
  for (let turn = 0; turn < 4; turn += 1) round(v);
  const low = (v[0] ?? 0) ^ (v[2] ?? 0) ^ (v[4] ?? 0) ^ (v[6] ?? 0);
  const high = (v[1] ?? 0) ^ (v[3] ?? 0) ^ (v[5] ?? 0) ^ (v[7] ?? 0);
  return hex(high) + hex(low);
}

function word(bytes: readonly number[], at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

function keyWords(key: string): number[] {
  const bytes = Array.from({ length: 16 }, (_, index) => Number.parseInt(key.slice(index * 2, index * 2 + 2), 16) || 0);
  return [0, 4, 8, 12].map((at) => word(bytes, at));
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}
