import { stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import { cloneJson, equalJson, isJsonObject } from '../../codec/json.ts';
import type { Path } from '../../codec/path.ts';
import { components } from '../schema/builtInTypes.ts';
import { applyStructuralDefaults, coerceCustom } from '../schema/coerce.ts';
import type { StructSchema } from '../schema/schema.ts';
import { structuralSchema } from '../schema/structural.ts';
import { invalidValue, type FieldError } from '../status.ts';
import { numberAt, objectAt, objectsAt, setOrDelete, textAt, textsAt } from './access.ts';
import { ageOf, since } from './cells.ts';
import { hasRules, ValidationRules, type Verdict } from './celRules.ts';
import { schemaErrors } from './customValidation.ts';
import { embeddedErrors } from './embedded.ts';
import { findByJsonPath } from './jsonPath.ts';
import type { Kind, ScalePaths, TableColumn } from './kind.ts';
import { finalizerWarnings } from './warnings.ts';
import { generalUpdateErrors, metadataErrors, metadataUpdateErrors } from './metadata.ts';
import { dnsSubdomain } from './names.ts';
import { plainText } from '../schema/plainText.ts';

/** Errors with which rules are not even looked at, and what is said then. */
const BLOCKING: readonly string[] = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];
const NOT_CHECKED: FieldError = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/**
 * The kind that one version of a CustomResourceDefinition defines.
 * @param version the name of one of its versions
 */
export function customKind(crd: JsonObject, version: string): Kind {
  const spec = objectAt(crd, 'spec');
  const group = textAt(spec, 'group');
  const names = objectAt(spec, 'names');
  const declared = objectsAt(spec, 'versions').find((item) => textAt(item, 'name') === version) ?? {};
  const openApi = objectAt(declared, 'schema', 'openAPIV3Schema');
  const schema = structuralSchema(openApi);
  const subresources = objectAt(declared, 'subresources');
  const hasStatus = isJsonObject(subresources['status']);
  const scale = isJsonObject(subresources['scale']) ? scalePaths(subresources['scale']) : undefined;
  const namespaced = textAt(spec, 'scope') === 'Namespaced';
  const plural = textAt(names, 'plural');
  const kind = textAt(names, 'kind');
  const selectable = objectsAt(declared, 'selectableFields').map((item) => textAt(item, 'jsonPath'));
  const columns = objectsAt(declared, 'additionalPrinterColumns');
  let rules: ValidationRules | undefined;
  const isRuled = hasRules(openApi);
  const judge = (object: JsonObject, live: JsonObject | undefined): Verdict => {
    rules ??= new ValidationRules(openApi);
    return rules.judge(object, live);
  };
  const validate = (object: JsonObject, live?: JsonObject): FieldError[] => {
    const errors = [
      ...schemaErrors(openApi, object, live),
      ...scaleErrors(object, scale),
      ...embeddedErrors(openApi, object, ''),
    ];
    if (!isRuled) return errors;
    if (errors.some(({ reason }) => BLOCKING.includes(reason))) return [...errors, NOT_CHECKED];
    return [...errors, ...judge(object, live).errors];
  };
  return {
    group,
    version,
    kind,
    listKind: textAt(names, 'listKind') || `${kind}List`,
    plural,
    singular: textAt(names, 'singular') || kind.toLowerCase(),
    shortNames: textsAt(names, 'shortNames'),
    categories: textsAt(names, 'categories'),
    namespaced,
    verbs: VERBS,
    origin: 'custom',
    subresources: { status: hasStatus, ...(scale === undefined ? {} : { scale }), others: [] },
    schema,
    schemaOf: (apiVersion) => schemaOfVersion(spec, apiVersion),
    isStorageVersion: declared['storage'] === true,
    unconditionalUpdate: false,
    createOnUpdate: false,
    deleteAnswers: 'status',
    storage: { group, resource: plural },
    defaultPropagation: 'Background',
    storageKey: (namespace, name) => ['/registry', group, plural, ...(namespaced ? [namespace] : []), name].join('/'),
    fieldSelectors: selectable.map((path) => path.replace(/^\./, '')),
    fieldValue: (object, selector) => plainText(findByJsonPath(object, `.${selector}`)[0] ?? ''),
    coerce: (object) => coerceCustom(schema, object),
    applyDefaults: (object) => applyStructuralDefaults(schema, object),
    prepareCreate: (object) => {
      if (hasStatus) delete object['status'];
      delete objectAt(object, 'metadata')['selfLink'];
      objectAt(object, 'metadata')['generation'] = 1;
    },
    prepareUpdate: (next, live, _context, subresource) => {
      delete objectAt(next, 'metadata')['selfLink'];
      if (subresource === 'status') keepAllButStatus(next, live);
      else if (hasStatus) setOrDelete(next, 'status', live['status']);
      const stored = numberAt(live, 'metadata', 'generation') ?? 1;
      objectAt(next, 'metadata')['generation'] = changesDesired(next, live, hasStatus) ? stored + 1 : stored;
    },
    validateCreate: (object) => [...metadataErrors(object, namespaced, dnsSubdomain, false), ...validate(object)],
    validateUpdate: (next, live, subresource) => [
      ...generalUpdateErrors(next, live),
      ...metadataUpdateErrors(next, live, false),
      ...(subresource === 'status' ? asStatus(validate(next, live)) : validate(next, live)),
    ],
    warnings: (next, live, subresource) => [
      ...(isRuled && live !== undefined
        ? judge(next, live).warnings.map(({ field, message }) => `${field}: ${message}`)
        : []),
      ...(subresource === '' ? finalizerWarnings(next, live) : []),
    ],
    released: () => undefined,
    generationChanged: (next, live) => changesDesired(next, live, hasStatus),
    resetPaths: (subresource) => resetPaths(schema, hasStatus, subresource),
    tableColumns: [nameColumn(), ...(columns.length === 0 ? [ageColumn()] : columns.map(printerColumn))],
    tableCells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      ...(columns.length === 0 ? [ageOf(object, nowMs)] : columns.map((column) => cell(column, object, nowMs))),
    ],
  };
}

