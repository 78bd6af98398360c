import type { JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { secondsText } from '../schema/goTime.ts';
import { invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { ensureObject, objectAt, objectsAt, setDefault, textAt, textsAt } from './access.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable } from './metadata.ts';
import { dns1035Label, dnsSubdomain } from './names.ts';
import { valueErrors } from './customValidation.ts';

/** CustomResourceDefinitions. */
export function crdKind(): Kind {
  return defineKind({
    place: 'apis/apiextensions.k8s.io/v1',
    plural: 'customresourcedefinitions',
    deleteAnswers: 'object',
    unconditionalUpdate: false,
    plainFinalizers: true,
    generation: 'spec',
    statusResets: [['metadata']],
    storagePath: 'apiextensions.k8s.io/customresourcedefinitions',
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      const names = ensureObject(spec, 'names');
      const kind = textAt(names, 'kind');
      if (kind !== '') {
        setDefault(names, 'singular', kind.toLowerCase());
        setDefault(names, 'listKind', `${kind}List`);
      }
      setDefault(ensureObject(spec, 'conversion'), 'strategy', 'None');
      if (spec['preserveUnknownFields'] === false) delete spec['preserveUnknownFields'];
    },
    create: (object) => {
      const stored = objectsAt(object, 'spec', 'versions').find((version) => version['storage'] === true);
      object['status'] = {
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: stored === undefined ? [] : [textAt(stored, 'name')],
      };
    },
    update: (next) => {
      const stored = objectsAt(next, 'spec', 'versions').find((version) => version['storage'] === true);
      const versions = textsAt(next, 'status', 'storedVersions');
      if (stored === undefined || versions.includes(textAt(stored, 'name'))) return;
      next['status'] = { ...objectAt(next, 'status'), storedVersions: [...versions, textAt(stored, 'name')] };
    },
    updateStatus: (next, live) => {
      const metadata = objectAt(next, 'metadata');
      const { managedFields } = metadata;
      for (const name of Object.keys(metadata)) delete metadata[name];
      Object.assign(metadata, objectAt(live, 'metadata'), managedFields === undefined ? {} : { managedFields });
    },
    validate: crdErrors,
    validateCreate: crdNameErrors,
    validateUpdate: (next, live) => {
      const [mine, before] = [objectAt(next, 'spec'), objectAt(live, 'spec')];
      const isEstablished = hasCondition(live, 'Established');
      const names = isEstablished
        ? immutable(objectAt(mine, 'names')['kind'], objectAt(before, 'names')['kind'], 'spec.names.kind')
        : [];
      const scope = isEstablished ? immutable(mine['scope'], before['scope'], 'spec.scope') : [];
      return [
        ...storedVersionErrors(next),
        ...immutable(mine['group'], before['group'], 'spec.group'),
        ...immutable(objectAt(mine, 'names')['plural'], objectAt(before, 'names')['plural'], 'spec.names.plural'),
        ...names,
        ...scope,
      ];
    },
    cells: (object) => [textAt(object, 'metadata', 'name'), textAt(object, 'metadata', 'creationTimestamp')],
  });
}

function hasCondition(crd: JsonObject, type: string): boolean {
  return objectsAt(crd, 'status', 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );
}

/** The name says what is defined; once it does, both parts are immutable. */
function crdNameErrors(crd: JsonObject): FieldError[] {
  const name = textAt(crd, 'metadata', 'name');
  const spec = objectAt(crd, 'spec');
  return name !== '' && name !== `${textAt(spec, 'names', 'plural')}.${textAt(spec, 'group')}`
    ? [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
    : [];
}

/** A version in which objects are stored may not go. */
function storedVersionErrors(crd: JsonObject): FieldError[] {
  const versions = new Set(objectsAt(crd, 'spec', 'versions').map((version) => textAt(version, 'name')));
  return textsAt(crd, 'status', 'storedVersions').flatMap((name, index) => {
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return versions.has(name) ? [] : [invalidValue(`status.storedVersions[${index}]`, name, why)];
  });
}

function conversionErrors(spec: JsonObject): FieldError[] {
  const conversion = objectAt(spec, 'conversion');
  const strategy = textAt(conversion, 'strategy');
  const errors: FieldError[] = [];
  if (!['None', 'Webhook'].includes(strategy))
    errors.push(notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook']));
  if (strategy !== 'Webhook') return errors;
  const webhook = objectAt(conversion, 'webhook');
  if (!isJsonObject(webhook['clientConfig']))
    errors.push(required('spec.conversion.webhookClientConfig', 'required when strategy is set to Webhook'));
  if (textsAt(webhook, 'conversionReviewVersions').length === 0)
    errors.push(required('spec.conversion.conversionReviewVersions'));
  return errors;
}

function crdErrors(crd: JsonObject): FieldError[] {
  const spec = objectAt(crd, 'spec');
  const names = objectAt(spec, 'names');
  const group = textAt(spec, 'group');
  const errors: FieldError[] = [];
  if (group === '') errors.push(required('spec.group'));
  else {
    errors.push(...dnsSubdomain(group).map((text) => invalidValue('spec.group', group, text)));
    if (!group.includes('.'))
      errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  const scope = textAt(spec, 'scope');
  if (scope === '') errors.push({ reason: 'FieldValueRequired', field: 'spec.scope', message: 'Required value' });
  else if (!['Cluster', 'Namespaced'].includes(scope))
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  const [storage, ...others] = versionErrors(objectsAt(spec, 'versions'));
  if (spec['preserveUnknownFields'] === true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalidValue('spec.preserveUnknownFields', true, why));
  }
  return [
    ...errors,
    ...(storage === undefined ? [] : [storage]),
    ...nameErrors(names),
    ...others,
    ...conversionErrors(spec),
  ];
}

function nameErrors(names: JsonObject): FieldError[] {
  const check = (field: string, value: string): FieldError[] =>
    value === ''
      ? [required(`spec.names.${field}`)]
      : dns1035Label(value.toLowerCase()).map((text) => invalidValue(`spec.names.${field}`, value, text));
  const lists = ['shortNames', 'categories'].flatMap((list) =>
    textsAt(names, list).flatMap((item, index) =>
      dns1035Label(item).map((text) => invalidValue(`spec.names.${list}[${index}]`, item, text)),
    ),
  );
  const same = textAt(names, 'kind') !== '' && textAt(names, 'kind') === textAt(names, 'listKind');
  return [
    ...['plural', 'singular', 'kind', 'listKind'].flatMap((field) => check(field, textAt(names, field))),
    ...lists,
    ...(same
      ? [invalidValue('spec.names.listKind', textAt(names, 'listKind'), 'kind and listKind may not be the same')]
      : []),
  ];
}

function versionErrors(versions: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const [first] = versions;
  const shared = objectAt(first, 'schema')['openAPIV3Schema'];
  const isShared =
    isJsonObject(shared) &&
    versions.every((version) => equalJson(version['schema'] ?? null, first?.['schema'] ?? null));
  if (isShared) errors.push(...structuralErrors(shared, 'spec.validation.openAPIV3Schema', true));
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    const name = textAt(version, 'name');
    errors.push(...dns1035Label(name).map((text) => invalidValue(`${field}.name`, name, text)));
    seen.add(name);
    const schema = version['schema'];
    if (!isJsonObject(schema) || !isJsonObject(schema['openAPIV3Schema']))
      errors.push(required(`${field}.schema.openAPIV3Schema`));
    else if (!isShared)
      errors.push(...structuralErrors(schema['openAPIV3Schema'], `${field}.schema.openAPIV3Schema`, true));
  }
  const stored = versions.filter((version) => version['storage'] === true).length;
  const shown = versions.length === 0 ? 'null' : JSON.stringify(versions.map(internalVersion));
  if (seen.size < versions.length)
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'spec.versions',
      message: `Invalid value: ${shown}: must contain unique version names`,
    });
  if (stored !== 1)
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'spec.versions',
      message: `Invalid value: ${shown}: must have exactly one version marked as storage version`,
    });
  if (stored === 0)
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'status.storedVersions',
      message: 'Invalid value: null: must have at least one stored version',
    });
  return errors;
}

