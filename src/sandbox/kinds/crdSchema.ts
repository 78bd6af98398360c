import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { goQuote } from '../goText.ts';
import { forbiddenField, invalidValue, required, type FieldError } from '../status.ts';
import { objectAt, textAt } from './access.ts';
import { ruleCompileErrors } from './celRules.ts';
import { valueErrors } from './customValidation.ts';
import { embeddedErrors, hasUnknownFields } from './embedded.ts';
import { keywordErrors } from './crdKeywords.ts';

type Level = 'root' | 'item' | 'field';

const NO_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};
const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }];
const JUNCTORS = ['anyOf', 'allOf', 'oneOf'] as const;

const PARTS = ['items', 'additionalProperties', 'not', ...JUNCTORS];

/**
 * What is wrong with the schema of a CustomResourceDefinition: it has to be structural, its defaults valid, and its
 * keywords those that are supported. Source: apiextensions' ValidateCustomResourceDefinitionOpenAPISchema.
 * @param field where the schema is
 */
export function definitionSchemaErrors(schema: JsonObject, field: string, hasStatus: boolean): FieldError[] {
  const keywords = keywordErrors(schema, field);
  if (isBeyondStructure(schema)) {
    const why = "OpenAPIV3Schema 'schema' is not supported";
    return keywords.length > 0 ? keywords : [invalidValue(field, '', why)];
  }
  const structural = [...structuralErrors(schema, field, 'root'), ...completenessErrors(schema, schema, field, field)];
  const defaults = structural.length > 0 ? [] : defaultErrors(schema, field, true);
  const isSound = structural.length === 0 && defaults.length === 0 && keywords.length === 0;
  return [
    ...(schema['nullable'] === true
      ? [forbiddenField(`${field}.nullable`, 'nullable cannot be true at the root')]
      : []),
    ...(hasStatus && textAt(schema, 'type') !== 'object'
      ? [
          invalidValue(
            `${field}.type`,
            textAt(schema, 'type'),
            'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
          ),
        ]
      : []),
    ...structural,
    ...defaults,
    ...keywords,
    ...(isSound ? ruleCompileErrors(schema, field) : []),
  ];
}

const BEYOND = ['$schema', '$ref', 'id', 'definitions', 'dependencies', 'patternProperties', 'additionalItems'];

/** A schema with keywords for which the model of structural schemas has no place. */
function isBeyondStructure(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(isBeyondStructure);
  if (!isJsonObject(schema)) return false;
  if (Array.isArray(schema['items']) || BEYOND.some((name) => schema[name] !== undefined)) return true;
  return Object.entries(schema).some(([name, part]) =>
    name === 'properties'
      ? Object.values(objectAt(schema, 'properties')).some(isBeyondStructure)
      : PARTS.includes(name) && isBeyondStructure(part),
  );
}

function structuralErrors(schema: JsonObject, field: string, level: Level): FieldError[] {
  const type = textAt(schema, 'type');
  const { items, additionalProperties } = schema;
  const properties = Object.entries(objectAt(schema, 'properties')).filter(([, value]) => value !== null);
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const errors: FieldError[] = [];
  if (type === 'array' && items === undefined) errors.push(required(`${field}.items`, 'must be specified'));
  if (isJsonObject(items)) errors.push(...structuralErrors(items, `${field}.items`, 'item'));
  for (const [name, property] of properties)
    if (isJsonObject(property)) errors.push(...structuralErrors(property, `${field}.properties[${name}]`, 'field'));
  if (additionalProperties !== undefined && level === 'root')
    errors.push(forbiddenField(`${field}.additionalProperties`, 'must not be used at the root'));
  if (isJsonObject(additionalProperties))
    errors.push(...structuralErrors(additionalProperties, `${field}.additionalProperties`, 'field'));
  return [
    ...errors,
    ...extensionErrors(schema, field),
    ...valueErrorsOf(schema, field),
    ...typeErrors(schema, type, field, level),
    ...(embedded && additionalProperties !== undefined
      ? [forbiddenField(`${field}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set')]
      : []),
    ...(level === 'root' || embedded ? metaErrors(schema, field, level) : []),
    ...(embedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && properties.length === 0
      ? [
          required(
            `${field}.properties`,
            'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
          ),
        ]
      : []),
  ];
}

function extensionErrors(schema: JsonObject, field: string): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  return ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']
    .filter((name) => schema[name] === true)
    .map((name) => invalidValue(`${field}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
}

function typeErrors(schema: JsonObject, type: string, field: string, level: Level): FieldError[] {
  const place = `${field}.type`;
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(place, why) : invalidValue(place, type, why));
  } else if (type === '' && !isOpen) errors.push(required(place, NO_TYPE[level]));
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalidValue(place, type, 'must be object at the root'));
  return errors;
}

/** What a schema may say of the three fields that every API object has. */
function metaErrors(schema: JsonObject, field: string, level: Level): FieldError[] {
  const properties = objectAt(schema, 'properties');
  const errors = ['kind', 'apiVersion']
    .filter((name) => isJsonObject(properties[name]) && textAt(properties, name, 'type') !== 'string')
    .map((name) =>
      invalidValue(`${field}.properties[${name}].type`, textAt(properties, name, 'type'), 'must be string'),
    );
  const { metadata } = properties;
  if (!isJsonObject(metadata)) return errors;
  const place = `${field}.properties[metadata]`;
  if (textAt(metadata, 'type') !== 'object')
    errors.push(invalidValue(`${place}.type`, textAt(metadata, 'type'), 'must be object'));
  const { type: _type, default: _default, properties: named, description: _text, ...others } = metadata;
  const names = Object.keys(isJsonObject(named) ? named : {});
  const isPlain = names.every((name) => name === 'name' || name === 'generateName');
  if (level === 'root' && (!isPlain || Object.keys(others).length > 0 || _text !== undefined)) {
    const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbiddenField(place, why));
  }
  return errors;
}

