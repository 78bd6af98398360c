import { cloneJson, type JsonObject } from '../codec/json.ts';
import type { Controllers } from './controllers.ts';
import { deleteObject } from './deletion.ts';
import { BACKGROUND, controllerCall, storedKinds, tolerate } from './internalCalls.ts';
import { NAMESPACE_BUCKET } from './namespaces.ts';
import { bucketOf } from './registry.ts';
import { metaString, type ApiState } from './state.ts';
import { updateObject } from './update.ts';
import { WorkQueue } from './workQueue.ts';

/**
 * Empties terminating namespaces and then releases them: every object inside is deleted, and when none is left the
 * namespace's own finalizer goes. Source: the namespace controller of kube-controller-manager.
 */
export function startNamespaceController(state: ApiState): Controllers {
  const queue = new WorkQueue((name) => empty(state, name));
  const subscription = state.store.subscribeAll(({ bucket, key, before, after }) => {
    const namespace =
      bucket === NAMESPACE_BUCKET ? key : metaString(before?.object ?? after?.object ?? { metadata: {} }, 'namespace');
    if (namespace !== '' && isTerminating(state, namespace)) queue.add(namespace);
  });
  for (const { key } of state.store.list(NAMESPACE_BUCKET, '')) queue.add(key);
  return {
    stop() {
      subscription.dispose();
      queue.stop();
    },
  };
}

function isTerminating(state: ApiState, name: string): boolean {
  const namespace = state.store.get(NAMESPACE_BUCKET, name)?.object;
  return namespace !== undefined && metaString(namespace, 'deletionTimestamp') !== '';
}

function empty(state: ApiState, name: string): void {
  if (!isTerminating(state, name)) return;
  let left = 0;
  for (const kind of storedKinds(state)) {
    if (!kind.namespaced) continue;
    for (const stored of state.store.list(bucketOf(kind), `${name}/`)) {
      if (metaString(stored.object, 'deletionTimestamp') === '')
        tolerate(() => deleteObject(state, controllerCall(kind, stored), BACKGROUND));
      if (state.store.get(bucketOf(kind), stored.key) !== undefined) left += 1;
    }
  }
  if (left === 0) release(state, name);
}

function release(state: ApiState, name: string): void {
  const kind = state.registry.find('', 'v1', 'namespaces');
  const stored = state.store.get(NAMESPACE_BUCKET, name);
  if (kind === undefined || stored === undefined) return;
  const finalizers = ((stored.object['spec'] as JsonObject | undefined)?.['finalizers'] ?? []) as string[];
  if (!finalizers.includes('kubernetes')) return;
  const next = cloneJson(stored.object);
  next['spec'] = {
    ...(next['spec'] as JsonObject),
    finalizers: finalizers.filter((finalizer) => finalizer !== 'kubernetes'),
  };
  tolerate(() =>
    updateObject(state, controllerCall(kind, stored, 'finalize'), {
      uid: metaString(stored.object, 'uid'),
      mayCreate: false,
      produce: () => next,
    }),
  );
}
