import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { invalidValue, required, type FieldError } from '../status.ts';
import { textAt } from './access.ts';
import { metadataErrors } from './metadata.ts';
import { dns1035Label, pathSegment } from './names.ts';

const EMBEDDED = 'x-kubernetes-embedded-resource';

/** Walks the parts of a value that a schema declares, with their schemas and places. */
function partsOf(schema: JsonObject, value: Json, place: string): { schema: JsonObject; value: Json; place: string }[] {
  const { items, additionalProperties } = schema;
  if (Array.isArray(value))
    return isJsonObject(items)
      ? value.map((item, index) => ({ schema: items, value: item, place: `${place}[${index}]` }))
      : [];
  if (!isJsonObject(value)) return [];
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(value).flatMap(([name, item]) => {
    const property = properties[name];
    if (isJsonObject(property)) return [{ schema: property, value: item, place: joined(place, name) }];
    return isJsonObject(additionalProperties)
      ? [{ schema: additionalProperties, value: item, place: `${place}[${name}]` }]
      : [];
  });
}

const joined = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`);

/** What is wrong with the API objects that are embedded in a custom resource. Source: apiextensions' objectmeta.Validate. */
export function embeddedErrors(schema: JsonObject, value: Json, place: string): FieldError[] {
  return [
    ...(schema[EMBEDDED] === true && isJsonObject(value) ? resourceErrors(value, place) : []),
    ...partsOf(schema, value, place).flatMap((part) => embeddedErrors(part.schema, part.value, part.place)),
  ];
}

function resourceErrors(value: JsonObject, place: string): FieldError[] {
  const errors = ['apiVersion', 'kind']
    .filter((name) => value[name] === undefined)
    .map((name) => required(joined(place, name)));
  const { apiVersion, kind, metadata } = value;
  if (apiVersion !== undefined) {
    const problem = versionProblem(textAt(value, 'apiVersion'));
    if (problem !== undefined) errors.push(invalidValue(joined(place, 'apiVersion'), apiVersion, problem));
  }
  if (kind !== undefined) {
    const problem = kindProblem(textAt(value, 'kind'));
    if (problem !== undefined) errors.push(invalidValue(joined(place, 'kind'), kind, problem));
  }
  if (isJsonObject(metadata)) {
    const named = textAt(metadata, 'name') === '' ? { ...metadata, name: 'fakename' } : metadata;
    const namespaced = textAt(metadata, 'namespace') !== '';
    for (const error of metadataErrors({ metadata: named }, namespaced, pathSegment, false))
      errors.push({ ...error, field: joined(place, error.field) });
  }
  return errors;
}

function versionProblem(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  return text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;
}

function kindProblem(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  const problems = dns1035Label(text.toLowerCase());
  return problems.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${problems.join(',')}`;
}

/** Whether a value has fields that pruning by its schema would take away. */
export function hasUnknownFields(schema: JsonObject, value: Json): boolean {
  if (isJsonObject(value)) {
    const { additionalProperties } = schema;
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const meta = schema[EMBEDDED] === true ? ['apiVersion', 'kind', 'metadata'] : [];
    const keeps = schema['x-kubernetes-preserve-unknown-fields'] === true;
    const isOpen = keeps || additionalProperties === true || isJsonObject(additionalProperties);
    if (!isOpen && Object.keys(value).some((name) => !Object.hasOwn(properties, name) && !meta.includes(name)))
      return true;
  }
  return partsOf(schema, value, '').some((part) => hasUnknownFields(part.schema, part.value));
}
