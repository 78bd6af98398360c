import { AppError, isAppError } from '../base/appError.ts';
import type { Disposable } from '../base/disposable.ts';
import type { CliIo } from './io.ts';

/** The time that a person gave a command, for all that it does. */
export class TimeLimit implements Disposable {
  private readonly io: CliIo;
  private readonly until: number;
  private readonly over = new AbortController();
  private readonly stopped = new AbortController();

  constructor(io: CliIo, timeoutMs: number) {
    this.io = io;
    this.until = io.clock.now() + timeoutMs;
    void this.ring(timeoutMs);
  }

  /** What is left, in ms, at least 1. */
  get remainingMs(): number {
    return Math.max(1, this.until - this.io.clock.now());
  }

  dispose(): void {
    this.stopped.abort();
  }

  /**
   * Runs a step with a signal that aborts at the limit, and when the command is interrupted.
   * @throws AppError `timed-out` at the limit, and whatever the step throws
   */
  async within<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await step(AbortSignal.any([this.io.signal, this.over.signal]));
    } catch (error) {
      if (!isAppError(error, 'cancelled') || this.io.signal.aborted || !this.over.signal.aborted) throw error;
      throw new AppError('timed-out', 'The server did not answer within the time limit.', {
        advice: 'Check that the server is well, or give it more time with --timeout.',
        cause: error,
      });
    }
  }

  private async ring(timeoutMs: number): Promise<void> {
    try {
      await this.io.clock.delay(timeoutMs, this.stopped.signal);
    } catch {
      // Disposed: the command ended before its time was over.
      return;
    }
    this.over.abort();
  }
}
