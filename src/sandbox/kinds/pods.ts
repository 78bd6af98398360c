import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, equalJson, isJsonObject } from '../../codec/json.ts';
import { parseQuantity } from '../schema/quantity.ts';
import { forbidden, forbiddenField, invalidValue, required, type FieldError } from '../status.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, setOrDelete, textAt } from './access.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { containersOf, defaultPod } from './podDefaults.ts';
import { podErrors } from './podValidation.ts';
import { podCells } from './podTable.ts';
import { hostnameWarnings, podWarnings } from './warnings.ts';
import { plainText } from '../schema/plainText.ts';

const EVICTION_SECONDS = 300;
/** The PriorityClasses that every API server makes at its start. */
const PRIORITY_CLASSES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'system-cluster-critical': 2_000_000_000,
    'system-node-critical': 2_000_001_000,
  }),
);
const UPDATABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Pods. */
export function podKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'pods',
    deleteAnswers: 'object',
    generation: 'spec',
    metadataChecks: { changes: 1, whole: 1 },
    statusResets: [
      ['metadata', 'deletionTimestamp'],
      ['metadata', 'ownerReferences'],
    ],
    fieldSelectors: {
      'spec.nodeName': ['spec', 'nodeName'],
      'spec.restartPolicy': ['spec', 'restartPolicy'],
      'spec.schedulerName': ['spec', 'schedulerName'],
      'spec.serviceAccountName': ['spec', 'serviceAccountName'],
      'spec.hostNetwork': ['spec', 'hostNetwork'],
      'status.phase': ['status', 'phase'],
      'status.podIP': ['status', 'podIP'],
      'status.nominatedNodeName': ['status', 'nominatedNodeName'],
    },
    defaults: defaultPod,
    create: (object) => {
      admit(ensureObject(object, 'spec'), textAt(object, 'metadata', 'name'));
      object['status'] = { phase: 'Pending', qosClass: qosClass(objectAt(object, 'spec')) };
    },
    update: (next, live) => {
      const [spec, stored] = [ensureObject(next, 'spec'), objectAt(live, 'spec')];
      if (spec['priority'] === undefined) setOrDelete(spec, 'priority', stored['priority']);
      if (spec['preemptionPolicy'] === undefined) setOrDelete(spec, 'preemptionPolicy', stored['preemptionPolicy']);
      tolerateLostNodes(spec);
    },
    updateStatus: (next, live) => {
      const [metadata, stored] = [objectAt(next, 'metadata'), objectAt(live, 'metadata')];
      setOrDelete(metadata, 'deletionTimestamp', stored['deletionTimestamp']);
      setOrDelete(metadata, 'ownerReferences', stored['ownerReferences']);
      setDefault(ensureObject(next, 'status'), 'qosClass', objectAt(live, 'status')['qosClass'] ?? 'BestEffort');
    },
    validate: (object) => podErrors(objectAt(object, 'spec'), 'spec'),
    validateUpdate: specErrors,
    validateStatus: (next, live) =>
      textAt(next, 'status', 'qosClass') === textAt(live, 'status', 'qosClass')
        ? []
        : [invalidValue('status.qosClass', textAt(next, 'status', 'qosClass'), 'field is immutable')],
    warnings: (next, live) =>
      live === undefined ? [...hostnameWarnings(next, "the Pod's hostname"), ...podWarnings(next, '')] : [],
    cells: podCells,
  });
}

