import type { Clock } from '../base/clock.ts';

/**
 * Does the reading of what passed after the traffic itself, in slices, so that no client waits for it. It is bounded: work
 * that comes while it is full is refused, and the caller says what was lost.
 */
export class WorkQueue {
  private readonly tasks: { run: () => void; bytes: number; at: number }[] = [];
  private at: number | undefined;
  private next = 0;
  private bytes = 0;
  private expected = 0;
  private scheduled = false;
  private waiting: (() => void)[] = [];
  private readonly maxBytes: number;
  private readonly clock: Clock;
  private readonly onError: (error: unknown) => void;

  constructor(maxBytes: number, clock: Clock, onError: (error: unknown) => void) {
    this.maxBytes = maxBytes;
    this.clock = clock;
    this.onError = onError;
  }

  /** The time at which the work that is being done came, in ms since the epoch: what passed did so then, however late it is read. */
  now(): number {
    return this.at ?? this.clock.now();
  }

  /** Takes work over; false where the queue is full. */
  add(bytes: number, run: () => void): boolean {
    if (this.bytes + bytes > this.maxBytes && this.bytes > 0) return false;
    this.force(bytes, run);
    return true;
  }

  /** Takes work over even where the queue is full: small work that ends an exchange. */
  force(bytes: number, run: () => void): void {
    this.tasks.push({ run, bytes, at: this.clock.now() });
    this.bytes += bytes;
    this.schedule();
  }

  /** Work is on its way, but not here yet; call what is returned when it has come, or never will. */
  expect(): () => void {
    this.expected += 1;
    return () => {
      this.expected -= 1;
      this.schedule();
    };
  }

  /** Resolves when all work that is waiting or expected now is done. */
  idle(): Promise<void> {
    if (this.next >= this.tasks.length && this.expected === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.slice());
  }

  private slice(): void {
    const until = performance.now() + SLICE_MS;
    do {
      const task = this.tasks[this.next];
      if (task === undefined) break;
      this.next += 1;
      this.bytes -= task.bytes;
      this.at = task.at;
      try {
        task.run();
      } catch (error) {
        this.onError(error);
      }
    } while (performance.now() < until);
    this.at = undefined;
    this.scheduled = false;
    if (this.next < this.tasks.length) {
      if (this.next > 1_000) {
        this.tasks.splice(0, this.next);
        this.next = 0;
      }
      this.schedule();
      return;
    }
    this.tasks.length = 0;
    this.next = 0;
    if (this.expected === 0) for (const resolve of this.waiting.splice(0)) resolve();
  }
}

const SLICE_MS = 4;
