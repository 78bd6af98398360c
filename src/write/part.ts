import { listed, message, type Words } from '../base/message.ts';
import type { JsonObject } from '../codec/json.ts';
import { backoffFor, backoffMs } from './backoff.ts';
import type { Carrier, Desire } from './carrier.ts';
import type { WriteContext } from './context.ts';
import {
  endCancelled,
  endFinished,
  endGone,
  endRecreated,
  endUnknown,
  endWith,
  isFinal,
  saying,
  type PartEnd,
} from './endings.ts';
import { exchange, sentWrite, type Answer, type PlannedWrite, type ReadyWrite } from './exchange.ts';
import { withTimes } from './fieldConflicts.ts';
import { LostWrites } from './lostWrites.ts';
import type { AttemptOutcome } from './outcome.ts';
import { planOf } from './plan.ts';
import { readForEdit, type ReadResult } from './readObject.ts';
import type { Attempt, Report } from './report.ts';
import { prepare } from './request.ts';
import { reportConflicts } from './stored.ts';
import { describeTarget, identityOf, isSecret, type Identity } from './target.ts';
import { ownedByOthers, winnersBetween } from './winners.ts';

/** One write of a desire to one endpoint: a desire of spec and status is two. */
export interface Part {
  readonly carrier: Carrier;
  readonly subresource: string | undefined;
  /** The incarnation that is meant; undefined until the first read. */
  readonly uid: string | undefined;
  /** What the first attempt is computed from, instead of a read: our own answer of a moment ago. */
  readonly start?: JsonObject;
  readonly name?: Attempt['part'];
}

/** What a step of the loop comes to. */
type Step =
  | { readonly kind: 'end'; readonly end: PartEnd }
  | { readonly kind: 'retry'; readonly outcome: AttemptOutcome; readonly waitMs: number };

/** A version on which a write was refused because it was not the current one. */
interface Refused {
  readonly object: JsonObject;
  readonly token: string;
  readonly attempt: number;
  readonly code: number;
}

/** The loop of the safe write: read, compute, write, and again from a new read, within the bounds. */
export class PartWriter {
  private readonly context: WriteContext;
  private readonly part: Part;
  private readonly lost: LostWrites;
  private uid: string | undefined;
  private refused: Refused | undefined;
  private owned: Report['owned'];

  constructor(context: WriteContext, part: Part) {
    this.context = context;
    this.part = part;
    this.lost = new LostWrites(context);
    this.uid = part.uid;
  }

  async run(): Promise<PartEnd> {
    const end = await this.loop();
    return this.owned === undefined || this.owned.length === 0
      ? end
      : { ...end, report: { ...end.report, owned: this.owned } };
  }

  private async loop(): Promise<PartEnd> {
    const { session, maxAttempts, backoff, options } = this.context;
    for (let count = 1; ; count += 1) {
      const begin = options.clock.now();
      const step = await this.attempt(count === 1 ? this.part.start : undefined);
      if (step.kind === 'end') return step.end;
      if (count >= maxAttempts)
        return this.atBound(step.outcome, count === 1 ? message`in one attempt` : message`in ${count} attempts`);
      const pace = step.outcome === 'version-conflict' ? backoffFor(backoff, options.clock.now() - begin) : backoff;
      const paused = await session.pause(Math.max(step.waitMs, backoffMs(count, pace, options.clock.random())));
      if (paused === 'cancelled') return this.cancelled();
      if (paused === 'over') return this.atBound(step.outcome, message`within the time limit`);
    }
  }

