import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject, parseJson } from '../../codec/json.ts';
import { goJsonError } from '../goJson.ts';
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  type FieldError,
} from '../status.ts';
import { ensureObject, objectAt, objectsAt, setOrDelete, textAt, textsAt } from './access.ts';
import { endpointIpErrors, ipErrors } from './addresses.ts';
import { ageOf } from './cells.ts';
import { portOrNameErrors } from './probeValidation.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable } from './metadata.ts';
import { configKey, dnsLabel, qualifiedName } from './names.ts';
import { plainText } from '../schema/plainText.ts';

const MAX_DATA_BYTES = 1024 * 1024;
const FROZEN = 'field is immutable when `immutable` is set';

/** Namespaces. They are deleted in two steps: first everything in them goes, then the `kubernetes` finalizer in spec. */
export function namespaceKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'namespaces',
    checkName: dnsLabel,
    metadataChecks: { changes: 1, whole: 1 },
    fieldSelectors: { name: ['metadata', 'name'], 'status.phase': ['status', 'phase'] },
    defaults: (object) => {
      const name = textAt(object, 'metadata', 'name');
      if (name !== '') ensureObject(ensureObject(object, 'metadata'), 'labels')['kubernetes.io/metadata.name'] = name;
      const status = ensureObject(object, 'status');
      if (textAt(status, 'phase') === '') status['phase'] = 'Active';
    },
    create: (object) => {
      ensureObject(ensureObject(object, 'metadata'), 'labels')['kubernetes.io/metadata.name'] = textAt(
        object,
        'metadata',
        'name',
      );
      const spec = ensureObject(object, 'spec');
      const finalizers = textsAt(spec, 'finalizers');
      spec['finalizers'] = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'];
      object['status'] = { phase: 'Active' };
    },
    update: (next, live) => setOrDelete(ensureObject(next, 'spec'), 'finalizers', objectAt(live, 'spec')['finalizers']),
    validate: (object) => finalizerNameErrors(textsAt(object, 'spec', 'finalizers')),
    validateStatus: (next) => {
      const isEnding = textAt(next, 'metadata', 'deletionTimestamp') !== '';
      const [only, phase] = [isEnding ? 'Terminating' : 'Active', textAt(next, 'status', 'phase')];
      const why = `may only be '${only}' if \`deletionTimestamp\` is ${isEnding ? 'not ' : ''}empty`;
      return phase === only ? [] : [invalidValue('status.Phase', phase, why)];
    },
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      textAt(object, 'status', 'phase'),
      ageOf(object, nowMs),
    ],
  });
}

function finalizerNameErrors(finalizers: readonly string[]): FieldError[] {
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return finalizers.flatMap((name, index) => {
    const field = `spec.finalizers[${index}]`;
    const errors = qualifiedName(name).map((text) => invalidValue(field, name, text));
    const isStandard = ['kubernetes', 'orphan', 'foregroundDeletion'].includes(name);
    return name.includes('/') || isStandard ? errors : [...errors, invalidValue(field, name, why)];
  });
}

/** ConfigMaps. */
export function configMapKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'configmaps',
    metadataChecks: { changes: 1, whole: 1 },
    validate: (object) => {
      const [data, binary] = [objectAt(object, 'data'), objectAt(object, 'binaryData')];
      const errors = [...keyErrors(data, 'data'), ...keyErrors(binary, 'binaryData')];
      for (const key of Object.keys(data))
        if (key in binary) errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
      const bytes = sizeOf(data) + sizeOf(binary, 0.75);
      return bytes > MAX_DATA_BYTES ? [...errors, tooLong('[]', MAX_DATA_BYTES)] : errors;
    },
    validateUpdate: (next, live) => frozenErrors(next, live, ['data', 'binaryData']),
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      Object.keys(objectAt(object, 'data')).length + Object.keys(objectAt(object, 'binaryData')).length,
      ageOf(object, nowMs),
    ],
  });
}

function keyErrors(data: JsonObject, field: string): FieldError[] {
  return Object.keys(data).flatMap((key) => configKey(key).map((text) => invalidValue(`${field}[${key}]`, key, text)));
}

function sizeOf(data: JsonObject, factor = 1): number {
  return Object.values(data).reduce(
    (sum: number, value) => sum + Math.trunc(Buffer.byteLength(plainText(value)) * factor),
    0,
  );
}

