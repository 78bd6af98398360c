import { message, type Words } from '../base/message.ts';
import { AppError, isAppError, messageOf } from '../base/appError.ts';
import type { Clock } from '../base/clock.ts';
import { SendFailure, type Server, type ServerRequest } from '../base/server.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { generationOf, type GenerationState } from '../core/generation.ts';
import { backoffMs, defaultBackoff } from './backoff.ts';
import { classifyReply } from './classify.ts';
import { objectOf } from './statusObject.ts';
import { collectionPath, identityOf, targetPath, type Target } from './target.ts';

/** A server whose answers can be read as they come; kube's client is one. */
interface WatchableServer extends Server {
  open(
    request: ServerRequest,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> }>;
}

/** What is waited for. */
export interface ObservationGoal {
  /** The incarnation and the version that was written; waiting begins there, so nothing older can be mistaken for it. */
  readonly uid: string;
  readonly token: string;
  /** The generation that the write made; undefined where the kind has none. */
  readonly generation?: number;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
}

/** How waiting ended, with what the object said last. `unsupported`: there is nothing to wait for. */
export interface ObservedReport {
  readonly outcome: 'observed' | 'timed-out' | 'recreated' | 'gone' | 'unsupported' | 'cancelled';
  readonly token: string;
  readonly state?: GenerationState;
  /** The named conditions that do not hold yet, or were computed for an older generation. */
  readonly missing: readonly string[];
  readonly message?: Words;
}

/** How to wait. */
interface WaitOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
  /** The stored object, if the caller has it: it may already be observed. */
  readonly object?: JsonObject;
}

/**
 * Waits until a controller has observed a write: observedGeneration has reached its generation and the named conditions hold,
 * none of them computed for an older generation. Watches from the version that was written; tokens are compared for equality
 * only, and a stream that breaks is taken up again from the newest state, read anew.
 */
export async function waitObserved(
  server: WatchableServer,
  target: Target,
  what: ObservationGoal,
  options: WaitOptions,
): Promise<ObservedReport> {
  if (what.generation === undefined && what.conditions.length === 0) {
    return {
      outcome: 'unsupported',
      token: what.token,
      missing: [],
      message: message`The kind ${target.kind} has no observedGeneration: there is nothing to wait for.`,
    };
  }
  const limit = new AbortController();
  const ring = stopAfter(options.clock, options.timeoutMs, limit);
  const abort = (): void => limit.abort();
  options.signal?.addEventListener('abort', abort, { once: true });
  if (options.signal?.aborted === true) abort();
  const waiting = new Waiting(server, target, what, options.clock, limit.signal);
  try {
    return await waiting.run(options.object);
  } catch (error) {
    if (!limit.signal.aborted) throw error;
    return options.signal?.aborted === true ? waiting.ended('cancelled') : waiting.ended('timed-out');
  } finally {
    options.signal?.removeEventListener('abort', abort);
    ring.abort();
  }
}

function stopAfter(clock: Clock, ms: number, limit: AbortController): AbortController {
  const stop = new AbortController();
  const wait = async (): Promise<void> => {
    try {
      await clock.delay(ms, stop.signal);
    } catch {
      // Stopped: the wait ended before its time was over.
      return;
    }
    limit.abort();
  };
  void wait();
  return stop;
}

class Waiting {
  private readonly server: WatchableServer;
  private readonly target: Target;
  private readonly what: ObservationGoal;
  private readonly clock: Clock;
  private readonly signal: AbortSignal;
  private token: string;
  private state: GenerationState | undefined;
  private missing: string[];

  constructor(server: WatchableServer, target: Target, what: ObservationGoal, clock: Clock, signal: AbortSignal) {
    this.server = server;
    this.target = target;
    this.what = what;
    this.clock = clock;
    this.signal = signal;
    this.token = what.token;
    this.missing = what.conditions.map(({ type }) => type);
  }

  ended(outcome: ObservedReport['outcome']): ObservedReport {
    return {
      outcome,
      token: this.token,
      ...(this.state === undefined ? {} : { state: this.state }),
      missing: this.missing,
      ...(outcome === 'timed-out' && this.state?.verdict === 'unreported'
        ? { message: message`It reports no observedGeneration so far.` }
        : {}),
    };
  }

  async run(object: JsonObject | undefined): Promise<ObservedReport> {
    if (object !== undefined && this.look(object)) return this.ended('observed');
    for (let broken = 1; ; broken += 1) {
      const end = await this.watch();
      if (end !== undefined) return end;
      if (this.signal.aborted) throw new AppError('cancelled', message`Cancelled.`);
      await this.clock.delay(backoffMs(broken, defaultBackoff, this.clock.random()), this.signal);
      const again = await this.readAgain();
      if (again !== undefined) return again;
    }
  }

  /** Watches from the last version seen until it is observed, or the stream ends. */
  private async watch(): Promise<ObservedReport | undefined> {
    const query = { watch: 'true', resourceVersion: this.token, fieldSelector: `metadata.name=${this.target.name}` };
    try {
      const stream = await this.server.open({ method: 'GET', path: collectionPath(this.target), query }, this.signal);
      if (stream.status !== 200) return undefined;
      for await (const event of eventsOf(stream.body)) {
        const object = event['object'];
        if (!isJsonObject(object) || event['type'] === 'ERROR') return undefined;
        if (event['type'] === 'BOOKMARK') continue;
        if (identityOf(object).uid !== this.what.uid) return this.ended('recreated');
        if (event['type'] === 'DELETED') return this.ended('gone');
        if (this.look(object)) return this.ended('observed');
      }
      return undefined;
    } catch (error) {
      return passOver(error);
    }
  }

  private async readAgain(): Promise<ObservedReport | undefined> {
    try {
      const reply = await this.server.send({ method: 'GET', path: targetPath(this.target) }, this.signal);
      const answer = classifyReply(reply, { verb: 'get', resource: this.target.resource, terminating: false });
      if (answer.outcome === 'gone') return this.ended('gone');
      const object = answer.outcome === 'written' ? objectOf(reply) : undefined;
      if (object === undefined) return undefined;
      if (identityOf(object).uid !== this.what.uid) return this.ended('recreated');
      return this.look(object) ? this.ended('observed') : undefined;
    } catch (error) {
      return passOver(error);
    }
  }

  /** Whether a version is what is waited for. */
  private look(object: JsonObject): boolean {
    this.token = identityOf(object).token;
    this.state = generationOf(object);
    const { generation, conditions } = this.what;
    this.missing = conditions.filter((one) => !holds(object, one, generation)).map(({ type }) => type);
    const reached = generation === undefined || (this.state.observedGeneration ?? -1) >= generation;
    return reached && this.missing.length === 0;
  }
}

function holds(object: JsonObject, wanted: { type: string; status: string }, generation: number | undefined): boolean {
  const status = object['status'];
  const conditions = isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  return conditions.some((condition: Json) => {
    if (!isJsonObject(condition) || condition['type'] !== wanted.type || condition['status'] !== wanted.status)
      return false;
    const observed = condition['observedGeneration'];
    return generation === undefined || typeof observed !== 'number' || observed >= generation;
  });
}

/** A broken connection is taken up again; anything else is the caller's. */
function passOver(error: unknown): undefined {
  if (error instanceof SendFailure || isAppError(error, 'connection-lost', 'timed-out', 'unreachable', 'bad-answer'))
    return undefined;
  throw error instanceof Error ? error : new AppError('internal', messageOf(error));
}

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const event = parseJson(line);
      if (isJsonObject(event)) yield event;
    }
  }
}
