import type { JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, textAt } from './access.ts';
import { ageOf, containerColumns, humanDuration, orNone, selectorText, since } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { immutable } from './metadata.ts';
import { dnsSubdomain } from './names.ts';
import { templateErrors } from './podValidation.ts';
import { nonNegative } from './probeValidation.ts';
import { scheduleProblem, timeZoneProblems } from './cronSchedule.ts';
import { hostnameWarnings } from './warnings.ts';
import { selectorErrors, selects } from './selectors.ts';
import { defaultTemplate } from './workloads.ts';

const PLACE = 'apis/batch/v1';
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';
const MAX_CRON_NAME = 52;
const JOB_COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
const JOB_FIXED = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

/** Jobs. The server gives each a selector of its own uid, so that two Jobs never share pods. */
export function jobKind(): Kind {
  return defineKind({
    place: PLACE,
    plural: 'jobs',
    generation: 'spec',
    defaultPropagation: 'Orphan',
    metadataChecks: { changes: 1, whole: 1 },
    fieldSelectors: { 'status.successful': ['status', 'succeeded'] },
    defaults: defaultJob,
    create: (object) => {
      const spec = ensureObject(object, 'spec');
      if (spec['manualSelector'] === true) return;
      const [uid, name] = [textAt(object, 'metadata', 'uid'), textAt(object, 'metadata', 'name')];
      const labels = { [CONTROLLER_UID]: uid, [JOB_NAME]: name, 'controller-uid': uid, 'job-name': name };
      const own = objectAt(object, 'metadata', 'labels');
      const metadata = ensureObject(ensureObject(spec, 'template'), 'metadata');
      const given = objectAt(metadata, 'labels');
      metadata['labels'] = { ...given, ...labels };
      const sharesLabels = equalJson(own, given);
      if (sharesLabels) ensureObject(object, 'metadata')['labels'] = { ...given, ...labels };
      const asked = objectAt(spec, 'selector');
      spec['selector'] = { ...asked, matchLabels: { ...objectAt(asked, 'matchLabels'), [CONTROLLER_UID]: uid } };
    },
    validateCreate: generatedErrors,
    warnings: (next, live) => (live === undefined ? hostnameWarnings(next, 'Pod names and hostnames') : []),
    validate: (object) => jobErrors(objectAt(object, 'spec'), 'spec', true),
    // The server validates the spec of a Job once on its own and once as an update, and names each error twice.
    validateUpdate: (next, live) => {
      const [mine, before] = [objectAt(next, 'spec'), objectAt(live, 'spec')];
      const errors = [
        ...jobErrors(mine, 'spec', true),
        ...JOB_FIXED.flatMap((name) => immutable(mine[name], before[name], `spec.${name}`)),
      ];
      const isElastic =
        mine['completionMode'] === 'Indexed' && equalJson(mine['completions'] ?? null, mine['parallelism'] ?? null);
      if (!isElastic) errors.push(...immutable(mine['completions'], before['completions'], 'spec.completions'));
      const fixed = before['suspend'] !== true || numberAt(live, 'status', 'startTime') !== undefined;
      return fixed ? [...errors, ...immutable(mine['template'], before['template'], 'spec.template')] : errors;
    },
    validateStatus: (next) =>
      ['active', 'succeeded', 'failed'].flatMap((name) =>
        nonNegative(numberAt(next, 'status', name), `status.${name}`),
      ),
    cells: (object, nowMs) => {
      const spec = objectAt(object, 'spec');
      return [
        textAt(object, 'metadata', 'name'),
        jobStatus(object),
        completionsText(object),
        durationText(object, nowMs),
        ageOf(object, nowMs),
        ...containerColumns(objectAt(spec, 'template', 'spec')),
        selectorText(spec['selector']),
      ];
    },
  });
}

