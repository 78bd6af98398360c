import type { JsonObject } from '../../codec/json.ts';
import { equalJson } from '../../codec/json.ts';
import { goQuote } from '../goText.ts';
import { secondsText } from '../schema/goTime.ts';
import { invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { ensureObject, objectAt, objectsAt, setDefault, textAt, textsAt } from './access.ts';
import { unknownFormats } from './crdSchema.ts';
import { conversionErrors, versionErrors } from './crdVersions.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable } from './metadata.ts';
import { dns1035Label, dnsSubdomain } from './names.ts';
import { isKnownFormat } from './stringFormats.ts';

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
    validateCreate: (object) => [...crdNameErrors(object), ...approvalErrors(object, undefined)],
    validateUpdate: (next, live) => {
      const [mine, before] = [objectAt(next, 'spec'), objectAt(live, 'spec')];
      const isEstablished = hasCondition(live, 'Established');
      const names = isEstablished
        ? immutable(objectAt(mine, 'names')['kind'], objectAt(before, 'names')['kind'], 'spec.names.kind')
        : [];
      const scope = isEstablished ? immutable(mine['scope'], before['scope'], 'spec.scope') : [];
      return [
        ...approvalErrors(next, live),
        ...immutable(mine['group'], before['group'], 'spec.group'),
        ...immutable(objectAt(mine, 'names')['plural'], objectAt(before, 'names')['plural'], 'spec.names.plural'),
        ...names,
        ...scope,
      ];
    },
    warnings: (next, live) => {
      const known = live === undefined ? [] : formatsUnknown(live);
      return formatsUnknown(next)
        .filter((format) => !known.includes(format))
        .map((format) => `unrecognized format ${goQuote(format)}`);
    },
    cells: (object) => [textAt(object, 'metadata', 'name'), textAt(object, 'metadata', 'creationTimestamp')],
  });
}

/** Formats of the schemas that are only documentation; a schema that all versions share counts once. */
function formatsUnknown(crd: JsonObject): string[] {
  const schemas = objectsAt(crd, 'spec', 'versions').map((version) => objectAt(version, 'schema')['openAPIV3Schema']);
  const [first] = schemas;
  const isShared = schemas.every((schema) => equalJson(schema ?? null, first ?? null));
  return (isShared ? schemas.slice(0, 1) : schemas).flatMap((schema) => unknownFormats(schema ?? null, isKnownAs));
}

function isKnownAs(type: string, format: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return isKnownFormat(format);
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}

function hasCondition(crd: JsonObject, type: string): boolean {
  return objectsAt(crd, 'status', 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );
}

const APPROVED = 'api-approved.kubernetes.io';

/** The name says what is defined; once it does, both parts are immutable. */
function crdNameErrors(crd: JsonObject): FieldError[] {
  const name = textAt(crd, 'metadata', 'name');
  const spec = objectAt(crd, 'spec');
  return name !== '' && name !== `${textAt(spec, 'names', 'plural')}.${textAt(spec, 'group')}`
    ? [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
    : [];
}

/** A version in which objects are stored may not go, and every version that they are stored in is noted. */
function storedVersionErrors(crd: JsonObject): FieldError[] {
  const versions = new Set(objectsAt(crd, 'spec', 'versions').map((version) => textAt(version, 'name')));
  const noted = textsAt(crd, 'status', 'storedVersions');
  if (noted.length === 0) {
    const message = 'Invalid value: null: must have at least one stored version';
    return [{ reason: 'FieldValueInvalid', field: 'status.storedVersions', message }];
  }
  const missing = objectsAt(crd, 'spec', 'versions')
    .filter((version) => version['storage'] === true && !noted.includes(textAt(version, 'name')))
    .map((version) =>
      invalidValue('status.storedVersions', noted, `must have the storage version ${textAt(version, 'name')}`),
    );
  const gone = noted.flatMap((name, index) => {
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return versions.has(name) ? [] : [invalidValue(`status.storedVersions[${index}]`, name, why)];
  });
  return [...missing, ...gone];
}

/** Groups of the community need its approval, by an annotation. Source: apiextensions' validateAPIApproval. */
function approvalErrors(crd: JsonObject, live: JsonObject | undefined): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(textAt(crd, 'spec', 'group'))) return [];
  const text = textAt(crd, 'metadata', 'annotations', APPROVED);
  const problem = approvalProblem(text);
  if (live !== undefined && problem === approvalProblem(textAt(live, 'metadata', 'annotations', APPROVED))) return [];
  const field = `metadata.annotations[${APPROVED}]`;
  if (problem === undefined) return [];
  return [text === '' ? required(field, problem) : invalidValue(field, text, problem)];
}

function approvalProblem(annotation: string): string | undefined {
  const rule = `protected groups must have approval annotation "${APPROVED}"`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (annotation === '') return `${rule}, ${see}`;
  if (annotation.startsWith('unapproved') || /^[a-z][-a-z0-9+.]*:\/\/[^/]/i.test(annotation)) return undefined;
  return `${rule} with either a URL or a reason starting with "unapproved", ${see}`;
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
  if (spec['preserveUnknownFields'] === true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalidValue('spec.preserveUnknownFields', true, why));
  }
  const [first, ...others] = versionErrors(objectsAt(spec, 'versions'), Array.isArray(spec['versions']));
  return [
    ...errors,
    ...(first === undefined ? [] : [first]),
    ...nameErrors(names),
    ...others,
    ...conversionErrors(spec),
    ...storedVersionErrors(crd),
  ];
}

function nameErrors(names: JsonObject): FieldError[] {
  const check = (field: string, isKind: boolean): FieldError[] => {
    const value = textAt(names, field);
    if (value === '') return [required(`spec.names.${field}`)];
    const problems = dns1035Label(isKind ? value.toLowerCase() : value);
    const lead = isKind ? 'may have mixed case, but should otherwise match: ' : '';
    return problems.length === 0 ? [] : [invalidValue(`spec.names.${field}`, value, `${lead}${problems.join(',')}`)];
  };
  const lists = ['shortNames', 'categories'].flatMap((list) =>
    textsAt(names, list).flatMap((item, index) =>
      dns1035Label(item).map((text) => invalidValue(`spec.names.${list}[${index}]`, item, text)),
    ),
  );
  const same = textAt(names, 'kind') !== '' && textAt(names, 'kind') === textAt(names, 'listKind');
  return [
    ...['plural', 'singular'].flatMap((field) => check(field, false)),
    ...['kind', 'listKind'].flatMap((field) => check(field, true)),
    ...lists,
    ...(same
      ? [invalidValue('spec.names.listKind', textAt(names, 'listKind'), 'kind and listKind may not be the same')]
      : []),
  ];
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
