import type { Json, JsonObject } from '../../src/codec/json.ts';
import { historyOf } from '../../src/core/reduce.ts';
import type { History, Incarnation, NameHistory } from '../../src/core/history.ts';
import { nameKey } from '../../src/core/history.ts';
import { changeLabel } from '../../src/core/versionChange.ts';
import { absentFrom, observedFrom, type ObserveContext } from '../../src/core/observe.ts';
import type {
  AbsentEvent,
  GapEvent,
  NewTraceEvent,
  ObjectName,
  TraceEvent,
  WriteEvent,
} from '../../src/core/traceEvent.ts';

/** The key that tests hide Secrets' values with. */
export const testKey = '000102030405060708090a0b0c0d0e0f';

/** Builds the events of a log, numbered and timed one after another. */
export class TraceBuilder {
  readonly events: TraceEvent[] = [];
  cluster = 'c1';
  name: ObjectName = { group: 'example.test', resource: 'toys', namespace: 'lab', name: 'demo' };
  kind = 'Toy';
  private clock = 1_000;

  push(event: NewTraceEvent): TraceEvent {
    const added: TraceEvent = { ...event, seq: this.events.length + 1 };
    this.events.push(added);
    return added;
  }

  /** An object as a server would give it. */
  object(uid: string, token: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
    const { group, namespace, name } = this.name;
    return {
      apiVersion: group === '' ? 'v1' : `${group}/v1`,
      kind: this.kind,
      metadata: { name, ...(namespace === '' ? {} : { namespace }), uid, resourceVersion: token, ...metadata },
      ...more,
    };
  }

  seen(object: JsonObject, how: Partial<ObserveContext> = {}): TraceEvent {
    const event = observedFrom(object, {
      cluster: this.cluster,
      via: 'watch',
      at: this.tick(),
      resource: { group: this.name.group, resource: this.name.resource, version: 'v1', kind: this.kind },
      keepBody: true,
      secretKey: testKey,
      ...(how.via === undefined || how.via === 'watch' || how.via === 'list' ? { stream: 's1' } : {}),
      ...how,
    });
    if (event === undefined) throw new Error('not an object');
    return this.push(event);
  }

  list(uid: string, token: string, more?: JsonObject, stream = 's1'): TraceEvent {
    return this.seen(this.object(uid, token, more), { via: 'list', stream });
  }

  added(uid: string, token: string, more?: JsonObject, stream = 's1'): TraceEvent {
    return this.seen(this.object(uid, token, more), { change: 'ADDED', stream });
  }

  modified(uid: string, token: string, more?: JsonObject, stream = 's1'): TraceEvent {
    return this.seen(this.object(uid, token, more), { change: 'MODIFIED', stream });
  }

  absent(how: AbsentEvent['how'], facts: { uid?: string; token?: string; stream?: string } = {}): TraceEvent {
    const { stream, ...rest } = facts;
    const via = how === 'list' ? 'list' : how === '404' ? 'get' : 'watch';
    return this.push(
      absentFrom(this.name, { cluster: this.cluster, via, at: this.tick(), stream: stream ?? 's1' }, { how, ...rest }),
    );
  }

  gap(cause: GapEvent['cause'] = 'connection-lost'): TraceEvent {
    const from = this.tick();
    const { group, resource } = this.name;
    return this.push({
      type: 'gap',
      at: from,
      via: 'watch',
      cluster: this.cluster,
      gap: `g${this.events.length}`,
      scope: { group, resource },
      from,
      cause,
    });
  }

  write(facts: Partial<WriteEvent>): TraceEvent {
    const at = this.tick();
    return this.push({
      type: 'write',
      at,
      startedAt: at - 1,
      via: 'recorder',
      cluster: this.cluster,
      name: this.name,
      actor: { client: 'A' },
      verb: 'replace',
      outcome: 'accepted',
      ...facts,
    });
  }

  tick(ms = 10): number {
    this.clock += ms;
    return this.clock;
  }

  get history(): History {
    return historyOf(this.events);
  }

  get at(): NameHistory {
    const found = this.history.names.get(nameKey(this.cluster, this.name));
    if (found === undefined) throw new Error('nothing is known of the name');
    return found;
  }

  /** The rows of the name: its incarnations with how they began and ended, and their tokens in order. */
  get rows(): string[] {
    return this.at.incarnations.map(row);
  }
}

function row(incarnation: Incarnation): string {
  const tokens = incarnation.versions.map(({ token, placed }) => (placed ? token : `${token}?`)).join(' ');
  return `${incarnation.uid} ${incarnation.began}: ${tokens}${incarnation.end === undefined ? '' : ` | ${incarnation.end.how}`}`;
}

/** Everything that a history says, as plain data, for comparisons. */
export function snapshot(history: History): Json {
  const plain = {
    names: [...history.names.entries()].map(([key, at]) => ({
      key,
      incarnations: at.incarnations.map((one) => ({
        uid: one.uid,
        kind: one.kind,
        apiVersion: one.apiVersion,
        began: one.began,
        first: [one.firstAt, one.firstSeq],
        end: one.end,
        terminatingAt: one.terminatingAt,
        versions: one.versions.map((version) => ({
          token: version.token,
          at: version.at,
          seq: version.seq,
          placed: version.placed,
          generation: version.generation,
          observedGeneration: version.observedGeneration,
          deletionTimestamp: version.deletionTimestamp,
          label: changeLabel(version.changed),
          paths: version.changed?.paths,
          actor: version.actor,
          actorKnown: version.actorKnown,
          body: version.body,
        })),
      })),
      writes: at.writes.map(({ seq }) => seq),
    })),
    uids: [...history.uids.keys()],
    gaps: history.gaps,
    remarks: history.remarks,
    last: [history.lastSeq, history.lastAt],
  };
  return JSON.parse(JSON.stringify(plain)) as Json;
}
