import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, setOrDelete, textAt } from './access.ts';
import { ageOf, containerColumns, orNone, selectorText } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable } from './metadata.ts';
import { dnsSubdomain } from './names.ts';
import { defaultPodSpec } from './podDefaults.ts';
import { templateErrors } from './podValidation.ts';
import { nonNegative } from './probeValidation.ts';
import { ownSelectorErrors } from './selectors.ts';
import { hostnameWarnings, podWarnings } from './warnings.ts';
import { plainText } from '../schema/plainText.ts';

/** The group and version of all kinds here. */
export const APPS = 'apis/apps/v1';
const STATUS_COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
];

/** Gives a pod template the defaults of pods. */
export function defaultTemplate(spec: JsonObject): void {
  defaultPodSpec(ensureObject(ensureObject(spec, 'template'), 'spec'));
}

/** Errors of a template whose pods restart always, as those of all kinds here do. */
export function alwaysErrors(spec: JsonObject, owner: string): FieldError[] {
  const template = objectAt(spec, 'template');
  const policy = textAt(template, 'spec', 'restartPolicy');
  const errors = templateErrors(template, 'spec.template');
  if (policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  if (numberAt(template, 'spec', 'activeDeadlineSeconds') !== undefined) {
    errors.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${owner} is not Supported`),
    );
  }
  return errors;
}

/** Counts of a spec: none below zero. */
export function counts(spec: JsonObject, ...names: readonly string[]): FieldError[] {
  return names.flatMap((name) => nonNegative(numberAt(spec, name), `spec.${name}`));
}

/** Counts of a status: none below zero, none above the number of replicas. */
export function statusErrors(next: JsonObject, above: readonly string[]): FieldError[] {
  const status = objectAt(next, 'status');
  const replicas = numberAt(status, 'replicas') ?? 0;
  const errors = STATUS_COUNTS.flatMap((name) => nonNegative(numberAt(status, name), `status.${name}`));
  for (const name of above) {
    const value = numberAt(status, name) ?? 0;
    if (value > replicas) errors.push(invalidValue(`status.${name}`, value, 'cannot be greater than status.replicas'));
  }
  const [available, ready] = [numberAt(status, 'availableReplicas') ?? 0, numberAt(status, 'readyReplicas') ?? 0];
  if (available > ready)
    errors.push(invalidValue('status.availableReplicas', available, 'cannot be greater than readyReplicas'));
  return errors;
}

/** Warnings of what makes Pods that are called after it. */
function controllerWarnings(next: JsonObject, live: JsonObject | undefined): string[] {
  const name = live === undefined ? hostnameWarnings(next, 'Pod names and hostnames') : [];
  return [...name, ...templateWarnings(next, live)];
}

/** Warnings of a template, on create and whenever the spec changes. */
export function templateWarnings(next: JsonObject, live: JsonObject | undefined): string[] {
  const isChanged =
    live === undefined || numberAt(next, 'metadata', 'generation') !== numberAt(live, 'metadata', 'generation');
  return isChanged ? podWarnings(objectAt(next, 'spec', 'template'), 'spec.template') : [];
}

/** Deployments. A change of annotations counts as a generation, because rollouts are driven by them too. */
export function deploymentKind(): Kind {
  return defineKind({
    place: APPS,
    plural: 'deployments',
    warnings: controllerWarnings,
    generation: 'spec-or-annotations',
    statusResets: [['metadata', 'labels']],
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      setDefault(spec, 'replicas', 1);
      setDefault(spec, 'revisionHistoryLimit', 10);
      setDefault(spec, 'progressDeadlineSeconds', 600);
      const strategy = ensureObject(spec, 'strategy');
      setDefault(strategy, 'type', 'RollingUpdate');
      if (strategy['type'] === 'RollingUpdate') {
        const rolling = ensureObject(strategy, 'rollingUpdate');
        setDefault(rolling, 'maxUnavailable', '25%');
        setDefault(rolling, 'maxSurge', '25%');
      }
      defaultTemplate(spec);
    },
    updateStatus: (next, live) =>
      setOrDelete(objectAt(next, 'metadata'), 'labels', objectAt(live, 'metadata')['labels']),
    validate: deploymentErrors,
    validateUpdate: (next, live) =>
      immutable(objectAt(next, 'spec')['selector'], objectAt(live, 'spec')['selector'], 'spec.selector'),
    validateStatus: (next) => statusErrors(next, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 0}`,
      numberAt(object, 'status', 'updatedReplicas') ?? 0,
      numberAt(object, 'status', 'availableReplicas') ?? 0,
      ageOf(object, nowMs),
      ...containerColumns(objectAt(object, 'spec', 'template', 'spec')),
      selectorText(objectAt(object, 'spec')['selector']),
    ],
  });
}

