import type { Clock } from '../base/clock.ts';
import type { ServerRequest } from '../base/server.ts';
import { parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { releases } from '../core/endingWrite.ts';
import { observedFrom } from '../core/observe.ts';
import { hideSecrets } from '../core/secrets.ts';
import type { Actor, AbsentEvent, NewTraceEvent, ReadEvent, WriteEvent, WriteOutcome } from '../core/traceEvent.ts';
import type { Classified } from './classify.ts';
import type { ModifyOptions } from './options.ts';
import { inEnglish, type AttemptOutcome } from './outcome.ts';
import type { Winner } from './report.ts';
import { identityOf, isSecret, nameOf, type Target } from './target.ts';

/** What a write event is made of besides its answer. */
export interface SentWrite {
  readonly verb: WriteEvent['verb'];
  readonly patchType?: WriteEvent['patchType'];
  readonly subresource?: string;
  readonly force?: boolean;
  readonly uid: string;
  readonly token?: string;
  /** The version that the content came from. */
  readonly basedOn?: string;
  readonly attempt: number;
  readonly paths: readonly string[];
  readonly request: ServerRequest;
  readonly startedAt: number;
}

/**
 * Tells the log what a write read and sent. A refused write is held back until the next read has shown who won, so that
 * its event says so, and is told before that read.
 */
export class WriteLog {
  private readonly target: Target;
  private readonly options: ModifyOptions;
  private readonly clock: Clock;
  private readonly actor: Actor;
  private readonly write: string;
  /** Of a log that gave no key: random, and it leaves with this write. */
  private readonly secretKey: string;
  private held: Omit<WriteEvent, 'seq'> | undefined;

  constructor(target: Target, options: ModifyOptions, manager: string) {
    this.target = target;
    this.options = options;
    this.clock = options.clock;
    this.secretKey =
      options.secretKey ??
      Array.from({ length: 32 }, () => Math.floor(options.clock.random() * 16).toString(16)).join('');
    this.actor = { manager, ...(options.agent === undefined ? {} : { agent: options.agent }) };
    this.write = `${options.clock.now().toString(36)}-${Math.floor(options.clock.random() * 2 ** 32).toString(36)}`;
  }

  /** A read of the object that was answered with it. */
  read(object: JsonObject, subresource: string | undefined): void {
    const { uid, token, terminating } = identityOf(object);
    const { namespace, name } = this.target;
    this.emitRead(subresource, { given: [{ namespace, name, uid, token, ...(terminating ? { terminating } : {}) }] });
    if (subresource === undefined) this.observe(object, 'get', false);
  }

  /** A read that was answered with something else. */
  readFailed(code: number, subresource: string | undefined, gone: boolean): void {
    this.emitRead(subresource, { given: [], code });
    if (!gone) return;
    const absent: Omit<AbsentEvent, 'seq'> = {
      ...this.base('get'),
      type: 'absent',
      name: nameOf(this.target),
      how: '404',
    };
    this.emit(absent);
  }

  /** A write and its answer. `object` is what the answer says is stored. */
  wrote(sent: SentWrite, outcome: AttemptOutcome, answer: Partial<Classified>, object: JsonObject | undefined): void {
    this.flush();
    const event = this.eventOf(sent, outcome, answer);
    if (object === undefined) {
      this.held = event;
      return;
    }
    const { uid, token, generation } = identityOf(object);
    const released = token === sent.token && releases(event.verb, object);
    const result = { uid, token, ...(generation === undefined ? {} : { generation }) };
    this.emit({ ...event, result: released ? { ...result, released } : result });
    if (sent.subresource !== 'scale') this.observe(object, 'write', this.options.dryRun === true || released);
  }

  /** Tells a held write, with those who won. */
  flush(wonBy: readonly Winner[] = []): void {
    if (this.held === undefined) return;
    const held = this.held;
    this.held = undefined;
    this.emit(
      wonBy.length === 0 ? held : { ...held, wonBy: wonBy.map((one) => ({ ...one, fields: [...one.fields] })) },
    );
  }

  private eventOf(sent: SentWrite, outcome: AttemptOutcome, answer: Partial<Classified>): Omit<WriteEvent, 'seq'> {
    const { uid, token, basedOn } = sent;
    const body = this.bodyOf(sent.request);
    return {
      ...this.base('write'),
      type: 'write',
      actor: this.actor,
      verb: sent.verb,
      ...(sent.patchType === undefined ? {} : { patchType: sent.patchType }),
      name: nameOf(this.target),
      ...(sent.subresource === undefined ? {} : { subresource: sent.subresource }),
      ...(sent.force === true ? { force: true } : {}),
      ...(this.options.dryRun === true ? { dryRun: true } : {}),
      ...(uid === '' ? {} : { preconditions: { uid, ...(token === undefined ? {} : { token }) } }),
      ...(basedOn === undefined ? {} : { basedOn: { uid, token: basedOn, known: 'given' } }),
      attempt: sent.attempt,
      write: this.write,
      paths: [...sent.paths],
      ...(body === undefined ? {} : { body }),
      startedAt: sent.startedAt,
      outcome: traceOutcome(outcome),
      ...(answer.code === undefined ? {} : { code: answer.code }),
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      ...(answer.message === undefined ? {} : { message: String(answer.message) }),
      ...(answer.causes === undefined ? {} : { causes: inEnglish(answer.causes) }),
    };
  }

  private bodyOf(request: ServerRequest): Json | undefined {
    if (this.options.keepBodies !== true || request.body === undefined) return undefined;
    const body = parseJson(request.body);
    return isSecret(this.target) ? hideSecrets(body, this.secretKey) : body;
  }

  private observe(object: JsonObject, via: 'get' | 'write', notStored: boolean): void {
    const { group, resource, version, kind } = this.target;
    const event = observedFrom(object, {
      cluster: this.options.cluster ?? '',
      via,
      at: this.clock.now(),
      resource: { group, resource, version, kind },
      keepBody: this.options.keepBodies === true,
      secretKey: this.secretKey,
      ...(notStored ? { notStored } : {}),
    });
    if (event !== undefined) this.emit(event);
  }

  private emitRead(subresource: string | undefined, more: Pick<ReadEvent, 'given'> & { code?: number }): void {
    const { group, resource, namespace, name } = this.target;
    this.flush();
    this.emit({
      ...this.base('get'),
      type: 'read',
      actor: this.actor,
      verb: 'get',
      scope: { group, resource, namespace, name, ...(subresource === undefined ? {} : { subresource }) },
      cacheAllowed: false,
      ...more,
    });
  }

  private base(via: 'get' | 'write'): { at: number; via: 'get' | 'write'; cluster: string } {
    return { at: this.clock.now(), via, cluster: this.options.cluster ?? '' };
  }

  private emit(event: NewTraceEvent): void {
    this.options.onEvent?.(event);
  }
}

/** The trace’s word for an attempt’s outcome. */
export function traceOutcome(outcome: AttemptOutcome): WriteOutcome {
  switch (outcome) {
    case 'written':
    case 'partly-written':
      return 'accepted';
    case 'gone':
      return 'not-found';
    case 'recreated':
      return 'uid-mismatch';
    case 'unchanged':
    case 'version-conflict':
    case 'uid-mismatch':
    case 'field-conflict':
    case 'already-exists':
    case 'terminating':
    case 'forbidden':
    case 'unauthenticated':
    case 'invalid':
    case 'unsupported':
    case 'too-large':
    case 'throttled':
    case 'unavailable':
    case 'uncertain':
    case 'cancelled':
      return outcome;
    case 'needs-decision':
    case 'contended':
    case 'unknown':
    case 'timed-out':
      return 'failed';
  }
}
