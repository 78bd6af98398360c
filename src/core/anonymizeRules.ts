import type { Json } from '../codec/json.ts';

/** A whole text that is a UID. */
export const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** UIDs within a text. */
export const UIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** A time as metadata has it. */
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** Texts that are words of Kubernetes' own. */
export const KEPT_FIELDS = new Set([
  'apiVersion',
  'kind',
  'operation',
  'fieldsType',
  'subresource',
  'protocol',
  'restartPolicy',
  'phase',
  'type',
  'imagePullPolicy',
  'terminationMessagePolicy',
  'dnsPolicy',
]);
/** Maps whose keys people choose. */
export const FREE_MAPS = new Set([
  'labels',
  'annotations',
  'data',
  'stringData',
  'binaryData',
  'matchLabels',
  'nodeSelector',
  'parameters',
]);
/** Programs that come with Kubernetes, by their field manager. */
export const KUBERNETES_PROGRAMS =
  /^(kube-(controller-manager|scheduler|apiserver|proxy)|kubectl([-.].*)?|kubelet|object-versions|before-first-apply)$/;

/** Whether a place is in data that people choose freely. */
export function isFree(at: readonly string[]): boolean {
  return at.some(
    (field) => field === 'data' || field === 'stringData' || field === 'binaryData' || field === 'parameters',
  );
}

/** An item of a set, renamed where it is a text. */
export function anonymousItem(value: Json, rename: (text: string) => string): Json {
  return typeof value === 'string' ? rename(value) : value;
}

/** Replaces what is there, and leaves out what is not. */
export function optional<T, R>(value: T | undefined, replace: (value: T) => R): R | undefined {
  return value === undefined ? undefined : replace(value);
}

/** Without the members that are undefined. */
export function defined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, member]) => member !== undefined));
}
