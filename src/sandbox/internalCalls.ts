import type { User } from './auth.ts';
import type { DeleteOptions } from './deleteOptions.ts';
import type { Kind } from './kinds/kind.ts';
import { bucketOf } from './registry.ts';
import { metaString, type ApiState, type Call } from './state.ts';
import { StatusError } from './status.ts';
import type { Stored } from './store.ts';

/** The user of the built-in controllers. */
const MANAGER_USER: User = {
  name: 'system:kube-controller-manager',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
};

/** Deletes as a plain `kubectl delete` does. */
export const BACKGROUND: DeleteOptions = {
  gracePeriodSeconds: undefined,
  uid: undefined,
  resourceVersion: undefined,
  propagation: 'Background',
  orphanDependents: undefined,
  dryRun: false,
};

/** The call of a built-in controller about one stored object. */
export function controllerCall(kind: Kind, stored: Stored, subresource = ''): Call {
  return {
    kind,
    namespace: metaString(stored.object, 'namespace'),
    name: metaString(stored.object, 'name'),
    subresource,
    user: MANAGER_USER,
    manager: 'kube-controller-manager',
    dryRun: false,
    warnings: [],
  };
}

/** The kinds that things are stored as, each bucket once. */
export function storedKinds(state: ApiState): Kind[] {
  const byBucket = new Map<string, Kind>();
  for (const kind of state.registry.all()) {
    const bucket = bucketOf(kind);
    const own = kind.group === kind.storage.group && kind.plural === kind.storage.resource;
    if (own || !byBucket.has(bucket)) byBucket.set(bucket, state.registry.storageKind(kind));
  }
  return [...byBucket.values()];
}

/** Runs what the API may refuse; a refusal (gone already, changed meanwhile) is none of the controller's: it will be asked again. */
export function tolerate(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
