import { cloneJson, equalJson, isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { createObject } from './creation.ts';
import { settleTimes } from './fields/track.ts';
import { dedupOwnerReferences } from './ownerReferences.ts';
import { removeStored } from './removal.ts';
import { bucketOf, keyOf } from './registry.ts';
import {
  finalizersOf,
  inVersion,
  liveObject,
  metadataOf,
  metaString,
  resourceOf,
  writeContext,
  type ApiState,
  type Call,
} from './state.ts';
import { bareError, invalid, notFound, staleVersion, uidMismatch } from './status.ts';
import type { Stored } from './store.ts';
import { isUnsettled } from './unsettled.ts';

/** How the new object comes about. */
export interface Update {
  /** The new content from what is stored (undefined: nothing is), decoded, defaulted, tracked, named like the URL. */
  produce(live: JsonObject | undefined): JsonObject;
  /** The uid that the request demands, checked before anything is produced; '' for none. */
  readonly uid: string;
  /** A missing object is created though its kind does not allow that by PUT (apply). */
  readonly mayCreate: boolean;
}

/** The answer of a write. */
export interface Written {
  readonly object: JsonObject;
  readonly created: boolean;
}

/**
 * Replaces an object, in the API server's order: existence, uid, new content, version, immutable metadata and validation,
 * deletion by the last finalizer, no-op check, storing. Source: registry/generic Store.Update.
 */
export function updateObject(state: ApiState, call: Call, update: Update): Written {
  const { kind } = call;
  const live = liveObject(state, call);
  if (live === undefined) return createMissing(state, call, update);
  if (update.uid !== '' && update.uid !== metaString(live.object, 'uid'))
    throw foreignUid(call, update.uid, metaString(live.object, 'uid'));
  const next = update.produce(live.object);
  state.mutate?.(next, 'UPDATE', kind);
  dedupOwnerReferences(next, call.warnings, true);
  checkVersion(state, call, next, live);
  const context = writeContext(state, call);
  const deleting = metaString(live.object, 'deletionTimestamp') !== '';
  const sentSpec = call.subresource === 'finalize' && next['spec'] !== undefined ? cloneJson(next['spec']) : undefined;
  kind.prepareUpdate(next, live.object, context, call.subresource);
  if (sentSpec !== undefined) next['spec'] = finalizersKept(sentSpec);
  keepSystemFields(metadataOf(next), metadataOf(live.object));
  const errors = kind.validateUpdate(next, live.object, call.subresource);
  if (errors.length > 0)
    throw invalid({ group: kind.storage.group, kind: kind.kind }, metaString(next, 'name'), errors);
  call.warnings.push(...kind.warnings(next, live.object, call.subresource));
  if (deleting && releasesLastFinalizer(next, live.object)) {
    if (!call.dryRun) removeStored(state, kind, call.namespace, call.name);
    return { object: next, created: false };
  }
  settleTimes(next, live.object);
  if (equalJson(next, live.object) && !isUnsettled(live.object)) return { object: live.object, created: false };
  if (call.dryRun) return { object: next, created: false };
  const stored = state.store.put(
    bucketOf(kind),
    keyOf(kind, call.namespace, call.name),
    inStorageVersion(state, call, next),
  );
  return { object: inVersion(stored.object, kind), created: false };
}

function createMissing(state: ApiState, call: Call, update: Update): Written {
  const mayCreate = call.kind.createOnUpdate || (update.mayCreate && call.subresource === '');
  if (!mayCreate) throw notFound(resourceOf(call.kind), call.name);
  if (update.uid !== '') throw foreignUid(call, update.uid, '');
  const next = update.produce(undefined);
  const parsed = state.store.tokens.parse(
    metaString(next, 'resourceVersion') === '' ? '0' : metaString(next, 'resourceVersion'),
  );
  if ('problem' in parsed) throw bareError(parsed.problem);
  return { object: createObject(state, call, next, true), created: true };
}

function foreignUid(call: Call, given: string, stored: string): Error {
  // The key of a dry run, which never reaches the store, is without the store's prefix.
  const key = call.kind.storageKey(call.namespace, call.name);
  return uidMismatch(
    resourceOf(call.kind),
    call.name,
    call.dryRun ? key.replace(/^\/registry/, '') : key,
    given,
    stored,
  );
}

/** Compares the version sent with the stored one; where none is needed, the stored one is taken. */
function checkVersion(state: ApiState, call: Call, next: JsonObject, live: Stored): void {
  const sent = metaString(next, 'resourceVersion');
  const parsed = state.store.tokens.parse(sent === '' ? '0' : sent);
  if ('problem' in parsed) throw bareError(parsed.problem);
  if (parsed.revision === 0 && !call.kind.unconditionalUpdate) {
    const error = {
      reason: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      message: 'Invalid value: 0: must be specified for an update',
    } as const;
    throw invalid({ group: call.kind.group, kind: call.kind.plural }, call.name, [error]);
  }
  if (parsed.revision !== 0 && parsed.revision !== live.revision) throw staleVersion(resourceOf(call.kind), call.name);
  metadataOf(next)['resourceVersion'] = metaString(live.object, 'resourceVersion');
}

/** What no update can change. Source: rest.BeforeUpdate. */
function keepSystemFields(next: JsonObject, live: JsonObject): void {
  if (next['uid'] === undefined || next['uid'] === '') copy(next, live, 'uid');
  copy(next, live, 'creationTimestamp');
  if (live['deletionTimestamp'] !== undefined) copy(next, live, 'deletionTimestamp');
  if (next['deletionGracePeriodSeconds'] === undefined) copy(next, live, 'deletionGracePeriodSeconds');
}

function copy(next: JsonObject, live: JsonObject, field: string): void {
  const value = live[field];
  if (value === undefined) delete next[field];
  else next[field] = value;
}

/** /finalize of a namespace is the only endpoint that takes its spec.finalizers. */
function finalizersKept(spec: Json): Json {
  if (!isJsonObject(spec) || !Array.isArray(spec['finalizers']) || spec['finalizers'].length > 0) return spec;
  const { finalizers: _none, ...rest } = spec;
  return rest;
}

/** A terminating object goes with the write that leaves no finalizer, once its grace period is over. */
function releasesLastFinalizer(next: JsonObject, live: JsonObject): boolean {
  if (finalizersOf(next).length > 0) return false;
  if (Number(metadataOf(live)['deletionGracePeriodSeconds'] ?? 0) > 0) return false;
  const namespaceFinalizers =
    next['kind'] === 'Namespace' && next['apiVersion'] === 'v1'
      ? (next['spec'] as JsonObject | undefined)?.['finalizers']
      : [];
  return !Array.isArray(namespaceFinalizers) || namespaceFinalizers.length === 0;
}

/** Objects are stored in one version, that which the definition of a custom resource marks. */
function inStorageVersion(state: ApiState, call: Call, object: JsonObject): JsonObject {
  const storage = state.registry.storageKind(call.kind);
  return inVersion(object, storage);
}
