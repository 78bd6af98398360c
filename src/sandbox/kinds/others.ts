import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { numberAt, objectAt, objectsAt, setDefault, textAt, textsAt } from './access.ts';
import { endpointIpErrors } from './addresses.ts';
import { ageOf, since } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable } from './metadata.ts';
import { dnsSubdomain, pathSegment, qualifiedName } from './names.ts';
import { plainText } from '../schema/plainText.ts';

const EVENT_STORAGE = { group: '', resource: 'events' };

/** Leases: what leader election writes. A write without a version is refused, so that two leaders cannot both win. */
export function leaseKind(): Kind {
  return defineKind({
    place: 'apis/coordination.k8s.io/v1',
    plural: 'leases',
    createOnUpdate: true,
    unconditionalUpdate: false,
    plainFinalizers: true,
    create: (object) => dropCoordination(objectAt(object, 'spec'), {}),
    update: (next, live) => dropCoordination(objectAt(next, 'spec'), objectAt(live, 'spec')),
    validate: (object) => {
      const spec = objectAt(object, 'spec');
      const [seconds, transitions] = [numberAt(spec, 'leaseDurationSeconds'), numberAt(spec, 'leaseTransitions')];
      const errors: FieldError[] = [];
      if (seconds !== undefined && seconds <= 0)
        errors.push(invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
      if (transitions !== undefined && transitions < 0)
        errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
      if (textAt(spec, 'preferredHolder') !== '' && textAt(spec, 'strategy') === '') {
        errors.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
      }
      return errors;
    },
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      textAt(object, 'spec', 'holderIdentity'),
      ageOf(object, nowMs),
    ],
  });
}

/** Fields of coordinated leader election, which is off by default: they are not taken anew. */
function dropCoordination(spec: JsonObject, stored: JsonObject): void {
  if (stored['strategy'] === undefined) delete spec['strategy'];
  if (stored['preferredHolder'] === undefined) delete spec['preferredHolder'];
}

/** Events of the core group. */
export function eventKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'events',
    checkName: pathSegment,
    createOnUpdate: true,
    storage: EVENT_STORAGE,
    metadataChecks: { changes: 0, whole: 0 },
    plainFinalizers: true,
    fieldSelectors: {
      'involvedObject.kind': ['involvedObject', 'kind'],
      'involvedObject.namespace': ['involvedObject', 'namespace'],
      'involvedObject.name': ['involvedObject', 'name'],
      'involvedObject.uid': ['involvedObject', 'uid'],
      'involvedObject.apiVersion': ['involvedObject', 'apiVersion'],
      'involvedObject.resourceVersion': ['involvedObject', 'resourceVersion'],
      'involvedObject.fieldPath': ['involvedObject', 'fieldPath'],
      reason: ['reason'],
      reportingComponent: ['reportingComponent'],
      source: ['source', 'component'],
      type: ['type'],
    },
    validate: (object) => eventErrors(object, 'involvedObject', 'reportingComponent', 'message'),
    cells: (object, nowMs) => eventCells(object, nowMs, 'involvedObject', 'message'),
  });
}

/** Events of the newer group, which are the same objects. */
export function newEventKind(): Kind {
  return defineKind({
    place: 'apis/events.k8s.io/v1',
    isStorageVersion: false,
    plural: 'events',
    createOnUpdate: true,
    storage: EVENT_STORAGE,
    metadataChecks: { changes: 1, whole: 1 },
    fieldSelectors: {
      'regarding.kind': ['regarding', 'kind'],
      'regarding.name': ['regarding', 'name'],
      reason: ['reason'],
      type: ['type'],
    },
    validate: (object) => {
      const errors = eventErrors(object, 'regarding', 'reportingController', 'note');
      if (textAt(object, 'eventTime') === '') return [required('eventTime'), ...errors];
      return ['Normal', 'Warning'].includes(textAt(object, 'type'))
        ? errors
        : [...errors, invalidValue('type', textAt(object, 'type'), 'has invalid value: ')];
    },
    validateUpdate: (next, live) =>
      ['regarding', 'reason', 'note', 'action', 'eventTime'].flatMap((name) => immutable(next[name], live[name], name)),
    cells: (object, nowMs) => eventCells(object, nowMs, 'regarding', 'note'),
  });
}