  private async attempt(start: JsonObject | undefined): Promise<Step> {
    const read: ReadResult =
      start === undefined ? await this.read() : { kind: 'object', object: start, identity: identityOf(start) };
    if (read.kind === 'cancelled') return ended(this.cancelled());
    if (read.kind === 'failed') return this.afterFailedRead(read.answer);
    const { object, identity } = read;
    const known = await this.see(object, identity, start === undefined);
    if (known !== undefined) return ended(known);
    if (this.refused?.token === identity.token) return this.stillRefused(this.refused);
    this.context.options.onRead?.(object);
    const desire = await this.desireOf(object);
    if (desire.kind === 'stopped') return ended(desire.end);
    if (desire.kind === 'decision') {
      this.add('needs-decision', {});
      const conflicts = reportConflicts(desire.conflicts, isSecret(this.context.target));
      const sides = { base: desire.base, theirs: object, yours: desire.yours };
      return ended(endWith('needs-decision', this.uid, object, { conflicts, sides }));
    }
    const plan = planOf(this.context, this.part.subresource, object, desire.object);
    if (plan.kind === 'nothing') {
      this.add('unchanged', {});
      return ended(endWith('unchanged', this.uid, object));
    }
    if (plan.kind === 'refused') {
      return ended(endWith('invalid', this.uid, object, { message: plan.message, causes: plan.causes }));
    }
    if (!(await this.mayWrite(plan))) return ended(this.cancelled());
    const prepared = prepare(this.context, plan);
    if (prepared.kind === 'ready') return this.write(plan, prepared);
    const accepted = prepared.accepted === undefined ? {} : { accepted: prepared.accepted };
    return ended(endWith('unsupported', this.uid, object, { message: prepared.why, ...accepted }));
  }

  private async read(): Promise<ReadResult> {
    return readForEdit(this.context, this.part.subresource);
  }

  /** What a read tells before anything is computed from it: whose life it is, who won, and what became of lost writes. */
  private async see(object: JsonObject, identity: Identity, isRead: boolean): Promise<PartEnd | undefined> {
    const { context } = this;
    if (this.refused !== undefined && identity.uid === this.uid) {
      const wonBy = winnersBetween(this.refused.object, object, context.schema);
      const told = context.attempts.all[this.refused.attempt - 1]?.wonBy !== undefined;
      if (wonBy.length > 0 && !told) context.attempts.amend(this.refused.attempt, { wonBy });
      context.log.flush(wonBy);
    }
    if (isRead) context.log.read(object, this.part.subresource === 'scale' ? 'scale' : undefined);
    this.uid ??= identity.uid;
    if (identity.uid !== this.uid) {
      this.add('recreated', {});
      return endRecreated(context, this.uid, identity.uid);
    }
    const settled = await this.lost.settle(object, identity, {
      isFunction: this.part.carrier.isFunction,
      isSatisfied: async (version) => this.isSatisfied(version),
    });
    if (settled === undefined) return undefined;
    if (settled.kind === 'unknown') return endUnknown(this.uid, settled.newest, settled.why);
    const { base, desired, whole } = settled.lost;
    const { stored, reliable } = settled;
    return endFinished(context, { base, desired, whole, outcome: 'written', stored, reliable });
  }

  /** Whether the intent wants nothing more of a version: then it does not matter who wrote it. */
  private async isSatisfied(object: JsonObject): Promise<boolean> {
    const desire = await this.desireOf(object);
    return (
      desire.kind === 'object' && planOf(this.context, this.part.subresource, object, desire.object).kind === 'nothing'
    );
  }

  /** What the intent wants of a read. A function is a person's code: it may not take more than the time that is left. */
  private async desireOf(object: JsonObject): Promise<Desire | { kind: 'stopped'; end: PartEnd }> {
    const desire = this.part.carrier.desire(object);
    if (!this.part.carrier.isFunction) return desire;
    const computed = await this.context.session.bounded(desire);
    if (computed.kind === 'done') return computed.value;
    if (computed.kind === 'cancelled') return { kind: 'stopped', end: this.cancelled() };
    return { kind: 'stopped', end: this.atLimit(object) };
  }

  private atLimit(object: JsonObject): PartEnd {
    if (this.lost.any) return endUnknown(this.uid, object, 'The time was over before the change was computed anew.');
    const said = message`The change was not computed within the time limit: nothing was written.`;
    return endWith('timed-out', this.uid, object, { message: said });
  }