function frozenErrors(next: JsonObject, live: JsonObject, fields: readonly string[]): FieldError[] {
  if (live['immutable'] !== true) return [];
  const errors = next['immutable'] === true ? [] : [forbiddenField('immutable', FROZEN)];
  for (const field of fields)
    if (!equalJson(next[field] ?? null, live[field] ?? null)) errors.push(forbiddenField(field, FROZEN));
  return errors;
}

/** What each type of Secret must hold. */
const REQUIRED_KEYS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'kubernetes.io/dockercfg': ['.dockercfg'],
    'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
    'kubernetes.io/ssh-auth': ['ssh-privatekey'],
    'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  }),
);

/** Secrets. */
export function secretKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'secrets',
    metadataChecks: { changes: 1, whole: 1 },
    fieldSelectors: { type: ['type'] },
    defaults: (object) => {
      if (textAt(object, 'type') === '') object['type'] = 'Opaque';
      const given = object['stringData'];
      if (!isJsonObject(given)) return;
      const data = ensureObject(object, 'data');
      for (const [key, value] of Object.entries(given))
        data[key] = Buffer.from(plainText(value), 'utf8').toString('base64');
      delete object['stringData'];
      if (Object.keys(data).length === 0) delete object['data'];
    },
    update: (next, live) => {
      if (textAt(next, 'type') === '') setOrDelete(next, 'type', live['type']);
    },
    validate: secretErrors,
    validateUpdate: (next, live) => [
      ...immutable(next['type'], live['type'], 'type'),
      ...frozenErrors(next, live, ['data']),
    ],
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      textAt(object, 'type'),
      Object.keys(objectAt(object, 'data')).length,
      ageOf(object, nowMs),
    ],
  });
}

function secretErrors(object: JsonObject): FieldError[] {
  const data = objectAt(object, 'data');
  const type = textAt(object, 'type');
  const errors = keyErrors(data, 'data');
  if (sizeOf(data, 0.75) > MAX_DATA_BYTES) errors.push(tooLong('data', MAX_DATA_BYTES));
  for (const key of REQUIRED_KEYS.get(type) ?? [])
    errors.push(...(key in data ? registryErrors(key, textAt(data, key)) : [required(`data[${key}]`)]));
  if (type === 'kubernetes.io/basic-auth' && !('username' in data) && !('password' in data)) {
    errors.push(required('data[username]'), required('data[password]'));
  }
  if (
    type === 'kubernetes.io/service-account-token' &&
    textAt(object, 'metadata', 'annotations', 'kubernetes.io/service-account.name') === ''
  ) {
    errors.push(required('metadata.annotations[kubernetes.io/service-account.name]'));
  }
  return errors;
}

/** The files of registries' credentials must hold JSON objects; what they hold is never shown. */
function registryErrors(key: string, encoded: string): FieldError[] {
  if (key !== '.dockercfg' && key !== '.dockerconfigjson') return [];
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const problem = goJsonError(text) ?? foreignType(parseJson(text));
  return problem === undefined ? [] : [invalidValue(`data[${key}]`, '<secret contents redacted>', problem)];
}

