import assert from 'node:assert/strict';
import { EventLog } from '../../../src/core/eventLog.ts';
import type { NewTraceEvent } from '../../../src/core/traceEvent.ts';
import { ObjectIndex } from '../../../src/editor/tree/objectIndex.ts';

describe('the tree at scale', () => {
  const observed = (index: number, token: string): NewTraceEvent => ({
    type: 'observed',
    at: index,
    via: 'watch',
    cluster: 'c',
    name: { group: '', resource: 'configmaps', namespace: `n-${index % 50}`, name: `object-${index}` },
    uid: `uid-${index}`,
    token,
    stream: 's',
    change: token === 'a' ? 'ADDED' : 'MODIFIED',
  });

  it('lists a page of 100,000 objects, by name and by last change, while 2,000 of them change, without holding the host up', () => {
    const log = new EventLog();
    const index = new ObjectIndex();
    index.add(log.appendAll(Array.from({ length: 100_000 }, (_unused, at) => observed(at, 'a'))));
    const scope = { cluster: 'c', group: '', resource: 'configmaps' };
    index.keys(scope, 'name');
    const started = performance.now();
    for (let second = 0; second < 4; second += 1) {
      index.add(log.appendAll(Array.from({ length: 500 }, (_unused, at) => observed(at * 7, `b${second}`))));
      assert.equal(index.keys(scope, 'name').length, 100_000);
      assert.match(index.keys(scope, 'last-change')[0] ?? '', /object-3493$/);
      assert.equal(index.keys({ ...scope, namespace: 'n-3' }, 'name').length, 2000);
    }
    const perRefreshMs = (performance.now() - started) / 4;
    const naive = performance.now();
    Array.from(index.keys(scope, 'last-change')).sort((a, b) => a.localeCompare(b));
    const naiveMs = performance.now() - naive;
    assert.ok(
      perRefreshMs < naiveMs,
      `${Math.round(perRefreshMs)} ms a refresh; sorting the names anew takes ${Math.round(naiveMs)} ms`,
    );
  });
});
