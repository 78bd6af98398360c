import type { Clock } from './clock.ts';
import type { Disposable } from './disposable.ts';

/** Does `work` at a time of the clock, or soon after: one delay at a time, none while nothing is set; never after disposal. */
export class Alarm implements Disposable {
  private readonly clock: Clock;
  private readonly work: () => void;
  private at: number | undefined;
  private waiting: { readonly at: number; readonly stop: AbortController } | undefined;
  private disposed = false;

  constructor(clock: Clock, work: () => void) {
    this.clock = clock;
    this.work = work;
  }

  /** Sets it to another time, in milliseconds since the epoch; undefined: to none. */
  set(at: number | undefined): void {
    this.at = at;
    // A delay that ends too early only looks again: what is set anew with every event starts no new one each time.
    if (at === undefined || this.disposed || (this.waiting !== undefined && this.waiting.at <= at)) return;
    this.waiting?.stop.abort();
    const waiting = { at, stop: new AbortController() };
    this.waiting = waiting;
    this.clock.delay(Math.max(0, at - this.clock.now()), waiting.stop.signal).then(
      () => this.ring(waiting),
      // The delay was given up.
      () => undefined,
    );
  }

  dispose(): void {
    this.disposed = true;
    this.waiting?.stop.abort();
    this.waiting = undefined;
  }

  private ring(waiting: { readonly at: number }): void {
    if (this.waiting !== waiting) return;
    this.waiting = undefined;
    const { at } = this;
    if (at !== undefined && at <= this.clock.now()) {
      this.at = undefined;
      this.work();
    } else this.set(at);
  }
}
