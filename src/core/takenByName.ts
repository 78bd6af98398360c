import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { formatPath, valueAt } from '../codec/path.ts';
import { referencesOf, type Reference } from './references.ts';
import type { ObjectName } from './traceEvent.ts';

/**
 * How a reference by name is resolved once and not again: `environment` and `sub-path` when a container starts, `immutable`
 * (a volume, not looked at again where what it shows is immutable), `claim` and `token` when the Pod starts, `volume` when a
 * claim is bound.
 */
export type Taking = 'environment' | 'sub-path' | 'immutable' | 'claim' | 'token' | 'volume';

/** Something that an object took by name, once, from the incarnation that held the name then. */
export interface Taken {
  readonly from: ObjectName;
  readonly path: string;
  readonly how: Taking;
  /** The container that took it, where it is taken anew with each start of it. */
  readonly container?: string;
  /** The one key of it that was taken, where only one was. */
  readonly key?: string;
}

const RESOURCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Secret: 'secrets',
    ConfigMap: 'configmaps',
    PersistentVolumeClaim: 'persistentvolumeclaims',
    ServiceAccount: 'serviceaccounts',
    PersistentVolume: 'persistentvolumes',
  }),
);

/**
 * What a Pod or a claim takes by name only once. References that whoever follows them resolves anew each time (templates,
 * scaleTargetRef, roles, classes, volumes whose content the kubelet renews) are not among them. Source: "Secrets",
 * "ConfigMaps" (mounted ones are updated, those of the environment and with subPath are not; immutable ones), "Managing
 * Service Accounts" (tokens are bound to the UID) and "Persistent Volumes" in the Kubernetes documentation.
 */
export function takenByName({ group, resource, namespace }: ObjectName, body: JsonObject): Taken[] {
  if (group !== '') return [];
  const take = resource === 'pods' ? takenByPod : resource === 'persistentvolumeclaims' ? takenByClaim : undefined;
  if (take === undefined) return [];
  return referencesOf(body).flatMap((reference) => {
    const target = RESOURCES.get(reference.kind);
    if (reference.sort !== 'name' || target === undefined) return [];
    const from = {
      group: '',
      resource: target,
      namespace: reference.kind === 'PersistentVolume' ? '' : namespace,
      name: reference.name,
    };
    return take(body, reference).map((taken) => ({ from, path: formatPath(reference.path), ...taken }));
  });
}

type How = Omit<Taken, 'from' | 'path'>;

function takenByClaim(_body: JsonObject, { path }: Reference): How[] {
  return formatPath(path) === '.spec.volumeName' ? [{ how: 'volume' }] : [];
}

function takenByPod(body: JsonObject, { path, kind }: Reference): How[] {
  const [, list, , part] = path.map((step) => ('field' in step ? step.field : ''));
  const item = valueAt(body, path.slice(0, 3));
  const name = textOf(item, 'name');
  if (list === 'containers' || list === 'initContainers')
    return part === 'env' || part === 'envFrom' ? [fromEnvironment(name, valueAt(body, path))] : [];
  if (list === 'serviceAccountName') return hasToken(body) ? [{ how: 'token' }] : [];
  if (list !== 'volumes') return [];
  if (kind === 'PersistentVolumeClaim') return [{ how: 'claim' }];
  // Secrets of storage drivers are read when they mount, and no content of the Pod.
  if (part !== 'secret' && part !== 'configMap' && part !== 'projected') return [];
  return [{ how: 'immutable' }, ...subPaths(body, name)];
}

function fromEnvironment(container: string, source: Json | undefined): How {
  const key = textOf(source, 'key');
  return { how: 'environment', container, ...(key === '' ? {} : { key }) };
}

function subPaths(body: JsonObject, volume: string): How[] {
  return containersOf(body).flatMap((container) => {
    const mounts = listOf(container, 'volumeMounts').filter((mount) => textOf(mount, 'name') === volume);
    const part = mounts.some((mount) => textOf(mount, 'subPath') !== '' || textOf(mount, 'subPathExpr') !== '');
    return part ? [{ how: 'sub-path' as const, container: textOf(container, 'name') }] : [];
  });
}

/** Whether a Pod is given tokens of its account: admission puts the volume into it. */
function hasToken(body: JsonObject): boolean {
  return listOf(body['spec'], 'volumes').some((volume) =>
    listOf(isJsonObject(volume) ? volume['projected'] : undefined, 'sources').some(
      (source) => isJsonObject(source) && source['serviceAccountToken'] !== undefined,
    ),
  );
}

/** The containers of a Pod that run, with when they started as their kubelet says it ('' where it does not). */
export function runningContainers(body: JsonObject): Map<string, string> {
  const { status } = body;
  const running = new Map<string, string>();
  for (const part of ['containerStatuses', 'initContainerStatuses'])
    for (const item of listOf(status, part)) {
      const state = isJsonObject(item) ? item['state'] : undefined;
      const run = isJsonObject(state) ? state['running'] : undefined;
      if (isJsonObject(run)) running.set(textOf(item, 'name'), textOf(run, 'startedAt'));
    }
  return running;
}

function containersOf(body: JsonObject): Json[] {
  return ['containers', 'initContainers'].flatMap((part) => listOf(body['spec'], part));
}

function listOf(value: Json | undefined, field: string): Json[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list : [];
}

function textOf(value: Json | undefined, field: string): string {
  const text = isJsonObject(value) ? value[field] : undefined;
  return typeof text === 'string' ? text : '';
}
