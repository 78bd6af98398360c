import { message, type Words } from '../base/message.ts';
import type { Json, JsonObject } from './json.ts';
import { equalJson, isJsonObject, parseJson, stringifyJson } from './json.ts';

/**
 * One step into a JSON value, as `managedFields` has them: a field, an item of a keyed list, an item of a set, or an
 * item by position. Source: FieldsV1 in the Kubernetes API reference (`f:`, `k:`, `v:`, `i:`).
 */
export type PathStep =
  | { readonly field: string }
  | { readonly key: JsonObject }
  | { readonly value: Json }
  | { readonly index: number };

/** Where something is in an object; the empty path is the object itself. */
export type Path = readonly PathStep[];

const PLAIN_FIELD = /^[A-Za-z_$][\w$-]*$/;

/**
 * Prints a path as the API server does in apply conflicts: `.spec.containers[name="web"].image`,
 * `.spec.ports[port=80,protocol="TCP"]`, `.metadata.finalizers[="a.test/x"]`, `.args[0]`.
 * A field that is not a plain word is quoted, so that the text parses back: `.metadata.labels["app.kubernetes.io/name"]`.
 */
export function formatPath(path: Path): string {
  return path.map(formatStep).join('');
}

function formatStep(step: PathStep): string {
  if ('field' in step) return PLAIN_FIELD.test(step.field) ? `.${step.field}` : `[${JSON.stringify(step.field)}]`;
  if ('index' in step) return `[${step.index}]`;
  if ('value' in step) return `[=${stringifyJson(step.value)}]`;
  const parts = Object.keys(step.key)
    .sort()
    .map((name) => `${name}=${stringifyJson(step.key[name] ?? null)}`);
  return `[${parts.join(',')}]`;
}

/**
 * Parses what `formatPath` prints, and also a leading field without its dot (`spec.replicas`) and dotted words that hold
 * no dot of their own. A JSON Pointer (`/spec/replicas`) is read too; its numeric tokens become positions.
 * Returns a sentence instead of a path where the text is not one.
 */
export function parsePath(text: string): { path: Path } | { problem: Words } {
  if (text.startsWith('/')) return { path: parsePointer(text) };
  const steps: PathStep[] = [];
  let at = 0;
  const problem = (what: Words): { problem: Words } => ({
    problem: message`"${text}" is not a path: ${what} at position ${at}`,
  });
  if (text === '' || text === '.') return { path: [] };
  while (at < text.length) {
    if (text[at] === '[') {
      const end = closingBracket(text, at);
      if (end < 0) return problem(message`a bracket is not closed`);
      const step = parseBracket(text.slice(at + 1, end));
      if (step === undefined) return problem(message`the bracket holds no name, position, key or value`);
      steps.push(step);
      at = end + 1;
      continue;
    }
    if (text[at] === '.') at += 1;
    else if (at > 0) return problem(message`a dot or a bracket is expected`);
    const word = /^[^.[\]]+/.exec(text.slice(at))?.[0];
    if (word === undefined) return problem(message`a field is expected`);
    steps.push({ field: word });
    at += word.length;
  }
  return { path: steps };
}

function parsePointer(text: string): Path {
  return text
    .slice(1)
    .split('/')
    .map((token): PathStep => {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
      return /^(0|[1-9]\d*)$/.test(name) ? { index: Number(name) } : { field: name };
    });
}

/** The position of the bracket that closes the one at `start`, strings skipped; -1 if there is none. */
function closingBracket(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') {
      at = closingQuote(text, at);
      if (at < 0) return -1;
    } else if (text[at] === ']') return at;
  }
  return -1;
}

function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function parseBracket(inner: string): PathStep | undefined {
  if (/^(0|[1-9]\d*)$/.test(inner)) return { index: Number(inner) };
  try {
    if (inner.startsWith('"')) {
      const field = parseJson(inner);
      return typeof field === 'string' ? { field } : undefined;
    }
    if (inner.startsWith('=')) return { value: parseJson(inner.slice(1)) };
    return parseKey(inner);
  } catch {
    return undefined;
  }
}

function parseKey(inner: string): PathStep | undefined {
  const key: JsonObject = {};
  const part = /([^=,]+)=("(?:[^"\\]|\\.)*"|[^,]*)(,|$)/y;
  for (let at = 0; at < inner.length; at = part.lastIndex) {
    part.lastIndex = at;
    const found = part.exec(inner);
    if (found === null) return undefined;
    const [, name, value] = found;
    if (name === undefined || value === undefined) return undefined;
    key[name] = parseJson(value);
  }
  return Object.keys(key).length === 0 ? undefined : { key };
}

/** The value at a path, or undefined where there is none. A keyed step finds the item whose key fields are equal. */
export function valueAt(root: Json | undefined, path: Path): Json | undefined {
  let value = root;
  for (const step of path) {
    if (value === undefined) return undefined;
    value = childAt(value, step);
  }
  return value;
}

function childAt(value: Json, step: PathStep): Json | undefined {
  if ('field' in step) return isJsonObject(value) && Object.hasOwn(value, step.field) ? value[step.field] : undefined;
  if (!Array.isArray(value)) return 'index' in step && isJsonObject(value) ? value[String(step.index)] : undefined;
  if ('index' in step) return value[step.index];
  if ('value' in step) return value.find((item) => equalJson(item, step.value));
  return value.find((item) => hasKey(item, step.key));
}

/** Whether an item of a keyed list carries these key fields. */
export function hasKey(item: Json, key: JsonObject): boolean {
  return isJsonObject(item) && Object.keys(key).every((name) => equalJson(item[name], key[name]));
}

/** Whether `path` begins with all of `prefix`. */
export function startsWith(path: Path, prefix: Path): boolean {
  return prefix.length <= path.length && prefix.every((step, index) => equalStep(step, path[index]));
}

/** Whether two steps are the same. */
export function equalStep(a: PathStep, b: PathStep | undefined): boolean {
  if (b === undefined) return false;
  if ('field' in a) return 'field' in b && a.field === b.field;
  if ('index' in a) return 'index' in b && a.index === b.index;
  if ('key' in a) return 'key' in b && equalJson(a.key, b.key);
  return 'value' in b && equalJson(a.value, b.value);
}
