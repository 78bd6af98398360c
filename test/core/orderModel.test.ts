import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../src/codec/json.ts';
import { nameKey } from '../../src/core/history.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { TraceBuilder } from './traceBuilder.ts';

/** What truly happened at one name, step by step: a version of an incarnation, or a deletion. */
interface Fact {
  readonly uid: string;
  readonly token: string;
  readonly deleted: boolean;
  /** When it happened, by the clock of the trace. */
  readonly at: number;
}

/** One watcher: lists, follows, loses its stream, lists anew. `position` is the first fact it has not been told. */
interface Watcher {
  stream: string;
  position: number;
  known: string | undefined;
  open: boolean;
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant('change' as const) },
  { weight: 1, arbitrary: fc.constant('delete' as const) },
  { weight: 8, arbitrary: fc.nat(2).map((watcher) => ({ follow: watcher })) },
  { weight: 1, arbitrary: fc.nat(2).map((watcher) => ({ cut: watcher })) },
  { weight: 2, arbitrary: fc.nat(2).map((watcher) => ({ list: watcher })) },
  { weight: 2, arbitrary: fc.nat(8).map((back) => ({ answer: back })) },
  { weight: 1, arbitrary: fc.constant('get' as const) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Plays steps against a server that keeps one object, and records what the watchers, writers and readers were told. */
function play(steps: readonly Step[]): { facts: Fact[]; trace: TraceBuilder } {
  const facts: Fact[] = [];
  const trace = new TraceBuilder();
  const watchers: Watcher[] = Array.from({ length: 3 }, () => ({
    stream: '',
    position: 0,
    known: undefined,
    open: false,
  }));
  let life = 1;
  let streams = 0;
  /** Each life begins in a second of its own. */
  const seen = ({ uid, token }: Fact): JsonObject =>
    trace.object(uid, token, {}, { creationTimestamp: `2026-01-01T00:00:${uid.slice(1).padStart(2, '0')}Z` });
  const current = (): Fact | undefined => {
    const last = facts[facts.length - 1];
    return last === undefined || last.deleted ? undefined : last;
  };
  const list = (watcher: Watcher): void => {
    streams += 1;
    Object.assign(watcher, { stream: `s${streams}`, position: facts.length, open: true });
    const now = current();
    if (watcher.known !== undefined && watcher.known !== now?.uid)
      trace.absent('list', { uid: watcher.known, stream: watcher.stream });
    watcher.known = now?.uid;
    if (now !== undefined) trace.seen(seen(now), { via: 'list', stream: watcher.stream });
  };
  const follow = (watcher: Watcher): void => {
    const fact = facts[watcher.position];
    if (!watcher.open || fact === undefined) return;
    watcher.position += 1;
    if (fact.deleted) trace.absent('event', { uid: fact.uid, token: fact.token, stream: watcher.stream });
    else trace.seen(seen(fact), { change: watcher.known === fact.uid ? 'MODIFIED' : 'ADDED', stream: watcher.stream });
    watcher.known = fact.deleted ? undefined : fact.uid;
  };
  for (const one of steps) {
    const fresh = { token: `t${(facts.length * 7919) % 1009}`, at: trace.tick() };
    if (one === 'change') facts.push({ ...fresh, uid: `U${life}`, deleted: false });
    else if (one === 'delete') {
      const now = current();
      if (now === undefined) continue;
      facts.push({ ...fresh, uid: now.uid, deleted: true });
      life += 1;
    } else if (one === 'get') {
      const now = current();
      if (now === undefined) trace.absent('404');
      else trace.seen(seen(now), { via: 'get' });
    } else if ('follow' in one) follow(watchers[one.follow] as Watcher);
    else if ('list' in one) list(watchers[one.list] as Watcher);
    else if ('cut' in one) {
      const watcher = watchers[one.cut] as Watcher;
      if (watcher.open) trace.gap();
      watcher.open = false;
    } else {
      const index = facts.length - 1 - one.answer;
      const fact = facts[index];
      if (fact === undefined || fact.deleted) continue;
      const base = facts[index - 1];
      const isCreate = base === undefined || base.deleted;
      trace.seen(seen(fact), { via: 'write' });
      trace.write({
        startedAt: fact.at,
        verb: isCreate ? 'create' : 'replace',
        result: { uid: fact.uid, token: fact.token },
        ...(isCreate ? {} : { preconditions: { token: base.token } }),
      });
    }
  }
  return { facts, trace };
}

describe('what is claimed beside what happened', () => {
  it('placed versions stand in the order in which they were made, whoever told of them and when', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const { facts, trace } = play(steps);
        if (trace.events.length === 0) return;
        const rank = new Map(facts.map((fact, index) => [`${fact.uid} ${fact.token}`, index]));
        for (const { uid, versions } of trace.history.uids.values()) {
          const placed = versions
            .filter((version) => version.placed)
            .map(({ token }) => rank.get(`${uid} ${token}`) ?? -1);
          assert.deepEqual(
            placed,
            placed.toSorted((a, b) => a - b),
            story(trace.events),
          );
          assert.equal(new Set(versions.map(({ token }) => token)).size, versions.length, 'a version stands twice');
        }
      }),
      { numRuns: 4_000 },
    );
  });

  it('incarnations are those there were, and none is called gone that is there', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const { facts, trace } = play(steps);
        const at = trace.history.names.get(nameKey(trace.cluster, trace.name));
        const last = facts[facts.length - 1];
        for (const { uid, end, began } of at?.incarnations ?? []) {
          assert.ok(facts.some((fact) => fact.uid === uid));
          if (last?.uid === uid && !last.deleted) assert.equal(end, undefined, story(trace.events));
          assert.ok(['seen', 'earlier', 'in-gap'].includes(began));
        }
        const lives = new Set((at?.incarnations ?? []).map(({ uid }) => uid));
        assert.equal(lives.size, at?.incarnations.length ?? 0, 'an incarnation stands twice');
      }),
      { numRuns: 4_000 },
    );
  });
});

function story(events: readonly TraceEvent[]): string {
  return events
    .map((event) => {
      if (event.type === 'observed') return `${event.via} ${event.stream ?? ''} ${event.uid} ${event.token}`;
      if (event.type === 'absent') return `absent ${event.how} ${event.stream ?? ''} ${event.uid ?? ''}`;
      if (event.type === 'write')
        return `write ${event.verb} ${event.preconditions?.token ?? ''} -> ${event.result?.token ?? ''}`;
      return event.type;
    })
    .join('\n');
}
