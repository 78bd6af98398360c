import type { Json } from '../../codec/json.ts';
import { isJsonObject, stringifyJson } from '../../codec/json.ts';

/** Prints a value as Go's `%v` does, which the strategic merge's messages use: `map[image:x]`, `[a b]`, `<nil>`. */
export function goMap(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(goMap).join(' ')}]`;
  if (!isJsonObject(value)) return stringifyJson(value);
  const parts = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key] ?? null)}`);
  return `map[${parts.join(' ')}]`;
}
