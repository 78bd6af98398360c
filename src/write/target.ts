import { inGroup } from '../core/inGroup.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import type { ObjectName } from '../core/traceEvent.ts';

/** What a write is about: a name that locates, and the UID of the incarnation that is meant. */
export interface Target {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, such as `configmaps`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
  /** The incarnation that is meant. Left out: the one that the first read finds, and no other after it. */
  readonly uid?: string;
  /** `status` or `scale`; the write then goes there. */
  readonly subresource?: string;
}

/** The URL path of a target's collection. */
export function collectionPath(target: Target): string {
  const root = target.group === '' ? `/api/${target.version}` : `/apis/${target.group}/${target.version}`;
  const namespace = target.namespaced ? `/namespaces/${encodeURIComponent(target.namespace)}` : '';
  return `${root}${namespace}/${target.resource}`;
}

/** The URL path of a target, or of one of its subresources. */
export function targetPath(target: Target, subresource?: string): string {
  const own = `${collectionPath(target)}/${encodeURIComponent(target.name)}`;
  return subresource === undefined ? own : `${own}/${subresource}`;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(target: Target): string {
  return target.group === '' ? target.version : `${target.group}/${target.version}`;
}

/** What locates a target in a log. */
export function nameOf(target: Target): ObjectName {
  return { group: target.group, resource: target.resource, namespace: target.namespace, name: target.name };
}

/** Words for a person: `configmaps lab/demo`, `deployments.apps lab/web`. */
export function describeTarget(target: Target): string {
  return `${inGroup(target.resource, target.group)} ${target.namespaced ? `${target.namespace}/` : ''}${target.name}`;
}

/** Whether a target's values are secret: they are sent where they belong, and never logged, reported or recorded. */
export function isSecret(target: Pick<Target, 'group' | 'resource'>): boolean {
  return target.group === '' && target.resource === 'secrets';
}

/** The metadata of an object; empty where it has none. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  return isJsonObject(metadata) ? metadata : {};
}

/** The identity and state that a write needs of an object's metadata. Absent members are ''. */
export interface Identity {
  readonly uid: string;
  readonly token: string;
  readonly generation?: number;
  readonly terminating: boolean;
}

/** Reads the identity of an object. */
export function identityOf(object: JsonObject): Identity {
  const metadata = metadataOf(object);
  const generation = metadata['generation'];
  return {
    uid: text(metadata['uid']),
    token: text(metadata['resourceVersion']),
    ...(typeof generation === 'number' ? { generation } : {}),
    terminating: text(metadata['deletionTimestamp']) !== '',
  };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
