import { isJsonObject, type Json } from '../codec/json.ts';
import { nameKey } from '../core/history.ts';
import { hashText } from '../core/hash.ts';
import { keepLast } from '../core/keepLast.ts';
import type { NewTraceEvent, ObjectName, ObservedEvent, TraceEvent } from '../core/traceEvent.ts';

/** One of `count` parts of the objects, `index` from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/**
 * Whether a name belongs to a shard. Some servers show one object as several resources: deployments of two groups, a namespace
 * as a project. What is called alike is in one shard.
 */
export function isInShard({ namespace, name }: ObjectName, shard: Shard): boolean {
  return Number.parseInt(hashText(`${namespace}/${name}`).slice(0, 8), 16) % shard.count === shard.index;
}

const MAX_SEEN = 20_000;
/** Resources of the core group whose contents others take or are bound to by name. */
const TAKEN = ['configmaps', 'secrets', 'persistentvolumes'];

/**
 * What a shard needs of the events of a log. Of its own objects, and of what actors read, it needs all. Of the others it needs
 * what a finding about one of its own may rest on: who held a name when, who wrote which version, what was created for which
 * owner, the first content of what a lost create may have made, what Pods take by name, and how many of something an owner asks
 * for at most. The rest of their contents is left out.
 */
export class ShardView {
  private readonly shard: Shard;
  /** Others whose first content was passed on; once it is full, it begins anew, and more is passed on than is needed. */
  private readonly seen = new Set<string>();
  /** By name, which is asked many times about one. */
  private readonly own = new Map<string, boolean>();

  private readonly largest = new WeakMap<object, number | bigint>();

  constructor(shard: Shard) {
    this.shard = shard;
  }

  /** Whether a name belongs to the shard. */
  has(name: ObjectName): boolean {
    const key = nameKey('', name);
    const known = this.own.get(key);
    if (known !== undefined) return known;
    const isOwn = isInShard(name, this.shard);
    keepLast(this.own, key, isOwn, MAX_SEEN);
    return isOwn;
  }

  /** The next event of the log, as far as this shard needs it. */
  of<E extends NewTraceEvent | TraceEvent>(event: E): E {
    switch (event.type) {
      case 'observed': {
        if (this.isWhole(event.name) || this.isFirst(event.uid)) return event;
        const { managedFields: _owners, leaves: _hashes, body, ...rest } = event;
        if (body === undefined) return rest as E;
        const largest = this.largestIn(body['spec']);
        // That it desires no number is known too.
        return { ...rest, leaves: largest === undefined ? {} : { '.spec.largest': String(largest) } } as E;
      }
      case 'write': {
        const { body } = event;
        if (event.verb !== 'replace' || !isJsonObject(body) || this.isWhole(event.name)) return event;
        const largest = this.largestIn(body['spec']);
        return { ...event, body: largest === undefined ? {} : { spec: { largest } } };
      }
      case 'absent':
      case 'read':
      case 'gap':
      case 'note':
        return event;
    }
  }

  /** Whether of what is seen of an object from now on only its version and its desired state are needed. */
  needsOnlySpec({ name, uid }: Pick<ObservedEvent, 'name' | 'uid'>): boolean {
    return this.seen.has(uid) && !this.isWhole(name);
  }

  /** Whether the contents of an object are needed. */
  private isWhole(name: ObjectName): boolean {
    return this.has(name) || (name.group === '' && TAKEN.includes(name.resource));
  }

  /** The largest whole number of a desired state, all that others are asked for; undefined where it has none. */
  private largestIn(spec: Json | undefined): number | bigint | undefined {
    if (!isJsonObject(spec)) return undefined;
    let largest: number | bigint = -1;
    for (const name in spec) {
      const value = spec[name];
      if (typeof value !== 'object' || value === null) largest = largestIn(value, largest);
      else {
        // Versions share what did not change between them.
        const inside = this.largest.get(value) ?? largestIn(value, -1);
        this.largest.set(value, inside);
        if (inside > largest) largest = inside;
      }
    }
    return largest < 0 ? undefined : largest;
  }

  private isFirst(uid: string): boolean {
    if (this.seen.has(uid)) return false;
    if (this.seen.size >= MAX_SEEN) this.seen.clear();
    this.seen.add(uid);
    return true;
  }
}

function largestIn(value: Json | undefined, least: number | bigint): number | bigint {
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value)))
    return value > least ? value : least;
  if (typeof value !== 'object' || value === null) return least;
  let largest = least;
  if (Array.isArray(value)) for (const item of value) largest = largestIn(item, largest);
  else for (const name in value) largest = largestIn(value[name], largest);
  return largest;
}
