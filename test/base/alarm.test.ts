import assert from 'node:assert/strict';
import { Alarm } from '../../src/base/alarm.ts';
import { FakeClock } from '../kube/fakeClock.ts';

describe('an alarm', () => {
  it('works at the time it was set to last, with one delay at most', async () => {
    const clock = new FakeClock();
    const start = clock.now();
    const worked: number[] = [];
    const alarm = new Alarm(clock, () => worked.push(clock.now() - start));
    alarm.set(start + 500);
    alarm.set(start + 300);
    alarm.set(start + 900);
    assert.equal(clock.pending, 1);
    await clock.advance(1_000);
    assert.deepEqual(worked, [900]);
    assert.equal(clock.pending, 0);
    alarm.set(start + 10);
    await clock.advance(0);
    assert.deepEqual(worked, [900, 1_000]);
  });

  it('does nothing once it is set to no time, or disposed', async () => {
    const clock = new FakeClock();
    const alarm = new Alarm(clock, () => assert.fail('It was not to work.'));
    alarm.set(clock.now() + 100);
    alarm.set(undefined);
    await clock.advance(200);
    alarm.set(clock.now() + 100);
    alarm.dispose();
    alarm.set(clock.now() + 50);
    assert.equal(clock.pending, 0);
    await clock.advance(200);
  });
});
