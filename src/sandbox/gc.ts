import type { JsonObject } from '../codec/json.ts';
import { textOf } from './goText.ts';
import type { Controllers } from './controllers.ts';
import { deleteObject } from './deletion.ts';
import { BACKGROUND, controllerCall, storedKinds, tolerate } from './internalCalls.ts';
import type { Kind } from './kinds/kind.ts';
import { patchObject } from './patching.ts';
import { apiVersionOf, bucketOf } from './registry.ts';
import { finalizersOf, metadataOf, metaString, type ApiState } from './state.ts';
import type { Change, Stored } from './store.ts';
import { WorkQueue } from './workQueue.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** An owner reference, as far as the collector needs it. */
interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion: boolean;
}

interface Node {
  readonly kind: Kind;
  readonly stored: Stored;
}

/**
 * The garbage collector: an object whose owners are all gone goes too. An owner is the object of that kind and name in
 * the dependent's namespace *with that uid*; another incarnation of the name does not count. Foreground deletion waits for
 * blocking dependents, orphaning cuts the references. Source: the Kubernetes documentation, "Garbage Collection".
 */
export function startGarbageCollector(state: ApiState): Controllers {
  const collector = new GarbageCollector(state);
  const subscription = state.store.subscribeAll((change) => collector.changed(change));
  for (const kind of storedKinds(state))
    for (const stored of state.store.list(bucketOf(kind), '')) collector.seen(kind, stored);
  return {
    stop() {
      subscription.dispose();
      collector.stop();
    },
  };
}

class GarbageCollector {
  private readonly state: ApiState;
  /** Dependents by the uid of an owner: `bucket key`. */
  private readonly dependents = new Map<string, Set<string>>();
  private readonly queue = new WorkQueue((place) => this.examine(place));

  constructor(state: ApiState) {
    this.state = state;
  }

  stop(): void {
    this.queue.stop();
  }

  seen(kind: Kind, stored: Stored): void {
    this.relate(bucketOf(kind), stored.key, undefined, stored.object);
    this.queue.add(placeOf(bucketOf(kind), stored.key));
  }

  changed(change: Change): void {
    const { bucket, key, before, after } = change;
    this.relate(bucket, key, before?.object, after?.object);
    const object = after?.object ?? before?.object;
    if (object === undefined) return;
    if (after !== undefined) this.queue.add(placeOf(bucket, key));
    const replaced =
      before !== undefined &&
      (after === undefined || metaString(after.object, 'uid') !== metaString(before.object, 'uid'));
    if (replaced || metaString(object, 'deletionTimestamp') !== '')
      this.queueDependents(metaString(before?.object ?? object, 'uid'));
    if (after === undefined) this.queueOwners(object);
  }

  private relate(bucket: string, key: string, before: JsonObject | undefined, after: JsonObject | undefined): void {
    const place = placeOf(bucket, key);
    for (const { uid } of ownersOf(before)) this.dependents.get(uid)?.delete(place);
    for (const { uid } of ownersOf(after)) {
      const known = this.dependents.get(uid) ?? new Set<string>();
      this.dependents.set(uid, known.add(place));
    }
  }

  private queueDependents(uid: string): void {
    for (const place of this.dependents.get(uid) ?? []) this.queue.add(place);
  }

  /** An owner in foreground deletion may go when this dependent is gone. */
  private queueOwners(dependent: JsonObject): void {
    for (const reference of ownersOf(dependent)) {
      const owner = this.find(reference, metaString(dependent, 'namespace'));
      if (owner !== undefined) this.queue.add(placeOf(bucketOf(owner.kind), owner.stored.key));
    }
  }

  private examine(place: string): void {
    const node = this.at(place);
    if (node === undefined) return;
    const finalizers = finalizersOf(node.stored.object);
    if (metaString(node.stored.object, 'deletionTimestamp') !== '') {
      if (finalizers.includes(ORPHAN)) this.orphan(node);
      else if (finalizers.includes(FOREGROUND)) this.foreground(node);
      return;
    }
    this.collect(node);
  }

