import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, equalJson, isJsonObject } from '../../codec/json.ts';
import { compareQuantities, parseQuantity } from '../schema/quantity.ts';
import { secondsText } from '../schema/goTime.ts';
import { forbidden, forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { ensureObject, objectAt, setDefault, setOrDelete, textAt, textsAt } from './access.ts';
import { ageOf } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable, labelErrors } from './metadata.ts';
import { dnsSubdomain } from './names.ts';
import { plainText } from '../schema/plainText.ts';

const MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
/** Fields of a volume's spec that say nothing of where its data are. */
const NOT_SOURCES = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);
const NOT_RESIZABLE =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
const CLAIM_FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

function protect(object: JsonObject, finalizer: string): void {
  const metadata = ensureObject(object, 'metadata');
  const known = textsAt(metadata, 'finalizers');
  if (!known.includes(finalizer)) metadata['finalizers'] = [...known, finalizer];
}

function modeErrors(spec: JsonObject): FieldError[] {
  const modes = textsAt(spec, 'accessModes');
  if (modes.length === 0) return [required('spec.accessModes', '')];
  const errors = modes
    .filter((mode) => !MODES.includes(mode))
    .map((mode) => notSupported('spec.accessModes', mode, MODES));
  const isMixed = modes.includes('ReadWriteOncePod') && modes.length > 1;
  return isMixed
    ? [...errors, forbiddenField('spec.accessModes', 'may not use ReadWriteOncePod with other access modes')]
    : errors;
}

const modesText = (modes: readonly string[]): string =>
  ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod']
    .filter((mode) => modes.includes(mode))
    .map((mode) => SHORT_MODES[mode])
    .join(',');

const phaseOf = (object: JsonObject): string =>
  textAt(object, 'metadata', 'deletionTimestamp') === '' ? textAt(object, 'status', 'phase') : 'Terminating';

const unsetOr = (value: Json | undefined): string => (typeof value === 'string' ? value : '<unset>');

/** PersistentVolumes. */
export function volumeKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'persistentvolumes',
    deleteAnswers: 'object',
    metadataChecks: { changes: 0, whole: 2 },
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      setDefault(ensureObject(object, 'status'), 'phase', 'Pending');
      setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
      setDefault(spec, 'volumeMode', 'Filesystem');
      const path = spec['hostPath'];
      if (isJsonObject(path)) path['type'] ??= '';
    },
    create: (object, context) => {
      protect(object, 'kubernetes.io/pv-protection');
      object['status'] = { phase: 'Pending', lastPhaseTransitionTime: secondsText(context.nowMs) };
    },
    updateStatus: (next, live) => {
      const status = ensureObject(next, 'status');
      if (textAt(status, 'lastPhaseTransitionTime') === '')
        setOrDelete(status, 'lastPhaseTransitionTime', objectAt(live, 'status')['lastPhaseTransitionTime']);
    },
    validate: volumeErrors,
    validateUpdate: (next, live) => {
      const [mine, before] = [objectAt(next, 'spec'), objectAt(live, 'spec')];
      const errors = immutable(mine['volumeMode'], before['volumeMode'], 'volumeMode');
      const isMoved = !equalJson(sourceOf(mine), sourceOf(before));
      return isMoved
        ? [
            forbiddenField(
              'spec.persistentvolumesource',
              'spec.persistentvolumesource is immutable after creation\n@@ @@\n',
            ),
            ...errors,
          ]
        : errors;
    },
    cells: (object, nowMs) => {
      const spec = objectAt(object, 'spec');
      const claim = spec['claimRef'];
      return [
        textAt(object, 'metadata', 'name'),
        plainText(objectAt(spec, 'capacity')['storage'] ?? '0'),
        modesText(textsAt(spec, 'accessModes')),
        textAt(spec, 'persistentVolumeReclaimPolicy'),
        phaseOf(object),
        isJsonObject(claim) ? `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}` : '',
        textAt(spec, 'storageClassName'),
        unsetOr(spec['volumeAttributesClassName']),
        textAt(object, 'status', 'reason'),
        ageOf(object, nowMs),
        unsetOr(spec['volumeMode']),
      ];
    },
  });
}

function sourceOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !NOT_SOURCES.has(name)));
}

function volumeErrors(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const capacity = objectAt(spec, 'capacity');
  const sources = Object.keys(sourceOf(spec));
  const errors = modeErrors(spec);
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'));
  if (capacity['storage'] === undefined || Object.keys(capacity).length > 1) {
    const shown = Object.keys(capacity).length === 0 ? 'null' : JSON.stringify(capacity);
    errors.push({
      reason: 'FieldValueNotSupported',
      field: 'spec.capacity',
      message: `Unsupported value: ${shown}: supported values: "storage"`,
    });
  }
  const policy = textAt(spec, 'persistentVolumeReclaimPolicy');
  if (!['Delete', 'Recycle', 'Retain'].includes(policy))
    errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, ['Delete', 'Recycle', 'Retain']));
  if (sources.length === 0) errors.push(required('spec', 'must specify a volume type'));
  for (const extra of sources.slice(1))
    errors.push(forbiddenField(`spec.${extra}`, 'may not specify more than 1 volume type'));
  if (isJsonObject(spec['hostPath']) && textAt(spec, 'hostPath', 'path') === '')
    errors.push(required('spec.hostPath.path'));
  if (textAt(spec, 'hostPath', 'path') === '/' && policy === 'Recycle') {
    const why = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(forbiddenField('spec.persistentVolumeReclaimPolicy', why));
  }
  return [...errors, ...classErrors(spec), ...volumeModeErrors(spec)];
}

