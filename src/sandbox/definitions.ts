import { cloneJson, equalJson, type JsonObject } from '../codec/json.ts';
import { textOf } from './goText.ts';
import { acceptCrd } from './kinds/crd.ts';
import { CRD_BUCKET, isEstablished } from './registry.ts';
import { finalizersOf, metadataOf, metaString, timestamp, type ApiState } from './state.ts';
import type { Change } from './store.ts';

const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/**
 * The part of the API server that serves CustomResourceDefinitions: accepts their names, establishes them, and on deletion
 * removes their objects before they go. Works behind the answers, as the real one does.
 */
export function serveDefinitions(state: ApiState): () => void {
  const pending = new Set<NodeJS.Immediate>();
  const later = (work: () => void): void => {
    const handle = setImmediate(() => {
      pending.delete(handle);
      work();
    });
    pending.add(handle);
  };
  const onChange = (change: Change): void => {
    const crd = change.after?.object;
    state.registry.setDefinition(
      change.key,
      crd !== undefined && metaString(crd, 'deletionTimestamp') === '' ? crd : undefined,
    );
    if (crd !== undefined) later(() => settle(state, change.key));
  };
  const subscription = state.store.subscribe(CRD_BUCKET, onChange);
  const restored = state.store.onDidRestore(() => {
    state.registry.clearDefinitions();
    for (const { key, object } of state.store.list(CRD_BUCKET, '')) state.registry.setDefinition(key, object);
  });
  return () => {
    subscription.dispose();
    restored.dispose();
    for (const handle of pending) clearImmediate(handle);
  };
}

/** One step of one definition: its status as the others allow it, or its end. */
function settle(state: ApiState, name: string): void {
  const stored = state.store.get(CRD_BUCKET, name)?.object;
  if (stored === undefined) return;
  if (metaString(stored, 'deletionTimestamp') !== '') {
    finishDeletion(state, stored);
    return;
  }
  const all = state.store.list(CRD_BUCKET, '').map((entry) => entry.object);
  const status = acceptCrd(stored, all, state.clock.now());
  if (equalJson(status, stored['status'] ?? null)) return;
  const next: JsonObject = { ...stored, status, metadata: trackStatus(state, stored, status) };
  state.store.put(CRD_BUCKET, name, next);
}

/** The server's own entry in managedFields for the status that it writes. */
function trackStatus(state: ApiState, crd: JsonObject, status: JsonObject): JsonObject {
  const metadata = cloneJson(metadataOf(crd));
  const entries = ((metadata['managedFields'] ?? []) as JsonObject[]).filter(
    (entry) => entry['manager'] !== 'kube-apiserver',
  );
  const names = (status['acceptedNames'] ?? {}) as JsonObject;
  const conditions = (status['conditions'] ?? []) as JsonObject[];
  const owned: JsonObject = {
    'f:acceptedNames': Object.fromEntries(
      Object.keys(names)
        .sort()
        .map((field) => [`f:${field}`, {}]),
    ),
    'f:conditions': Object.fromEntries(
      conditions.map((condition) => [`k:{"type":${JSON.stringify(condition['type'])}}`, ownedCondition(condition)]),
    ),
  };
  entries.push({
    manager: 'kube-apiserver',
    operation: 'Update',
    apiVersion: 'apiextensions.k8s.io/v1',
    time: timestamp(state.clock.now()),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:status': owned },
    subresource: 'status',
  });
  return { ...metadata, managedFields: entries };
}

function ownedCondition(condition: JsonObject): JsonObject {
  return {
    '.': {},
    ...Object.fromEntries(
      Object.keys(condition)
        .sort()
        .map((field) => [`f:${field}`, {}]),
    ),
  };
}

/** The definition as its first DELETE leaves it: terminating, held until its objects are gone. */
export function startDefinitionDeletion(crd: JsonObject, now: string): JsonObject {
  const next = cloneJson(crd);
  const metadata = metadataOf(next);
  metadata['deletionTimestamp'] = now;
  if (!finalizersOf(next).includes(CLEANUP)) metadata['finalizers'] = [...finalizersOf(next), CLEANUP];
  const status = (next['status'] ?? {}) as JsonObject;
  const conditions = (status['conditions'] ?? []) as JsonObject[];
  const terminating: JsonObject = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: now,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  next['status'] = {
    ...status,
    conditions: [...conditions.filter((condition) => condition['type'] !== 'Terminating'), terminating],
  };
  return next;
}

function finishDeletion(state: ApiState, crd: JsonObject): void {
  const name = metaString(crd, 'name');
  if (!finalizersOf(crd).includes(CLEANUP)) return;
  if (isEstablished(crd)) removeObjects(state, crd);
  const others = finalizersOf(crd).filter((finalizer) => finalizer !== CLEANUP);
  if (others.length === 0) {
    state.store.remove(CRD_BUCKET, name);
    return;
  }
  state.store.put(CRD_BUCKET, name, { ...crd, metadata: { ...metadataOf(crd), finalizers: others } });
}

function removeObjects(state: ApiState, crd: JsonObject): void {
  const spec = crd['spec'] as JsonObject;
  const bucket = `${textOf(spec['group'])}/${textOf((spec['names'] as JsonObject)['plural'])}`;
  for (const { key } of state.store.list(bucket, '')) state.store.remove(bucket, key);
}