  /** Deletes a node without owners left, or drops the references to those that are gone. */
  private collect(node: Node): void {
    const { object } = node.stored;
    const references = ownersOf(object);
    if (references.length === 0) return;
    const namespace = metaString(object, 'namespace');
    const owners = references.map((reference) => ({ reference, owner: this.find(reference, namespace) }));
    const waiting = owners.filter(({ owner }) => owner !== undefined && isWaiting(owner.stored.object));
    const solid = owners.filter(({ owner }) => owner !== undefined && !isWaiting(owner.stored.object));
    if (solid.length > 0) {
      const gone = owners.filter((entry) => !solid.includes(entry)).map(({ reference }) => reference.uid);
      if (gone.length > 0) this.dropReferences(node, gone);
      return;
    }
    const uid = metaString(object, 'uid');
    const propagation = waiting.length > 0 && this.hasDependents(uid) ? 'Foreground' : 'Background';
    tolerate(() =>
      deleteObject(this.state, controllerCall(node.kind, node.stored), { ...BACKGROUND, uid, propagation }),
    );
  }

  private hasDependents(uid: string): boolean {
    return (this.dependents.get(uid)?.size ?? 0) > 0;
  }

  private orphan(node: Node): void {
    const uid = metaString(node.stored.object, 'uid');
    for (const place of Array.from(this.dependents.get(uid) ?? [])) {
      const dependent = this.at(place);
      if (dependent !== undefined) this.dropReferences(dependent, [uid]);
    }
    this.dropFinalizer(node, ORPHAN);
  }

  private foreground(node: Node): void {
    const uid = metaString(node.stored.object, 'uid');
    let blocked = false;
    for (const place of Array.from(this.dependents.get(uid) ?? [])) {
      const dependent = this.at(place);
      if (dependent === undefined) continue;
      this.queue.add(place);
      if (ownersOf(dependent.stored.object).some((reference) => reference.uid === uid && reference.blockOwnerDeletion))
        blocked = true;
    }
    if (!blocked) this.dropFinalizer(node, FOREGROUND);
  }

  private dropReferences(node: Node, uids: readonly string[]): void {
    const kept = ((metadataOf(node.stored.object)['ownerReferences'] ?? []) as JsonObject[]).filter(
      (reference) => !uids.includes(textOf(reference['uid'])),
    );
    this.patch(node, { ownerReferences: kept.length === 0 ? null : kept });
  }

  private dropFinalizer(node: Node, finalizer: string): void {
    const kept = finalizersOf(node.stored.object).filter((name) => name !== finalizer);
    this.patch(node, { finalizers: kept.length === 0 ? null : kept });
  }

  private patch(node: Node, change: JsonObject): void {
    const { object } = node.stored;
    const metadata = {
      uid: metaString(object, 'uid'),
      resourceVersion: metaString(object, 'resourceVersion'),
      ...change,
    };
    const options = { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: false } as const;
    const call = controllerCall(node.kind, node.stored);
    if (!tolerate(() => patchObject(this.state, call, 'merge', JSON.stringify({ metadata }), options))) {
      this.queue.add(placeOf(bucketOf(node.kind), node.stored.key));
    }
  }

  private at(place: string): Node | undefined {
    const [bucket = '', key = ''] = place.split(' ');
    const stored = this.state.store.get(bucket, key);
    const kind = storedKinds(this.state).find((candidate) => bucketOf(candidate) === bucket);
    return stored === undefined || kind === undefined ? undefined : { kind, stored };
  }

  /** The owner that a reference names, if it is there in that incarnation. */
  private find(reference: OwnerReference, namespace: string): Node | undefined {
    const served = this.state.registry
      .all()
      .find((kind) => apiVersionOf(kind) === reference.apiVersion && kind.kind === reference.kind);
    if (served === undefined) return undefined;
    const stored = this.state.store.get(
      bucketOf(served),
      served.namespaced ? `${namespace}/${reference.name}` : reference.name,
    );
    if (stored === undefined || metaString(stored.object, 'uid') !== reference.uid) return undefined;
    return { kind: this.state.registry.storageKind(served), stored };
  }
}

const placeOf = (bucket: string, key: string): string => `${bucket} ${key}`;

function isWaiting(owner: JsonObject): boolean {
  return metaString(owner, 'deletionTimestamp') !== '' && finalizersOf(owner).includes(FOREGROUND);
}

function ownersOf(object: JsonObject | undefined): OwnerReference[] {
  const references = object === undefined ? [] : ((metadataOf(object)['ownerReferences'] ?? []) as JsonObject[]);
  return references.map((reference) => ({
    apiVersion: textOf(reference['apiVersion']),
    kind: textOf(reference['kind']),
    name: textOf(reference['name']),
    uid: textOf(reference['uid']),
    blockOwnerDeletion: reference['blockOwnerDeletion'] === true,
  }));
}