function eventErrors(object: JsonObject, about: string, reporter: string, text: string): FieldError[] {
  const namespace = textAt(object, 'metadata', 'namespace');
  const involved = textAt(object, about, 'namespace');
  const mismatch = invalidValue('involvedObject.namespace', involved, 'does not match event.namespace');
  if (textAt(object, 'eventTime') === '') {
    const isFine = involved === '' ? namespace === '' || namespace === 'default' : namespace === involved;
    return isFine ? [] : [mismatch];
  }
  const errors: FieldError[] = [];
  if (involved === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch);
  const controller = textAt(object, reporter);
  if (controller === '') errors.push(required(reporter));
  errors.push(...qualifiedName(controller).map((why) => invalidValue(reporter, controller, why)));
  for (const [name, max] of [
    ['reportingInstance', 128],
    ['action', 128],
    ['reason', 128],
  ] as const) {
    const value = textAt(object, name);
    if (value === '') errors.push(required(name));
    if (value.length > max) errors.push(invalidValue(name, '', `can have at most ${max} characters`));
  }
  if (textAt(object, text).length > 1024) errors.push(invalidValue('message', '', 'can have at most 1024 characters'));
  return errors;
}

function eventCells(object: JsonObject, nowMs: number, about: string, text: string): Json[] {
  const time = textAt(object, 'eventTime');
  const first = textAt(object, 'firstTimestamp') || textAt(object, 'deprecatedFirstTimestamp') || time;
  const last =
    textAt(object, 'series', 'lastObservedTime') ||
    textAt(object, 'lastTimestamp') ||
    textAt(object, 'deprecatedLastTimestamp') ||
    first;
  const kind = textAt(object, about, 'kind').toLowerCase();
  const name = textAt(object, about, 'name');
  const count =
    numberAt(object, 'series', 'count') ?? numberAt(object, 'count') ?? numberAt(object, 'deprecatedCount') ?? 0;
  return [
    since(last, nowMs),
    textAt(object, 'type'),
    textAt(object, 'reason'),
    name === '' ? kind : `${kind}/${name}`,
    textAt(object, about, 'fieldPath'),
    sourceText(object),
    textAt(object, text).trim(),
    since(first, nowMs),
    count === 0 ? 1 : count,
    textAt(object, 'metadata', 'name'),
  ];
}

function sourceText(object: JsonObject): string {
  const source = isJsonObject(object['source']) ? object['source'] : objectAt(object, 'deprecatedSource');
  const component =
    textAt(source, 'component') || textAt(object, 'reportingComponent') || textAt(object, 'reportingController');
  const host = textAt(source, 'host') || textAt(object, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

/** EndpointSlices. */
export function endpointSliceKind(): Kind {
  return defineKind({
    place: 'apis/discovery.k8s.io/v1',
    plural: 'endpointslices',
    metadataChecks: { changes: 1, whole: 1 },
    generation: (next, live) =>
      ['endpoints', 'ports', 'addressType'].some((name) => !equalJson(next[name] ?? null, live[name] ?? null)) ||
      !equalJson(objectAt(next, 'metadata', 'labels'), objectAt(live, 'metadata', 'labels')),
    defaults: (object) => {
      for (const port of objectsAt(object, 'ports')) {
        setDefault(port, 'protocol', 'TCP');
        port['name'] ??= '';
      }
    },
    validate: (object) => {
      const type = textAt(object, 'addressType');
      if (type === '') return [required('addressType')];
      if (!['FQDN', 'IPv4', 'IPv6'].includes(type))
        return [notSupported('addressType', type, ['FQDN', 'IPv4', 'IPv6'])];
      return objectsAt(object, 'endpoints').flatMap((endpoint, index) =>
        textsAt(endpoint, 'addresses').flatMap((address, position) => {
          const field = `endpoints[${index}].addresses[${position}]`;
          return type === 'FQDN'
            ? dnsSubdomain(address).map((text) => invalidValue(field, address, text))
            : endpointIpErrors(field, address);
        }),
      );
    },
    validateUpdate: (next, live) => immutable(next['addressType'], live['addressType'], 'addressType'),
    cells: (object, nowMs) => {
      const ports = objectsAt(object, 'ports').map((port) => plainText(port['port'] ?? '<any>'));
      const addresses = objectsAt(object, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses'));
      const listed = (items: readonly string[]): string =>
        items.length === 0
          ? '<unset>'
          : items.length > 3
            ? `${items.slice(0, 3).join(',')} + ${items.length - 3} more...`
            : items.join(',');
      return [
        textAt(object, 'metadata', 'name'),
        textAt(object, 'addressType'),
        listed(ports),
        listed(addresses),
        ageOf(object, nowMs),
      ];
    },
  });
}
