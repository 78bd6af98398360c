import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EventLog } from '../../src/core/eventLog.ts';
import { nameKey } from '../../src/core/history.ts';
import { historyOf } from '../../src/core/reduce.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { snapshot, TraceBuilder } from './traceBuilder.ts';

interface Step {
  kind: 'list' | 'whole' | 'added' | 'modified' | 'get' | 'absent' | 'gap' | 'write' | 'look' | 'all';
  name: number;
  uid: number;
  token: number;
  stream: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    'list',
    'list',
    'list',
    'list',
    'whole',
    'added',
    'modified',
    'get',
    'absent',
    'gap',
    'write',
    'look',
    'all',
  ),
  name: fc.nat({ max: 4 }),
  uid: fc.nat({ max: 2 }),
  token: fc.nat({ max: 3 }),
  stream: fc.nat({ max: 1 }),
});

/** The event of a step; undefined for a step that only looks. */
function eventOf(builder: TraceBuilder, { kind, name, uid, token, stream }: Step): TraceEvent | undefined {
  builder.name = { ...builder.name, name: `n${name}` };
  const id = `n${name}-u${uid}`;
  const object = builder.object(id, `t${token}`, {}, { generation: token + 1, labels: { a: `${uid}` } });
  const metadataOnly = { ...object, kind: 'PartialObjectMetadata' };
  switch (kind) {
    case 'list':
      return builder.seen(metadataOnly, { via: 'list', stream: `s${stream}` });
    case 'whole':
      return builder.seen(object, { via: 'list', stream: `s${stream}` });
    case 'added':
    case 'modified':
      return builder.seen(metadataOnly, { change: kind === 'added' ? 'ADDED' : 'MODIFIED', stream: `s${stream}` });
    case 'get':
      return builder.seen(metadataOnly, { via: 'get' });
    case 'absent':
      return builder.absent(token === 0 ? 'list' : 'event', { uid: id, stream: `s${stream}` });
    case 'gap':
      return builder.gap();
    case 'write':
      return builder.write({ result: { uid: id, token: `t${token}` } });
    case 'look':
    case 'all':
      return undefined;
  }
}

describe('objects that sleep', () => {
  it('a log in which they sleep tells the same history as one in which nobody does, whoever looks and when', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const builder = new TraceBuilder();
        const log = new EventLog();
        for (const one of steps) {
          const event = eventOf(builder, one);
          if (event !== undefined) {
            const { seq: _seq, ...rest } = event;
            log.append(rest);
          } else if (one.kind === 'look') {
            log.history.names.get(nameKey(builder.cluster, { ...builder.name, name: `n${one.name}` }));
            log.history.uids.get(`${builder.cluster}\0n${one.name}-u${one.uid}`);
          } else assert.equal([...log.history.names.keys()].length, log.history.names.size);
        }
        const names = log.history.names.size;
        assert.deepEqual(snapshot(log.history), snapshot(historyOf(builder.events)));
        assert.equal(log.history.names.size, names);
        assert.deepEqual(
          [log.history.lastSeq, log.history.lastAt],
          [historyOf(builder.events).lastSeq, historyOf(builder.events).lastAt],
        );
        for (const event of builder.events) assert.deepEqual(log.eventAt(event.seq), event);
      }),
      { numRuns: 500 },
    );
  });

  it('a thousand of them are found by name and by UID, once and for good', () => {
    const builder = new TraceBuilder();
    const log = new EventLog();
    for (let index = 0; index < 1000; index += 1) {
      builder.name = { ...builder.name, name: `n${index}` };
      log.append(
        builder.seen(
          { ...builder.object(`u${index}`, 't'), kind: 'PartialObjectMetadata' },
          { via: 'list', stream: 's' },
        ),
      );
    }
    assert.equal(log.history.names.size, 1000);
    const found = log.history.uids.get('c1\0u500');
    assert.equal(found?.name.name, 'n500');
    assert.equal(found, log.history.uids.get('c1\0u500'));
    assert.equal(log.history.names.get(nameKey('c1', { ...builder.name, name: 'n500' }))?.incarnations[0], found);
    assert.equal(log.history.names.has(nameKey('c1', { ...builder.name, name: 'n501' })), true);
    assert.equal(log.history.names.has(nameKey('c1', { ...builder.name, name: 'n1000' })), false);
    assert.equal(log.history.names.get(nameKey('c1', { ...builder.name, name: 'n1000' })), undefined);
    assert.deepEqual(
      [...log.history.names.values()].map(({ name }) => name.name),
      Array.from({ length: 1000 }, (_unused, index) => `n${index}`),
    );
    assert.equal(log.history.uids.size, 1000);
  });

  it('a gap that comes later does not move their beginning into it', () => {
    const builder = new TraceBuilder();
    const log = new EventLog();
    log.append(
      builder.seen({ ...builder.object('u', 't'), kind: 'PartialObjectMetadata' }, { via: 'list', stream: 's' }),
    );
    log.append(builder.gap());
    assert.equal(log.history.names.get(nameKey('c1', builder.name))?.incarnations[0]?.began, 'earlier');
  });
});
