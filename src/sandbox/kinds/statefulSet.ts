import type { JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { forbiddenField, invalidValue, notSupported, type FieldError } from '../status.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, setOrDelete, textAt } from './access.ts';
import { ageOf, containerColumns } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { dnsLabel } from './names.ts';
import { nonNegative } from './probeValidation.ts';
import { ownSelectorErrors } from './selectors.ts';
import { APPS, alwaysErrors, counts, defaultTemplate, statusErrors, templateWarnings } from './workloads.ts';

const STATEFUL_MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];
const STATEFUL_FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
  "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** StatefulSets. */
export function statefulSetKind(): Kind {
  return defineKind({
    place: APPS,
    plural: 'statefulsets',
    warnings: templateWarnings,
    checkName: dnsLabel,
    generation: 'spec',
    defaults: defaultStatefulSet,
    validate: (object) => {
      const spec = objectAt(object, 'spec');
      const claims = objectsAt(spec, 'volumeClaimTemplates').map((claim) => ({
        name: textAt(claim, 'metadata', 'name'),
      }));
      const withClaims = { ...spec, template: withVolumes(objectAt(spec, 'template'), claims) };
      const service = textAt(spec, 'serviceName');
      const management = textAt(spec, 'podManagementPolicy');
      return [
        ...(['OrderedReady', 'Parallel'].includes(management)
          ? []
          : [invalidValue('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'")]),
        ...strategyErrors(objectAt(spec, 'updateStrategy')),
        ...counts(spec, 'replicas', 'minReadySeconds'),
        ...nonNegative(numberAt(spec, 'ordinals', 'start'), 'spec.ordinals.start'),
        ...(service === '' ? [] : dnsLabel(service).map((text) => invalidValue('spec.serviceName', service, text))),
        ...ownSelectorErrors(spec, 'statefulset'),
        ...alwaysErrors(withClaims, 'StatefulSet'),
        ...retentionErrors(objectAt(spec, 'persistentVolumeClaimRetentionPolicy')),
      ];
    },
    validateUpdate: (next, live) => {
      const [mine, before] = [{ ...objectAt(next, 'spec') }, objectAt(live, 'spec')];
      for (const name of STATEFUL_MUTABLE) setOrDelete(mine, name, before[name]);
      return equalJson(mine, before) ? [] : [forbiddenField('spec', STATEFUL_FIXED)];
    },
    validateStatus: (next) =>
      statusErrors(next, ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']),
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`,
      ageOf(object, nowMs),
      ...containerColumns(objectAt(object, 'spec', 'template', 'spec')),
    ],
  });
}

function defaultStatefulSet(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setDefault(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = ensureObject(spec, 'updateStrategy');
  if (textAt(strategy, 'type') === '') {
    strategy['type'] = 'RollingUpdate';
    ensureObject(strategy, 'rollingUpdate');
  }
  const rolling = strategy['rollingUpdate'];
  if (strategy['type'] === 'RollingUpdate' && isJsonObject(rolling)) setDefault(rolling, 'partition', 0);
  const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy');
  setDefault(retention, 'whenDeleted', 'Retain');
  setDefault(retention, 'whenScaled', 'Retain');
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
  defaultTemplate(spec);
  for (const claim of objectsAt(spec, 'volumeClaimTemplates')) {
    setDefault(claim, 'kind', 'PersistentVolumeClaim');
    setDefault(claim, 'apiVersion', 'v1');
    setDefault(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem');
    setDefault(ensureObject(claim, 'status'), 'phase', 'Pending');
  }
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const type = textAt(strategy, 'type');
  const rolling = strategy['rollingUpdate'];
  const field = 'spec.updateStrategy';
  const partition = numberAt(strategy, 'rollingUpdate', 'partition');
  const shown = isJsonObject(rolling)
    ? { Partition: partition ?? 0, MaxUnavailable: rolling['maxUnavailable'] ?? null }
    : null;
  if (type === 'RollingUpdate') return nonNegative(partition, `${field}.rollingUpdate.partition`);
  if (type !== 'OnDelete')
    return [invalidValue(field, { Type: type, RollingUpdate: shown }, "must be 'RollingUpdate' or 'OnDelete'")];
  return shown === null
    ? []
    : [invalidValue(`${field}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
}

function retentionErrors(policy: JsonObject): FieldError[] {
  const supported = ['Retain', 'Delete'];
  return ['whenDeleted', 'whenScaled']
    .filter((name) => !supported.includes(textAt(policy, name)))
    .map((name) => notSupported(`spec.persistentVolumeClaimRetentionPolicy.${name}`, textAt(policy, name), supported));
}

function withVolumes(template: JsonObject, volumes: readonly JsonObject[]): JsonObject {
  const spec = objectAt(template, 'spec');
  return { ...template, spec: { ...spec, volumes: [...objectsAt(spec, 'volumes'), ...volumes] } };
}
