import { parseJson, type Json } from '../codec/json.ts';

/** The value of JSON text; throws what `refuse` makes of Go's words where it is none. */
export function parseGoJson(text: string, refuse: (problem: string) => Error): Json {
  const value = isTooDeep(text) ? undefined : parsed(text);
  if (value !== undefined) return value;
  const problem = goJsonError(text);
  if (problem !== undefined) throw refuse(problem);
  return parseJson(text);
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * What Go's `encoding/json` says of text that is not JSON, as the API server's decoding errors quote it; undefined where
 * the text is JSON. Source: the scanner of encoding/json.
 */
export function goJsonError(text: string): string | undefined {
  if (isTooDeep(text)) return 'exceeded max depth';
  const scanner = new Scanner(text);
  try {
    scanner.value('looking for beginning of value');
    scanner.space();
    if (!scanner.done()) scanner.fail('after top-level value');
    return undefined;
  } catch (error) {
    if (error instanceof ScanError) return error.message;
    throw error;
  }
}

/** How deep Go reads; each level takes two characters. */
const MAX_DEPTH = 10_000;

function isTooDeep(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') isInString = !isInString;
    else if (isInString) at += char === '\\' ? 1 : 0;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

class ScanError extends Error {}

class Scanner {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  done(): boolean {
    return this.at >= this.text.length;
  }

  fail(context: string): never {
    if (this.done()) throw new ScanError('unexpected end of JSON input');
    throw new ScanError(`invalid character ${quoteChar(this.text, this.at)} ${context}`);
  }

  space(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  value(context: string): void {
    this.space();
    const char = this.text[this.at];
    if (char === '{') this.object();
    else if (char === '[') this.array();
    else if (char === '"') this.string();
    else if (char === 't') this.literal('true');
    else if (char === 'f') this.literal('false');
    else if (char === 'n') this.literal('null');
    else if (char !== undefined && /[-0-9]/.test(char)) this.number();
    else this.fail(context);
  }

  private object(): void {
    this.at += 1;
    this.space();
    if (this.take('}')) return;
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.fail('looking for beginning of object key string');
      this.string();
      this.space();
      if (!this.take(':')) this.fail('after object key');
      this.value('looking for beginning of value');
      this.space();
      if (this.take('}')) return;
      if (!this.take(',')) this.fail('after object key:value pair');
    }
  }

  private array(): void {
    this.at += 1;
    this.space();
    if (this.take(']')) return;
    for (;;) {
      this.value('looking for beginning of value');
      this.space();
      if (this.take(']')) return;
      if (!this.take(',')) this.fail('after array element');
    }
  }

  private string(): void {
    this.at += 1;
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined) this.fail('');
      if (char < ' ') this.fail('in string literal');
      this.at += 1;
      if (char === '"') return;
      if (char === '\\') this.escape();
    }
  }

  private escape(): void {
    const char = this.text[this.at];
    if (char === undefined || !'bfnrt\\/"u'.includes(char)) this.fail('in string escape code');
    this.at += 1;
    if (char !== 'u') return;
    for (let digit = 0; digit < 4; digit += 1) {
      if (!/[0-9a-fA-F]/.test(this.text[this.at] ?? '')) this.fail(String.raw`in \u hexadecimal character escape`);
      this.at += 1;
    }
  }

  private literal(word: string): void {
    for (let index = 0; index < word.length; index += 1) {
      if (this.text[this.at] !== word[index]) this.fail(`in literal ${word} (expecting '${word[index] ?? ''}')`);
      this.at += 1;
    }
  }

  private number(): void {
    if (this.take('-') && !this.digit()) this.fail('in numeric literal');
    if (!this.take('0')) this.digits();
    if (this.take('.')) {
      if (!this.digit()) this.fail('after decimal point in numeric literal');
      this.digits();
    }
    if (this.take('e') || this.take('E')) {
      if (!this.take('+')) this.take('-');
      if (!this.digit()) this.fail('in exponent of numeric literal');
      this.digits();
    }
  }

  private digit(): boolean {
    return /[0-9]/.test(this.text[this.at] ?? '');
  }

  private digits(): void {
    while (this.digit()) this.at += 1;
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }
}

/** Go shows a character as a rune literal; it reads bytes, so a character beyond ASCII shows as its first byte. */
function quoteChar(text: string, at: number): string {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (char === "'") return String.raw`'\''`;
  if (char === '"') return `'"'`;
  if (char === '\\') return String.raw`'\\'`;
  const named: Record<string, string> = {
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\u0007': '\\a',
    '\b': '\\b',
    '\f': '\\f',
    '\v': '\\v',
  };
  if (named[char] !== undefined) return `'${named[char]}'`;
  if (char < ' ' || char === '\u007f') return `'\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}'`;
  if (char <= '~') return `'${char}'`;
  return `'${String.fromCodePoint(Buffer.from(char, 'utf8')[0] ?? 0)}'`;
}
