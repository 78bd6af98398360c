import type { Json } from '../../codec/json.ts';
import { stringifyJson } from '../../codec/json.ts';

/** A value as plain text: texts as they are, nothing as '', everything else as JSON. */
export function plainText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : stringifyJson(value);
}
