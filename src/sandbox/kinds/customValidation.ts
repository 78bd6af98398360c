import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject, stringifyJson } from '../../codec/json.ts';
import { hasFormat, isKnownFormat } from './stringFormats.ts';
import {
  duplicateValue,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type FieldError,
} from '../status.ts';

/** Where schema errors show that belong to no one field. */
const NOWHERE = '<nil>';
/**
 * Validates a custom resource against its CRD's schema, in the words of the API server. An update may keep what an
 * older schema let in: values that are as they were (`live`) are not judged again.
 * Source: the validation section of the CustomResourceDefinition page of the Kubernetes documentation.
 */
export function schemaErrors(openApi: JsonObject, object: JsonObject, live?: JsonObject): FieldError[] {
  const errors = Object.entries(propertiesOf(openApi))
    .filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name))
    .flatMap(([name, schema]) =>
      Object.hasOwn(object, name) && isJsonObject(schema)
        ? valueErrors(schema, object[name] ?? null, name, live?.[name])
        : [],
    );
  errors.unshift(...requiredErrors(openApi, object, ''), ...combinationErrors(openApi, object, ''));
  return errors;
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema['properties']) ? schema['properties'] : {};
}

/** What is wrong with a value at a path, by its schema. `before` is the value that it replaces: one that is equal stays. */
export function valueErrors(schema: JsonObject, value: Json, path: string, before?: Json): FieldError[] {
  if (before !== undefined && equalJson(value, before)) return [];
  if (value === null && schema['nullable'] === true) return [];
  const wrongType = typeError(schema, value, path);
  if (wrongType !== undefined) {
    const refused = enumErrors(schema, value, path);
    const isFormatted = schema['format'] !== undefined;
    const fraction = rangeErrors(schema, value, path);
    const limits = isNumeric(schema) && typeof value === 'number' ? numberErrors(schema, value, path) : [];
    return isFormatted
      ? [...fraction, wrongType, ...refused, ...limits]
      : [wrongType, ...refused, ...fraction, ...limits];
  }
  const own = [...enumErrors(schema, value, path), ...combinationErrors(schema, value, path)];
  if (typeof value === 'number' || typeof value === 'bigint')
    return [...rangeErrors(schema, value, path), ...own, ...numberErrors(schema, Number(value), path)];
  if (typeof value === 'string') return [...own, ...textErrors(schema, value, path)];
  if (Array.isArray(value)) return [...own, ...listErrors(schema, value, path, before)];
  return isJsonObject(value) ? [...own, ...objectErrors(schema, value, path, before)] : own;
}

const isNumeric = (schema: JsonObject): boolean => schema['type'] === 'integer' || schema['type'] === 'number';

function typeError(schema: JsonObject, value: Json, path: string): FieldError | undefined {
  const wanted =
    schema['x-kubernetes-int-or-string'] === true
      ? ['integer', 'string']
      : typeof schema['type'] === 'string'
        ? [schema['type']]
        : [];
  const given = typeName(value);
  const format = schema['format'];
  if (
    schema['type'] === 'string' &&
    typeof format === 'string' &&
    isKnownFormat(format) &&
    typeof value !== 'string' &&
    typeof value !== 'object'
  ) {
    const goName = typeof value === 'boolean' ? 'bool' : given === 'integer' ? 'int64' : 'float64';
    return typeInvalid(path, goName, `${path} in body must be of type ${format}: ${JSON.stringify(goName)}`);
  }
  if (given === 'number' && schema['type'] === 'integer' && isIntegerFormat(format))
    return typeInvalid(path, 'float64', `${path} in body must be of type ${format}: "float64"`);
  if (wanted.length === 0 || wanted.includes(given) || (given === 'integer' && wanted.includes('number')))
    return undefined;
  return typeInvalid(path, given, `${path} in body must be of type ${wanted.join(',')}: ${JSON.stringify(given)}`);
}

function isIntegerFormat(format: Json | undefined): format is string {
  return format === 'int32' || format === 'int64';
}

const MAX_FLOAT = 3.4028234663852886e38;
const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/**
 * A number that does not fit into the integer wanted, if the schema has a format or limits: said besides its wrong type.
 */
