import { message } from '../base/message.ts';
import { AppError, isAppError, messageOf, type ErrorCode } from '../base/appError.ts';
import { cancelled } from '../base/clock.ts';
import { toDisposable, type Disposable } from '../base/disposable.ts';
import {
  isCount,
  isPlainObject,
  isString,
  objectOf,
  optional,
  unionBy,
  validate,
  type Check,
  type Checked,
} from './validate.ts';
import { english, type Translate } from '../core/timeline/translate.ts';

/**
 * One end of a message pipe between the extension's host and a webview. `post` never throws back what the other end does
 * with the message.
 */
export interface Port {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): Disposable;
}

/** What one request of a protocol takes and gives, checked at both ends. */
export interface RequestCheck<P, R> {
  readonly params: Check<P>;
  readonly result: Check<R>;
}

/** The requests that one end may send, by name. */
export type RequestChecks = Readonly<Record<string, RequestCheck<never, never> | RequestCheck<unknown, unknown>>>;

/** The params of a request. */
export type ParamsOf<C, M extends keyof C> = C[M] extends { params: infer P } ? Checked<P> : never;
/** The result of a request. */
export type ResultOf<C, M extends keyof C> = C[M] extends { result: infer R } ? Checked<R> : never;

/** The functions that answer the requests of the other end. */
export type Handlers<C> = {
  readonly [M in keyof C]: (params: ParamsOf<C, M>, signal: AbortSignal) => Promise<ResultOf<C, M>>;
};

/** Runs a function after a time, unless disposed before: the machine's timers, or a test's. */
export type Schedule = (delayMs: number, run: () => void) => Disposable;

/** The machine's timers. */
export const timers: Schedule = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  return toDisposable(() => clearTimeout(timer));
};

/** What a channel is made of. */
export interface ChannelOptions<Own, Other, Incoming> {
  readonly port: Port;
  /** The requests that this end sends. */
  readonly sends: Own;
  /** The requests that this end answers, and how. */
  readonly answers: Other;
  readonly handlers: Handlers<Other>;
  /** Everything that is not a request or its reply. */
  readonly notifications: Check<Incoming>;
  readonly onNotification: (message: Incoming) => void;
  /** Told of each message that was not understood, and why; such a message is otherwise ignored. */
  readonly onProblem: (problem: string) => void;
  readonly schedule: Schedule;
  /** How long a request waits for its reply when it does not say so itself. */
  readonly timeoutMs: number;
  /** The language of the failures that this end answers with. Default: English. */
  readonly translate?: Translate;
}

const ENVELOPE = unionBy('type', {
  request: objectOf({ type: isString, id: isCount, method: isString }),
  cancel: objectOf({ type: isString, id: isCount }),
  reply: objectOf({ type: isString, id: isCount }),
  failed: objectOf({ type: isString, id: isCount, code: isString, message: isString, advice: optional(isString) }),
});

interface Waiting {
  readonly method: string;
  settle(outcome: { result: unknown } | { error: AppError }): void;
}

/**
 * Requests and replies over a message pipe, in both directions at once. Every request settles: with its result, with the
 * AppError of the other end, with `cancelled` on abort (the other end is told), with `timed-out`, or with `cancelled` when
 * the channel is disposed. An unknown method and a wrong parameter are answered with `internal`, never with silence.
 */
export class Channel<Own extends RequestChecks, Other extends RequestChecks, Incoming> implements Disposable {
  private readonly options: ChannelOptions<Own, Other, Incoming>;
  private readonly waiting = new Map<number, Waiting>();
  private readonly running = new Map<number, AbortController>();
  private readonly subscription: Disposable;
  private nextId = 1;
  private disposed = false;

  constructor(options: ChannelOptions<Own, Other, Incoming>) {
    this.options = options;
    this.subscription = options.port.onMessage((message) => this.receive(message));
  }

