import { nameKey } from '../core/history.ts';
import { hashText } from '../core/hash.ts';
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

/**
 * An event where it belongs to a shard. What an actor reads belongs to all: what woke it, and what it had been given, may lie
 * in another shard than what it then writes. So do gaps and notes.
 */
export function shardEvent<E extends NewTraceEvent | TraceEvent>(event: E, shard: Shard): E | undefined {
  switch (event.type) {
    case 'observed':
    case 'absent':
    case 'write':
      return isInShard(event.name, shard) ? event : undefined;
    case 'read':
    case 'gap':
    case 'note':
      return event;
  }
}

const REF = /"objectRef":\{"resource":"([^"]*)"(?:,"namespace":"([^"]*)")?,"name":"([^"]*)"[^}]*?\}/;

/** Whether a line of an audit log is surely about an object of another shard, told without parsing it. */
export function isForeignLine(line: string, shard: Shard): boolean {
  const found = REF.exec(line);
  if (found === null) return false;
  const [ref, resource = '', namespace = '', name = ''] = found;
  const group = /"apiGroup":"([^"]*)"/.exec(ref)?.[1] ?? '';
  return !isInShard({ group, resource, namespace, name }, shard);
}