  /** Asks before each write whether it is still meant, and tells before the first which fields belong to others. */
  private async mayWrite(plan: PlannedWrite): Promise<boolean> {
    if (this.context.options.onPlan?.(plan) === false) return false;
    if (this.owned !== undefined) return true;
    const paths = plan.changes.map((change) => change.path);
    this.owned = ownedByOthers(plan.current, paths, this.context.manager, this.context.schema);
    if (this.owned.length === 0 || this.context.options.onOwned === undefined) return true;
    return this.context.options.onOwned(this.owned);
  }

  private async write(plan: PlannedWrite, ready: ReadyWrite): Promise<Step> {
    const { context } = this;
    const { answer, stored, startedAt } = await exchange(context, plan, ready);
    const isNoop = stored !== undefined && this.isNoop(plan, stored);
    const outcome: AttemptOutcome = isNoop ? 'unchanged' : answer.outcome;
    const attempt = this.add(outcome, answer, plan);
    context.log.wrote(sentWrite(context, plan, ready, attempt.attempt, startedAt), outcome, answer, stored);
    if (stored === undefined) return this.afterRefusal(answer, plan, ready, attempt.attempt);
    this.lost.supersede(plan.token);
    const { current: base, desired, whole } = plan;
    const finished = {
      base,
      desired,
      whole,
      outcome: isNoop ? 'unchanged' : 'written',
      stored,
      reliable: true,
    } as const;
    return ended(endFinished(context, finished, ready));
  }

  /** What follows from an answer that stored nothing, or of which that is not known. */
  private async afterRefusal(answer: Answer, plan: PlannedWrite, ready: ReadyWrite, attempt: number): Promise<Step> {
    const { context } = this;
    const { outcome } = answer;
    if (outcome === 'version-conflict') {
      this.refused = { object: plan.current, token: plan.token, attempt, code: answer.code ?? 0 };
      return { kind: 'retry', outcome, waitMs: 0 };
    }
    if (outcome === 'uncertain') {
      const { current: base, desired, whole, changes, subresource } = plan;
      const token = context.options.unconditional === undefined ? plan.token : undefined;
      const operation = ready.strategy === 'apply' ? 'Apply' : 'Update';
      const answered = answer.code === 500 && answer.reason === 'InternalError';
      this.lost.add({ attempt, token, base, desired, whole, changes, subresource, operation, answered });
      return { kind: 'retry', outcome, waitMs: 0 };
    }
    if (outcome === 'throttled' || outcome === 'unavailable')
      return { kind: 'retry', outcome, waitMs: answer.retryAfterMs ?? 0 };
    if (outcome === 'cancelled') return ended(this.cancelled());
    if (outcome === 'uid-mismatch') return ended(await this.afterMismatch(answer));
    if (outcome === 'gone') return ended(this.gone());
    // The server may judge a patch's fields before its UID: a refusal about another incarnation says nothing of ours.
    if (ready.strategy !== 'replace' && (outcome === 'field-conflict' || outcome === 'invalid')) {
      const other = await this.otherLife();
      if (other !== undefined) return ended(other);
    }
    if (outcome === 'field-conflict') {
      const fieldConflicts = withTimes(answer.fieldConflicts ?? [], plan.current);
      return ended(endWith(outcome, this.uid, plan.current, { ...saying(answer), fieldConflicts }));
    }
    return ended(endWith(outcome, this.uid, plan.current, saying(answer)));
  }

  private afterFailedRead(answer: Answer): Step {
    const { outcome } = answer;
    this.context.log.readFailed(answer.code ?? 0, this.part.subresource, outcome === 'gone');
    this.add(outcome, answer);
    if (outcome === 'throttled' || outcome === 'unavailable' || outcome === 'timed-out') {
      return { kind: 'retry', outcome, waitMs: answer.retryAfterMs ?? 0 };
    }
    if (outcome === 'gone') return ended(this.gone());
    return ended(endWith(isFinal(outcome) ? outcome : 'unavailable', this.uid, undefined, saying(answer)));
  }

