import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { objectMeta } from './builtInTypes.ts';
import type { Field, ListTypeSchema, ScalarSchema, Schema, StructSchema } from './schema.ts';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const EMBEDDED = 'x-kubernetes-embedded-resource';
const INT_OR_STRING = 'x-kubernetes-int-or-string';
const TEXT: ScalarSchema = { type: 'scalar', json: 'string', goType: 'string', format: 'plain' };

/**
 * The schema of a custom resource from its CRD's `openAPIV3Schema`: the same model as built-in kinds have, in which every
 * field is optional and may be told apart from its zero value.
 * Source: the structural schemas section of the CustomResourceDefinition page of the Kubernetes documentation.
 */
export function structuralSchema(openApi: JsonObject): StructSchema {
  const root = buildStruct(openApi, false);
  const fields = new Map(root.fields);
  addObjectFields(fields);
  return { ...root, fields, embedded: false };
}

function addObjectFields(fields: Map<string, Field>): void {
  fields.set('apiVersion', plainField('apiVersion', TEXT));
  fields.set('kind', plainField('kind', TEXT));
  fields.set('metadata', plainField('metadata', objectMeta()));
}

function plainField(name: string, schema: Schema, fallback?: Json): Field {
  return {
    name,
    schema,
    omitEmpty: true,
    pointer: true,
    patchStrategies: [],
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

/** `open`: below a part that preserves unknown fields. */
function build(openApi: JsonObject, open: boolean): Schema {
  const schema = buildType(openApi, open);
  return openApi['nullable'] === true ? { ...schema, nullable: true } : schema;
}

function buildType(openApi: JsonObject, open: boolean): Schema {
  if (openApi[INT_OR_STRING] === true) return { ...TEXT, format: 'int-or-string' };
  const type = typeof openApi['type'] === 'string' ? openApi['type'] : '';
  switch (type) {
    case 'object':
      return buildObject(openApi, open);
    case 'array':
      return buildList(openApi, open);
    case 'integer':
      return scalar('integer', 'int64');
    case 'number':
      return scalar('number', 'plain');
    case 'boolean':
      return scalar('boolean', 'plain');
    case 'string':
      return scalar('string', openApi['format'] === 'date-time' ? 'time' : 'plain');
    default:
      return { type: 'any', atomic: false };
  }
}

function scalar(json: ScalarSchema['json'], format: ScalarSchema['format']): ScalarSchema {
  return { type: 'scalar', json, goType: json, format };
}

function buildObject(openApi: JsonObject, open: boolean): Schema {
  const values = openApi['additionalProperties'];
  const isAtomic = openApi['x-kubernetes-map-type'] === 'atomic';
  if (isJsonObject(values)) return { type: 'map', values: build(values, open), atomic: isAtomic, goType: '' };
  if (values === true) return { type: 'map', values: { type: 'any', atomic: false }, atomic: isAtomic, goType: '' };
  return buildStruct(openApi, open);
}

function buildStruct(openApi: JsonObject, open: boolean): StructSchema {
  const properties = isJsonObject(openApi['properties']) ? openApi['properties'] : {};
  const keeps = openApi[PRESERVE] === true;
  const fields = new Map<string, Field>();
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property)) fields.set(name, plainField(name, build(property, open || keeps), property['default']));
  }
  const embedded = openApi[EMBEDDED] === true;
  if (embedded) addObjectFields(fields);
  return {
    type: 'struct',
    goName: '',
    fields,
    atomic: openApi['x-kubernetes-map-type'] === 'atomic',
    unknown: keeps ? 'keep' : open ? 'type-and-drop' : 'drop',
    embedded,
  };
}

function buildList(openApi: JsonObject, open: boolean): ListTypeSchema {
  const items = isJsonObject(openApi['items'])
    ? build(openApi['items'], open)
    : ({ type: 'any', atomic: false } as const);
  const declared = openApi['x-kubernetes-list-type'];
  const keys = openApi['x-kubernetes-list-map-keys'];
  const merge = declared === 'set' || declared === 'map' ? declared : 'atomic';
  return { type: 'list', items, merge, keys: Array.isArray(keys) ? keys.map(String) : [], goType: '' };
}
