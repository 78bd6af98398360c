import { message } from '../base/message.ts';
import type { ServerRequest } from '../base/server.ts';
import type { JsonObject } from '../codec/json.ts';
import { classifyReply, type RequestFacts } from './classify.ts';
import type { WriteContext } from './context.ts';
import { withoutValues, type Answer } from './exchange.ts';
import { objectOf } from './statusObject.ts';
import { isSecret } from './target.ts';
import type { SentWrite } from './writeLog.ts';

type Once = 'create' | 'patch' | 'delete';

/** One request that is no part of `modify`'s loop, and what came of it. */
export interface SentOnce {
  readonly answer: Answer;
  /** The object of an answer that says it was accepted; a bare success has none. */
  readonly stored: JsonObject | undefined;
  /** The number of the attempt. */
  readonly attempt: number;
}

/** Sends a create, a delete or the release of a claim once, counts it as an attempt, and tells the log. */
export async function sendOnce(
  context: WriteContext,
  request: ServerRequest,
  about: Omit<SentWrite, 'attempt' | 'request' | 'startedAt' | 'verb'> & { readonly verb: Once },
): Promise<SentOnce> {
  const startedAt = context.options.clock.now();
  const sent = await context.session.send(request);
  const facts: RequestFacts = { verb: about.verb, resource: context.target.resource, terminating: false };
  const meant: Answer =
    sent.kind === 'reply'
      ? withoutValues(classifyReply(sent.reply, facts), isSecret(context.target))
      : sent.kind === 'cancelled'
        ? {
            outcome: 'cancelled',
            message: message`It was cancelled while the request was on its way: it may have been done.`,
          }
        : { outcome: sent.kind === 'lost' ? 'uncertain' : 'unavailable', message: sent.message };
  const object = sent.kind === 'reply' && meant.outcome === 'written' ? objectOf(sent.reply) : undefined;
  const stored = object?.['kind'] === 'Status' ? undefined : object;
  const answer = settledNow(meant, about.verb, stored, context.options.dryRun === true);
  const { outcome, code, reason } = answer;
  const { attempt } = context.attempts.add({
    outcome,
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(answer.message === undefined ? {} : { message: answer.message }),
    ...(about.basedOn === undefined ? {} : { basedOn: about.basedOn }),
  });
  // What a delete is answered with is no stored version: often the last that there was.
  const logged = about.verb === 'delete' ? undefined : stored;
  context.log.wrote({ ...about, attempt, request, startedAt }, outcome, answer, logged);
  return { answer, stored, attempt };
}

/** An acceptance that cannot be read is not known to be one; of a dry run nothing was stored, whatever became of its answer. */
function settledNow(answer: Answer, verb: Once, stored: JsonObject | undefined, dryRun: boolean): Answer {
  if (answer.outcome === 'uncertain' && dryRun) return { ...answer, outcome: 'unavailable' };
  if (answer.outcome !== 'written' || verb === 'delete' || stored !== undefined) return answer;
  const said = message`The server accepted the write, but its answer could not be read.`;
  return { ...answer, outcome: dryRun ? 'unavailable' : 'uncertain', message: said };
}