/** The parts of a schema that restrict values, which may be nested in anyOf and its like. */
function valueErrorsOf(schema: JsonObject, field: string): FieldError[] {
  const isAlternative = equalJson(schema['anyOf'] ?? null, INT_OR_STRING);
  const [first] = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
  const skipsFirst = isJsonObject(first) && equalJson(first['anyOf'] ?? null, INT_OR_STRING);
  const errors: FieldError[] = [];
  for (const name of JUNCTORS) {
    const list = schema[name];
    if (!Array.isArray(list) || (name === 'anyOf' && isAlternative)) continue;
    for (const [index, item] of list.entries()) {
      const { anyOf: _anyOf, ...rest } = isJsonObject(item) ? item : {};
      const kept = name === 'allOf' && index === 0 && skipsFirst ? rest : item;
      if (isJsonObject(kept)) errors.push(...nestedErrors(kept, `${field}.${name}[${index}]`));
    }
  }
  if (isJsonObject(schema['not'])) errors.push(...nestedErrors(schema['not'], `${field}.not`));
  const pattern = textAt(schema, 'pattern');
  const problem = pattern === '' ? undefined : goPatternError(pattern);
  if (problem !== undefined)
    errors.push(invalidValue(`${field}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`));
  return errors;
}

const EMPTY = 'must be empty to be structural';
const UNDEFINED = 'must be undefined to be structural';
const FALSE = 'must be false to be structural';
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['type', EMPTY],
  ['additionalProperties', UNDEFINED],
  ['default', UNDEFINED],
  ['title', EMPTY],
  ['description', EMPTY],
  ['nullable', FALSE],
  ['x-kubernetes-preserve-unknown-fields', FALSE],
  ['x-kubernetes-embedded-resource', FALSE],
  ['x-kubernetes-int-or-string', FALSE],
  ['x-kubernetes-list-map-keys', EMPTY],
  ['x-kubernetes-list-type', UNDEFINED],
  ['x-kubernetes-map-type', UNDEFINED],
  ['x-kubernetes-validations', EMPTY],
];

/** Inside anyOf and its like nothing may be declared. */
function nestedErrors(schema: JsonObject, field: string): FieldError[] {
  const errors = valueErrorsOf(schema, field);
  if (isJsonObject(schema['items'])) errors.push(...nestedErrors(schema['items'], `${field}.items`));
  for (const [name, property] of Object.entries(objectAt(schema, 'properties')))
    if (isJsonObject(property)) errors.push(...nestedErrors(property, `${field}.properties[${name}]`));
  for (const [name, why] of FORBIDDEN) {
    const value = schema[name];
    const isSet = why === UNDEFINED ? value !== undefined : value !== undefined && value !== '' && value !== false;
    if (isSet && !equalJson(value, [])) errors.push(forbiddenField(`${field}.${name}`, why));
  }
  if (objectAt(schema, 'properties')['metadata'] !== undefined)
    errors.push(forbiddenField(`${field}.properties[metadata]`, 'must not be specified in a nested context'));
  return errors;
}

