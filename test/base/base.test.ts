import assert from 'node:assert/strict';
import { AppError, isAppError, messageOf } from '../../src/base/appError.ts';
import { systemClock, throwIfAborted } from '../../src/base/clock.ts';
import { DisposableStore, toDisposable } from '../../src/base/disposable.ts';
import { Emitter } from '../../src/base/emitter.ts';

describe('an AppError', () => {
  it('has a code, advice, safe details and a cause', () => {
    const cause = new Error('deep');
    const error = new AppError('usage', 'No.', { advice: 'Yes.', details: { line: 3 }, cause });
    assert.deepEqual(
      [error.code, error.message, error.advice, error.details['line'], error.cause],
      ['usage', 'No.', 'Yes.', 3, cause],
    );
    assert.ok(isAppError(error) && isAppError(error, 'internal', 'usage') && !isAppError(error, 'internal'));
    assert.ok(!isAppError(cause) && !isAppError('usage'));
    assert.deepEqual([messageOf(error), messageOf('text'), messageOf(undefined)], ['No.', 'text', 'undefined']);
  });
});

describe('the clock', () => {
  it('waits about as long as it is asked to', async () => {
    const start = performance.now();
    await systemClock.delay(20);
    assert.ok(performance.now() - start >= 15);
  });

  it('stops waiting at once when it is cancelled, and does not begin when it was cancelled before', async () => {
    const controller = new AbortController();
    const start = performance.now();
    const waiting = systemClock.delay(60_000, controller.signal);
    controller.abort();
    await assert.rejects(waiting, (error) => isAppError(error, 'cancelled'));
    await assert.rejects(systemClock.delay(60_000, controller.signal), (error) => isAppError(error, 'cancelled'));
    assert.ok(performance.now() - start < 1_000);
    assert.throws(
      () => throwIfAborted(controller.signal),
      (error) => isAppError(error, 'cancelled'),
    );
    throwIfAborted(undefined);
  });

  it('gives numbers from 0 to below 1, and the time in milliseconds', () => {
    const number = systemClock.random();
    assert.ok(number >= 0 && number < 1);
    assert.ok(Math.abs(systemClock.now() - Date.now()) < 1_000);
  });
});

describe('disposables', () => {
  it('run once, last first, and at once when they come too late', () => {
    const order: string[] = [];
    const store = new DisposableStore();
    const twice = store.add(toDisposable(() => order.push('a')));
    store.add(toDisposable(() => order.push('b')));
    store.dispose();
    store.dispose();
    twice.dispose();
    store.add(toDisposable(() => order.push('late')));
    assert.deepEqual(order, ['b', 'a', 'late']);
  });
});

describe('an emitter', () => {
  it('reaches each subscription once, whoever throws or leaves meanwhile', () => {
    const errors: unknown[] = [];
    const emitter = new Emitter<number>((error) => errors.push(error));
    const heard: string[] = [];
    const listener = (value: number): void => void heard.push(`l${value}`);
    const first = emitter.event(listener);
    emitter.event(listener);
    emitter.event(() => {
      first.dispose();
      throw new Error('no');
    });
    emitter.fire(1);
    emitter.fire(2);
    emitter.dispose();
    emitter.fire(3);
    assert.deepEqual(heard, ['l1', 'l1', 'l2']);
    assert.equal(errors.length, 2);
  });
});
