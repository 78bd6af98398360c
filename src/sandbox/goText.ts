import type { Json } from '../codec/json.ts';

const NAMED: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Quotes a string as Go's `%q` does, which the API server's messages use for names and string values. */
export function goQuote(text: string): string {
  let quoted = '"';
  for (const char of text) quoted += NAMED[char] ?? escapeControl(char);
  return `${quoted}"`;
}

function escapeControl(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code >= 0x80 && code < 0xa0) return `\\u${code.toString(16).padStart(4, '0')}`;
  return char;
}

/** The text of a JSON string; '' for anything else. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
