import type { Json } from '../../codec/json.ts';
import { printJson } from '../negotiate.ts';
import type { Schema } from '../schema/schema.ts';
import { fieldSchema } from './shape.ts';

/**
 * What a strict reader objects to in valid JSON text: fields that the schema does not know and fields that are there
 * twice, in the order of the text, as the API server words them: `unknown field "spec.x"`, `duplicate field "data.k"`.
 * Without a schema only duplicates are found. `value` is what the text says, where that is at hand: a text that is what
 * its value prints as has no duplicates, and need not be read again.
 */
export function strictProblems(text: string, schema: Schema | undefined, value?: Json): string[] {
  if (value !== undefined && knowsAll(schema, value) && printJson(value) === text) return [];
  const reader = new StrictReader(text);
  reader.value(schema, '', schema !== undefined);
  return reader.problems;
}

/** Whether a schema declares every field of a value. */
function knowsAll(schema: Schema | undefined, value: Json): boolean {
  if (schema === undefined || typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    const items = schema.type === 'list' ? schema.items : undefined;
    return value.every((item) => knowsAll(items, item));
  }
  for (const name in value) {
    const child = fieldSchema(schema, name);
    if (child === undefined ? schema.type === 'struct' : !knowsAll(child, value[name] ?? null)) return false;
  }
  return true;
}

class StrictReader {
  readonly problems: string[] = [];
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** `typed`: whether unknown fields count here; duplicates always do. */
  value(schema: Schema | undefined, path: string, typed: boolean, silent = false): void {
    this.space();
    const char = this.text[this.at];
    if (char === '{') this.object(schema, path, typed, silent);
    else if (char === '[') this.array(schema, path, typed, silent);
    else if (char === '"') this.string();
    else this.scalar();
  }

  private object(schema: Schema | undefined, path: string, typed: boolean, silent: boolean): void {
    this.at += 1;
    const seen = new Set<string>();
    for (;;) {
      this.space();
      const char = this.text[this.at];
      if (char === '}' || char === undefined) break;
      if (char === ',') {
        this.at += 1;
        continue;
      }
      const name = this.string();
      this.space();
      this.at += 1;
      const fieldPath = path === '' ? name : `${path}.${name}`;
      const isUnknown =
        typed && schema !== undefined && schema.type === 'struct' && fieldSchema(schema, name) === undefined;
      if (!silent) {
        if (isUnknown) this.problems.push(`unknown field ${quote(fieldPath)}`);
        else if (seen.has(name)) this.problems.push(`duplicate field ${quote(fieldPath)}`);
      }
      seen.add(name);
      const child = schema === undefined || isUnknown ? undefined : fieldSchema(schema, name);
      this.value(child, fieldPath, typed, silent || isUnknown);
    }
    this.at += 1;
  }

  private array(schema: Schema | undefined, path: string, typed: boolean, silent: boolean): void {
    this.at += 1;
    const items = schema?.type === 'list' ? schema.items : undefined;
    for (let index = 0; ;) {
      this.space();
      const char = this.text[this.at];
      if (char === ']' || char === undefined) break;
      if (char === ',') {
        this.at += 1;
        continue;
      }
      this.value(items, `${path}[${index}]`, typed, silent);
      index += 1;
    }
    this.at += 1;
  }

  private string(): string {
    const start = this.at;
    this.at += 1;
    let escaped = false;
    while (this.at < this.text.length && this.text[this.at] !== '"') {
      if (this.text[this.at] === '\\') {
        escaped = true;
        this.at += 1;
      }
      this.at += 1;
    }
    this.at += 1;
    return escaped ? String(JSON.parse(this.text.slice(start, this.at))) : this.text.slice(start + 1, this.at - 1);
  }

  private scalar(): void {
    while (this.at < this.text.length && !',]} \t\r\n'.includes(this.text[this.at] ?? '')) this.at += 1;
  }

  private space(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
