import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { nameKey } from '../core/history.ts';
import { hashText } from '../core/hash.ts';
import { keepLast } from '../core/keepLast.ts';
import type { NewTraceEvent, ObjectName, TraceEvent } from '../core/traceEvent.ts';

/** One of `count` parts of the objects, `index` from 0. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Whether a name belongs to a shard. */
export function isInShard(name: ObjectName, shard: Shard): boolean {
  return Number.parseInt(hashText(nameKey('', name)).slice(0, 8), 16) % shard.count === shard.index;
}

const MAX_SEEN = 20_000;
/** Resources of the core group whose contents others take or are bound to by name. */
const TAKEN = ['configmaps', 'secrets', 'persistentvolumes'];

/**
 * What a shard needs of the events of a log. Of its own objects, and of what actors read, it needs all. Of the others it needs
 * what a finding about one of its own may rest on: who held a name when, who wrote which version, what was created for which
 * owner, the first content of what a lost create may have made, what Pods take by name, and how many of something an owner asks
 * for. The rest of their contents is left out.
 */
export class ShardView {
  private readonly shard: Shard;
  /** Others whose first content was passed on; once it is full, it begins anew, and more is passed on than is needed. */
  private readonly seen = new Set<string>();
  /** By name, which is asked many times about one. */
  private readonly own = new Map<string, boolean>();

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
        return { ...rest, ...(body === undefined ? {} : { body: slimBody(body) }) } as E;
      }
      case 'write': {
        const { body } = event;
        if (event.verb !== 'replace' || !isJsonObject(body) || this.isWhole(event.name)) return event;
        return { ...event, body: slimBody(body) };
      }
      case 'absent':
      case 'read':
      case 'gap':
      case 'note':
        return event;
    }
  }

  /** Whether of a body in an audit event, an update's of a known incarnation, no more is needed than of what was seen of it. */
  isSlim({ verb, objectRef }: JsonObject, { metadata }: JsonObject): boolean {
    if (verb !== 'update' || !isJsonObject(objectRef) || !isJsonObject(metadata)) return false;
    const { subresource = 'status' } = objectRef;
    const { uid } = metadata;
    return (
      subresource === 'status' && typeof uid === 'string' && this.seen.has(uid) && !this.isWhole(nameIn(objectRef))
    );
  }

  /** Whether the contents of an object are needed. */
  private isWhole(name: ObjectName): boolean {
    return this.has(name) || (name.group === '' && TAKEN.includes(name.resource));
  }

  private isFirst(uid: string): boolean {
    if (this.seen.has(uid)) return false;
    if (this.seen.size >= MAX_SEEN) this.seen.clear();
    this.seen.add(uid);
    return true;
  }
}

function nameIn(ref: JsonObject): ObjectName {
  const text = (field: string): string => (typeof ref[field] === 'string' ? ref[field] : '');
  return { group: text('apiGroup'), resource: text('resource'), namespace: text('namespace'), name: text('name') };
}

/** The whole numbers of the desired state, at their places. */
function slimBody(body: JsonObject): JsonObject {
  const spec = numbersIn(body['spec']);
  return spec === undefined ? {} : { spec };
}

function numbersIn(value: Json | undefined): Json | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (Array.isArray(value)) {
    const items = value.flatMap((item) => numbersIn(item) ?? []);
    return items.length === 0 ? undefined : items;
  }
  if (!isJsonObject(value)) return undefined;
  let slim: JsonObject | undefined;
  for (const name in value) {
    const item = name === '__proto__' ? undefined : numbersIn(value[name]);
    if (item !== undefined) (slim ??= {})[name] = item;
  }
  return slim;
}
