import type { JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject } from '../../codec/json.ts';
import { structOf } from '../schema/builtInTypes.ts';
import { normalize } from '../schema/normalize.ts';
import type { Schema } from '../schema/schema.ts';
import { numberAt, objectAt, objectsAt, setOrDelete, textAt } from './access.ts';
import type { Kind } from './kind.ts';

const AUTOSCALING_V1 = 'autoscaling/v1';
const AUTOSCALING_V2 = 'autoscaling/v2';
const EVENTS = 'events.k8s.io/v1';

/**
 * An object in the version of a kind that shares its storage. Versions of custom resources, and most built-in ones, differ
 * in their apiVersion only; autoscalers and Events have two forms.
 */
export function inVersionOf(object: JsonObject, kind: Kind): JsonObject {
  const from = textAt(object, 'apiVersion');
  const to = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  if (from === to) return object;
  const relabelled = { ...object, apiVersion: to };
  if (kind.coerce !== undefined) return inCustomVersion(relabelled, kind);
  const convert = converter(from, to);
  return convert === undefined ? relabelled : typed(kind.schema, convert(relabelled));
}

/** Another version of a built-in kind that has two forms. */
export interface OtherVersion {
  readonly schema: Schema;
  /** An object of the first version in this one. */
  convert(object: JsonObject): JsonObject;
}

/** The form of a built-in kind in another version; undefined where there is none, or none that differs. */
export function otherVersion(kind: Kind, apiVersion: string): OtherVersion | undefined {
  const own = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const convert = kind.coerce === undefined ? converter(own, apiVersion) : undefined;
  const component = COMPONENTS[`${apiVersion} ${kind.kind}`];
  if (convert === undefined || component === undefined) return undefined;
  const schema = structOf(component);
  return { schema, convert: (object) => typed(schema, convert({ ...object, apiVersion })) };
}

/** Versions that are served no more, which the server's decoder still knows: what they are of has not changed its form. */
const FORMER: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'apps/v1beta1': ['ControllerRevision', 'Deployment', 'StatefulSet'],
    'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
    'extensions/v1beta1': ['DaemonSet', 'Deployment', 'ReplicaSet'],
    'batch/v1beta1': ['CronJob'],
    'coordination.k8s.io/v1beta1': ['Lease'],
    'discovery.k8s.io/v1beta1': ['EndpointSlice'],
    'rbac.authorization.k8s.io/v1beta1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
    'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
    'apiextensions.k8s.io/v1beta1': ['CustomResourceDefinition'],
  }),
);

/** Whether a built-in kind once had this version. */
export function isFormerVersion(kind: Kind, apiVersion: string): boolean {
  return kind.origin === 'built-in' && FORMER.get(apiVersion)?.includes(kind.kind) === true;
}

const COMPONENTS: Readonly<Record<string, string>> = {
  [`${AUTOSCALING_V1} HorizontalPodAutoscaler`]: 'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler',
  [`${AUTOSCALING_V2} HorizontalPodAutoscaler`]: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'v1 Event': 'io.k8s.api.core.v1.Event',
  [`${EVENTS} Event`]: 'io.k8s.api.events.v1.Event',
};

function converter(from: string, to: string): ((object: JsonObject) => JsonObject) | undefined {
  if (from === AUTOSCALING_V1 && to === AUTOSCALING_V2) return toV2;
  if (from === AUTOSCALING_V2 && to === AUTOSCALING_V1) return toV1;
  if (from === 'v1' && to === EVENTS) return (object) => renamed(object, NEW_NAMES);
  if (from === EVENTS && to === 'v1') return (object) => renamed(object, OLD_NAMES);
  return undefined;
}

/** Without conversion a version shows what its schema knows; defaults are those of the version that is stored. */
function inCustomVersion(object: JsonObject, kind: Kind): JsonObject {
  const coerced = kind.coerce?.(object).object ?? object;
  if (kind.isStorageVersion) kind.applyDefaults(coerced);
  return coerced;
}

function typed(schema: Schema, object: JsonObject): JsonObject {
  const value = normalize(schema, object);
  return isJsonObject(value) ? value : object;
}

/** The old version's share of cpu is one metric among others in the new one. */
function toV2(object: JsonObject): JsonObject {
  const [spec, status] = [cloneJson(objectAt(object, 'spec')), cloneJson(objectAt(object, 'status'))];
  const percent = numberAt(spec, 'targetCPUUtilizationPercentage');
  delete spec['targetCPUUtilizationPercentage'];
  if (percent !== undefined)
    spec['metrics'] = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } } },
    ];
  const current = numberAt(status, 'currentCPUUtilizationPercentage');
  delete status['currentCPUUtilizationPercentage'];
  if (current !== undefined)
    status['currentMetrics'] = [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } },
    ];
  return { ...object, spec, status };
}

function toV1(object: JsonObject): JsonObject {
  const [spec, status] = [cloneJson(objectAt(object, 'spec')), cloneJson(objectAt(object, 'status'))];
  const cpu = objectsAt(spec, 'metrics').find((metric) => textAt(metric, 'resource', 'name') === 'cpu');
  delete spec['metrics'];
  delete spec['behavior'];
  setOrDelete(spec, 'targetCPUUtilizationPercentage', numberAt(cpu, 'resource', 'target', 'averageUtilization'));
  const now = objectsAt(status, 'currentMetrics').find((metric) => textAt(metric, 'resource', 'name') === 'cpu');
  delete status['currentMetrics'];
  delete status['conditions'];
  setOrDelete(status, 'currentCPUUtilizationPercentage', numberAt(now, 'resource', 'current', 'averageUtilization'));
  return { ...object, spec, status };
}

/** What the newer Events group calls the fields of a core Event. */
const NEW_NAMES: ReadonlyMap<string, string> = new Map([
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]);
const OLD_NAMES: ReadonlyMap<string, string> = new Map(Array.from(NEW_NAMES, ([old, name]) => [name, old]));

function renamed(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]));
}