function rangeErrors(schema: JsonObject, value: Json, path: string): FieldError[] {
  const { format } = schema;
  if (schema['type'] === 'number' && format === 'float' && Math.abs(Number(value)) > MAX_FLOAT)
    return [invalidValue(NOWHERE, '', `Checked value must be of type number with format float in ${path}`)];
  const isChecked =
    isIntegerFormat(format) || ['minimum', 'maximum', 'multipleOf'].some((name) => schema[name] !== undefined);
  if (schema['type'] !== 'integer' || !isChecked || (typeof value !== 'number' && typeof value !== 'bigint')) return [];
  const { min, max } = format === 'int32' ? INT32 : INT64;
  const fits = typeName(value) === 'integer' && BigInt(value) >= min && BigInt(value) <= max;
  const shown = isIntegerFormat(format) ? `with format ${format}` : '(default format)';
  return fits ? [] : [invalidValue(NOWHERE, '', `Checked value must be of type integer ${shown} in ${path}`)];
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return value >= INT64.min && value <= INT64.max ? 'integer' : 'number';
  return typeof value === 'number' ? (Number.isSafeInteger(value) ? 'integer' : 'number') : typeof value;
}

function enumErrors(schema: JsonObject, value: Json, path: string): FieldError[] {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed) || allowed.some((item) => equalJson(item, value))) return [];
  if (value !== null && allowed.every((item) => typeof item === 'string')) return [notSupported(path, value, allowed)];
  const shown = typeof value === 'string' ? JSON.stringify(value) : stringifyJson(value);
  const list = allowed.map((item) => JSON.stringify(typeof item === 'string' ? item : stringifyJson(item))).join(', ');
  return [
    {
      reason: 'FieldValueNotSupported',
      field: path,
      message: `Unsupported value: ${shown}: supported values: ${list}`,
    },
  ];
}

function numberErrors(schema: JsonObject, value: number, path: string): FieldError[] {
  const limit = (name: string): number | undefined =>
    typeof schema[name] === 'number' || typeof schema[name] === 'bigint' ? Number(schema[name]) : undefined;
  const [min, max, step] = [limit('minimum'), limit('maximum'), limit('multipleOf')];
  const errors: FieldError[] = [];
  const isWhole = Number.isInteger(value);
  if (step !== undefined && isWhole && Math.trunc(step) <= 0) {
    const why = `factor MultipleOf declared for ${path} must be positive: ${Math.trunc(step)}`;
    errors.push(invalidValue(path, Math.trunc(step), why));
  } else if (step !== undefined && !Number.isInteger(Number((value / step).toPrecision(12))))
    errors.push(invalidValue(path, value, `${path} in body should be a multiple of ${step}`));
  if (max !== undefined && schema['exclusiveMaximum'] === true ? value >= max : max !== undefined && value > max) {
    errors.push(
      invalidValue(
        path,
        value,
        `${path} in body should be less than ${schema['exclusiveMaximum'] === true ? '' : 'or equal to '}${max}`,
      ),
    );
  }
  if (min !== undefined && schema['exclusiveMinimum'] === true ? value <= min : min !== undefined && value < min) {
    errors.push(
      invalidValue(
        path,
        value,
        `${path} in body should be greater than ${schema['exclusiveMinimum'] === true ? '' : 'or equal to '}${min}`,
      ),
    );
  }
  return errors;
}

