import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';

/** How long a request may take, in milliseconds. */
export interface Limits {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** From there until the status line, for reads. */
  readonly readMs: number;
  /** The same for writes: the server itself gives admission up to a minute. */
  readonly writeMs: number;
  /** From the status line to the end of an answer that is read whole. */
  readonly bodyMs: number;
}

/** What a client waits when nothing else is asked for. */
export const defaultLimits: Limits = { connectMs: 10_000, readMs: 30_000, writeMs: 65_000, bodyMs: 60_000 };

/** Runs `action` after `ms` on the given clock, unless disposed before. */
export function after(clock: Clock, ms: number, action: () => void): Disposable {
  const stopped = new AbortController();
  const wait = async (): Promise<void> => {
    try {
      await clock.delay(ms, stopped.signal);
    } catch {
      // Disposed: that is how it is stopped.
      return;
    }
    if (!stopped.signal.aborted) action();
  };
  void wait();
  return { dispose: () => stopped.abort() };
}
