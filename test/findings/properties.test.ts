import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createDetector } from '../../src/core/findings/detect.ts';
import { doersOf, type Finding } from '../../src/core/findings/finding.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { configMap, data, detect, findingsOf, OtherTokens, Scenario, toy } from './scenario.ts';

/** What an actor may do next in a random history; some of it correct, some not. */
interface Step {
  readonly actor: 'A' | 'B' | 'C';
  readonly what: 'read' | 'correct' | 'stale' | 'blind' | 'patch' | 'recreate' | 'lost' | 'lag' | 'wait';
  readonly key: 'x' | 'y' | 'z';
  readonly value: number;
  readonly object: 0 | 1;
}

const step: fc.Arbitrary<Step> = fc.record({
  actor: fc.constantFrom('A', 'B', 'C'),
  what: fc.constantFrom('read', 'correct', 'stale', 'blind', 'patch', 'recreate', 'lost', 'lag', 'wait'),
  key: fc.constantFrom('x', 'y', 'z'),
  value: fc.integer({ min: 0, max: 3 }),
  object: fc.constantFrom(0, 1),
});

/** Plays steps against a small model of a server, and records them. */
function play(steps: readonly Step[]): TraceEvent[] {
  const s = new Scenario();
  let next = 100;
  const names = [configMap('one'), toy('two')];
  const objects = names.map((name, index) => ({
    name,
    uid: `uid-${index}-0`,
    token: `${(next += 1)}`,
    data: { x: '0' } as Record<string, string>,
  }));
  for (const object of objects) s.stream(object.name, object.uid, object.token, data(object.data));
  const held = new Map<string, { token: string; data: Record<string, string> }>();
  for (const { actor, what, key, value, object: index } of steps) {
    const object = objects[index];
    if (object === undefined) continue;
    const id = `${actor}${index}`;
    const mine = held.get(id);
    const store = (content: Record<string, string>): void => {
      object.data = content;
      object.token = `${(next += 1)}`;
    };
    if (what === 'read' || (mine === undefined && !['wait', 'lag', 'recreate'].includes(what))) {
      s.get(actor, object.name, object.uid, object.token);
      held.set(id, { token: object.token, data: { ...object.data } });
    } else if (what === 'wait') s.wait(value * 12_000);
    else if (what === 'lag') {
      store(object.data);
      const lag = { metadata: { generation: 9 }, status: { observedGeneration: value } };
      s.stream(object.name, object.uid, object.token, { ...data(object.data), ...lag });
    } else if (what === 'recreate') {
      s.gone(object.name, object.uid);
      Object.assign(object, { uid: `uid-${index}-${next}`, data: { x: '0' } });
      store(object.data);
      s.stream(object.name, object.uid, object.token, data(object.data));
    } else if (mine !== undefined) {
      const content = { ...(what === 'correct' ? object.data : mine.data), [key]: String(value) };
      const token = what === 'correct' ? object.token : mine.token;
      const patch = what === 'patch' ? { patchType: 'merge-patch' as const } : {};
      const body = data(what === 'patch' ? { [key]: String(value) } : content);
      const precondition = what === 'blind' || what === 'patch' ? {} : { preconditions: { token } };
      const verb = what === 'patch' ? 'patch' : 'replace';
      if (what === 'correct') s.get(actor, object.name, object.uid, object.token);
      if (what === 'lost') s.write(actor, object.name, verb, { ...precondition, body, outcome: 'uncertain' });
      else if (what === 'stale' && token !== object.token)
        s.write(actor, object.name, verb, { ...precondition, body, outcome: 'version-conflict', code: 409 });
      else {
        store(what === 'patch' ? { ...object.data, [key]: String(value) } : content);
        s.write(actor, object.name, verb, {
          ...precondition,
          ...patch,
          body,
          result: { uid: object.uid, token: object.token },
          stored: data(object.data),
        });
        held.set(id, { token: object.token, data: { ...object.data } });
      }
    }
  }
  return s.events;
}

function shape(findings: readonly Finding[]): unknown[] {
  return findings.map(({ id, kind, object, actors, fields, count, events }) => ({
    id,
    kind,
    object,
    actors,
    fields,
    count,
    events,
  }));
}

describe('findings, whatever happens', () => {
  it('are the same when all tokens are renamed', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), fc.integer(), (steps, seed) => {
        const events = play(steps);
        const otherwise = new OtherTokens(`${seed}`);
        assert.deepEqual(otherwise.back(detect(otherwise.rename(events))), otherwise.back(detect(events)));
      }),
      { numRuns: 150 },
    );
  });

  it('are the same live, event by event, as in a replay, and what grew last is what stands', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const events = play(steps);
        const live = new Map<string, Finding>();
        const detector = createDetector();
        const take = (findings: readonly Finding[]): void => {
          for (const finding of findings)
            live.set(
              JSON.stringify([
                finding.id,
                finding.kind,
                finding.object,
                finding.events[0],
                finding.fields[0],
                finding.actors[0],
              ]),
              finding,
            );
        };
        for (const event of events) take(detector.add(event));
        take(detector.end());
        const all = detect(JSON.parse(JSON.stringify(events)) as TraceEvent[]);
        assert.deepEqual(shape(detector.findings()), shape(all));
        for (const finding of all)
          assert.ok([...live.values()].some((item) => item.id === finding.id && item.count === finding.count));
      }),
      { numRuns: 100 },
    );
  });

  it('are the same, words and order included, whatever the times at which a live log is looked at', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 20, maxLength: 40 }),
        fc.infiniteStream(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 3 })),
        (steps, ticks) => {
          const events = play(steps);
          const detector = createDetector();
          for (const [index, event] of events.entries()) {
            const before = events[index - 1]?.at ?? event.at - 10_000;
            for (const part of [...(ticks.next().value ?? [])].sort((a, b) => a - b))
              detector.advance(before + (part / 100) * (event.at - before));
            detector.add(event);
          }
          detector.end();
          assert.deepEqual(detector.findings(), detect(events));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('tell of one actor and object once by each rule and kind, but for a lag each time', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const found = detect(play(steps)).filter(({ id }) => id !== 'generation-lag');
        const told = found.map((finding) =>
          JSON.stringify([finding.id, finding.kind, finding.severity, finding.object, ...doersOf(finding).toSorted()]),
        );
        assert.deepEqual(told, [...new Set(told)]);
      }),
      { numRuns: 200 },
    );
  });

  it('never accuse actors that read before each write and carry the token', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ actor: fc.constantFrom<'A' | 'B' | 'C'>('A', 'B', 'C'), value: fc.integer({ min: 0, max: 9 }) }),
          { maxLength: 40 },
        ),
        (writes) => {
          const events = play(
            writes.map((write, index) => ({
              ...write,
              value: write.value * 100 + index,
              key: ({ A: 'x', B: 'y', C: 'z' } as const)[write.actor],
              what: 'correct',
              object: 0,
            })),
          );
          assert.deepEqual(
            findingsOf(events).filter((finding) => finding.severity !== 'info'),
            [],
          );
        },
      ),
      { numRuns: 150 },
    );
  });
});