/** Of a text's length and pattern only the first fault is named; a wrong format besides. */
function textErrors(schema: JsonObject, value: string, path: string): FieldError[] {
  const { maxLength, minLength, pattern, format } = schema;
  const length = Array.from(value).length;
  const errors: FieldError[] = [];
  if (typeof format === 'string' && !hasFormat(format, value)) {
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  }
  if (typeof maxLength === 'number' && length > maxLength) return [...errors, tooLong(path, maxLength)];
  if (typeof minLength === 'number' && length < minLength)
    return [...errors, invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`)];
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value))
    return [...errors, invalidValue(path, value, `${path} in body should match '${pattern}'`)];
  return errors;
}

function listErrors(schema: JsonObject, list: readonly Json[], path: string, before: Json | undefined): FieldError[] {
  const { minItems, maxItems, items } = schema;
  const errors = isJsonObject(items)
    ? list.flatMap((item, index) => valueErrors(items, item, `${path}[${index}]`, sameItem(schema, item, before)))
    : [];
  if (typeof minItems === 'number' && list.length < minItems)
    errors.push(invalidValue(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (typeof maxItems === 'number' && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  return [...errors, ...duplicateErrors(schema, list, path)];
}

/** The item of a keyed list that another replaces; items of other lists cannot be told to be the same. */
export function sameItem(schema: JsonObject, item: Json, before: Json | undefined): Json | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !isJsonObject(item) || !Array.isArray(before)) return undefined;
  const keys = keysOf(schema);
  return before.find((other) => isJsonObject(other) && equalJson(pick(other, keys), pick(item, keys)));
}

function keysOf(schema: JsonObject): string[] {
  const keys = schema['x-kubernetes-list-map-keys'];
  return Array.isArray(keys) ? keys.map(String).sort() : [];
}

/** Items of sets and keyed lists must be told apart; each that is there more than once is named once. */
function duplicateErrors(schema: JsonObject, list: readonly Json[], path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = keysOf(schema);
  const seen = new Map<string, number>();
  return list.flatMap((item, index) => {
    const identity = type === 'map' && isJsonObject(item) ? pick(item, keys) : item;
    const text = stringifyJson(identity);
    if (type === 'map' && text === '{}') return [];
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [duplicateValue(`${path}[${index}]`, identity)] : [];
  });
}

function pick(item: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const key of keys) if (item[key] !== undefined) picked[key] = item[key];
  return picked;
}

function objectErrors(schema: JsonObject, value: JsonObject, path: string, before: Json | undefined): FieldError[] {
  const { minProperties, maxProperties, additionalProperties } = schema;
  const properties = propertiesOf(schema);
  const count = Object.keys(value).length;
  const errors: FieldError[] = [];
  for (const [name, item] of Object.entries(value)) {
    const property = properties[name];
    const below = isJsonObject(property)
      ? property
      : isJsonObject(additionalProperties)
        ? additionalProperties
        : undefined;
    if (below !== undefined)
      errors.push(...valueErrors(below, item, `${path}.${name}`, isJsonObject(before) ? before[name] : undefined));
  }
  errors.push(...requiredErrors(schema, value, path));
  if (typeof minProperties === 'number' && count < minProperties)
    errors.push(invalidValue(path, count, `${path} in body should have at least ${minProperties} properties`));
  if (typeof maxProperties === 'number' && count > maxProperties) errors.push(tooMany(path, count, maxProperties));
  return errors;
}

function requiredErrors(schema: JsonObject, value: JsonObject, path: string): FieldError[] {
  const names = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  return names
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => required(path === '' ? name : `${path}.${name}`));
}

/** allOf, anyOf, oneOf and not, which a structural schema may use to restrict values. */
function combinationErrors(schema: JsonObject, value: Json, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const say = (text: string): void => {
    errors.push(invalidValue(NOWHERE, '', `"${path}" ${text}`));
  };
  const results = (name: string): FieldError[][] | undefined => {
    const list = schema[name];
    return Array.isArray(list) ? list.filter(isJsonObject).map((item) => valueErrors(item, value, path)) : undefined;
  };
  const [any, one, all] = [results('anyOf'), results('oneOf'), results('allOf')];
  if (any !== undefined && any.every((found) => found.length > 0)) {
    say('must validate at least one schema (anyOf)');
    errors.push(...best(schema['anyOf'], any, value));
  }
  if (one !== undefined) {
    const valid = one.filter((found) => found.length === 0).length;
    if (valid !== 1)
      say(
        `must validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`,
      );
    if (valid === 0) errors.push(...best(schema['oneOf'], one, value));
  }
  const failing = all?.flat() ?? [];
  if (failing.length > 0) {
    errors.push(...failing);
    say(
      `must validate all the schemas (allOf)${all?.every((found) => found.length > 0) === true ? '. None validated' : ''}`,
    );
  }
  if (isJsonObject(schema['not']) && valueErrors(schema['not'], value, path).length === 0)
    say('must not validate the schema (not)');
  return errors;
}

/** Of alternatives that all fail, the errors of the one with the most that was looked at. */
function best(alternatives: Json | undefined, results: readonly FieldError[][], value: Json): FieldError[] {
  const counts = Array.isArray(alternatives)
    ? alternatives.filter(isJsonObject).map((schema) => checksOf(schema, value))
    : [];
  return results[counts.indexOf(Math.max(...counts))] ?? [];
}

/** How many parts of a value a schema speaks of. */
function checksOf(schema: JsonObject, value: Json): number {
  if (typeError(schema, value, '') !== undefined) return 0;
  const { items } = schema;
  const parts = isJsonObject(value)
    ? Object.entries(propertiesOf(schema)).map(([name, part]) =>
        isJsonObject(part) && Object.hasOwn(value, name) ? checksOf(part, value[name] ?? null) : 0,
      )
    : Array.isArray(value) && isJsonObject(items)
      ? value.map((item) => checksOf(items, item))
      : [];
  return parts.reduce((sum, count) => sum + count, 1);
}
