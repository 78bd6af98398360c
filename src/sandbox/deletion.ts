import { cloneJson, equalJson, type JsonObject } from '../codec/json.ts';
import type { DeleteOptions } from './deleteOptions.ts';
import { startDefinitionDeletion } from './definitions.ts';
import type { Kind } from './kinds/kind.ts';
import { checkMortal } from './namespaces.ts';
import { bucketOf, keyOf } from './registry.ts';
import { removeStored } from './removal.ts';
import {
  finalizersOf,
  inVersion,
  liveObject,
  metadataOf,
  metaString,
  resourceOf,
  timestamp,
  type ApiState,
  type Call,
} from './state.ts';
import { conflict, deleted, notFound } from './status.ts';

/** What a DELETE answers: the object as it is or was, or a Success status; and whether it is gone. */
export interface Deletion {
  readonly answer: JsonObject;
  readonly gone: boolean;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/**
 * Deletes one object: preconditions, grace period, finalizers, in the API server's order. Source: registry/generic
 * Store.Delete, rest.BeforeDelete, and the registries of pods, namespaces and CustomResourceDefinitions.
 */
export function deleteObject(state: ApiState, call: Call, options: DeleteOptions): Deletion {
  const live = liveObject(state, call)?.object;
  if (live === undefined) throw notFound(resourceOf(call.kind), call.name);
  checkMortal(call);
  if (isKind(call.kind, '', 'namespaces')) {
    checkNamespacePreconditions(call, live, options);
    const phased = beginNamespaceDeletion(state, call, live, options);
    if (phased !== undefined) return phased;
  }
  if (
    isKind(call.kind, 'apiextensions.k8s.io', 'customresourcedefinitions') &&
    metaString(live, 'deletionTimestamp') === ''
  ) {
    checkPreconditions(call, live, options);
    const marked = startDefinitionDeletion(live, timestamp(state.clock.now()));
    return standing(store(state, call, marked));
  }
  checkPreconditions(call, live, options);
  return deleteGeneric(state, call, live, options);
}

function deleteGeneric(state: ApiState, call: Call, live: JsonObject, options: DeleteOptions): Deletion {
  const next = cloneJson(live);
  const graceful = isKind(call.kind, '', 'pods') ? podGrace(state, next, options) : { graceful: false, pending: false };
  if (graceful.pending) return finalized(call, live, false);
  const wanted = collectorFinalizers(call.kind, next, options);
  if (wanted !== undefined) setFinalizers(next, wanted);
  const held = finalizersOf(next).length > 0;
  if (!graceful.graceful && held) markDeleting(state, next);
  const stays = held || Number(graceful.graceful ? metadataOf(next)['deletionGracePeriodSeconds'] : 0) > 0;
  if (stays) return standing(equalJson(next, live) ? live : store(state, call, next));
  const last = graceful.graceful && !equalJson(next, live) ? store(state, call, next) : live;
  if (call.dryRun) return finalized(call, last, true);
  const removed = removeStored(state, call.kind, call.namespace, call.name) ?? last;
  // A Pod is written once more before it goes, and its DELETE shows that write.
  return finalized(call, graceful.graceful ? last : inVersion(removed, call.kind), true);
}

function standing(object: JsonObject): Deletion {
  return { answer: object, gone: false };
}

function finalized(call: Call, object: JsonObject, gone: boolean): Deletion {
  const answer =
    call.kind.deleteAnswers === 'object'
      ? object
      : deleted(resourceOf(call.kind), metaString(object, 'name'), metaString(object, 'uid'));
  return { answer, gone };
}

function store(state: ApiState, call: Call, object: JsonObject): JsonObject {
  if (call.dryRun) return object;
  const storage = state.registry.storageKind(call.kind);
  const stored = state.store.put(
    bucketOf(call.kind),
    keyOf(call.kind, call.namespace, call.name),
    inVersion(object, storage),
  );
  return inVersion(stored.object, call.kind);
}

const isKind = (kind: Kind, group: string, resource: string): boolean =>
  kind.group === group && kind.plural === resource;

function checkPreconditions(call: Call, live: JsonObject, options: DeleteOptions): void {
  const of = { group: call.kind.group, resource: call.kind.kind };
  const name = metaString(live, 'name');
  const uid = metaString(live, 'uid');
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(of, name, why);
  }
  const version = metaString(live, 'resourceVersion');
  if (options.resourceVersion !== undefined && options.resourceVersion !== version) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
    throw conflict(of, name, why);
  }
}