/** What admission adds to every pod: a priority, and tolerance of a node that is gone for a while. */
function admit(spec: JsonObject, name: string): void {
  const className = textAt(spec, 'priorityClassName');
  const known = PRIORITY_CLASSES.get(className);
  const refused = (why: string): Error => forbidden({ group: '', resource: 'pods' }, name, why);
  if (className !== '' && known === undefined) throw refused(`no PriorityClass with name ${className} was found`);
  const priority = known ?? 0;
  const asked = numberAt(spec, 'priority');
  if (asked !== undefined && asked !== priority)
    throw refused(
      `the integer value of priority (${asked}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  setDefault(spec, 'priority', priority);
  setDefault(spec, 'preemptionPolicy', 'PreemptLowerPriority');
  tolerateLostNodes(spec);
}

function tolerateLostNodes(spec: JsonObject): void {
  const tolerations = objectsAt(spec, 'tolerations');
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const tolerates = tolerations.some(
      (item) => [key, ''].includes(textAt(item, 'key')) && ['NoExecute', ''].includes(textAt(item, 'effect')),
    );
    if (!tolerates)
      tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: EVICTION_SECONDS });
  }
  spec['tolerations'] = tolerations;
}

/** Guaranteed if every container's limits for cpu and memory equal its requests; BestEffort if none asks for either. */
function qosClass(spec: JsonObject): string {
  const containers = containersOf(spec);
  let isGuaranteed = containers.length > 0;
  let asks = false;
  for (const container of containers) {
    for (const name of ['cpu', 'memory']) {
      const limit = amount(objectAt(container, 'resources', 'limits')[name]);
      const request = amount(objectAt(container, 'resources', 'requests')[name]);
      if (limit > 0n || request > 0n) asks = true;
      if (limit === 0n || limit !== request) isGuaranteed = false;
    }
  }
  if (!asks) return 'BestEffort';
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function amount(value: Json | undefined): bigint {
  return parseQuantity(plainText(value ?? ''))?.nanos ?? 0n;
}

/** A pod's spec is fixed but for images, a shorter deadline and more tolerations. */
function specErrors(next: JsonObject, live: JsonObject): FieldError[] {
  const [spec, stored] = [objectAt(next, 'spec'), objectAt(live, 'spec')];
  for (const list of ['containers', 'initContainers']) {
    if (objectsAt(spec, list).length !== objectsAt(stored, list).length) {
      return [forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
  }
  const noImage = ['containers', 'initContainers'].flatMap((list) =>
    objectsAt(spec, list).flatMap((container, index) =>
      textAt(container, 'image') === '' ? [required(`spec.${list}[${index}].image`)] : [],
    ),
  );
  const errors: FieldError[] = [...noImage, ...deadlineErrors(spec, stored)];
  if (errors.some((error) => error.message.includes('less than or equal'))) return errors;
  errors.push(...tolerationErrors(spec, stored));
  const munged = cloneJson(spec);
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of objectsAt(munged, list).entries())
      setOrDelete(container, 'image', objectsAt(stored, list)[index]?.['image']);
  }
  for (const name of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'])
    setOrDelete(munged, name, stored[name]);
  if (equalJson(munged, stored)) return errors;
  return [
    ...errors,
    forbiddenField(
      'spec',
      `pod updates may not change fields other than ${UPDATABLE}\n@@ ${changedFields(munged, stored)} @@\n`,
    ),
  ];
}

function deadlineErrors(spec: JsonObject, stored: JsonObject): FieldError[] {
  const [mine, before] = [numberAt(spec, 'activeDeadlineSeconds'), numberAt(stored, 'activeDeadlineSeconds')];
  const field = 'spec.activeDeadlineSeconds';
  if (before === undefined) return [];
  if (mine === undefined) return [invalidValue(field, null, 'must not update from a positive integer to nil value')];
  return mine > before ? [invalidValue(field, mine, 'must be less than or equal to previous value')] : [];
}

function tolerationErrors(spec: JsonObject, stored: JsonObject): FieldError[] {
  const mine = objectsAt(spec, 'tolerations');
  const lost = objectsAt(stored, 'tolerations').some(
    (toleration) =>
      !mine.some((item) => equalJson({ ...item, tolerationSeconds: 0 }, { ...toleration, tolerationSeconds: 0 })),
  );
  return lost
    ? [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
    : [];
}

/** The fields that differ, where the real server prints a difference of Go structs. */
function changedFields(next: JsonObject, stored: JsonObject): string {
  const names = new Set([...Object.keys(next), ...Object.keys(stored)]);
  return [...names].filter((name) => !equalJson(next[name] ?? null, stored[name] ?? null)).join(', ');
}

/** Whether a pod is bound to a node. */
export function isBound(pod: JsonObject): boolean {
  return isJsonObject(pod['spec']) && textAt(pod, 'spec', 'nodeName') !== '';
}