function schemaOfVersion(spec: JsonObject, apiVersion: string): StructSchema | undefined {
  const [group, version] = apiVersion.split('/');
  const declared = objectsAt(spec, 'versions').find(
    (item) => textAt(item, 'name') === version && item['served'] === true,
  );
  return group === textAt(spec, 'group') && declared !== undefined
    ? structuralSchema(objectAt(declared, 'schema', 'openAPIV3Schema'))
    : undefined;
}

function scalePaths(scale: JsonObject): ScalePaths {
  const names = (path: string): string[] => path.split('.').filter((name) => name !== '');
  const selector = textAt(scale, 'labelSelectorPath');
  return {
    specReplicas: names(textAt(scale, 'specReplicasPath')),
    statusReplicas: names(textAt(scale, 'statusReplicasPath')),
    ...(selector === '' ? {} : { selector: names(selector) }),
  };
}

/** A status is validated on its own: sentences name its fields from there. */
function asStatus(errors: readonly FieldError[]): FieldError[] {
  return errors.map((error) => ({
    ...error,
    message: error.message.replaceAll(/(^|: )status\.(?=\S+ in body )/g, '$1'),
  }));
}

function scaleErrors(object: JsonObject, scale: ScalePaths | undefined): FieldError[] {
  if (scale === undefined) return [];
  return [scale.specReplicas, scale.statusReplicas].flatMap((names) => {
    const value = numberAt(object, ...names);
    return value !== undefined && value < 0
      ? [invalidValue(`.${names.join('.')}`, value, 'should be a non-negative integer')]
      : [];
  });
}

/** Through /status only the status is written; all metadata but managedFields stay. */
function keepAllButStatus(next: JsonObject, live: JsonObject): void {
  const { status } = next;
  const managedFields = objectAt(next, 'metadata')['managedFields'];
  for (const name of Object.keys(next)) if (name !== 'metadata') delete next[name];
  const metadata = objectAt(next, 'metadata');
  for (const name of Object.keys(metadata)) delete metadata[name];
  Object.assign(metadata, cloneJson(objectAt(live, 'metadata')));
  setOrDelete(metadata, 'managedFields', managedFields);
  for (const [name, value] of Object.entries(live))
    if (name !== 'metadata' && name !== 'status') next[name] = cloneJson(value);
  setOrDelete(next, 'status', status);
}

/** Everything but metadata is desired state, status included where it has no endpoint of its own. */
function changesDesired(next: JsonObject, live: JsonObject, hasStatus: boolean): boolean {
  const desired = (object: JsonObject): JsonObject => {
    const { metadata: _, ...rest } = object;
    if (hasStatus) delete rest['status'];
    return rest;
  };
  return !equalJson(desired(next), desired(live));
}

function resetPaths(schema: StructSchema, hasStatus: boolean, subresource: string): readonly Path[] {
  if (!hasStatus || subresource === 'scale') return [];
  if (subresource !== 'status') return [[{ field: 'status' }]];
  return [...schema.fields.keys()].filter((field) => field !== 'status').map((field) => [{ field }]);
}

function described(field: string): string {
  const meta = objectAt(components(), 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  return textAt(meta, 'properties', field, 'description');
}

function nameColumn(): TableColumn {
  return { name: 'Name', type: 'string', format: 'name', description: described('name'), priority: 0 };
}

function ageColumn(): TableColumn {
  return { name: 'Age', type: 'date', format: '', description: described('creationTimestamp'), priority: 0 };
}

function printerColumn(column: JsonObject): TableColumn {
  return {
    name: textAt(column, 'name'),
    type: textAt(column, 'type'),
    format: textAt(column, 'format'),
    description:
      textAt(column, 'description') ||
      `Custom resource definition column (in JSONPath format): ${textAt(column, 'jsonPath')}`,
    priority: numberAt(column, 'priority') ?? 0,
  };
}

function cell(column: JsonObject, object: JsonObject, nowMs: number): Json {
  const found = findByJsonPath(object, textAt(column, 'jsonPath'));
  const [first] = found;
  if (first === undefined) return null;
  switch (textAt(column, 'type')) {
    case 'integer':
    case 'number':
      return typeof first === 'number' || typeof first === 'bigint' ? first : null;
    case 'boolean':
      return typeof first === 'boolean' ? first : null;
    case 'date':
      return typeof first === 'string' ? since(first, nowMs) : null;
    default:
      return typeof first === 'string' ? first : stringifyJson(first);
  }
}