function classErrors(spec: JsonObject): FieldError[] {
  const name = textAt(spec, 'storageClassName');
  return name === '' ? [] : dnsSubdomain(name).map((text) => invalidValue('spec.storageClassName', name, text));
}

function volumeModeErrors(spec: JsonObject): FieldError[] {
  const mode = textAt(spec, 'volumeMode');
  const modes = ['Block', 'Filesystem'];
  return mode === '' || modes.includes(mode) ? [] : [notSupported('spec.volumeMode', mode, modes)];
}

/** What a claim is filled from has an old name and a new one; both are kept. */
function mirrorDataSource(spec: JsonObject): void {
  const [source, reference] = [spec['dataSource'], spec['dataSourceRef']];
  if (isJsonObject(source) && reference === undefined) spec['dataSourceRef'] = cloneJson(source);
  if (isJsonObject(reference) && source === undefined && textAt(reference, 'namespace') === '')
    spec['dataSource'] = cloneJson(reference);
}

/** PersistentVolumeClaims. */
export function claimKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'persistentvolumeclaims',
    deleteAnswers: 'object',
    metadataChecks: { changes: 1, whole: 1 },
    defaults: (object) => {
      setDefault(ensureObject(object, 'status'), 'phase', 'Pending');
      setDefault(ensureObject(object, 'spec'), 'volumeMode', 'Filesystem');
    },
    create: (object) => {
      protect(object, 'kubernetes.io/pvc-protection');
      object['status'] = { phase: 'Pending' };
      mirrorDataSource(ensureObject(object, 'spec'));
    },
    update: (next, live) => {
      mirrorDataSource(ensureObject(next, 'spec'));
      const [asked, had] = [storageOf(objectAt(next, 'spec')), storageOf(objectAt(live, 'spec'))];
      const grows = asked !== undefined && had !== undefined && compareQuantities(asked, had) > 0;
      if (!grows || textAt(live, 'status', 'phase') !== 'Bound') return;
      throw forbidden(
        { group: '', resource: 'persistentvolumeclaims' },
        textAt(next, 'metadata', 'name'),
        NOT_RESIZABLE,
      );
    },
    validate: (object) => {
      const spec = objectAt(object, 'spec');
      const errors = modeErrors(spec).map((error) =>
        error.reason === 'FieldValueRequired'
          ? required('spec.accessModes', 'at least 1 access mode is required')
          : error,
      );
      errors.unshift(...labelErrors(objectAt(spec, 'selector', 'matchLabels'), 'spec.selector.matchLabels'));
      const more = [...classErrors(spec), ...volumeModeErrors(spec)];
      const storage = objectAt(spec, 'resources', 'requests')['storage'];
      if (storage === undefined) return [...errors, required('spec.resources[storage]'), ...more];
      const amount = parseQuantity(plainText(storage));
      return amount !== undefined && amount.nanos > 0n
        ? [...errors, ...more]
        : [...errors, invalidValue('spec.resources[storage]', storage, 'must be greater than zero'), ...more];
    },
    validateUpdate: claimUpdateErrors,
    cells: (object, nowMs) => {
      const spec = objectAt(object, 'spec');
      const isBound = textAt(spec, 'volumeName') !== '';
      return [
        textAt(object, 'metadata', 'name'),
        phaseOf(object),
        textAt(spec, 'volumeName'),
        isBound ? plainText(objectAt(object, 'status', 'capacity')['storage'] ?? '0') : '',
        isBound ? modesText(textsAt(object, 'status', 'accessModes')) : '',
        textAt(spec, 'storageClassName'),
        unsetOr(spec['volumeAttributesClassName']),
        ageOf(object, nowMs),
        unsetOr(spec['volumeMode']),
      ];
    },
  });
}

/** A claim's spec is fixed, but for the binding to a volume, and for growing once bound. */
function claimUpdateErrors(next: JsonObject, live: JsonObject): FieldError[] {
  const [mine, before] = [cloneJson(objectAt(next, 'spec')), objectAt(live, 'spec')];
  const errors: FieldError[] = [];
  const [asked, had] = [storageOf(mine), storageOf(before)];
  if (textAt(before, 'volumeName') === '') setOrDelete(mine, 'volumeName', before['volumeName']);
  if (before['storageClassName'] === undefined) delete mine['storageClassName'];
  if (textAt(next, 'status', 'phase') === 'Bound') {
    const requests = objectAt(mine, 'resources', 'requests');
    setOrDelete(requests, 'storage', objectAt(before, 'resources', 'requests')['storage']);
    setOrDelete(mine, 'volumeAttributesClassName', before['volumeAttributesClassName']);
  }
  if (!equalJson(mine, before)) errors.push(forbiddenField('spec', `${CLAIM_FIXED}\n@@ @@\n`));
  const capacity = parseQuantity(plainText(objectAt(live, 'status', 'capacity')['storage'] ?? '0'));
  if (
    asked !== undefined &&
    had !== undefined &&
    capacity !== undefined &&
    compareQuantities(asked, had) < 0 &&
    compareQuantities(asked, capacity) <= 0
  ) {
    errors.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  return [...errors, ...immutable(objectAt(next, 'spec')['volumeMode'], before['volumeMode'], 'volumeMode')];
}

function storageOf(spec: JsonObject): ReturnType<typeof parseQuantity> {
  return parseQuantity(plainText(objectAt(spec, 'resources', 'requests')['storage'] ?? '0'));
}
