import { toDisposable, type Disposable } from '../base/disposable.ts';
import type { JsonObject } from '../codec/json.ts';
import type { TokenCodec } from './tokens.ts';

/** One stored version of one object. Never changed once stored: a write stores another. */
export interface Stored {
  readonly key: string;
  readonly object: JsonObject;
  readonly revision: number;
}

/** One commit. `before` is absent for the first version of an incarnation, `after` for its deletion. */
export interface Change {
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly bucket: string;
  readonly key: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** What a restore goes back to. */
export interface StoreSnapshot {
  readonly revision: number;
  readonly contents: ReadonlyMap<string, readonly Stored[]>;
}

class Bucket {
  readonly byKey = new Map<string, Stored>();
  /** Keys in the order of their bytes, as etcd lists them. */
  readonly keys: string[] = [];
  readonly log: Change[] = [];
  readonly listeners = new Set<(change: Change) => void>();

  set(stored: Stored): void {
    if (!this.byKey.has(stored.key)) this.keys.splice(lowerBound(this.keys, stored.key), 0, stored.key);
    this.byKey.set(stored.key, stored);
  }

  delete(key: string): void {
    if (this.byKey.delete(key)) this.keys.splice(lowerBound(this.keys, key), 1);
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A multi-version store in memory, as etcd is one on disk: every commit raises the one revision, which becomes the token
 * of what it stored; the past can be read until it is compacted. A bucket holds one resource, keyed `namespace/name`.
 *
 * All operations are synchronous and the process has one thread: what reads, decides and commits without waiting in
 * between is a transaction.
 */
export class Store {
  private readonly buckets = new Map<string, Bucket>();
  /** The store's clock: milliseconds since the epoch. */
  readonly now: () => number;
  private readonly historyLimit: number;
  private readonly restoreListeners = new Set<() => void>();
  private readonly allListeners = new Set<(change: Change) => void>();
  private log: Change[] = [];
  readonly tokens: TokenCodec;
  /** The revision of the newest commit. */
  revision: number;
  /** Revisions up to this one can no longer be watched from or read exactly. */
  compactedRevision: number;

  /** Starts at revision 2 with 1 compacted, as on any server that has run for some minutes. */
  constructor(options: { tokens: TokenCodec; now: () => number; historyLimit?: number }) {
    this.tokens = options.tokens;
    this.now = options.now;
    this.historyLimit = options.historyLimit ?? 20_000;
    this.revision = 2;
    this.compactedRevision = 2;
  }

  /** The newest version under a key, if there is one. */
  get(bucket: string, key: string): Stored | undefined {
    return this.buckets.get(bucket)?.byKey.get(key);
  }

  /** Stores an object, giving it the token of a new revision. */
  put(bucketId: string, key: string, object: JsonObject): Stored {
    const revision = this.revision + 1;
    const stored: Stored = { key, object: withToken(object, this.tokens.print(revision)), revision };
    const bucket = this.bucket(bucketId);
    const before = bucket.byKey.get(key);
    bucket.set(stored);
    this.commit(bucket, { revision, at: this.now(), bucket: bucketId, key, before, after: stored });
    return stored;
  }

  /** Removes what is stored under a key; answers its last content with the token of the deletion. */
  remove(bucketId: string, key: string): Stored | undefined {
    const bucket = this.bucket(bucketId);
    const before = bucket.byKey.get(key);
    if (before === undefined) return undefined;
    const revision = this.revision + 1;
    bucket.delete(key);
    this.commit(bucket, { revision, at: this.now(), bucket: bucketId, key, before, after: undefined });
    return { key, object: withToken(before.object, this.tokens.print(revision)), revision };
  }

  /** All that is under a prefix (`namespace/`, or '' for all) in key order, now or at a revision that is not compacted. */
  list(bucketId: string, prefix: string, atRevision?: number): Stored[] {
    const bucket = this.buckets.get(bucketId);
    if (bucket === undefined) return [];
    if (atRevision !== undefined && atRevision < this.revision) return past(bucket, prefix, atRevision);
    const found: Stored[] = [];
    for (let index = lowerBound(bucket.keys, prefix); index < bucket.keys.length; index += 1) {
      const key = bucket.keys[index] ?? '';
      if (!key.startsWith(prefix)) break;
      const stored = bucket.byKey.get(key);
      if (stored !== undefined) found.push(stored);
    }
    return found;
  }

  /** What was stored under a key at a revision that is not compacted. */
  getAt(bucketId: string, key: string, atRevision: number): Stored | undefined {
    const bucket = this.buckets.get(bucketId);
    if (bucket === undefined) return undefined;
    let stored = bucket.byKey.get(key);
    for (let index = bucket.log.length - 1; index >= 0; index -= 1) {
      const change = bucket.log[index];
      if (change === undefined || change.revision <= atRevision) break;
      if (change.key === key) stored = change.before;
    }
    return stored;
  }

  /** The commits to a bucket after a revision, oldest first; undefined if some of them are compacted. */
  changesAfter(bucketId: string, revision: number): readonly Change[] | undefined {
    if (revision < this.compactedRevision) return undefined;
    const log = this.buckets.get(bucketId)?.log ?? [];
    let start = log.length;
    while (start > 0 && (log[start - 1]?.revision ?? 0) > revision) start -= 1;
    return log.slice(start);
  }

  /** The newest revision that was committed at or before a time. */
  revisionAt(time: number): number {
    for (let index = this.log.length - 1; index >= 0; index -= 1) {
      const change = this.log[index];
      if (change !== undefined && change.at <= time) return change.revision;
    }
    return this.compactedRevision;
  }

  /** Calls the listener on every commit to a bucket, before the write is answered. */
  subscribe(bucketId: string, listener: (change: Change) => void): Disposable {
    const { listeners } = this.bucket(bucketId);
    listeners.add(listener);
    return toDisposable(() => listeners.delete(listener));
  }

  /** Calls the listener on every commit to any bucket, after the bucket's own listeners. */
  subscribeAll(listener: (change: Change) => void): Disposable {
    this.allListeners.add(listener);
    return toDisposable(() => this.allListeners.delete(listener));
  }

  /** Forgets the past up to a revision (the newest if not given). */
  compact(revision = this.revision): void {
    this.compactedRevision = Math.max(this.compactedRevision, Math.min(revision, this.revision));
    const kept = (change: Change): boolean => change.revision > this.compactedRevision;
    this.log = this.log.filter(kept);
    for (const bucket of this.buckets.values()) {
      const first = bucket.log.findIndex(kept);
      bucket.log.splice(0, first < 0 ? bucket.log.length : first);
    }
  }

  /** All that is stored now, to go back to. */
  snapshot(): StoreSnapshot {
    return {
      revision: this.revision,
      contents: new Map([...this.buckets].map(([id, bucket]) => [id, [...bucket.byKey.values()]])),
    };
  }

  /**
   * Goes back to a snapshot, as a restored backup does: contents and revision are the old ones, so tokens given out since
   * will be given out again for other contents. The past before the snapshot is compacted.
   */
  restore(snapshot: StoreSnapshot): void {
    for (const [id, bucket] of this.buckets) {
      bucket.byKey.clear();
      bucket.keys.length = 0;
      bucket.log.length = 0;
      for (const stored of snapshot.contents.get(id) ?? []) bucket.set(stored);
    }
    this.log = [];
    this.revision = snapshot.revision;
    this.compactedRevision = snapshot.revision;
    for (const listener of Array.from(this.restoreListeners)) listener();
  }

  /** Calls the listener after every restore; streams that were open have then to end. */
  onDidRestore(listener: () => void): Disposable {
    this.restoreListeners.add(listener);
    return toDisposable(() => this.restoreListeners.delete(listener));
  }

  private bucket(id: string): Bucket {
    let bucket = this.buckets.get(id);
    if (bucket === undefined) {
      bucket = new Bucket();
      this.buckets.set(id, bucket);
    }
    return bucket;
  }

  private commit(bucket: Bucket, change: Change): void {
    this.revision = change.revision;
    bucket.log.push(change);
    this.log.push(change);
    if (this.log.length > this.historyLimit * 1.25)
      this.compact(this.log[this.log.length - this.historyLimit]?.revision);
    for (const listener of Array.from(bucket.listeners)) listener(change);
    for (const listener of Array.from(this.allListeners)) listener(change);
  }
}

function past(bucket: Bucket, prefix: string, atRevision: number): Stored[] {
  const state = new Map(bucket.byKey);
  for (let index = bucket.log.length - 1; index >= 0; index -= 1) {
    const change = bucket.log[index];
    if (change === undefined || change.revision <= atRevision) break;
    if (change.before === undefined) state.delete(change.key);
    else state.set(change.key, change.before);
  }
  return [...state.values()].filter((stored) => stored.key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The object with this token; its metadata keeps the order of its members. */
export function withToken(object: JsonObject, token: string): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), resourceVersion: token } };
}
