import { message, type Words } from '../base/message.ts';
import { isAppError, wordsOf } from '../base/appError.ts';
import type { Clock } from '../base/clock.ts';
import { SendFailure, type Server, type ServerReply, type ServerRequest } from '../base/server.ts';

/** What came of sending a request. `lost`: it is not known whether the server acted on it. */
export type Sent =
  | { readonly kind: 'reply'; readonly reply: ServerReply }
  | { readonly kind: 'not-sent'; readonly message: Words }
  | { readonly kind: 'lost'; readonly message: Words; readonly late: boolean }
  | { readonly kind: 'cancelled' };

/** No single request takes longer, in ms: what is left of the time must do to settle a lost answer. */
const requestLimitMs = 10_000;

/**
 * The bounds of one safe write: its time limit, its caller's signal, and the limit of each request. Every wait of a write
 * goes through here, so each one ends at once when the caller cancels.
 */
export class Session {
  private readonly server: Server;
  private readonly clock: Clock;
  private readonly caller: AbortSignal | undefined;
  private readonly deadline: number;

  constructor(server: Server, clock: Clock, timeoutMs: number, signal: AbortSignal | undefined) {
    this.server = server;
    this.clock = clock;
    this.caller = signal;
    this.deadline = clock.now() + timeoutMs;
  }

  get cancelled(): boolean {
    return this.caller?.aborted === true;
  }

  /** What is left of the time, in ms; 0 when it is over. */
  get remainingMs(): number {
    return Math.max(0, this.deadline - this.clock.now());
  }

  /**
   * Sends a request once. A write may take half of the time that is left, a read all of it, both at most ten seconds.
   * @throws AppErrors of the connection that are no answer
   */
  async send(request: ServerRequest): Promise<Sent> {
    if (this.cancelled) return { kind: 'cancelled' };
    const share = request.method === 'GET' ? 1 : 0.5;
    const limitMs = Math.min(requestLimitMs, Math.max(1, Math.floor(this.remainingMs * share)));
    const inFlight = new AbortController();
    const timer = new AbortController();
    let late = false;
    const abort = (): void => inFlight.abort();
    this.caller?.addEventListener('abort', abort, { once: true });
    const limit = this.ring(limitMs, timer.signal, () => {
      late = true;
      abort();
    });
    try {
      return { kind: 'reply', reply: await this.server.send(request, inFlight.signal) };
    } catch (error) {
      if (this.cancelled) return { kind: 'cancelled' };
      if (late) return { kind: 'lost', message: message`There was no answer within ${limitMs} ms.`, late: true };
      return failureOf(error);
    } finally {
      timer.abort();
      this.caller?.removeEventListener('abort', abort);
      await limit;
    }
  }

  /** Rings after a time, unless stopped before. */
  private async ring(ms: number, stop: AbortSignal, bell: () => void): Promise<void> {
    try {
      await this.clock.delay(ms, stop);
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    bell();
  }

  /**
   * Waits for work that knows no signal, such as a person's script, no longer than the caller and the time limit allow. What
   * it comes to after that is dropped.
   */
  async bounded<T>(work: Promise<T>): Promise<{ kind: 'done'; value: T } | { kind: 'cancelled' } | { kind: 'over' }> {
    if (this.cancelled) return { kind: 'cancelled' };
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    this.caller?.addEventListener('abort', onAbort, { once: true });
    const limit = this.limitOf(stop.signal);
    try {
      return await Promise.race([work.then((value) => ({ kind: 'done', value }) as const), limit]);
    } finally {
      this.caller?.removeEventListener('abort', onAbort);
      stop.abort();
      await limit;
    }
  }

  private async limitOf(stop: AbortSignal): Promise<{ kind: 'cancelled' } | { kind: 'over' }> {
    try {
      await this.clock.delay(this.remainingMs, stop);
    } catch (error) {
      if (stop.aborted) return { kind: 'cancelled' };
      throw error;
    }
    return { kind: 'over' };
  }

  /** Waits. `over`: the wait does not fit into the time that is left, and did not begin. */
  async pause(ms: number): Promise<'done' | 'cancelled' | 'over'> {
    if (this.cancelled) return 'cancelled';
    if (ms >= this.remainingMs) return 'over';
    try {
      await this.clock.delay(ms, this.caller);
      return this.cancelled ? 'cancelled' : 'done';
    } catch (error) {
      if (this.cancelled) return 'cancelled';
      throw error;
    }
  }
}

function failureOf(error: unknown): Sent {
  if (error instanceof SendFailure) {
    const { message, reached } = error;
    return reached === 'no' ? { kind: 'not-sent', message } : { kind: 'lost', message, late: false };
  }
  if (isAppError(error, 'unreachable', 'tls-untrusted')) return { kind: 'not-sent', message: wordsOf(error) };
  if (isAppError(error, 'timed-out', 'connection-lost'))
    return { kind: 'lost', message: wordsOf(error), late: error.code === 'timed-out' };
  throw error;
}
