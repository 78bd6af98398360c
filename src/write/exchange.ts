import { message } from '../base/message.ts';
import type { JsonObject } from '../codec/json.ts';
import { formatPath } from '../codec/path.ts';
import { withoutSecretWords } from '../core/secretRefusal.ts';
import { classifyReply, type Classified } from './classify.ts';
import type { WriteContext } from './context.ts';
import type { Plan } from './plan.ts';
import type { Prepared } from './request.ts';
import type { Sent } from './session.ts';
import { objectOf } from './statusObject.ts';
import { identityOf, isSecret } from './target.ts';
import type { SentWrite } from './writeLog.ts';

/** What an answer means, with as much of it as came. */
export type Answer = Partial<Classified> & Pick<Classified, 'outcome'>;

/** A write that is ready to be sent. */
export type ReadyWrite = Extract<Prepared, { kind: 'ready' }>;

/** What a plan wants written. */
export type PlannedWrite = Extract<Plan, { kind: 'write' }>;

/** One write and what came of it; `stored` is the object of an answer that says it was accepted. */
export interface Exchange {
  readonly answer: Answer;
  readonly stored: JsonObject | undefined;
  readonly startedAt: number;
}

/** Sends a write once and tells what its answer means. */
export async function exchange(context: WriteContext, plan: PlannedWrite, ready: ReadyWrite): Promise<Exchange> {
  const startedAt = context.options.clock.now();
  const sent = await context.session.send(ready.request);
  const answer = meaningOf(context, sent, plan, ready);
  const stored = sent.kind === 'reply' && answer.outcome === 'written' ? objectOf(sent.reply) : undefined;
  return { answer, stored, startedAt };
}

function meaningOf(context: WriteContext, sent: Sent, plan: PlannedWrite, ready: ReadyWrite): Answer {
  const dryRun = context.options.dryRun === true;
  switch (sent.kind) {
    case 'cancelled':
      return {
        outcome: 'cancelled',
        message: message`It was cancelled while the write was on its way: it may have been stored.`,
      };
    case 'not-sent':
      return { outcome: 'unavailable', message: sent.message };
    case 'lost':
      return { outcome: dryRun ? 'unavailable' : 'uncertain', message: sent.message };
    case 'reply': {
      const { terminating } = identityOf(plan.current);
      const { resource } = context.target;
      const answer = classifyReply(sent.reply, { verb: verbOf(ready), resource, terminating, tests: ready.tests });
      if (answer.outcome === 'uncertain' && dryRun) return { ...answer, outcome: 'unavailable' };
      if (answer.outcome !== 'written') return withoutValues(answer, isSecret(context.target));
      const stored = objectOf(sent.reply);
      const { uid, token } = stored === undefined ? { uid: '', token: '' } : identityOf(stored);
      if (uid !== '' && token !== '') return answer;
      return {
        ...answer,
        outcome: 'uncertain',
        message: message`The server accepted the write, but its answer could not be read.`,
      };
    }
  }
}

function verbOf(ready: ReadyWrite): 'replace' | 'apply' | 'patch' {
  return ready.strategy === 'replace' || ready.strategy === 'apply' ? ready.strategy : 'patch';
}

/** A refusal may repeat the object that was sent: of a Secret, only where and why is kept. */
export function withoutValues(answer: Classified, secret: boolean): Classified {
  return secret ? withoutSecretWords(answer, (untold) => untold) : answer;
}

/** The write as the log has it. */
export function sentWrite(
  context: WriteContext,
  plan: PlannedWrite,
  ready: ReadyWrite,
  attempt: number,
  startedAt: number,
): SentWrite {
  const conditional = context.options.unconditional === undefined;
  return {
    verb: verbOf(ready),
    ...(ready.strategy === 'replace' ? {} : { patchType: ready.strategy }),
    ...(plan.subresource === undefined ? {} : { subresource: plan.subresource }),
    force: ready.force,
    uid: plan.uid,
    ...(conditional ? { token: plan.token } : {}),
    basedOn: plan.token,
    attempt,
    paths: plan.changes.map((change) => formatPath(change.path)),
    request: ready.request,
    startedAt,
  };
}
