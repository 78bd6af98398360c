import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createDetector } from '../../src/core/findings/detect.ts';
import { Oldest } from '../../src/core/findings/oldest.ts';
import { TraceBuilder } from '../core/traceBuilder.ts';

describe('more objects than are remembered', () => {
  it('one that was forgotten and is seen again is the same one, not a recreation', () => {
    const trace = new TraceBuilder();
    const seen = (name: string, uid: string, token: string): void => {
      trace.name = { ...trace.name, name };
      trace.added(uid, token);
    };
    for (let round = 0; round < 3; round += 1)
      for (const name of ['a', 'b', 'c', 'd']) seen(name, `uid-${name}`, `${name}${round}`);
    const detector = createDetector({ maxObjects: 2 });
    for (const event of trace.events) detector.add(event);
    detector.end();
    assert.deepEqual(
      detector.findings().map(({ id }) => id),
      [],
    );
    seen('a', 'another', 'a9');
    const last = trace.events.at(-1);
    assert.ok(last);
    assert.deepEqual(
      createDetectorAfter(trace).map(({ id, object }) => `${id} ${object.name}`),
      ['recreated a'],
      'a recreation is told all the same',
    );
  });

  it('the oldest key is that which the map itself would name first', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (touched) => {
        const map = new Map<number, number>();
        const oldest = new Oldest(map);
        for (const key of touched) {
          map.delete(key);
          map.set(key, key);
          if (map.size <= 5) continue;
          const [first] = map.keys();
          const found = oldest.next();
          assert.equal(found, first);
          if (found !== undefined) map.delete(found);
        }
      }),
    );
  });
});

function createDetectorAfter(trace: TraceBuilder): ReturnType<ReturnType<typeof createDetector>['findings']> {
  const detector = createDetector();
  for (const event of trace.events) detector.add(event);
  detector.end();
  return detector.findings();
}