  /** The read shows the version that was just refused: this server is behind. The same write is not sent again. */
  private stillRefused(refused: Refused): Step {
    if (refused.code === 422) {
      const said = message`The server refused the patch though the object is what the patch was computed from.`;
      this.add('invalid', { code: refused.code, message: said });
      return ended(endWith('invalid', this.uid, refused.object, { message: said }));
    }
    this.add('version-conflict', {
      message: message`The read still shows the version that was refused: the server that answered is behind.`,
    });
    return { kind: 'retry', outcome: 'version-conflict', waitMs: 0 };
  }

  /** The end that a read tells, where another incarnation holds the name or nothing does; undefined where it tells neither. */
  private async otherLife(): Promise<PartEnd | undefined> {
    const read = await this.read();
    if (read.kind === 'failed') return read.answer.outcome === 'gone' ? this.gone() : undefined;
    if (read.kind !== 'object' || read.identity.uid === this.uid) return undefined;
    return endRecreated(this.context, this.uid, read.identity.uid);
  }

  /** A patch's answer does not say who holds the name. */
  private async afterMismatch(answer: Answer): Promise<PartEnd> {
    if (answer.holder !== undefined) return endRecreated(this.context, this.uid, answer.holder);
    return (await this.otherLife()) ?? endRecreated(this.context, this.uid, undefined);
  }

  /** No attempt is left, or no time: one more read tells who won and what became of a lost write. */
  private async atBound(outcome: AttemptOutcome, bound: Words): Promise<PartEnd> {
    let newest: JsonObject | undefined;
    if ((outcome === 'version-conflict' || this.lost.any) && this.context.session.remainingMs > 0) {
      const read = await this.read();
      if (read.kind === 'cancelled') return this.cancelled();
      if (read.kind === 'failed' && read.answer.outcome === 'gone') return this.gone();
      if (read.kind === 'object') {
        const known = await this.see(read.object, read.identity, true);
        if (known !== undefined) return known;
        newest = read.object;
      }
    }
    if (this.lost.anyOnItsWay || (this.lost.any && newest === undefined)) {
      const said = this.context.attempts.all.at(-1)?.message;
      const why = message`It was not stored when last looked at, and may still be on its way.`;
      return endUnknown(this.uid, newest, said === undefined ? why : listed([why, said], ' '));
    }
    const name = describeTarget(this.context.target);
    if (outcome === 'version-conflict') {
      return endWith('contended', this.uid, newest, {
        message: message`Others kept changing ${name}: the write did not get through ${bound}.`,
      });
    }
    const ending = outcome === 'throttled' || outcome === 'timed-out' ? outcome : 'unavailable';
    const last = this.context.attempts.all.at(-1)?.message;
    const wasNot = this.lost.any
      ? message`${name} was not written when last looked at, ${bound}.`
      : message`${name} was not written ${bound}.`;
    return endWith(ending, this.uid, newest, {
      message: last === undefined ? wasNot : listed([wasNot, last], ' '),
    });
  }

  /** Whether the server found nothing to store. The write that releases the last finalizer keeps the token as well. */
  private isNoop(plan: PlannedWrite, stored: JsonObject): boolean {
    const { token, terminating } = identityOf(stored);
    return this.context.options.dryRun !== true && !terminating && token === plan.token;
  }

  private add(outcome: AttemptOutcome, answer: Partial<Answer>, plan?: PlannedWrite): Attempt {
    const own = plan?.whole !== undefined ? 'main' : plan?.subresource === 'status' ? 'status' : undefined;
    const part = this.part.name ?? own;
    return this.context.attempts.add({
      outcome,
      ...(answer.code === undefined ? {} : { code: answer.code }),
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      ...(answer.message === undefined ? {} : { message: answer.message }),
      ...(plan === undefined ? {} : { basedOn: plan.token }),
      ...(part === undefined ? {} : { part }),
    });
  }

  private cancelled(): PartEnd {
    return endCancelled(this.context, this.uid, this.lost.any);
  }

  private gone(): PartEnd {
    return endGone(this.context, this.uid, this.lost.any);
  }
}

function ended(end: PartEnd): Step {
  return { kind: 'end', end };
}
