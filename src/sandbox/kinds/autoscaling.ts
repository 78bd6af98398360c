import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, textAt } from './access.ts';
import { ageOf } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind } from './kind.ts';
import { pathSegment } from './names.ts';

const CPU_PERCENT = 80;
const SHOWN_METRICS = 2;
const STORAGE = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };

const SCALE_TO_ZERO = 'must specify at least one Object or External metric to support scaling to zero replicas';

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: JsonObject = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

/** HorizontalPodAutoscalers in the version in which they are stored. */
export function autoscalerKind(): Kind {
  return defineKind({
    place: 'apis/autoscaling/v2',
    plural: 'horizontalpodautoscalers',
    storage: STORAGE,
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      setDefault(spec, 'minReplicas', 1);
      if (objectsAt(spec, 'metrics').length === 0) {
        spec['metrics'] = [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_PERCENT } },
          },
        ];
      }
      const behavior = spec['behavior'];
      if (!isJsonObject(behavior)) return;
      behavior['scaleUp'] = { ...SCALE_UP, ...objectAt(behavior, 'scaleUp') };
      behavior['scaleDown'] = { ...SCALE_DOWN, ...objectAt(behavior, 'scaleDown') };
    },
    validate: autoscalerErrors,
    cells,
  });
}

/** HorizontalPodAutoscalers in the old version, which knows a share of cpu only. */
export function autoscalerV1Kind(): Kind {
  return defineKind({
    place: 'apis/autoscaling/v1',
    isStorageVersion: false,
    plural: 'horizontalpodautoscalers',
    storage: STORAGE,
    defaults: (object) => {
      const spec = ensureObject(object, 'spec');
      setDefault(spec, 'minReplicas', 1);
      setDefault(spec, 'targetCPUUtilizationPercentage', CPU_PERCENT);
    },
    validate: autoscalerErrors,
    cells,
  });
}

