import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import { WorkQueue } from '../../src/recorder/workQueue.ts';

describe('the queue that reads what passed', () => {
  it('gives what passed the time at which it did, however late it is read', async () => {
    let now = 1_000;
    const queue = new WorkQueue(1_000, { ...systemClock, now: () => now }, assert.ifError);
    const times: number[] = [];
    queue.force(0, () => times.push(queue.now()));
    now = 1_400;
    queue.force(0, () => times.push(queue.now()));
    now = 2_000;
    await queue.idle();
    assert.deepEqual(times, [1_000, 1_400]);
    assert.equal(queue.now(), 2_000);
  });
});
