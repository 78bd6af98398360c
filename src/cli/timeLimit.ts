import { AppError, isAppError } from '../base/appError.ts';
import { untilAborted } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { CliIo } from './io.ts';

/** The time that a person gave a command, for all that it does. */
export class TimeLimit implements Disposable {
  private readonly io: CliIo;
  private until: number;
  private readonly over = new AbortController();
  private readonly stopped = new AbortController();

  constructor(io: CliIo, timeoutMs: number) {
    this.io = io;
    this.until = io.clock.now() + timeoutMs;
    void this.ring();
  }

  /** What is left, in ms, at least 1. */
  get remainingMs(): number {
    return Math.max(1, this.until - this.io.clock.now());
  }

  dispose(): void {
    this.stopped.abort();
  }

  /**
   * Runs a step with a signal that aborts at the limit, and when the command is interrupted. A step that knows no signal is
   * left to itself then.
   * @throws AppError `timed-out` at the limit, and whatever the step throws
   */
  async within<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const signal = AbortSignal.any([this.io.signal, this.over.signal]);
      return await untilAborted(step(signal), signal);
    } catch (error) {
      if (!isAppError(error, 'cancelled') || this.io.signal.aborted || !this.over.signal.aborted) throw error;
      throw new AppError('timed-out', 'The time limit was over before anything was written.', {
        advice: 'Check that the server and the script are well, or give them more time with --timeout.',
        cause: error,
      });
    }
  }

  /** Runs what a person takes their time for: it does not count. */
  async uncounted<T>(step: () => Promise<T>): Promise<T> {
    const begin = this.io.clock.now();
    try {
      return await step();
    } finally {
      this.until += this.io.clock.now() - begin;
    }
  }

  private async ring(): Promise<void> {
    try {
      for (let left = this.remainingMs; left > 1; left = this.remainingMs)
        await this.io.clock.delay(left, this.stopped.signal);
    } catch {
      // Disposed: the command ended before its time was over.
      return;
    }
    this.over.abort();
  }
}