function checkNamespacePreconditions(call: Call, live: JsonObject, options: DeleteOptions): void {
  const check = (what: string, given: string | undefined, stored: string): void => {
    if (given === undefined || given === stored) return;
    throw conflict(
      resourceOf(call.kind),
      call.name,
      `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${stored}`,
    );
  };
  check('UID', options.uid, metaString(live, 'uid'));
  check('ResourceVersion', options.resourceVersion, metaString(live, 'resourceVersion'));
}

/** The first DELETE of a namespace starts its termination; later ones wait for spec.finalizers to be empty. */
function beginNamespaceDeletion(
  state: ApiState,
  call: Call,
  live: JsonObject,
  options: DeleteOptions,
): Deletion | undefined {
  if (metaString(live, 'deletionTimestamp') !== '') {
    const finalizers = (live['spec'] as JsonObject | undefined)?.['finalizers'];
    return Array.isArray(finalizers) && finalizers.length > 0 ? standing(live) : undefined;
  }
  const next = cloneJson(live);
  metadataOf(next)['deletionTimestamp'] = timestamp(state.clock.now());
  next['status'] = { ...(next['status'] as JsonObject | undefined), phase: 'Terminating' };
  const others = finalizersOf(next).filter((finalizer) => finalizer !== ORPHAN);
  const orphans =
    options.propagation === undefined ? finalizersOf(next).includes(ORPHAN) : options.propagation === 'Orphan';
  setFinalizers(next, orphans ? [...others, ORPHAN] : others);
  return standing(store(state, call, next));
}

/** The two finalizers that a propagation policy stands for; undefined where nothing changes. */
function collectorFinalizers(kind: Kind, object: JsonObject, options: DeleteOptions): string[] | undefined {
  const present = finalizersOf(object);
  const others = present.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const policy =
    options.propagation ??
    (present.includes(ORPHAN) ? 'Orphan' : present.includes(FOREGROUND) ? 'Foreground' : kind.defaultPropagation);
  if (policy === 'Orphan') others.push(ORPHAN);
  if (policy === 'Foreground') others.push(FOREGROUND);
  const same = others.length === present.length && others.every((finalizer) => present.includes(finalizer));
  return same ? undefined : others;
}

function setFinalizers(object: JsonObject, finalizers: string[]): void {
  const metadata = metadataOf(object);
  if (finalizers.length === 0) delete metadata['finalizers'];
  else metadata['finalizers'] = finalizers;
}

/** Marks an object that finalizers hold; the generation counts the first mark. */
function markDeleting(state: ApiState, object: JsonObject): void {
  const metadata = metadataOf(object);
  const now = timestamp(state.clock.now());
  const marked = metaString(object, 'deletionTimestamp');
  if (marked === '') bumpGeneration(metadata);
  if (marked === '' || marked > now) metadata['deletionTimestamp'] = now;
  metadata['deletionGracePeriodSeconds'] = 0;
}

function bumpGeneration(metadata: JsonObject): void {
  const generation = Number(metadata['generation'] ?? 0);
  if (generation > 0) metadata['generation'] = generation + 1;
}

/** A Pod on a node gets its grace period; it can only be shortened later. Unbound and finished ones have none. */
function podGrace(state: ApiState, pod: JsonObject, options: DeleteOptions): { graceful: boolean; pending: boolean } {
  const metadata = metadataOf(pod);
  const asked =
    options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (metaString(pod, 'deletionTimestamp') !== '') {
    const current = Number(metadata['deletionGracePeriodSeconds'] ?? 0);
    if (current === 0) return { graceful: false, pending: false };
    if (asked === undefined || asked >= current) return { graceful: false, pending: true };
    const due = Date.parse(metaString(pod, 'deletionTimestamp')) - current * 1000 + asked * 1000;
    metadata['deletionTimestamp'] = timestamp(due);
    metadata['deletionGracePeriodSeconds'] = asked;
    return { graceful: true, pending: false };
  }
  const spec = (pod['spec'] ?? {}) as JsonObject;
  const phase = (pod['status'] as JsonObject | undefined)?.['phase'];
  const bound = typeof spec['nodeName'] === 'string' && spec['nodeName'] !== '';
  const own = Number(spec['terminationGracePeriodSeconds'] ?? 0);
  const wished = asked ?? own;
  const seconds = !bound || phase === 'Failed' || phase === 'Succeeded' ? 0 : wished < 0 ? 1 : wished;
  metadata['deletionTimestamp'] = timestamp(state.clock.now() + seconds * 1000);
  metadata['deletionGracePeriodSeconds'] = seconds;
  bumpGeneration(metadata);
  return { graceful: true, pending: false };
}
