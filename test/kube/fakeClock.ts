import { setTimeout as realDelay } from 'node:timers/promises';

import { cancelled, type Clock } from '../../src/base/clock.ts';

interface Waiting {
  at: number;
  wake(): void;
}

/** A clock that stands still until it is moved. Sockets stay real: `until` waits for what they bring. */
export class FakeClock implements Clock {
  randomValue = 0.5;
  private time = Date.parse('2026-01-01T00:00:00Z');
  private waiting: Waiting[] = [];

  now(): number {
    return this.time;
  }

  random(): number {
    return this.randomValue;
  }

  /** How many delays are pending. */
  get pending(): number {
    return this.waiting.length;
  }

  delay(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(cancelled());
        return;
      }
      const entry: Waiting = {
        at: this.time + ms,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.waiting = this.waiting.filter((other) => other !== entry);
        reject(cancelled());
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.push(entry);
    });
  }

  /** Moves on, waking what is due in its order. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      const due = this.waiting.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.time = Math.max(this.time, due.at);
      this.waiting = this.waiting.filter((entry) => entry !== due);
      due.wake();
      await realDelay(0);
    }
    this.time = end;
    await realDelay(0);
  }
}

/** Waits in real time until something holds; throws after five seconds. */
export async function until(holds: () => boolean, what = 'the expected state'): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await realDelay(2);
  }
}