function deploymentErrors(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const [deadline, minReady] = [numberAt(spec, 'progressDeadlineSeconds'), numberAt(spec, 'minReadySeconds') ?? 0];
  const errors = [
    ...counts(spec, 'replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'),
    ...ownSelectorErrors(spec, 'deployment'),
    ...alwaysErrors(spec, 'ReplicaSet'),
    ...strategyErrors(objectAt(spec, 'strategy')),
  ];
  if (deadline !== undefined && deadline <= minReady)
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  return errors;
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const type = textAt(strategy, 'type');
  const field = 'spec.strategy.rollingUpdate';
  if (type === 'Recreate') {
    const isGiven = isJsonObject(strategy['rollingUpdate']);
    return isGiven ? [forbiddenField(field, "may not be specified when strategy `type` is 'Recreate'")] : [];
  }
  if (type !== 'RollingUpdate') return [unknownStrategy('spec.strategy', strategy, ['Recreate', 'RollingUpdate'])];
  const rolling = objectAt(strategy, 'rollingUpdate');
  const errors = ['maxUnavailable', 'maxSurge'].flatMap((name) => amountErrors(rolling[name], `${field}.${name}`));
  if (amountOf(rolling['maxUnavailable']) === 0 && amountOf(rolling['maxSurge']) === 0) {
    errors.push(
      invalidValue(`${field}.maxUnavailable`, rolling['maxUnavailable'], 'may not be 0 when `maxSurge` is 0'),
    );
  }
  if (/^\d+%$/.test(plainText(rolling['maxUnavailable'])) && amountOf(rolling['maxUnavailable']) > 100) {
    errors.push(invalidValue(`${field}.maxUnavailable`, rolling['maxUnavailable'], 'must not be greater than 100%'));
  }
  return errors;
}

/** A strategy of a type that does not exist: the server prints the whole of it, under the names of its Go fields. */
function unknownStrategy(field: string, strategy: JsonObject, types: readonly string[]): FieldError {
  const rolling = strategy['rollingUpdate'];
  const shown = isJsonObject(rolling)
    ? { MaxUnavailable: rolling['maxUnavailable'] ?? 0, MaxSurge: rolling['maxSurge'] ?? 0 }
    : null;
  return notSupported(field, { Type: textAt(strategy, 'type'), RollingUpdate: shown }, types);
}

/** A count or a share of replicas: not negative, and if it is text, in percent. */
function amountErrors(value: Json | undefined, field: string): FieldError[] {
  if (typeof value === 'number') return nonNegative(value, field);
  if (typeof value !== 'string' || /^[0-9]+%$/.test(value)) return [];
  const why =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalidValue(field, value, why)];
}

function amountOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : Number.parseInt(plainText(value ?? '0'), 10);
}

/** ReplicaSets. */
export function replicaSetKind(): Kind {
  return defineKind({
    place: APPS,
    plural: 'replicasets',
    warnings: controllerWarnings,
    generation: 'spec',
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      setDefault(spec, 'replicas', 1);
      defaultTemplate(spec);
    },
    validate: (object) => {
      const spec = objectAt(object, 'spec');
      return [
        ...counts(spec, 'replicas', 'minReadySeconds'),
        ...ownSelectorErrors(spec, 'deployment'),
        ...alwaysErrors(spec, 'ReplicaSet'),
      ];
    },
    validateUpdate: (next, live) =>
      immutable(objectAt(next, 'spec')['selector'], objectAt(live, 'spec')['selector'], 'spec.selector'),
    validateStatus: (next) => statusErrors(next, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    cells: (object, nowMs) => [
      textAt(object, 'metadata', 'name'),
      numberAt(object, 'spec', 'replicas') ?? 0,
      numberAt(object, 'status', 'replicas') ?? 0,
      numberAt(object, 'status', 'readyReplicas') ?? 0,
      ageOf(object, nowMs),
      ...containerColumns(objectAt(object, 'spec', 'template', 'spec')),
      selectorText(objectAt(object, 'spec')['selector']),
    ],
  });
}

