import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { objectAt } from './access.ts';

/**
 * The schema at a path such as `.spec.a` or `.spec['a']`, or what is wrong with the path.
 * Source: apiextensions' cel.ValidFieldPath.
 */
export function fieldAt(schema: JsonObject, path: string): JsonObject | string {
  let rest = path;
  let found = schema;
  while (rest !== '') {
    const quoted = /^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
    const plain = /^\.([^.[\]]+)/.exec(rest);
    const name = quoted?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[1];
    if (name === undefined) {
      if (rest.startsWith('[')) return `expected single quoted string but got ${/^\[([^\]]*)/.exec(rest)?.[1] ?? ''}`;
      if (rest.startsWith('.')) return 'unexpected end of JSON path';
      return `expected [ or . but got: ${/^[^.[\]]+/.exec(rest)?.[0] ?? rest}`;
    }
    const values = found['additionalProperties'];
    const next = objectAt(found, 'properties')[name] ?? (quoted === null ? undefined : values);
    if (!isJsonObject(next)) return 'does not refer to a valid field';
    found = next;
    rest = rest.slice((quoted ?? plain)?.[0].length ?? rest.length);
  }
  return found;
}