/** A version as the server's own type prints, which has no JSON names. */
function internalVersion(version: JsonObject): JsonObject {
  return {
    Name: textAt(version, 'name'),
    Served: version['served'] === true,
    Storage: version['storage'] === true,
    Deprecated: false,
    DeprecationWarning: null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

/** Every field of a structural schema has a type, unless it is open by declaration. */
function structuralErrors(schema: JsonObject, field: string, isRoot: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const type = textAt(schema, 'type');
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isRoot && type === '') errors.push(required(`${field}.type`, 'must not be empty at the root'));
  if (isRoot && type !== '' && type !== 'object')
    errors.push(invalidValue(`${field}.type`, type, 'must be object at the root'));
  if (!isRoot && type === '' && !isOpen)
    errors.push(
      required(
        `${field}.type`,
        field.endsWith('.items')
          ? 'must not be empty for specified array items'
          : 'must not be empty for specified object fields',
      ),
    );
  if (type === 'array' && !isJsonObject(schema['items'])) errors.push(required(`${field}.items`, 'must be specified'));
  if (schema['x-kubernetes-list-type'] === 'map' && textsAt(schema, 'x-kubernetes-list-map-keys').length === 0) {
    errors.push(required(`${field}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'));
  }
  if (schema['x-kubernetes-list-type'] !== undefined && type !== 'array')
    errors.push(invalidValue(`${field}.type`, type, 'must be array if x-kubernetes-list-type is specified'));
  if (schema['default'] !== undefined)
    for (const error of valueErrors(schema, schema['default'], ''))
      errors.push({ ...error, field: `${field}.default${error.field}` });
  for (const [name, property] of Object.entries(objectAt(schema, 'properties'))) {
    if (isJsonObject(property) && !(isRoot && name === 'metadata'))
      errors.push(...structuralErrors(property, `${field}.properties[${name}]`, false));
  }
  for (const part of ['items', 'additionalProperties']) {
    const below = schema[part];
    if (isJsonObject(below)) errors.push(...structuralErrors(below, `${field}.${part}`, false));
  }
  return errors;
}

/**
 * What the naming controller makes of a CRD: the names it may have, given those that others hold, and whether it is
 * established. A CRD keeps what it was once given.
 * @param all the other CRDs
 * @returns the CRD's new status, equal to the old one where nothing changed
 */
export function acceptCrd(crd: JsonObject, all: readonly JsonObject[], nowMs: number): JsonObject {
  const wanted = objectAt(crd, 'spec', 'names');
  const group = textAt(crd, 'spec', 'group');
  const name = textAt(crd, 'metadata', 'name');
  const others = all
    .filter((other) => textAt(other, 'spec', 'group') === group && textAt(other, 'metadata', 'name') !== name)
    .map((other) => objectAt(other, 'status', 'acceptedNames'));
  const isTaken = (value: string, ...fields: readonly string[]): boolean =>
    others.some((names) => fields.some((field) => [textAt(names, field), ...textsAt(names, field)].includes(value)));
  const resourceFields = ['plural', 'singular', 'shortNames'];
  const problem = ['plural', 'singular']
    .map((field) => [field, textAt(wanted, field)] as const)
    .find(([, value]) => value !== '' && isTaken(value, ...resourceFields));
  const shortName = textsAt(wanted, 'shortNames').find((value) => isTaken(value, ...resourceFields));
  const kind = ['kind', 'listKind']
    .map((field) => [field, textAt(wanted, field)] as const)
    .find(([, value]) => value !== '' && isTaken(value, 'kind', 'listKind'));
  const found = problem ?? (shortName === undefined ? undefined : (['shortNames', shortName] as const)) ?? kind;
  const status = objectAt(crd, 'status');
  const accepted = found === undefined;
  const names = {
    type: 'NamesAccepted',
    status: accepted ? 'True' : 'False',
    reason: accepted ? 'NoConflicts' : conflictReason(found[0]),
    message: accepted ? 'no conflicts found' : `"${found[1]}" is already in use`,
  };
  const isEstablished = accepted || hasCondition(crd, 'Established');
  const established = isEstablished
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  return {
    ...status,
    conditions: mergeConditions(objectsAt(status, 'conditions'), [names, established], nowMs),
    acceptedNames: accepted ? acceptedNames(wanted) : objectAt(status, 'acceptedNames'),
  };
}

function acceptedNames(names: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const field of ['plural', 'singular', 'shortNames', 'kind', 'listKind', 'categories']) {
    const value = names[field];
    if (value !== undefined && !equalJson(value, [])) out[field] = value;
  }
  return out;
}

function conflictReason(field: string): string {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}Conflict`;
}

function mergeConditions(known: readonly JsonObject[], next: readonly JsonObject[], nowMs: number): JsonObject[] {
  const kept = known.filter((condition) => !next.some((other) => other['type'] === condition['type']));
  const merged = next.map((condition) => {
    const before = known.find((other) => other['type'] === condition['type']);
    const time =
      before !== undefined && before['status'] === condition['status']
        ? textAt(before, 'lastTransitionTime')
        : secondsText(nowMs);
    const { type, status, reason, message } = condition;
    return {
      type: type ?? '',
      status: status ?? '',
      lastTransitionTime: time,
      reason: reason ?? '',
      message: message ?? '',
    };
  });
  return [...merged, ...kept];
}