/** Where a DaemonSet counts the changes of its template; the server itself writes it. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const DAEMON_COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
];

function daemonStrategyErrors(strategy: JsonObject): FieldError[] {
  const types = ['RollingUpdate', 'OnDelete'];
  if (!types.includes(textAt(strategy, 'type'))) return [unknownStrategy('spec.updateStrategy', strategy, types)];
  if (strategy['type'] !== 'RollingUpdate') return [];
  const rolling = objectAt(strategy, 'rollingUpdate');
  const field = 'spec.updateStrategy.rollingUpdate';
  const errors = ['maxUnavailable', 'maxSurge'].flatMap((name) => amountErrors(rolling[name], `${field}.${name}`));
  const [unavailable, surge] = [amountOf(rolling['maxUnavailable']), amountOf(rolling['maxSurge'])];
  if (unavailable === 0 && surge === 0)
    errors.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  if (unavailable !== 0 && surge !== 0)
    errors.push(
      invalidValue(`${field}.maxSurge`, rolling['maxSurge'], 'may not be set when maxUnavailable is non-zero'),
    );
  return errors;
}

/** DaemonSets. */
export function daemonSetKind(): Kind {
  return defineKind({
    place: APPS,
    plural: 'daemonsets',
    warnings: templateWarnings,
    generation: 'spec',
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      const strategy = ensureObject(spec, 'updateStrategy');
      setDefault(strategy, 'type', 'RollingUpdate');
      if (strategy['type'] === 'RollingUpdate') {
        const rolling = ensureObject(strategy, 'rollingUpdate');
        setDefault(rolling, 'maxUnavailable', 1);
        setDefault(rolling, 'maxSurge', 0);
      }
      setDefault(spec, 'revisionHistoryLimit', 10);
      defaultTemplate(spec);
      setDefault(ensureObject(ensureObject(object, 'metadata'), 'annotations'), TEMPLATE_GENERATION, '0');
    },
    create: (object) => {
      ensureObject(ensureObject(object, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = '1';
    },
    update: (next, live) => {
      const stored = Number(textAt(live, 'metadata', 'annotations', TEMPLATE_GENERATION));
      const isChanged = !equalJson(objectAt(next, 'spec')['template'], objectAt(live, 'spec')['template']);
      ensureObject(ensureObject(next, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = String(
        isChanged ? stored + 1 : stored,
      );
    },
    updateStatus: (next, live) => {
      const stored = textAt(live, 'metadata', 'annotations', TEMPLATE_GENERATION);
      ensureObject(ensureObject(next, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = stored;
    },
    validate: (object) => {
      const spec = objectAt(object, 'spec');
      return [
        ...ownSelectorErrors(spec, 'daemonset'),
        ...alwaysErrors(spec, 'DaemonSet'),
        ...counts(spec, 'minReadySeconds', 'revisionHistoryLimit'),
        ...daemonStrategyErrors(objectAt(spec, 'updateStrategy')),
      ];
    },
    validateUpdate: (next, live) =>
      immutable(objectAt(next, 'spec')['selector'], objectAt(live, 'spec')['selector'], 'spec.selector'),
    validateStatus: (next) =>
      DAEMON_COUNTS.flatMap((name) => nonNegative(numberAt(next, 'status', name), `status.${name}`)),
    cells: (object, nowMs) => {
      const status = objectAt(object, 'status');
      const names = [
        'desiredNumberScheduled',
        'currentNumberScheduled',
        'numberReady',
        'updatedNumberScheduled',
        'numberAvailable',
      ];
      const nodes = objectAt(object, 'spec', 'template', 'spec', 'nodeSelector');
      return [
        textAt(object, 'metadata', 'name'),
        ...names.map((name) => numberAt(status, name) ?? 0),
        orNone(
          Object.keys(nodes)
            .sort()
            .map((key) => `${key}=${plainText(nodes[key])}`)
            .join(','),
        ),
        ageOf(object, nowMs),
        ...containerColumns(objectAt(object, 'spec', 'template', 'spec')),
        selectorText(objectAt(object, 'spec')['selector']),
      ];
    },
  });
}

/** ControllerRevisions: snapshots whose data never change. */
export function controllerRevisionKind(): Kind {
  return defineKind({
    place: APPS,
    plural: 'controllerrevisions',
    checkName: dnsSubdomain,
    metadataChecks: { changes: 1, whole: 1 },
    validate: (object) => {
      const errors = nonNegative(numberAt(object, 'revision'), 'revision');
      return isJsonObject(object['data']) ? errors : [...errors, required('data')];
    },
    validateUpdate: (next, live) => immutable(next['data'], live['data'], 'data'),
    cells: (object, nowMs) => {
      const owner = objectsAt(object, 'metadata', 'ownerReferences').find((item) => item['controller'] === true);
      const group = textAt(owner, 'apiVersion').split('/').slice(0, -1).join('/');
      const shown =
        owner === undefined
          ? '<none>'
          : `${textAt(owner, 'kind').toLowerCase()}${group === '' ? '' : `.${group}`}/${textAt(owner, 'name')}`;
      return [textAt(object, 'metadata', 'name'), shown, numberAt(object, 'revision') ?? 0, ageOf(object, nowMs)];
    },
  });
}
