import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { loadData } from '../data/data.ts';
import type { Field, ListTypeSchema, ScalarSchema, Schema, StructSchema } from './schema.ts';
import { plainText } from './plainText.ts';

const REF = '#/components/schemas/';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** What Go's types say of a field beyond OpenAPI: its type as errors print it, and how it is printed when empty. */
interface GoField {
  readonly type: string;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly embedded: string;
}

/** Scalars that are structs in Go, which `omitempty` never leaves out. */
const STRUCT_SCALARS = new Set(['v1.Time', 'v1.MicroTime', 'resource.Quantity', 'intstr.IntOrString']);

const structs = new Map<string, StructSchema>();

/** The OpenAPI schemas of all built-in types, by their component names. */
export function components(): JsonObject {
  return loadData('components.json')['schemas'] as JsonObject;
}

/**
 * The struct of an OpenAPI component of the built-in kinds, such as `io.k8s.api.core.v1.Pod`. Types refer to each other
 * (a CRD's schema to itself), so fields are built when they are first asked for.
 */
export function structOf(component: string): StructSchema {
  const known = structs.get(component);
  if (known !== undefined) return known;
  const openApi = objectAt(components(), component);
  const go = objectAt(objectAt(loadData('goTypes.json'), 'types'), component);
  let fields: ReadonlyMap<string, Field> | undefined;
  const struct: StructSchema = {
    type: 'struct',
    goName: plainText(go['go'] ?? ''),
    get fields() {
      fields ??= buildFields(openApi, go);
      return fields;
    },
    atomic: openApi['x-kubernetes-map-type'] === 'atomic',
    unknown: 'drop',
    embedded: false,
  };
  structs.set(component, struct);
  return struct;
}

/** The metadata of every object, which custom resources share. */
export function objectMeta(): StructSchema {
  return structOf(`${META}.ObjectMeta`);
}

function objectAt(of: JsonObject, key: string): JsonObject {
  const value = of[key];
  return isJsonObject(value) ? value : {};
}

function buildFields(openApi: JsonObject, go: JsonObject): ReadonlyMap<string, Field> {
  const properties = objectAt(openApi, 'properties');
  const fields = new Map<string, Field>();
  for (const [name, goField] of goFieldsOf(go)) {
    fields.set(name, buildField(name, objectAt(properties, name), goField));
  }
  return fields;
}

function* goFieldsOf(go: JsonObject): Generator<[string, GoField]> {
  const list = go['fields'];
  if (!Array.isArray(list)) return;
  for (const item of list) {
    if (!Array.isArray(item)) continue;
    const [name, type, flags, embedded = ''] = item.map(String);
    if (name === undefined || type === undefined || flags === undefined) continue;
    const pointer = flags.includes('p');
    yield [
      name,
      {
        type,
        pointer,
        omitEmpty: !pointer && STRUCT_SCALARS.has(type) ? flags.includes('z') : /[ez]/.test(flags),
        embedded,
      },
    ];
  }
}

