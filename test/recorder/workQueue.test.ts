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

  it('is not idle while work is expected, and is when it has come or never will', async () => {
    const queue = new WorkQueue(1_000, systemClock, assert.ifError);
    const done: string[] = [];
    const come = queue.expect();
    const never = queue.expect();
    const idle = queue.idle().then(() => done.push('idle'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    queue.force(0, () => done.push('read'));
    come();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(done, ['read']);
    never();
    await idle;
    assert.deepEqual(done, ['read', 'idle']);
  });
});
