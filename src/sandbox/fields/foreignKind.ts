import { isJsonObject } from '../../codec/json.ts';
import { components, structOf } from '../schema/builtInTypes.ts';
import type { Schema } from '../schema/schema.ts';

/** A built-in kind that some body claims to be, served or not. */
export interface ForeignKind {
  /** `v1.Secret`. */
  readonly goName: string;
  /** Undefined for kinds of which only the name is known. */
  readonly schema: Schema | undefined;
}

let byKind: ReadonlyMap<string, string> | undefined;

/** Finds a built-in kind by what a body says of itself; undefined where the server has no such kind. */
export function foreignKind(apiVersion: string, kind: string): ForeignKind | undefined {
  byKind ??= indexKinds();
  if (apiVersion === 'v1' && kind === 'List') return { goName: 'v1.List', schema: undefined };
  const component = byKind.get(`${apiVersion} ${kind}`);
  if (component === undefined) return undefined;
  const version = apiVersion.split('/').at(-1) ?? '';
  const struct = structOf(component);
  return { goName: `${version}.${kind}`, schema: struct.fields.size === 0 ? undefined : struct };
}

function indexKinds(): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const [component, schema] of Object.entries(components())) {
    const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
    if (!Array.isArray(kinds)) continue;
    for (const item of kinds) {
      if (!isJsonObject(item)) continue;
      const [group, version, kind] = [item['group'], item['version'], item['kind']].map(String);
      index.set(`${group === '' ? '' : `${group ?? ''}/`}${version ?? ''} ${kind ?? ''}`, component);
    }
  }
  return index;
}
