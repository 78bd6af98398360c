import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject, setOwn, stringifyCanonical } from '../../codec/json.ts';
import { objectMeta } from './builtInTypes.ts';
import { DecodeError, normalize } from './normalize.ts';
import type { Schema, StructSchema } from './schema.ts';

/** A custom resource after pruning; `dropped` are the paths of unknown fields in the server's order. */
export interface Coerced {
  readonly object: JsonObject;
  readonly dropped: readonly string[];
}

/**
 * Prunes a custom resource: unknown fields go (unless its schema preserves them), nulls go where null is no value and no
 * default takes their place, metadata take the form of ObjectMeta. Types are not checked here; validation does.
 * @throws DecodeError where metadata are of a wrong type
 */
export function coerceCustom(schema: StructSchema, given: JsonObject): Coerced {
  const dropped: Dropped = { fields: [], metadata: [] };
  const own: Dropped = { fields: [], metadata: [] };
  const object = prune(schema, given, '', dropped);
  const result = isJsonObject(object) ? object : {};
  result['metadata'] = coerceMetadata(given['metadata'] ?? {}, 'metadata', own);
  return { object: result, dropped: [...own.metadata, ...dropped.fields.sort(), ...dropped.metadata] };
}

/** Unknown fields by where they were: in metadata of embedded objects, which are read apart, or elsewhere. */
interface Dropped {
  readonly fields: string[];
  readonly metadata: string[];
}

function prune(schema: Schema, value: Json, path: string, dropped: Dropped): Json {
  if (schema.type === 'list' && Array.isArray(value)) {
    return value.map((item, index) => prune(schema.items, item, `${path}[${index}]`, dropped));
  }
  if (!isJsonObject(value)) return cloneJson(value);
  if (schema.type === 'map') {
    const out: JsonObject = {};
    for (const [key, item] of Object.entries(value))
      if (item !== null || isNullable(schema.values))
        setOwn(out, key, prune(schema.values, item, at(path, key), dropped));
    return out;
  }
  return schema.type === 'struct' ? pruneStruct(schema, value, path, dropped) : cloneJson(value);
}

function pruneStruct(schema: StructSchema, value: JsonObject, path: string, dropped: Dropped): JsonObject {
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const field = schema.fields.get(key);
    const isMetadata = key === 'metadata' && (path === '' || schema.embedded);
    if (isMetadata) {
      if (path !== '') out['metadata'] = coerceEmbedded(item, at(path, key), dropped);
    } else if (field === undefined) {
      if (schema.unknown === 'keep') setOwn(out, key, cloneJson(item));
      else dropped.fields.push(at(path, key));
    } else if (item !== null || isNullable(field.schema) || field.default !== undefined) {
      setOwn(out, key, prune(field.schema, item, at(path, key), dropped));
    }
  }
  return out;
}

function at(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function isNullable(schema: Schema): boolean {
  return schema.type === 'any' || schema.nullable === true;
}

/** Metadata of an embedded object are refused with their place and value. */
function coerceEmbedded(value: Json, path: string, dropped: Dropped): Json {
  try {
    return coerceMetadata(value, path, dropped);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`${path}: Invalid value: ${stringifyCanonical(value)}: ${error.message}`);
  }
}

function coerceMetadata(value: Json, path: string, dropped: Dropped): Json {
  if (value === null) return {};
  if (!isJsonObject(value)) {
    const name = Array.isArray(value)
      ? 'array'
      : typeof value === 'string'
        ? 'string'
        : typeof value === 'boolean'
          ? 'bool'
          : 'number';
    throw new DecodeError(`json: cannot unmarshal ${name} into Go value of type v1.ObjectMeta`);
  }
  const meta = objectMeta();
  for (const key of Object.keys(value)) if (!meta.fields.has(key)) dropped.metadata.push(at(path, key));
  return normalize(meta, value);
}

/** Fills in the declared defaults of a custom resource, in place: for absent fields, and for nulls where null is no value. */
export function applyStructuralDefaults(schema: Schema, value: Json): void {
  if (schema.type === 'list' && Array.isArray(value)) {
    for (const item of value) applyStructuralDefaults(schema.items, item);
  } else if (schema.type === 'map' && isJsonObject(value)) {
    for (const item of Object.values(value)) applyStructuralDefaults(schema.values, item);
  } else if (schema.type === 'struct' && schema.goName === '' && isJsonObject(value)) {
    for (const field of schema.fields.values()) {
      const current = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
      const isOpen = current === undefined || (current === null && !isNullable(field.schema));
      if (isOpen && field.default !== undefined) setOwn(value, field.name, cloneJson(field.default));
      const filled = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
      if (filled !== undefined) applyStructuralDefaults(field.schema, filled);
    }
  }
}