function foreignType(value: Json): string | undefined {
  if (value === null || isJsonObject(value)) return undefined;
  const name = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${name === 'bigint' ? 'number' : name} into Go value of type map[string]interface {}`;
}

/** ServiceAccounts. */
export function serviceAccountKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'serviceaccounts',
    deleteAnswers: 'object',
    metadataChecks: { changes: 1, whole: 1 },
    cells: (object, nowMs) => [textAt(object, 'metadata', 'name'), ageOf(object, nowMs)],
  });
}

/** An address is looked at twice, and a text that is none is told twice. */
function addressErrors(field: string, ip: string): FieldError[] {
  const malformed = ipErrors(field, ip);
  return malformed.length > 0
    ? [invalidValue(field, ip, 'must be a valid IP address'), ...malformed]
    : endpointIpErrors(field, ip);
}

/** Endpoints. */
export function endpointsKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'endpoints',
    createOnUpdate: true,
    storagePath: 'services/endpoints',
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    metadataChecks: { changes: 1, whole: 1 },
    defaults: (object) => {
      for (const subset of objectsAt(object, 'subsets'))
        for (const port of objectsAt(subset, 'ports')) if (textAt(port, 'protocol') === '') port['protocol'] = 'TCP';
    },
    validate: (object) =>
      objectsAt(object, 'subsets').flatMap((subset, index) => {
        const place = `subsets[${index}]`;
        const isEmpty = objectsAt(subset, 'addresses').length + objectsAt(subset, 'notReadyAddresses').length === 0;
        return [
          ...(isEmpty ? [required(place, 'must specify `addresses` or `notReadyAddresses`')] : []),
          ...['addresses', 'notReadyAddresses'].flatMap((list) =>
            objectsAt(subset, list).flatMap((address, position) =>
              addressErrors(`${place}.${list}[${position}].ip`, textAt(address, 'ip')),
            ),
          ),
          ...objectsAt(subset, 'ports').flatMap((port, position) =>
            portOrNameErrors(Number(port['port'] ?? 0), `${place}.ports[${position}].port`),
          ),
        ];
      }),
    cells: (object, nowMs) => {
      const shown = objectsAt(object, 'subsets').flatMap((subset) =>
        objectsAt(subset, 'ports').flatMap((port) =>
          objectsAt(subset, 'addresses').map((address) => `${textAt(address, 'ip')}:${plainText(port['port'])}`),
        ),
      );
      const text = shown.length > 3 ? `${shown.slice(0, 3).join(',')} + ${shown.length - 3} more...` : shown.join(',');
      return [textAt(object, 'metadata', 'name'), text === '' ? '<none>' : text, ageOf(object, nowMs)];
    },
  });
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taintErrors(object: JsonObject): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(object, 'spec', 'taints').flatMap((taint, index) => {
    const identity = `${textAt(taint, 'key')}:${textAt(taint, 'effect')}`;
    const isDouble = seen.has(identity);
    seen.add(identity);
    const effect = textAt(taint, 'effect');
    const field = `metadata.taints[${index}]`;
    const errors = EFFECTS.includes(effect) ? [] : [notSupported(`${field}.effect`, effect, EFFECTS)];
    return isDouble ? [...errors, duplicateValue(field, taint)] : errors;
  });
}

/** Nodes: plain objects here, nothing runs on them. */
export function nodeKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'nodes',
    storagePath: 'minions',
    keepsStatusOnCreate: true,
    metadataChecks: { changes: 1, whole: 1 },
    fieldSelectors: { 'spec.unschedulable': ['spec', 'unschedulable'] },
    defaults: (object) => {
      const status = ensureObject(object, 'status');
      if (status['allocatable'] === undefined && status['capacity'] !== undefined)
        status['allocatable'] = status['capacity'];
      const spec = objectAt(object, 'spec');
      const [own, all] = [textAt(spec, 'podCIDR'), textsAt(spec, 'podCIDRs')];
      if (own !== '' && all[0] !== own) spec['podCIDRs'] = [own];
      if (own === '' && all[0] !== undefined) spec['podCIDR'] = all[0];
    },
    validateUpdate: (next, live) => {
      const before = textsAt(live, 'spec', 'podCIDRs');
      const why = 'node updates may not change podCIDR except from "" to valid';
      // Taints are looked at a second time, and told a second time.
      return before.length === 0 || equalJson(before, textsAt(next, 'spec', 'podCIDRs'))
        ? taintErrors(next)
        : [...taintErrors(next), forbiddenField('spec.podCIDRs', why)];
    },
    create: (object) => {
      const taints = objectsAt(object, 'spec', 'taints');
      const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
      if (!taints.some((taint) => taint['key'] === notReady.key && taint['effect'] === notReady.effect))
        taints.push(notReady);
      ensureObject(object, 'spec')['taints'] = taints;
    },
    validate: taintErrors,
    cells: (object, nowMs) => {
      const ready = objectsAt(object, 'status', 'conditions').find((item) => item['type'] === 'Ready');
      const address = (type: string): string =>
        textAt(
          objectsAt(object, 'status', 'addresses').find((item) => item['type'] === type),
          'address',
        );
      const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
      const roles = Object.keys(objectAt(object, 'metadata', 'labels')).filter((key) =>
        key.startsWith('node-role.kubernetes.io/'),
      );
      const info = objectAt(object, 'status', 'nodeInfo');
      const shown = (text: string, none: string): string => (text === '' ? none : text);
      return [
        textAt(object, 'metadata', 'name'),
        objectAt(object, 'spec')['unschedulable'] === true ? `${status},SchedulingDisabled` : status,
        shown(
          roles
            .map((key) => key.slice('node-role.kubernetes.io/'.length))
            .sort()
            .join(','),
          '<none>',
        ),
        ageOf(object, nowMs),
        textAt(info, 'kubeletVersion'),
        shown(address('InternalIP'), '<none>'),
        shown(address('ExternalIP'), '<none>'),
        shown(textAt(info, 'osImage'), '<unknown>'),
        shown(textAt(info, 'kernelVersion'), '<unknown>'),
        shown(textAt(info, 'containerRuntimeVersion'), '<unknown>'),
      ];
    },
  });
}
