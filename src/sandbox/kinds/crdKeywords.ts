import { stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { objectAt, textAt, textsAt } from './access.ts';
import { fieldAt } from './schemaPath.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META = ['metadata', 'kind', 'apiVersion'];
const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_TYPE = 'x-kubernetes-map-type';
const KEYS = 'x-kubernetes-list-map-keys';
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** Where in a schema keywords stand. */
interface Place {
  /** Why a default is forbidden here; undefined where it is allowed. */
  readonly noDefaults?: string;
  readonly insideMeta: boolean;
  readonly isRoot: boolean;
}

/**
 * The keywords of a definition's schema that are not supported, or not together. Source: apiextensions'
 * ValidateCustomResourceDefinitionOpenAPISchema.
 */
export function keywordErrors(
  schema: JsonObject,
  field: string,
  place: Place = { insideMeta: false, isRoot: true },
): FieldError[] {
  const inside = { ...place, isRoot: false };
  const { items, additionalProperties } = schema;
  const at = (part: Json | undefined, name: string, where: Place = inside): FieldError[] =>
    isJsonObject(part) ? keywordErrors(part, `${field}.${name}`, where) : [];
  const listed = ['allOf', 'oneOf', 'anyOf'].flatMap((name) => {
    const list = schema[name];
    return Array.isArray(list) ? list.flatMap((part, index) => at(part, `${name}[${index}]`)) : [];
  });
  const open = place.insideMeta
    ? { ...inside, noDefaults: 'inside additionalProperties applying to object metadata' }
    : inside;
  return [
    ...supportErrors(schema, field, place),
    ...(schema['uniqueItems'] === true
      ? [
          forbiddenField(
            `${field}.uniqueItems`,
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...(additionalProperties !== undefined &&
    additionalProperties !== true &&
    Object.keys(objectAt(schema, 'properties')).length > 0
      ? [forbiddenField(`${field}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')]
      : []),
    ...at(additionalProperties, 'additionalProperties', open),
    ...Object.entries(objectAt(schema, 'properties')).flatMap(([name, part]) =>
      at(part, `properties[${name}]`, propertyPlace(schema, name, place)),
    ),
    ...at(schema['not'], 'not'),
    ...listed,
    ...at(items, 'items'),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalidValue(`${field}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...mapTypeErrors(schema, field),
    ...listTypeErrors(schema, field),
    ...listKeyErrors(schema, field),
    ...mergeableErrors(schema, field),
    ...ruleErrors(schema, field),
  ];
}

function propertyPlace(schema: JsonObject, name: string, place: Place): Place {
  const isMeta = (place.isRoot || schema['x-kubernetes-embedded-resource'] === true) && META.includes(name);
  return {
    ...place,
    isRoot: false,
    ...(isMeta ? { insideMeta: true } : {}),
    ...(isMeta && place.isRoot ? { noDefaults: `in top-level ${name}` } : {}),
  };
}

function supportErrors(schema: JsonObject, field: string, place: Place): FieldError[] {
  const type = textAt(schema, 'type');
  const errors: FieldError[] = [];
  if (type !== '' && !TYPES.includes(type)) errors.push(notSupported(`${field}.type`, type, TYPES));
  if (schema['default'] !== undefined && place.noDefaults !== undefined)
    errors.push(forbiddenField(`${field}.default`, `must not be set ${place.noDefaults}`));
  for (const name of UNSUPPORTED) {
    const value = schema[name];
    const isNothing = value === undefined || value === '' || (isJsonObject(value) && Object.keys(value).length === 0);
    if (!isNothing) errors.push(forbiddenField(`${field}.${name}`, `${name} is not supported`));
  }
  if (type === 'null')
    errors.push(forbiddenField(`${field}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (Array.isArray(schema['items']))
    errors.push(forbiddenField(`${field}.items`, 'items must be a schema object and not an array'));
  if (place.insideMeta && schema['x-kubernetes-embedded-resource'] === true)
    errors.push(forbiddenField(`${field}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  return errors;
}

function wrongType(schema: JsonObject, field: string, wanted: string, why: string): FieldError[] {
  const type = textAt(schema, 'type');
  if (type === wanted) return [];
  return [type === '' ? required(`${field}.type`, why) : invalidValue(`${field}.type`, type, why)];
}

function mapTypeErrors(schema: JsonObject, field: string): FieldError[] {
  const mapType = schema[MAP_TYPE];
  if (typeof mapType !== 'string') return [];
  return [
    ...wrongType(schema, field, 'object', `must be object if ${MAP_TYPE} is specified`),
    ...(['atomic', 'granular'].includes(mapType)
      ? []
      : [notSupported(`${field}.${MAP_TYPE}`, mapType, ['atomic', 'granular'])]),
  ];
}

function listTypeErrors(schema: JsonObject, field: string): FieldError[] {
  const listType = schema[LIST_TYPE];
  if (typeof listType !== 'string') return [];
  const errors = wrongType(schema, field, 'array', `must be array if ${LIST_TYPE} is specified`);
  const { items } = schema;
  if (errors.length === 0 && listType === 'set' && isJsonObject(items)) {
    const why = `must be atomic as item of a list with ${LIST_TYPE}=set`;
    const shown = items[LIST_TYPE] ?? null;
    if (textAt(items, 'type') === 'array' && shown !== null && shown !== 'atomic')
      errors.push(invalidValue(`${field}.items.${LIST_TYPE}`, shown, why));
    if (textAt(items, 'type') === 'object' && items[MAP_TYPE] !== 'atomic')
      errors.push({
        reason: 'FieldValueInvalid',
        field: `${field}.items.${MAP_TYPE}`,
        message: `Invalid value: ${stringifyJson(shown)}: ${why}`,
      });
  }
  if (!['atomic', 'set', 'map'].includes(listType))
    errors.push(notSupported(`${field}.${LIST_TYPE}`, listType, ['atomic', 'set', 'map']));
  return errors;
}

function listKeyErrors(schema: JsonObject, field: string): FieldError[] {
  const listType = schema[LIST_TYPE];
  const keys = textsAt(schema, KEYS);
  const errors: FieldError[] = [];
  if (keys.length > 0 && listType !== 'map') {
    const why = `must be map if ${KEYS} is non-empty`;
    const place = `${field}.${LIST_TYPE}`;
    errors.push(listType === undefined ? required(place, why) : invalidValue(place, listType, why));
  }
  if (listType !== 'map') return errors;
  if (keys.length === 0) errors.push(required(`${field}.${KEYS}`, `must not be empty if ${LIST_TYPE} is map`));
  const { items } = schema;
  if (items === undefined) errors.push(required(`${field}.items`, `must have a schema if ${LIST_TYPE} is map`));
  if (!isJsonObject(items)) return errors;
  const type = textAt(items, 'type');
  if (type !== 'object')
    return [
      ...errors,
      invalidValue(`${field}.items.type`, type, `must be object if parent array's ${LIST_TYPE} is map`),
    ];
  const properties = objectAt(items, 'properties');
  for (const [index, key] of keys.entries()) {
    const property = properties[key];
    if (!isJsonObject(property))
      errors.push(invalidValue(`${field}.${KEYS}`, keys, 'entries must all be names of item properties'));
    else if (['array', 'object'].includes(textAt(property, 'type'))) {
      const why = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
      errors.push(invalidValue(`${field}.items.properties[${key}].type`, type, why));
    }
    if (keys.indexOf(key) < index)
      errors.push(invalidValue(`${field}.${KEYS}`, keys, 'must not contain duplicate entries'));
  }
  return errors;
}

/** Items that are told apart must be there, and their keys too. */
function mergeableErrors(schema: JsonObject, field: string): FieldError[] {
  const listType = schema[LIST_TYPE];
  const { items } = schema;
  if (!isJsonObject(items) || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items['nullable'] === true)
    errors.push(forbiddenField(`${field}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${listType}`));
  if (listType === 'set') return errors;
  for (const key of textsAt(schema, KEYS)) {
    const property = objectAt(items, 'properties')[key];
    if (!isJsonObject(property)) continue;
    const place = `${field}.items.properties[${key}]`;
    if (!textsAt(items, 'required').includes(key) && property['default'] === undefined) {
      const why = `this property is in ${KEYS}, so it must have a default or be a required property`;
      errors.push(required(`${place}.default`, why));
    }
    if (property['nullable'] === true)
      errors.push(forbiddenField(`${place}.nullable`, `this property is in ${KEYS}, so it cannot be nullable`));
  }
  return errors;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** The form of the rules in CEL; what they say is another matter. */
function ruleErrors(schema: JsonObject, field: string): FieldError[] {
  const rules = schema['x-kubernetes-validations'];
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule, index) =>
    isJsonObject(rule) ? ruleFormErrors(rule, schema, `${field}.x-kubernetes-validations[${index}]`) : [],
  );
}

function ruleFormErrors(rule: JsonObject, schema: JsonObject, place: string): FieldError[] {
  const [text, message, path] = [textAt(rule, 'rule'), textAt(rule, 'message'), textAt(rule, 'fieldPath')];
  const breaks = /[\n\r]/;
  const errors: FieldError[] = [];
  if (text.trim() === '') errors.push(required(`${place}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '')
    errors.push(invalidValue(`${place}.message`, message, 'must be non-empty if specified'));
  else if (breaks.test(message.trim()))
    errors.push(invalidValue(`${place}.message`, message, 'must not contain line breaks'));
  else if (breaks.test(text.trim()) && message.trim() === '')
    errors.push(required(`${place}.message`, 'message must be specified if rule contains line breaks'));
  const expression = textAt(rule, 'messageExpression');
  if (expression !== '' && expression.trim() === '')
    errors.push(required(`${place}.messageExpression`, 'messageExpression must be non-empty if specified'));
  if (rule['reason'] !== undefined && !REASONS.includes(textAt(rule, 'reason')))
    errors.push(notSupported(`${place}.reason`, rule['reason'], REASONS));
  if (path !== '' && path.trim() === '')
    errors.push(invalidValue(`${place}.fieldPath`, path, 'must be non-empty if specified'));
  if (breaks.test(path)) errors.push(invalidValue(`${place}.fieldPath`, path, 'must not contain line breaks'));
  if (path !== '' && typeof fieldAt(schema, path) === 'string')
    errors.push(invalidValue(`${place}.fieldPath`, path, 'must be a valid path'));
  return errors;
}
