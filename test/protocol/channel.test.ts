import assert from 'node:assert/strict';
import { AppError, isAppError } from '../../src/base/appError.ts';
import { toDisposable, type Disposable } from '../../src/base/disposable.ts';
import { Channel, type Handlers, type Port, type RequestChecks } from '../../src/protocol/channel.ts';
import { isCount, isString, objectOf, unionBy, exactly } from '../../src/protocol/validate.ts';

const REQUESTS = {
  double: { params: objectOf({ of: isCount }), result: objectOf({ is: isCount }) },
  slow: { params: objectOf({}), result: isString },
} satisfies RequestChecks;
const NONE = {} satisfies RequestChecks;
const isHello = unionBy('type', { hello: objectOf({ type: exactly('hello'), name: isString }) });

/** Two ports, each of which gets what the other posts, one turn later and cloned. */
function pipe(): [Port & { sent: unknown[] }, Port & { sent: unknown[] }] {
  const make = (): Port & {
    sent: unknown[];
    listeners: Set<(message: unknown) => void>;
    other?: { listeners: Set<(message: unknown) => void> };
  } => {
    const listeners = new Set<(message: unknown) => void>();
    const port = {
      sent: [] as unknown[],
      listeners,
      other: undefined as { listeners: Set<(message: unknown) => void> } | undefined,
      post(message: unknown): void {
        const copy: unknown = structuredClone(message);
        port.sent.push(copy);
        queueMicrotask(() => port.other?.listeners.forEach((listener) => listener(copy)));
      },
      onMessage(listener: (message: unknown) => void): Disposable {
        listeners.add(listener);
        return toDisposable(() => listeners.delete(listener));
      },
    };
    return port as never;
  };
  const [a, b] = [make(), make()];
  (a as { other: unknown }).other = b;
  (b as { other: unknown }).other = a;
  return [a, b];
}

/** Timers that fire when the test says so. */
class ManualTimers {
  readonly waiting = new Set<() => void>();
  readonly schedule = (_delayMs: number, run: () => void): Disposable => {
    this.waiting.add(run);
    return toDisposable(() => this.waiting.delete(run));
  };
  fire(): void {
    for (const run of Array.from(this.waiting)) {
      this.waiting.delete(run);
      run();
    }
  }
}

function pair(handlers: Partial<Handlers<typeof REQUESTS>> = {}) {
  const [near, far] = pipe();
  const timers = new ManualTimers();
  const problems: string[] = [];
  const heard: string[] = [];
  const common = {
    onProblem: (problem: string) => void problems.push(problem),
    schedule: timers.schedule,
    timeoutMs: 1000,
  };
  const asking = new Channel({
    port: near,
    sends: REQUESTS,
    answers: NONE,
    handlers: {},
    notifications: isHello,
    onNotification: () => undefined,
    ...common,
  });
  const answering = new Channel({
    port: far,
    sends: NONE,
    answers: REQUESTS,
    handlers: { double: async ({ of }) => ({ is: of * 2 }), slow: async () => 'done', ...handlers },
    notifications: isHello,
    onNotification: ({ name }) => void heard.push(name),
    ...common,
  });
  return { asking, answering, near, far, timers, problems, heard };
}

async function rejection(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    assert.ok(isAppError(error), String(error));
    return error;
  }
  throw new Error('it did not reject');
}

describe('channel', () => {
  it('a request gets its result', async () => {
    const { asking, timers } = pair();
    assert.deepEqual(await asking.request('double', { of: 21 }), { is: 42 });
    assert.equal(timers.waiting.size, 0, 'the timer of a settled request is disposed');
  });

  it('requests that overlap are told apart', async () => {
    const { asking } = pair();
    const results = await Promise.all([1, 2, 3].map((of) => asking.request('double', { of })));
    assert.deepEqual(results, [{ is: 2 }, { is: 4 }, { is: 6 }]);
  });

  it('an AppError of the other end arrives with its code, sentence and advice', async () => {
    const { asking, problems } = pair({
      slow: () => Promise.reject(new AppError('forbidden', 'You may not.', { advice: 'Ask for it.' })),
    });
    const error = await rejection(asking.request('slow', {}));
    assert.deepEqual([error.code, error.message, error.advice], ['forbidden', 'You may not.', 'Ask for it.']);
    assert.deepEqual(problems, []);
  });

  it('any other failure of the other end arrives as internal and is reported there', async () => {
    const { asking, problems } = pair({ slow: () => Promise.reject(new TypeError('oops')) });
    assert.equal((await rejection(asking.request('slow', {}))).code, 'internal');
    assert.deepEqual(problems, ['"slow" failed: oops']);
  });

  it('an unknown method and a wrong parameter are answered, never met with silence', async () => {
    const { near, far } = pair();
    near.post({ type: 'request', id: 7, method: 'toString', params: {} });
    near.post({ type: 'request', id: 8, method: 'double', params: { of: 'x' } });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      far.sent.map((message) => (message as { type: string; id: number }).type + (message as { id: number }).id),
      ['failed7', 'failed8'],
    );
  });

  it('a malformed result rejects instead of being passed on', async () => {
    const { asking } = pair({ double: async () => ({ is: 'many' }) as never });
    assert.match(
      (await rejection(asking.request('double', { of: 1 }))).message,
      /malformed: result\.is is not a whole number/,
    );
  });

  it('aborting rejects with cancelled at once and aborts the handler at the other end', async () => {
    let seen: AbortSignal | undefined;
    const { asking } = pair({
      slow: (_params, signal) => {
        seen = signal;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('too late')));
      },
    });
    const controller = new AbortController();
    const asked = asking.request('slow', {}, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    assert.equal((await rejection(asked)).code, 'cancelled');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(seen?.aborted, true);
  });

  it('a request whose signal has aborted before is not sent', async () => {
    const { asking, near } = pair();
    assert.equal((await rejection(asking.request('slow', {}, { signal: AbortSignal.abort() }))).code, 'cancelled');
    assert.deepEqual(near.sent, []);
  });

  it('a request that gets no reply in time rejects with timed-out and cancels at the other end', async () => {
    const { asking, timers, near } = pair({ slow: () => new Promise(() => undefined) });
    const asked = asking.request('slow', {});
    await new Promise((resolve) => setImmediate(resolve));
    timers.fire();
    assert.equal((await rejection(asked)).code, 'timed-out');
    assert.deepEqual(near.sent.at(-1), { type: 'cancel', id: 1 });
  });

  it('disposing rejects what waits, and what is asked afterwards', async () => {
    const { asking, timers } = pair({ slow: () => new Promise(() => undefined) });
    const asked = asking.request('slow', {});
    asking.dispose();
    assert.equal((await rejection(asked)).code, 'cancelled');
    assert.equal((await rejection(asking.request('slow', {}))).code, 'cancelled');
    assert.equal(timers.waiting.size, 0);
  });

  it('a notification is checked, and one that is not understood is reported and ignored', async () => {
    const { asking, heard, problems } = pair();
    asking.notify({ type: 'hello', name: 'you' });
    asking.notify({ type: 'hello', name: 5 });
    asking.notify({ type: 'constructor' });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(heard, ['you']);
    assert.deepEqual(problems, ['message.name is not a string', 'message.type is unknown: "constructor"']);
  });

  it('a reply that nobody waits for is ignored', async () => {
    const { far, problems } = pair();
    far.post({ type: 'reply', id: 99, result: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(problems, []);
  });
});
