import type { Json } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import type { AnySchema, ListTypeSchema, MapSchema, Schema, StructSchema } from '../schema/schema.ts';
import { fieldName, type Element } from './element.ts';

/** A value's shape for comparing and merging: with declared or free keys, a list, or one leaf. */
export type Shape =
  | { readonly kind: 'keyed'; readonly schema: StructSchema | MapSchema | AnySchema; readonly atomic: boolean }
  | { readonly kind: 'list'; readonly schema: ListTypeSchema; readonly atomic: boolean }
  | { readonly kind: 'leaf' };

const DEDUCED: AnySchema = { type: 'any', atomic: false };
const ATOMIC: AnySchema = { type: 'any', atomic: true };
const ATOMIC_LIST: ListTypeSchema = { type: 'list', items: ATOMIC, merge: 'atomic', keys: [], goType: '' };

/**
 * The shape that a schema gives a value. Where nothing is declared, the value decides: objects are granular, lists atomic.
 * An absent or null value of undeclared shape counts as an object.
 */
export function shapeOf(schema: Schema, value: Json | undefined): Shape {
  switch (schema.type) {
    case 'struct':
    case 'map':
      return { kind: 'keyed', schema, atomic: schema.atomic };
    case 'list':
      return { kind: 'list', schema, atomic: schema.merge === 'atomic' };
    case 'scalar':
      return { kind: 'leaf' };
    case 'any':
      if (Array.isArray(value)) return { kind: 'list', schema: ATOMIC_LIST, atomic: true };
      if (value === undefined || value === null || isJsonObject(value))
        return { kind: 'keyed', schema, atomic: schema.atomic };
      return { kind: 'leaf' };
  }
}

/** The schema of what a field, key or item step leads to; undefined where no such field is declared. */
export function childSchema(schema: Schema, element: Element): Schema | undefined {
  const name = fieldName(element);
  if (name === undefined) return schema.type === 'list' ? schema.items : undefined;
  return fieldSchema(schema, name);
}

/** The schema of a field or of a map's values; undefined where no such field is declared. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  switch (schema.type) {
    case 'struct':
      return schema.fields.get(name)?.schema ?? (schema.unknown === 'drop' ? undefined : DEDUCED);
    case 'map':
      return schema.values;
    case 'any':
      return schema.atomic ? ATOMIC : DEDUCED;
    case 'list':
    case 'scalar':
      return undefined;
  }
}

/** Whether a field is declared by name, rather than being a key of a map. */
export function isNamedField(schema: Schema, name: string): boolean {
  return schema.type === 'struct' && schema.fields.has(name);
}