function buildField(name: string, property: JsonObject, go: GoField): Field {
  const strategies = property['x-kubernetes-patch-strategy'];
  const mergeKey = property['x-kubernetes-patch-merge-key'];
  const fallback = property['default'];
  return {
    name,
    schema: buildSchema(property, go.type),
    omitEmpty: go.omitEmpty,
    pointer: go.pointer,
    ...(go.embedded === '' ? {} : { embedded: go.embedded }),
    patchStrategies: typeof strategies === 'string' ? strategies.split(',') : [],
    ...(typeof mergeKey === 'string' ? { patchMergeKey: mergeKey } : {}),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

function buildSchema(property: JsonObject, goType: string): Schema {
  const reference = referenceOf(property);
  const special = specialScalar(goType);
  if (special !== undefined) return special;
  if (reference !== undefined) {
    const target = objectAt(components(), reference);
    if (target['type'] !== 'object') return { type: 'any', atomic: false };
    if (!isJsonObject(target['properties'])) return { type: 'any', atomic: reference.endsWith('.RawExtension') };
    const struct = structOf(reference);
    const declared = property['x-kubernetes-map-type'];
    return typeof declared === 'string' ? withAtomic(struct, declared === 'atomic') : struct;
  }
  if (property['type'] === 'array') return buildList(property, goType);
  if (property['type'] === 'object') {
    const values = objectAt(property, 'additionalProperties');
    return {
      type: 'map',
      values: buildSchema(values, valueType(goType, values)),
      atomic: property['x-kubernetes-map-type'] === 'atomic',
      goType,
    };
  }
  return buildScalar(property, goType);
}

/** A field may declare otherwise than its type: a reference is atomic, but not a volume's reference to its claim. */
function withAtomic(struct: StructSchema, atomic: boolean): StructSchema {
  return Object.create(struct, { atomic: { value: atomic, enumerable: true } }) as StructSchema;
}

function referenceOf(property: JsonObject): string | undefined {
  const allOf = property['allOf'];
  const holder = Array.isArray(allOf) && isJsonObject(allOf[0]) ? allOf[0] : property;
  const reference = holder['$ref'];
  return typeof reference === 'string' ? reference.slice(REF.length) : undefined;
}

function specialScalar(goType: string): ScalarSchema | undefined {
  const scalar = (json: ScalarSchema['json'], format: ScalarSchema['format']): ScalarSchema => ({
    type: 'scalar',
    json,
    goType,
    format,
  });
  switch (goType) {
    case 'resource.Quantity':
      return scalar('string', 'quantity');
    case 'intstr.IntOrString':
      return scalar('string', 'int-or-string');
    case 'v1.Time':
      return scalar('string', 'time');
    case 'v1.MicroTime':
      return scalar('string', 'micro-time');
    case '[]uint8':
      return scalar('string', 'bytes');
    default:
      return undefined;
  }
}

function buildList(property: JsonObject, goType: string): ListTypeSchema {
  const items = buildSchema(objectAt(property, 'items'), goType.startsWith('[]') ? goType.slice(2) : goType);
  const declared = property['x-kubernetes-list-type'];
  const keys = property['x-kubernetes-list-map-keys'];
  const mergeKey = property['x-kubernetes-patch-merge-key'];
  const strategy = property['x-kubernetes-patch-strategy'];
  if (declared === 'set') return { type: 'list', items, merge: 'set', keys: [], goType };
  if (declared === 'map') return { type: 'list', items, merge: 'map', keys: textList(keys), goType };
  if (declared === undefined && typeof strategy === 'string' && strategy.startsWith('merge')) {
    return typeof mergeKey === 'string'
      ? { type: 'list', items, merge: 'map', keys: [mergeKey], goType }
      : { type: 'list', items, merge: 'set', keys: [], goType };
  }
  return { type: 'list', items, merge: 'atomic', keys: [], goType };
}

function textList(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The Go type of a map's values: `map[string]string` says it, a named map such as `v1.ResourceList` is known by its use. */
function valueType(goType: string, values: JsonObject): string {
  const spelled = /^map\[[^\]]+\](.*)$/.exec(goType)?.[1];
  if (spelled !== undefined) return spelled;
  const reference = referenceOf(values) ?? '';
  if (reference.endsWith('.Quantity')) return 'resource.Quantity';
  return reference === '' ? plainText(values['type'] ?? '') : `v1.${reference.split('.').at(-1) ?? ''}`;
}

function buildScalar(property: JsonObject, goType: string): ScalarSchema {
  const json = property['type'];
  const format = property['format'];
  const base = goType.replace(/=string$/, '');
  if (json === 'integer') return { type: 'scalar', json, goType: base, format: format === 'int64' ? 'int64' : 'int32' };
  if (json === 'number' || json === 'boolean') return { type: 'scalar', json, goType: base, format: 'plain' };
  return { type: 'scalar', json: 'string', goType: base, format: format === 'byte' ? 'bytes' : 'plain' };
}
