import { cancelled, type Clock } from '../../src/base/clock.ts';

/** A clock that a test moves. Waits of no time end at once; `auto` moves the clock itself to the end of a wait begun by a pause. */
export class FakeClock implements Clock {
  private time = 1_700_000_000_000;
  private readonly waits = new Set<{ readonly until: number; readonly wake: () => void }>();
  /** How long each wait was asked for that was not a request's limit. */
  readonly pauses: number[] = [];
  /** What `random` gives. */
  jitter = 0;
  /** Whether pauses (waits that only the caller's signal may end) pass by themselves. */
  auto = true;

  now(): number {
    return this.time;
  }

  random(): number {
    return this.jitter;
  }

  async delay(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) throw cancelled();
    const isPause = signal === undefined || this.callers.has(signal);
    if (isPause) this.pauses.push(ms);
    if (isPause && this.auto) {
      this.time += ms;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const wait = { until: this.time + ms, wake: resolve };
      this.waits.add(wait);
      signal?.addEventListener('abort', () => {
        this.waits.delete(wait);
        reject(cancelled());
      });
    });
  }

  private readonly callers = new WeakSet<AbortSignal>();

  /** Tells that waits on this signal are the caller's pauses. */
  caller(signal: AbortSignal): AbortSignal {
    this.callers.add(signal);
    return signal;
  }

  /** Moves the clock and ends the waits that are over. */
  advance(ms: number): void {
    this.time += ms;
    for (const wait of this.waits) {
      if (wait.until > this.time) continue;
      this.waits.delete(wait);
      wait.wake();
    }
  }
}