function autoscalerErrors(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const [min, max] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas') ?? 0];
  const errors: FieldError[] = [];
  if (min !== undefined && min < 1)
    errors.push(invalidValue('spec.minReplicas', min, 'must be greater than or equal to 1'));
  const canBeZero = objectsAt(spec, 'metrics').some((metric) =>
    ['Object', 'External'].includes(textAt(metric, 'type')),
  );
  if (min === 0 && !canBeZero) errors.push(forbiddenField('spec.metrics', SCALE_TO_ZERO));
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (max < 0) errors.push(invalidValue('spec.maxReplicas', max, 'must be greater than or equal to 1'));
  if (min !== undefined && max < min)
    errors.push(invalidValue('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  errors.push(...objectsAt(spec, 'metrics').flatMap((metric, index) => metricErrors(metric, `spec.metrics[${index}]`)));
  const target = objectAt(spec, 'scaleTargetRef');
  const isCore = !textAt(target, 'apiVersion').includes('/');
  if (isCore && textAt(target, 'kind') !== 'ReplicationController') {
    errors.push(
      invalidValue('spec.scaleTargetRef.apiVersion', textAt(target, 'apiVersion'), 'apiVersion must specify API group'),
    );
  }
  for (const name of ['kind', 'name']) {
    const value = textAt(spec, 'scaleTargetRef', name);
    if (value === '') errors.push(required(`spec.scaleTargetRef.${name}`));
    else errors.push(...pathSegment(value).map((text) => invalidValue(`spec.scaleTargetRef.${name}`, value, text)));
  }
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = objectAt(spec, 'behavior')[direction];
    if (isJsonObject(rules)) errors.push(...scalingErrors(rules, `spec.behavior.${direction}`));
  }
  return errors;
}

/** How fast an autoscaler may act in one direction. */
function scalingErrors(rules: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const seconds = numberAt(rules, 'stabilizationWindowSeconds') ?? 0;
  const window = `${field}.stabilizationWindowSeconds`;
  if (seconds < 0) errors.push(invalidValue(window, seconds, 'must be greater than or equal to zero'));
  if (seconds > 3600) errors.push(invalidValue(window, seconds, 'must be less than or equal to 3600'));
  const policies = objectsAt(rules, 'policies');
  const select = textAt(rules, 'selectPolicy');
  const selects = ['Disabled', 'Max', 'Min'];
  if (select !== '' && !selects.includes(select)) errors.push(notSupported(`${field}.selectPolicy`, select, selects));
  if (policies.length === 0) errors.push(required(`${field}.policies`, 'must specify at least one Policy'));
  for (const [index, policy] of policies.entries()) {
    const place = `${field}.policies[${index}]`;
    const [type, value] = [textAt(policy, 'type'), numberAt(policy, 'value') ?? 0];
    const period = numberAt(policy, 'periodSeconds') ?? 0;
    if (!['Percent', 'Pods'].includes(type)) errors.push(notSupported(`${place}.type`, type, ['Percent', 'Pods']));
    if (value <= 0) errors.push(invalidValue(`${place}.value`, value, 'must be greater than zero'));
    if (period <= 0) errors.push(invalidValue(`${place}.periodSeconds`, period, 'must be greater than zero'));
    if (period > 1800)
      errors.push(invalidValue(`${place}.periodSeconds`, period, 'must be less than or equal to 1800'));
  }
  return errors;
}

const SOURCES = ['object', 'external', 'pods', 'resource', 'containerResource'];
const TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

/** A metric names its type and holds the source of that type, and no other. */
function metricErrors(metric: JsonObject, field: string): FieldError[] {
  const type = textAt(metric, 'type');
  const expected = sourceName(type);
  const present = SOURCES.filter((name) => isJsonObject(metric[name]));
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric source type'));
  if (!TYPES.includes(type))
    errors.push(notSupported(`${field}.type`, type, TYPES), notSupported(`${field}.type`, type, TYPES));
  else if (!present.includes(expected))
    errors.push(required(`${field}.${expected}`, 'must populate information for the given metric source'));
  if (present.length !== 1)
    for (const name of present)
      if (name !== expected)
        errors.push(forbiddenField(`${field}.${name}`, 'must populate the given metric source only'));
  return isJsonObject(metric['resource'])
    ? [...errors, ...resourceErrors(metric['resource'], `${field}.resource`)]
    : errors;
}

function resourceErrors(source: JsonObject, field: string): FieldError[] {
  const target = objectAt(source, 'target');
  const kind = textAt(target, 'type');
  const percent = numberAt(target, 'averageUtilization');
  const hasValue = textAt(target, 'averageValue') !== '';
  const errors: FieldError[] = [];
  if (textAt(source, 'name') === '') errors.push(required(`${field}.name`, 'must specify a resource name'));
  if (kind === '') errors.push(required(`${field}.target.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(kind))
    errors.push(invalidValue(`${field}.target.type`, kind, 'must be either Utilization, Value, or AverageValue'));
  if (percent !== undefined && percent < 1)
    errors.push(invalidValue(`${field}.target.averageUtilization`, percent, 'must be greater than 0'));
  if (percent === undefined && !hasValue)
    errors.push(
      required(`${field}.target.averageUtilization`, 'must set either a target raw value or a target utilization'),
    );
  if (percent !== undefined && hasValue)
    errors.push(
      forbiddenField(`${field}.target.averageValue`, 'may not set both a target raw value and a target utilization'),
    );
  return errors;
}

function sourceName(type: string): string {
  return type === '' ? '' : `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
}

function cells(object: JsonObject, nowMs: number): Json[] {
  const spec = objectAt(object, 'spec');
  return [
    textAt(object, 'metadata', 'name'),
    `${textAt(spec, 'scaleTargetRef', 'kind')}/${textAt(spec, 'scaleTargetRef', 'name')}`,
    metricsText(object),
    String(numberAt(spec, 'minReplicas') ?? '<unset>'),
    numberAt(spec, 'maxReplicas') ?? 0,
    numberAt(object, 'status', 'currentReplicas') ?? 0,
    ageOf(object, nowMs),
  ];
}

/** `cpu: 12%/80%`, at most two, of metrics that the sandbox's autoscalers use. */
function metricsText(object: JsonObject): string {
  const cpu = numberAt(object, 'spec', 'targetCPUUtilizationPercentage');
  if (cpu !== undefined)
    return `cpu: ${String(numberAt(object, 'status', 'currentCPUUtilizationPercentage') ?? '<unknown>')}/${cpu}%`;
  const current = objectsAt(object, 'status', 'currentMetrics');
  const texts = objectsAt(object, 'spec', 'metrics').map((metric, index) => metricText(metric, current[index]));
  if (texts.length === 0) return '<none>';
  const shown = texts.slice(0, SHOWN_METRICS).join(', ');
  return texts.length > SHOWN_METRICS ? `${shown} + ${texts.length - SHOWN_METRICS} more...` : shown;
}

function metricText(metric: JsonObject, status: JsonObject | undefined): string {
  const type = textAt(metric, 'type');
  const key = sourceName(type);
  const target = objectAt(metric, key, 'target');
  const now = objectAt(status, key, 'current');
  const percent = numberAt(target, 'averageUtilization');
  const prefix = key === 'resource' || key === 'containerResource' ? `${textAt(metric, key, 'name')}: ` : '';
  if (percent !== undefined) {
    const seen = numberAt(now, 'averageUtilization');
    return `${prefix}${seen === undefined ? '<unknown>' : `${seen}%`}/${percent}%`;
  }
  const average = textAt(target, 'averageValue');
  const suffix = average !== '' && (key === 'external' || key === 'object') ? ' (avg)' : '';
  const seen = textAt(now, average === '' ? 'value' : 'averageValue');
  return `${prefix}${seen === '' ? '<unknown>' : seen}/${average === '' ? textAt(target, 'value') : average}${suffix}`;
}
