import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../src/codec/json.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import { historyOf } from '../../src/core/reduce.ts';
import { printTraceLine, traceHeader, TraceReader } from '../../src/core/trace.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { randomTrace } from './randomTrace.ts';
import { snapshot, TraceBuilder } from './traceBuilder.ts';

const header = printTraceLine(traceHeader('test', undefined, 1));

function read(...chunks: string[]): { events: TraceEvent[]; reader: TraceReader } {
  const reader = new TraceReader();
  const events = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
  return { events, reader };
}

const codes = (reader: TraceReader): string[] => reader.problems.map(({ code, line }) => `${code} ${line}`);

function demo(): TraceEvent[] {
  const trace = new TraceBuilder();
  trace.seen(
    trace.object(
      'U1',
      'v1',
      { spec: { big: 9007199254740993n, text: 'é\u{1f600}\u2028' } },
      { managedFields: [{ manager: 'm' }], annotations: { a: 'b' } },
    ),
  );
  trace.write({ result: { uid: 'U1', token: 'v2' }, body: { spec: {} } });
  trace.absent('event', { uid: 'U1' });
  return trace.events;
}

describe('the trace format', () => {
  it('reads back what it wrote, big integers and all', () => {
    const events = demo();
    const { events: back, reader } = read(header + events.map((event) => printTraceLine(event)).join(''));
    assert.deepEqual(back, events);
    assert.deepEqual(reader.problems, []);
    assert.equal(reader.header?.creator, 'test');
  });

  it('holds managed fields and annotations once', () => {
    const [event] = demo();
    assert.ok(event !== undefined);
    assert.equal(printTraceLine(event).split('managedFields').length, 2);
  });

  it('is read from pieces of any size', () => {
    const text =
      header +
      demo()
        .map((event) => printTraceLine(event))
        .join('');
    for (const size of [1, 2, 7, 100]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      assert.deepEqual(read(...chunks).events, demo());
    }
  });

  it('cut off at any byte, gives the whole lines before and reports the torn one', () => {
    const events = demo();
    const lines = [header, ...events.map((event) => printTraceLine(event))];
    const bytes = Buffer.from(lines.join(''));
    for (let length = Buffer.byteLength(header); length < bytes.length; length += 1) {
      const { events: back, reader } = read(new TextDecoder().decode(bytes.subarray(0, length)));
      assert.deepEqual(back, events.slice(0, back.length));
      const whole = Buffer.byteLength(lines.slice(0, back.length + 1).join(''));
      const isTorn = length > whole;
      assert.deepEqual(codes(reader), isTorn ? [`torn-tail ${back.length + 2}`] : [], `at byte ${length}`);
    }
  });

  it('cut off in its first line, is no trace', () => {
    const { events, reader } = read(header.slice(0, 20));
    assert.deepEqual(events, []);
    assert.equal(reader.failure?.code, 'trace-unreadable');
  });

  it('of a newer version is refused as a whole', () => {
    const { events, reader } = read(`${header.replace('"version":1', '"version":2')}{"type":"note"}\n`);
    assert.deepEqual(events, []);
    assert.equal(reader.failure?.code, 'trace-newer');
    assert.match(reader.failure.message, /version 2/);
  });

  it('with members that it does not know is read', () => {
    const [first] = demo();
    const { events, reader } = read(header + printTraceLine({ ...first, future: { x: 1 } } as never));
    assert.equal(events.length, 1);
    assert.deepEqual(reader.problems, []);
  });

  it('that is something else is refused', () => {
    for (const text of [
      '',
      '\n',
      'hello\n',
      '{"kind":"Event","apiVersion":"audit.k8s.io/v1"}\n',
      '[]\n',
      '{"trace":"other","version":1}\n',
    ]) {
      const { events, reader } = read(text);
      assert.deepEqual(events, [], text);
      assert.equal(reader.failure?.code, 'trace-unreadable', text);
    }
  });

  it('with damaged lines gives the others and says which', () => {
    const [first, second] = demo().map((event) => printTraceLine(event));
    const { events, reader } = read(
      header,
      first ?? '',
      'garbage\n',
      '{"type":"observed"}\n',
      '{"type":"new-thing"}\n',
      '12\n',
      '\n',
      second ?? '',
    );
    assert.equal(events.length, 2);
    assert.deepEqual(codes(reader), ['not-json 3', 'not-an-event 4', 'not-an-event 5', 'not-an-event 6']);
  });

  it('keeps a bounded number of problems', () => {
    const { reader } = read(header + 'x\n'.repeat(5_000));
    assert.equal(reader.problems.length, 100);
    assert.equal(reader.problemCount, 5_000);
  });

  it('several traces one after another are one, with the clusters of all', () => {
    const second = printTraceLine(traceHeader('other', { c2: { label: 'two' } }, 2));
    const [first] = demo();
    const { events, reader } = read(
      printTraceLine(traceHeader('test', { c1: { label: 'one' } }, 1)),
      printTraceLine(first as TraceEvent),
      second,
      printTraceLine(first as TraceEvent),
    );
    assert.equal(events.length, 2);
    assert.deepEqual(reader.header?.clusters, { c1: { label: 'one' }, c2: { label: 'two' } });
  });

  it('no event of any form brings the reducer down', () => {
    const junk = fc.object({
      key: fc.constantFrom(
        'uid',
        'token',
        'name',
        'body',
        'managedFields',
        'cluster',
        'result',
        'via',
        'seq',
        'how',
        'scope',
      ),
    });
    const type = fc.constantFrom('observed', 'absent', 'gap', 'read', 'write', 'note');
    fc.assert(
      fc.property(fc.array(fc.tuple(type, junk, fc.nat(3)), { maxLength: 8 }), (parts) => {
        const valid = demo();
        const lines = parts.map(
          ([kind, more, from]) =>
            `${JSON.stringify({ ...valid[from], ...more, type: kind }, (_key, item: unknown) => (typeof item === 'bigint' ? 1 : item))}\n`,
        );
        const { events } = read(header, ...lines);
        snapshot(historyOf(events));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a log', () => {
  it('live and replayed gives the same history', () => {
    fc.assert(
      fc.property(randomTrace, (events) => {
        const live = new EventLog();
        for (const { seq: _seq, ...event } of events) live.append(event);
        const text = header + [...live.eventsFrom(1)].map((event) => printTraceLine(event)).join('');
        const replayed = new EventLog();
        replayed.replay(read(text).events);
        assert.deepEqual(snapshot(replayed.history), snapshot(live.history));
        assert.deepEqual(snapshot(historyOf(events)), snapshot(live.history));
      }),
      { numRuns: 300 },
    );
  });

  it('renamed tokens rename the projections and change nothing else', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(randomTrace, names, (events, fresh) => {
        const renamed = new Map<string, string>();
        const rename = (token: string): string => {
          const known = renamed.get(token) ?? fresh[renamed.size] ?? `${token}-${renamed.size}`;
          renamed.set(token, known);
          return known;
        };
        const walk = (value: unknown, key = ''): unknown => {
          if ((key === 'token' || key === 'resourceVersion') && typeof value === 'string') return rename(value);
          if (Array.isArray(value)) return value.map((item) => walk(item));
          if (typeof value !== 'object' || value === null) return value;
          return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, name)]));
        };
        const other = walk(events) as TraceEvent[];
        assert.deepEqual(snapshot(historyOf(other)), walk(snapshot(historyOf(events))));
      }),
      { numRuns: 300 },
    );
  });

  it('numbers its events, tells its listeners after the history, and survives a listener that throws', () => {
    const errors: unknown[] = [];
    const log = new EventLog({}, (error) => errors.push(error));
    const heard: number[][] = [];
    log.onDidAppend(() => {
      throw new Error('listener');
    });
    const subscription = log.onDidAppend((events) =>
      heard.push([...events.map(({ seq }) => seq), log.history.lastSeq]),
    );
    const event = { type: 'note', at: 1, via: 'list', cluster: 'c', text: 'x' } as const;
    log.append(event);
    log.appendAll([event, event]);
    subscription.dispose();
    log.append(event);
    assert.deepEqual(heard, [
      [1, 1],
      [2, 3, 3],
    ]);
    assert.equal(errors.length, 3);
    assert.equal(log.eventAt(2)?.seq, 2);
    assert.equal(log.eventAt(9), undefined);
  });

  it('drops contents beyond its bound and still knows what changed', () => {
    const build = (limit?: number): EventLog => {
      const trace = new TraceBuilder();
      const log = new EventLog(limit === undefined ? {} : { maxContentBytes: limit });
      for (let index = 0; index < 200; index += 1) {
        const managedFields = [
          {
            manager: `m${index}`,
            operation: 'Update',
            apiVersion: 'v1',
            time: `${index}`,
            fieldsV1: { 'f:spec': { 'f:a': {} } },
          },
        ];
        trace.seen(trace.object('U1', `v${index}`, { spec: { a: index, text: 'x'.repeat(500) } }, { managedFields }), {
          change: 'MODIFIED',
        });
      }
      log.replay(trace.events);
      return log;
    };
    const [whole, bounded] = [build(), build(20_000)];
    const versions = (log: EventLog): unknown[] =>
      [...log.history.uids.values()].flatMap(({ versions }) =>
        versions.map(({ token, changed, actor }) => [token, changed?.paths, actor]),
      );
    assert.deepEqual(versions(bounded), versions(whole));
    const bodies = (log: EventLog): number =>
      [...log.history.uids.values()][0]?.versions.filter(({ body }) => body !== undefined).length ?? 0;
    assert.equal(bodies(whole), 200);
    assert.ok(bodies(bounded) > 5 && bodies(bounded) < 60, `${bodies(bounded)} bodies`);
  });

  it('keeps a bounded number of events, the newest', () => {
    const log = new EventLog({ maxEvents: 100 });
    for (let index = 0; index < 1_000; index += 1)
      log.append({ type: 'note', at: 1, via: 'list', cluster: 'c', text: 'x' });
    assert.equal(log.eventAt(1), undefined);
    assert.equal(log.eventAt(1_000)?.seq, 1_000);
    assert.ok([...log.eventsFrom(1)].length <= 125);
  });

  it('keeps what is equal in two versions once, and changes nothing by it', () => {
    fc.assert(
      fc.property(randomTrace, (events) => {
        const shared = new EventLog();
        shared.replay(structuredClone(events));
        assert.deepEqual([...shared.eventsFrom(1)], events);
      }),
      { numRuns: 300 },
    );
    const trace = new TraceBuilder();
    trace.modified('U1', 'v1', { spec: { a: [1] }, status: { b: 1, c: { d: 1 } } });
    trace.modified('U1', 'v2', { spec: { a: [1] }, status: { b: 2, c: { d: 1 } } });
    const log = new EventLog();
    log.replay(trace.events);
    const [first, second] = [...log.history.uids.values()][0]?.versions.map(({ body }) => body) ?? [];
    assert.equal(first?.['spec'], second?.['spec']);
    const [one, two] = [first?.['status'], second?.['status']] as JsonObject[];
    assert.equal(one?.['c'], two?.['c']);
  });

  it('forgets events and still knows their versions', () => {
    const build = (maxEvents: number): EventLog => {
      const trace = new TraceBuilder();
      for (let index = 0; index < 300; index += 1) {
        trace.seen(trace.object('U1', `v${index}`, { spec: { a: index } }, { generation: index }), {
          change: 'MODIFIED',
        });
      }
      const log = new EventLog({ maxEvents });
      log.replay(trace.events);
      return log;
    };
    const versions = (log: EventLog): unknown[] =>
      [...log.history.uids.values()].flatMap((one) =>
        one.versions.map(({ token, generation, changed, placed }) => [token, generation, changed?.paths, placed]),
      );
    assert.deepEqual(versions(build(50)), versions(build(1_000)));
  });

  it('gives a second trace the numbers after the first', () => {
    const log = new EventLog();
    log.replay(demo());
    const again = log.replay(demo());
    assert.deepEqual(
      again.map(({ seq }) => seq),
      [4, 5, 6],
    );
  });
});
