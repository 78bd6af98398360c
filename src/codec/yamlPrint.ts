import { message } from '../base/message.ts';
import type { Json, JsonObject } from './json.ts';
import { AppError } from '../base/appError.ts';
import { isJsonObject, isTooDeep, TOO_DEEP } from './json.ts';
import { coreKind, resolvePlain } from './yamlScalar.ts';

/** Members of an object that come first and last; all others are in alphabetical order, as kubectl prints them. */
const FIRST = ['apiVersion', 'kind', 'metadata'];
const LAST = ['status'];

/**
 * Prints a value as block YAML that readers of YAML 1.1, of YAML 1.2, and Kubernetes all read back to the same value.
 * Keys are sorted, so that equal values print the same: `apiVersion`, `kind` and `metadata` of an object first, its
 * `status` last. Integers are exact, text is never folded. Ends with a line feed.
 * @throws AppError `bad-answer` where it is nested too deeply
 */
export function printYaml(value: Json): string {
  if (isTooDeep(value)) throw new AppError('bad-answer', message`This cannot be shown as YAML: ${TOO_DEEP}.`);
  return `${printBlock(value, 0, '\n', true).replace(/^\n/, '')}\n`;
}

/**
 * A value as it stands behind `key:` or `-` at an indentation: on the same line with a leading space, or on lines of its own
 * with a leading line break.
 */
export function printBelow(value: Json, indent: number, eol: string): string {
  const block = printBlock(value, indent, eol, false);
  return block.startsWith(eol) ? block : ` ${block}`;
}

/** A list item at an indentation, from its dash on. */
export function printItem(value: Json, indent: number, eol: string): string {
  const block = printBlock(value, indent + 2, eol, false);
  return `- ${block.startsWith(eol) ? block.slice(eol.length + indent + 2) : block}`;
}

/** `key: value` at an indentation, the first line without it. */
export function printPair(key: string, value: Json, indent: number, eol: string): string {
  const head = printText(key);
  const name = head.length > LONGEST_KEY ? `? ${head}${eol}${' '.repeat(indent)}:` : `${head}:`;
  const isList = Array.isArray(value) && value.length > 0;
  return name + printBelow(value, isList ? indent : indent + 2, eol);
}

/** Keys on the line of their value may have up to 1024 letters. */
const LONGEST_KEY = 1000;

function printBlock(value: Json, indent: number, eol: string, root: boolean): string {
  const pad = eol + ' '.repeat(indent);
  if (Array.isArray(value)) {
    return value.length === 0 ? '[]' : value.map((item) => pad + printItem(item, indent, eol)).join('');
  }
  if (isJsonObject(value)) {
    const keys = sortedKeys(value, root);
    return keys.length === 0 ? '{}' : keys.map((key) => pad + printPair(key, value[key] ?? null, indent, eol)).join('');
  }
  return typeof value === 'string' && !root && isLiteral(value) ? printLiteral(value, indent, eol) : printScalar(value);
}

function sortedKeys(value: JsonObject, root: boolean): string[] {
  const keys = Object.keys(value).sort();
  if (!root) return keys;
  const rank = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : LAST.includes(key) ? 99 : 50);
  return keys.sort((a, b) => rank(a) - rank(b));
}

/** A value on one line: scalars as in block YAML, collections as JSON (which is flow YAML). */
export function printInline(value: Json, inFlow: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => printInline(item, true)).join(', ')}]`;
  if (isJsonObject(value)) {
    const pairs = Object.keys(value)
      .sort()
      .map((key) => `${printInline(key, true)}: ${printInline(value[key] ?? null, true)}`);
    return `{${pairs.join(', ')}}`;
  }
  return typeof value === 'string' && inFlow && /[,[\]{}]/.test(value) ? quote(value) : printScalar(value);
}

/** A scalar on one line. */
export function printScalar(value: Exclude<Json, Json[] | JsonObject>): string {
  if (typeof value === 'string') return printText(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (!Number.isFinite(value)) return 'null';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** Text on one line: plain where no reader takes it for something else, otherwise in double quotes. */
function printText(text: string): string {
  return isPlain(text) ? text : quote(text);
}

const LETTERS = /^[\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]+$/u;
const NUMERIC_START = /^[-+.]?[\d.]/;
const SURE_TEXT = /^(?:\d+(?:\.\d+){2,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const SAFE_LETTER = /[g-hj-mp-tv-wzG-HJ-MP-TV-WZ]/;
const RISKY_WORDS = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i;

/** What some readers of YAML 1.1 take for a float though it has no digit before its exponent. */
const LOOSE_FLOAT = /^[-+]?[0-9_]*(?:\.[0-9_]*|(?:\.[0-9_]*)?[eE][-+]?[0-9]+)$/;

/** Whether text may stand unquoted: read as this text by YAML 1.1, YAML 1.2 and Kubernetes alike. */
function isPlain(text: string): boolean {
  if (!LETTERS.test(text) || /^\s|\s$/.test(text) || RISKY_WORDS.test(text) || LOOSE_FLOAT.test(text)) return false;
  if (/^[?:,[\]{}#&*!|>'"%@`=<~]/.test(text) || /^-(?![-\w])|^---|^\.\.\./.test(text)) return false;
  if (/:(?:\s|$)|\s#/.test(text)) return false;
  if (NUMERIC_START.test(text) || /^[-+]/.test(text)) {
    const sure = SURE_TEXT.test(text) || (SAFE_LETTER.test(text) && !/[:_]/.test(text));
    if (!sure) return false;
  }
  return resolvePlain(text).kind === 'text' && coreKind(text) === 'text';
}

/** Double quotes with JSON's escapes, all of which YAML has; line separators escaped too. */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7F-\x9F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Whether text of several lines can be a literal block (`|`) that every reader reads back. */
export function isLiteral(text: string): boolean {
  if (!text.includes('\n') || !/^[^\s]/.test(text)) return false;
  return text.split('\n').every((line) => line === '' || (LETTERS.test(line) && !/^\s*$/.test(line)));
}

/** A literal block from its header on; the last line has no line break of its own but where the text ends in several. */
export function printLiteral(text: string, indent: number, eol: string): string {
  const chomping = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const lines = text.replace(/\n$/, '').split('\n');
  return [`|${chomping}`, ...lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line))].join(eol);
}