function defaultJob(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', spec['backoffLimitPerIndex'] === undefined ? 6 : 2 ** 31 - 1);
  const labels = objectAt(spec, 'template', 'metadata')['labels'];
  const metadata = ensureObject(object, 'metadata');
  if (isJsonObject(labels) && Object.keys(objectAt(metadata, 'labels')).length === 0)
    metadata['labels'] = { ...labels };
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'podReplacementPolicy', isJsonObject(spec['podFailurePolicy']) ? 'Failed' : 'TerminatingOrFailed');
  setDefault(spec, 'manualSelector', false);
  defaultTemplate(spec);
}

function jobErrors(spec: JsonObject, field: string, needsSelector: boolean): FieldError[] {
  const errors: FieldError[] = JOB_COUNTS.flatMap((name) => nonNegative(numberAt(spec, name), `${field}.${name}`));
  const selector = spec['selector'];
  const labels = objectAt(spec, 'template', 'metadata', 'labels');
  if (needsSelector) {
    if (!isJsonObject(selector)) errors.push(required(`${field}.selector`), unselected(field, labels));
    else {
      errors.push(...selectorErrors(selector, `${field}.selector`));
      if (!selects(selector, labels)) errors.push(unselected(field, labels));
    }
  }
  const mode = textAt(spec, 'completionMode');
  if (mode !== '' && !['Indexed', 'NonIndexed'].includes(mode))
    errors.push(notSupported(`${field}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  if (mode === 'Indexed' && spec['completions'] === undefined)
    errors.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  const template = objectAt(spec, 'template');
  errors.push(
    ...policyErrors(spec, field),
    ...templateErrors(template, `${field}.template`),
    ...restartErrors(textAt(template, 'spec', 'restartPolicy'), `${field}.template.spec.restartPolicy`),
  );
  return errors;
}

/** A template that its Job does not select. */
function unselected(field: string, labels: JsonObject): FieldError {
  const place = `${field}.template.metadata.labels`;
  const why = '`selector` does not match template `labels`';
  return Object.keys(labels).length === 0
    ? { reason: 'FieldValueInvalid', field: place, message: `Invalid value: null: ${why}` }
    : invalidValue(place, labels, why);
}

/** A selector of one's own is allowed only with `manualSelector`; else the server's must be all of it. */
function generatedErrors(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const selector = spec['selector'];
  if (spec['manualSelector'] === true || !isJsonObject(selector)) return [];
  const own = { matchLabels: { [CONTROLLER_UID]: textAt(object, 'metadata', 'uid') } };
  return equalJson(selector, own) ? [] : [invalidValue('spec.selector', selector, '`selector` not auto-generated')];
}

const REPLACEMENT = ['Failed', 'TerminatingOrFailed'];
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function policyErrors(spec: JsonObject, field: string): FieldError[] {
  const errors = objectsAt(spec, 'podFailurePolicy', 'rules').flatMap((rule, index) => {
    const place = `${field}.podFailurePolicy.rules[${index}]`;
    const action = textAt(rule, 'action');
    const given = [isJsonObject(rule['onExitCodes']), objectsAt(rule, 'onPodConditions').length > 0];
    const found = ACTIONS.includes(action) ? [] : [notSupported(`${place}.action`, action, ACTIONS)];
    const message = 'Invalid value: specifying one of OnExitCodes and OnPodConditions is required';
    return given.includes(true) ? found : [...found, { reason: 'FieldValueInvalid', field: place, message } as const];
  });
  const replacement = textAt(spec, 'podReplacementPolicy');
  if (replacement !== '' && !REPLACEMENT.includes(replacement))
    errors.push(notSupported(`${field}.podReplacementPolicy`, replacement, REPLACEMENT));
  const perIndex = numberAt(spec, 'backoffLimitPerIndex');
  if (perIndex !== undefined && spec['completionMode'] !== 'Indexed')
    errors.push(invalidValue(`${field}.backoffLimitPerIndex`, perIndex, 'requires indexed completion mode'));
  return errors;
}

function restartErrors(policy: string, field: string): FieldError[] {
  if (policy === '' || policy === 'Always')
    return [{ reason: 'FieldValueRequired', field, message: 'Required value: valid values: "OnFailure", "Never"' }];
  return ['OnFailure', 'Never'].includes(policy) ? [] : [notSupported(field, policy, ['OnFailure', 'Never'])];
}

const CONDITIONS = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['', 'Terminating'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
] as const;

function jobStatus(object: JsonObject): string {
  const isTrue = (type: string): boolean =>
    objectsAt(object, 'status', 'conditions').some((item) => item['type'] === type && item['status'] === 'True');
  const isTerminating = textAt(object, 'metadata', 'deletionTimestamp') !== '';
  return CONDITIONS.find(([type]) => (type === '' ? isTerminating : isTrue(type)))?.[1] ?? 'Running';
}

function completionsText(object: JsonObject): string {
  const succeeded = numberAt(object, 'status', 'succeeded') ?? 0;
  const completions = numberAt(object, 'spec', 'completions');
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = numberAt(object, 'spec', 'parallelism') ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText(object: JsonObject, nowMs: number): string {
  const start = textAt(object, 'status', 'startTime');
  const end = textAt(object, 'status', 'completionTime');
  if (start === '') return '';
  return humanDuration((end === '' ? nowMs : Date.parse(end)) - Date.parse(start));
}

/** CronJobs. */
export function cronJobKind(): Kind {
  return defineKind({
    place: PLACE,
    plural: 'cronjobs',
    generation: 'spec',
    checkName: (name) => [
      ...dnsSubdomain(name),
      ...(name.length > MAX_CRON_NAME ? [`must be no more than ${MAX_CRON_NAME} characters`] : []),
    ],
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      setDefault(spec, 'concurrencyPolicy', 'Allow');
      setDefault(spec, 'suspend', false);
      setDefault(spec, 'successfulJobsHistoryLimit', 3);
      setDefault(spec, 'failedJobsHistoryLimit', 1);
      defaultTemplate(ensureObject(ensureObject(spec, 'jobTemplate'), 'spec'));
    },
    validate: cronJobErrors,
    cells: (object, nowMs) => {
      const spec = objectAt(object, 'spec');
      const last = textAt(object, 'status', 'lastScheduleTime');
      const suspend = spec['suspend'];
      return [
        textAt(object, 'metadata', 'name'),
        textAt(spec, 'schedule'),
        orNone(textAt(spec, 'timeZone')),
        suspend === undefined ? '<unset>' : suspend === true ? 'True' : 'False',
        objectsAt(object, 'status', 'active').length,
        last === '' ? '<none>' : since(last, nowMs),
        ageOf(object, nowMs),
        ...containerColumns(objectAt(spec, 'jobTemplate', 'spec', 'template', 'spec')),
        selectorText(objectAt(spec, 'jobTemplate', 'spec')['selector']),
      ];
    },
  });
}

function cronJobErrors(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const schedule = textAt(spec, 'schedule');
  const policy = textAt(spec, 'concurrencyPolicy');
  const errors: FieldError[] = [];
  if (schedule === '') errors.push(required('spec.schedule'));
  else errors.push(...scheduleErrors(schedule));
  errors.push(...timeZoneErrors(spec));
  if (!['Allow', 'Forbid', 'Replace'].includes(policy))
    errors.push(notSupported('spec.concurrencyPolicy', policy, ['Allow', 'Forbid', 'Replace']));
  for (const name of ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'])
    errors.push(...nonNegative(numberAt(spec, name), `spec.${name}`));
  return [...errors, ...jobErrors(objectAt(spec, 'jobTemplate', 'spec'), 'spec.jobTemplate.spec', false)];
}

function scheduleErrors(schedule: string): FieldError[] {
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [invalidValue('spec.schedule', schedule, problem)];
  const why = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  return schedule.includes('TZ') ? [...errors, invalidValue('spec.schedule', schedule, why)] : errors;
}

function timeZoneErrors(spec: JsonObject): FieldError[] {
  const zone = spec['timeZone'];
  if (typeof zone !== 'string') return [];
  const problems = zone === '' ? ['timeZone must be nil or non-empty string'] : timeZoneProblems(zone);
  return problems.map((text) => invalidValue('spec.timeZone', zone, text));
}