  /** Sends a request and waits for its reply. Rejects with AppError only. */
  request<M extends keyof Own & string>(
    method: M,
    params: ParamsOf<Own, M>,
    options: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<ResultOf<Own, M>> {
    if (this.disposed || options.signal?.aborted === true) return Promise.reject(cancelled());
    const id = this.nextId;
    this.nextId += 1;
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.options.port.post({ type: 'cancel', id });
        settle({ error: cancelled() });
      };
      const timer = this.options.schedule(timeoutMs, () => {
        this.options.port.post({ type: 'cancel', id });
        settle({ error: new AppError('timed-out', message`No answer to "${method}" within ${timeoutMs} ms.`) });
      });
      const settle: Waiting['settle'] = (outcome) => {
        timer.dispose();
        options.signal?.removeEventListener('abort', onAbort);
        this.waiting.delete(id);
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.result as ResultOf<Own, M>);
      };
      options.signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.set(id, { method, settle });
      this.options.port.post({ type: 'request', id, method, params });
    });
  }

  /** Sends a message that has no reply. */
  notify(message: object): void {
    if (!this.disposed) this.options.port.post(message);
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.subscription.dispose();
    for (const controller of this.running.values()) controller.abort();
    for (const waiting of Array.from(this.waiting.values())) waiting.settle({ error: cancelled() });
  }

  private receive(message: unknown): void {
    if (this.disposed) return;
    const type = isPlainObject(message) ? message['type'] : undefined;
    if (type === 'request' || type === 'cancel' || type === 'reply' || type === 'failed') this.receiveEnvelope(message);
    else this.receiveNotification(message);
  }

  private receiveNotification(message: unknown): void {
    const checked = validate(this.options.notifications, message);
    if ('problem' in checked) this.options.onProblem(checked.problem);
    else this.options.onNotification(checked.value);
  }

  private receiveEnvelope(message: unknown): void {
    const checked = validate(ENVELOPE, message);
    if ('problem' in checked) {
      this.options.onProblem(checked.problem);
      return;
    }
    const envelope = checked.value as { type: string; id: number } & Record<string, unknown>;
    if (envelope.type === 'request') void this.answer(envelope.id, String(envelope['method']), envelope['params']);
    else if (envelope.type === 'cancel') this.running.get(envelope.id)?.abort();
    else this.settle(envelope);
  }

  private settle(envelope: { type: string; id: number } & Record<string, unknown>): void {
    const waiting = this.waiting.get(envelope.id);
    // A reply to a request that was cancelled or timed out meanwhile has nobody to go to.
    if (waiting === undefined) return;
    if (envelope.type === 'failed') {
      const advice = envelope['advice'];
      waiting.settle({
        error: new AppError(envelope['code'] as ErrorCode, String(envelope['message']), {
          advice: typeof advice === 'string' ? advice : '',
        }),
      });
      return;
    }
    const problem = this.options.sends[waiting.method]?.result(envelope['result'], 'result');
    if (problem === undefined) waiting.settle({ result: envelope['result'] });
    else
      waiting.settle({
        error: new AppError('internal', message`The answer to "${waiting.method}" is malformed: ${problem}.`),
      });
  }

  /** Always ends by posting a reply; never rejects. */
  private async answer(id: number, method: string, params: unknown): Promise<void> {
    const controller = new AbortController();
    this.running.set(id, controller);
    try {
      const result = await this.runHandler(method, params, controller.signal);
      if (!this.disposed) this.options.port.post({ type: 'reply', id, result });
    } catch (error) {
      const failure = isAppError(error) ? error : new AppError('internal', messageOf(error), { cause: error });
      if (!isAppError(error)) this.options.onProblem(`"${method}" failed: ${failure.message}`);
      const said = failure.inWords(this.options.translate ?? english);
      if (!this.disposed) {
        this.options.port.post({
          type: 'failed',
          id,
          code: failure.code,
          message: said.sentence,
          advice: said.advice,
        });
      }
    } finally {
      this.running.delete(id);
    }
  }

  private async runHandler(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (!Object.hasOwn(this.options.answers, method))
      throw new AppError('internal', message`There is no request "${method}".`);
    const problem = this.options.answers[method]?.params(params, 'params');
    if (problem !== undefined)
      throw new AppError('internal', message`The request "${method}" is malformed: ${problem}.`);
    const handler = this.options.handlers[method as keyof Other] as (
      params: unknown,
      signal: AbortSignal,
    ) => Promise<unknown>;
    return handler(params, signal);
  }
}