/** What anyOf and its like restrict has to be declared outside of them. */
function completenessErrors(nested: JsonObject, schema: JsonObject, place: string, field: string): FieldError[] {
  const inside = (item: Json | undefined, name: string): FieldError[] =>
    isJsonObject(item) ? nestedCompleteness(item, schema, place, `${field}.${name}`) : [];
  return [
    ...inside(nested['not'], 'not'),
    ...JUNCTORS.flatMap((name) => {
      const list = nested[name];
      return Array.isArray(list) ? list.flatMap((item, index) => inside(item, `${name}[${index}]`)) : [];
    }),
  ];
}

function nestedCompleteness(nested: JsonObject, schema: JsonObject, place: string, field: string): FieldError[] {
  const check = (item: Json | undefined, of: Json | undefined, part: string): FieldError[] => {
    if (!isJsonObject(item)) return [];
    if (!isJsonObject(of)) return [required(`${place}${part}`, `because it is defined in ${field}${part}`)];
    return nestedCompleteness(item, of, `${place}${part}`, `${field}${part}`);
  };
  return [
    ...completenessErrors(nested, schema, place, field),
    ...check(nested['items'], schema['items'], '.items'),
    ...Object.entries(objectAt(nested, 'properties')).flatMap(([name, item]) =>
      check(item, objectAt(schema, 'properties')[name], `.properties[${name}]`),
    ),
  ];
}

/** Defaults are pruned, and valid themselves. */
function defaultErrors(schema: JsonObject, field: string, isRoot: boolean): FieldError[] {
  const value = schema['default'];
  const place = `${field}.default`;
  const own: FieldError[] = [];
  if (value !== undefined && value !== null) {
    const asResource = isRoot ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema;
    if (hasUnknownFields(asResource, value)) own.push(invalidValue(place, value, 'must not have unknown fields'));
    const embedded = embeddedErrors(asResource, value, place);
    own.push(...(embedded.length > 0 ? embedded : valueErrors(schema, value, '').map((error) => below(place, error))));
  }
  const { items } = schema;
  return [
    ...own,
    ...(isJsonObject(items) ? defaultErrors(items, `${field}.items`, false) : []),
    ...Object.entries(objectAt(schema, 'properties')).flatMap(([name, property]) =>
      isJsonObject(property) && !(isRoot && ['metadata', 'kind', 'apiVersion'].includes(name))
        ? defaultErrors(property, `${field}.properties[${name}]`, false)
        : [],
    ),
  ];
}

function below(place: string, error: FieldError): FieldError {
  const joint = error.field === '' || /^[.[]/.test(error.field) ? '' : '.';
  return { ...error, field: `${place}${joint}${error.field}` };
}

/** What Go's regexp says of a pattern that it does not take; undefined for one that it does. Source: regexp/syntax. */
function goPatternError(pattern: string): string | undefined {
  const perl = /\((\?(?:=|!|<=|<!))/.exec(pattern);
  if (perl !== null) return `error parsing regexp: invalid or unsupported Perl syntax: \`(${perl[1] ?? ''}\``;
  const reference = /\\[1-9]/.exec(pattern);
  if (reference !== null) return `error parsing regexp: invalid escape sequence: \`${reference[0]}\``;
  try {
    RegExp(pattern, 'u');
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    if (why.includes('Unterminated group')) return `error parsing regexp: missing closing ): \`${pattern}\``;
    if (why.includes('Unmatched')) return `error parsing regexp: unexpected ): \`${pattern}\``;
    if (why.includes('character class'))
      return `error parsing regexp: missing closing ]: \`${pattern.slice(pattern.lastIndexOf('['))}\``;
    if (why.includes('Nothing to repeat'))
      return `error parsing regexp: missing argument to repetition operator: \`${/[*+?]/.exec(pattern)?.[0] ?? ''}\``;
    return `error parsing regexp: ${goQuote(pattern)}`;
  }
}

/** The formats in a schema that the server takes for documentation only, as its warnings name them. */
export function unknownFormats(schema: Json, isKnown: (type: string, format: string) => boolean): string[] {
  if (!isJsonObject(schema)) return [];
  const format = textAt(schema, 'format');
  const own = format === '' || isKnown(textAt(schema, 'type'), format) ? [] : [format];
  const lists = JUNCTORS.flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []));
  const parts: Json[] = [
    schema['items'] ?? null,
    schema['additionalProperties'] ?? null,
    schema['not'] ?? null,
    ...lists,
    ...Object.values(objectAt(schema, 'properties')),
  ];
  return [...own, ...parts.flatMap((part) => unknownFormats(part, isKnown))];
}
