import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject, stringifyJson } from '../../codec/json.ts';
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
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/**
 * Validates a custom resource against its CRD's schema, in the words of the API server.
 * Source: the validation section of the CustomResourceDefinition page of the Kubernetes documentation.
 */
export function schemaErrors(openApi: JsonObject, object: JsonObject): FieldError[] {
  const errors = Object.entries(propertiesOf(openApi))
    .filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name))
    .flatMap(([name, schema]) =>
      Object.hasOwn(object, name) && isJsonObject(schema) ? valueErrors(schema, object[name] ?? null, name) : [],
    );
  errors.unshift(...requiredErrors(openApi, object, ''), ...combinationErrors(openApi, object, ''));
  const isRuled = errors.length > 0 && hasRules(openApi);
  return isRuled
    ? [...errors, { reason: 'FieldValueInvalid', field: NOWHERE, message: `Invalid value: null: ${NOT_CHECKED}` }]
    : errors;
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema['properties']) ? schema['properties'] : {};
}

function hasRules(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  if (!isJsonObject(schema)) return false;
  return schema['x-kubernetes-validations'] !== undefined || Object.values(schema).some(hasRules);
}

/** What is wrong with a value at a path, by its schema. */
export function valueErrors(schema: JsonObject, value: Json, path: string): FieldError[] {
  if (value === null && schema['nullable'] === true) return [];
  const wrongType = typeError(schema, value, path);
  if (wrongType !== undefined) {
    const refused = value === null ? [] : enumErrors(schema, value, path);
    const isFormatted = schema['format'] !== undefined;
    const fraction = rangeErrors(schema, value, path);
    return isFormatted ? [...fraction, wrongType, ...refused] : [wrongType, ...refused, ...fraction];
  }
  const own = [...enumErrors(schema, value, path), ...combinationErrors(schema, value, path)];
  if (typeof value === 'number' || typeof value === 'bigint')
    return [...rangeErrors(schema, value, path), ...own, ...numberErrors(schema, Number(value), path)];
  if (typeof value === 'string') return [...own, ...textErrors(schema, value, path)];
  if (Array.isArray(value)) return [...own, ...listErrors(schema, value, path)];
  return isJsonObject(value) ? [...own, ...objectErrors(schema, value, path)] : own;
}

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
    format in FORMATS &&
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

const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/**
 * A number that does not fit into the integer wanted, if the schema has a format or limits: said besides its wrong type.
 */
function rangeErrors(schema: JsonObject, value: Json, path: string): FieldError[] {
  const { format } = schema;
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
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
}

function enumErrors(schema: JsonObject, value: Json, path: string): FieldError[] {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed) || allowed.some((item) => equalJson(item, value))) return [];
  if (allowed.every((item) => typeof item === 'string')) return [notSupported(path, value, allowed)];
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

const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  uri: /^([A-Za-z][-A-Za-z0-9+.]*:|\/)[^\s]*$/,
  duration:
    /^(-?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+|0|\d+ ?(ns|us|ms|s|m|h|d|w|(nano|micro|milli)s(ecs?|econds?)?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|wks?|weeks?))$/i,
  uuid: /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/,
  email: /^[^@\s]+@[^@\s]+$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  hostname: /^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$/,
  byte: /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
};

function hasFormat(format: string, value: string): boolean {
  return FORMATS[format]?.test(value) ?? true;
}

function listErrors(schema: JsonObject, list: readonly Json[], path: string): FieldError[] {
  const { minItems, maxItems, items } = schema;
  const errors = isJsonObject(items)
    ? list.flatMap((item, index) => valueErrors(items, item, `${path}[${index}]`))
    : [];
  if (typeof minItems === 'number' && list.length < minItems)
    errors.push(invalidValue(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (typeof maxItems === 'number' && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  return [...errors, ...duplicateErrors(schema, list, path)];
}

/** Items of sets and keyed lists must be told apart. */
function duplicateErrors(schema: JsonObject, list: readonly Json[], path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = Array.isArray(schema['x-kubernetes-list-map-keys'])
    ? schema['x-kubernetes-list-map-keys'].map(String).sort()
    : [];
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const identity = type === 'map' && isJsonObject(item) ? pick(item, keys) : item;
    const text = stringifyJson(identity);
    if (type === 'map' && text === '{}') return [];
    const isDouble = seen.has(text);
    seen.add(text);
    return isDouble ? [duplicateValue(`${path}[${index}]`, identity)] : [];
  });
}

function pick(item: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const key of keys) if (item[key] !== undefined) picked[key] = item[key];
  return picked;
}

function objectErrors(schema: JsonObject, value: JsonObject, path: string): FieldError[] {
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
    if (below !== undefined) errors.push(...valueErrors(below, item, `${path}.${name}`));
  }
  errors.push(...requiredErrors(schema, value, path));
  if (typeof minProperties === 'number' && count < minProperties)
    errors.push(invalidValue(path, count, `${path} in body should have at least ${minProperties} properties`));
  if (typeof maxProperties === 'number' && count > maxProperties) errors.push(tooMany(path, count, maxProperties));
  if (schema['x-kubernetes-embedded-resource'] === true) {
    for (const name of ['apiVersion', 'kind'])
      if (typeof value[name] !== 'string' || value[name] === '') errors.push(required(`${path}.${name}`));
  }
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
    errors.push(...best(any));
  }
  if (one !== undefined) {
    const valid = one.filter((found) => found.length === 0).length;
    if (valid !== 1)
      say(
        `must validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`,
      );
    if (valid === 0) errors.push(...best(one));
  }
  const failing = all?.flat() ?? [];
  if (failing.length > 0) {
    errors.push(...failing);
    say('must validate all the schemas (allOf)');
  }
  if (isJsonObject(schema['not']) && valueErrors(schema['not'], value, path).length === 0)
    say('must not validate the schema (not)');
  return errors;
}

function best(results: readonly FieldError[][]): FieldError[] {
  return [...results].sort((a, b) => a.length - b.length)[0] ?? [];
}
