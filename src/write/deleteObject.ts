import type { Server } from '../base/server.ts';
import { stringifyJson, type JsonObject } from '../codec/json.ts';
import { backoffMs } from './backoff.ts';
import { classifyReply } from './classify.ts';
import { contextOf, type WriteContext } from './context.ts';
import { endCancelled, endRecreated, endUnknown, endWith, isFinal, saying, type PartReport } from './endings.ts';
import type { Answer } from './exchange.ts';
import { defaultFieldManager, type ModifyOptions } from './options.ts';
import type { AttemptOutcome } from './outcome.ts';
import { readObject } from './readObject.ts';
import type { Report } from './report.ts';
import { Session } from './session.ts';
import { objectOf } from './statusObject.ts';
import { describeTarget, identityOf, metadataOf, targetPath, type Target } from './target.ts';
import { WriteLog } from './writeLog.ts';

/** What a guarded delete takes of the options of a write. */
export type DeleteOptions = Pick<
  ModifyOptions,
  | 'clock'
  | 'signal'
  | 'fieldManager'
  | 'maxAttempts'
  | 'timeoutMs'
  | 'dryRun'
  | 'backoff'
  | 'cluster'
  | 'agent'
  | 'onEvent'
  | 'onAttempt'
> & {
  /** Delete only this version; left out: whatever version the incarnation has. */
  readonly token?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
};

/** A target whose incarnation is named. */
export type DeleteTarget = Target & { readonly uid: string };

/**
 * Deletes one incarnation, and only if it still is at `token` where one is given: the UID always goes with the request.
 * `written`: it is gone, or being deleted while finalizers hold it. `recreated`: another holds the name. `needs-decision`:
 * it was changed since that version. Nothing is sent after such a refusal.
 *
 * A delete whose answer was lost may be sent again, because it can only ever hit this incarnation.
 */
export async function deleteObject(server: Server, target: DeleteTarget, options: DeleteOptions): Promise<Report> {
  const session = new Session(server, options.clock, options.timeoutMs ?? 30_000, options.signal);
  const log = new WriteLog(target, options, options.fieldManager ?? defaultFieldManager);
  const context = contextOf(target, options, session, log);
  try {
    if (target.uid === '') {
      const message = `Which ${describeTarget(target)} is meant? A delete needs the UID of the incarnation.`;
      return { outcome: 'unsupported', message, attempts: [] };
    }
    const report = await run(context, target, options);
    return { ...report, ...(options.dryRun === true ? { dryRun: true } : {}), attempts: context.attempts.all };
  } finally {
    log.flush();
  }
}

async function run(context: WriteContext, target: DeleteTarget, options: DeleteOptions): Promise<PartReport> {
  let lost = false;
  for (let count = 1; ; count += 1) {
    const { answer, object } = await attempt(context, target, options);
    const { outcome } = answer;
    if (outcome === 'written') return deleted(target, object);
    if (outcome === 'cancelled') return endCancelled(context, target.uid, lost).report;
    if (lost && (outcome === 'gone' || outcome === 'uid-mismatch'))
      return goneAfterLost(target, options, answer.holder);
    if (outcome === 'uncertain') {
      lost = true;
      const settled = await settle(context, target, options);
      if (settled !== undefined) return settled;
    } else if (outcome !== 'throttled' && outcome !== 'unavailable') return refused(context, target, answer);
    if (count >= context.maxAttempts) return atBound(target, outcome, lost, answer);
    const pause = Math.max(answer.retryAfterMs ?? 0, backoffMs(count, context.backoff, options.clock.random()));
    const paused = await context.session.pause(pause);
    if (paused === 'cancelled') return endCancelled(context, target.uid, lost).report;
    if (paused === 'over') return atBound(target, outcome, lost, answer);
  }
}

async function attempt(
  context: WriteContext,
  target: DeleteTarget,
  options: DeleteOptions,
): Promise<{ answer: Answer; object: JsonObject | undefined }> {
  const { token, propagation, dryRun } = options;
  const body: JsonObject = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid: target.uid, ...(token === undefined ? {} : { resourceVersion: token }) },
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  };
  const request = {
    method: 'DELETE',
    path: targetPath(target),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: stringifyJson(body),
  } as const;
  const startedAt = options.clock.now();
  const sent = await context.session.send(request);
  const answer: Answer =
    sent.kind === 'reply'
      ? classifyReply(sent.reply, { verb: 'delete', resource: target.resource, terminating: false })
      : sent.kind === 'cancelled'
        ? { outcome: 'cancelled', message: 'It was cancelled while the delete was on its way: it may have been done.' }
        : { outcome: sent.kind === 'lost' ? 'uncertain' : 'unavailable', message: sent.message };
  const { outcome, code, reason, message } = answer;
  const { attempt: number } = context.attempts.add({
    outcome,
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(token === undefined ? {} : { basedOn: token }),
  });
  const about = { verb: 'delete', uid: target.uid, ...(token === undefined ? {} : { token, basedOn: token }) } as const;
  context.log.wrote({ ...about, attempt: number, paths: [], request, startedAt }, outcome, answer, undefined);
  context.log.flush();
  const object = sent.kind === 'reply' && outcome === 'written' ? objectOf(sent.reply) : undefined;
  return { answer, object: object?.['kind'] === 'Status' ? undefined : object };
}

/** Reads after a lost answer. Undefined: it is still there and not being deleted, so it may be asked again. */
async function settle(
  context: WriteContext,
  target: DeleteTarget,
  options: DeleteOptions,
): Promise<PartReport | undefined> {
  const read = await readObject(context, undefined);
  if (read.kind === 'cancelled') return endCancelled(context, target.uid, true).report;
  if (read.kind === 'failed')
    return read.answer.outcome === 'gone' ? goneAfterLost(target, options, undefined) : undefined;
  context.log.read(read.object, undefined);
  if (read.identity.uid !== target.uid) return goneAfterLost(target, options, read.identity.uid);
  return read.identity.terminating ? deleted(target, read.object) : undefined;
}

function deleted(target: DeleteTarget, object: JsonObject | undefined): PartReport {
  const finalizers = object === undefined ? undefined : metadataOf(object)['finalizers'];
  const held = Array.isArray(finalizers) && finalizers.length > 0;
  const name = describeTarget(target);
  const message = held
    ? `${name} is being deleted; it goes when its finalizers are released: ${finalizers.filter((one) => typeof one === 'string').join(', ')}.`
    : `${name} is deleted.`;
  const token = object === undefined ? undefined : identityOf(object).token;
  return { outcome: 'written', uid: target.uid, ...(held && token !== undefined ? { token } : {}), message };
}

/** The incarnation is gone. Whoever did it, that is what was asked, unless it was asked of one version only. */
function goneAfterLost(target: DeleteTarget, options: DeleteOptions, holder: string | undefined): PartReport {
  const held = holder === undefined ? {} : { holder };
  if (options.token !== undefined)
    return { ...endUnknown(target.uid, undefined, 'It is gone, by this delete or by another.').report, ...held };
  const message = `${describeTarget(target)} is gone; as the answer was lost, by this delete or by another.`;
  return { outcome: 'written', uid: target.uid, message, ...held };
}

function refused(context: WriteContext, target: DeleteTarget, answer: Answer): PartReport {
  const { outcome } = answer;
  const name = describeTarget(target);
  if (outcome === 'uid-mismatch') {
    const message = `${name} was replaced by another object: the one that was meant is gone, and nothing was deleted.`;
    return { ...endRecreated(context, target.uid, answer.holder).report, message };
  }
  if (outcome === 'version-conflict') {
    const message = `${name} was changed since that version: look at it again. Nothing was deleted.`;
    return endWith('needs-decision', target.uid, undefined, { message }).report;
  }
  if (outcome === 'gone')
    return endWith('gone', target.uid, undefined, { message: `${name} does not exist: its name is free.` }).report;
  return endWith(isFinal(outcome) ? outcome : 'unknown', target.uid, undefined, saying(answer)).report;
}

function atBound(target: DeleteTarget, outcome: AttemptOutcome, lost: boolean, answer: Answer): PartReport {
  if (lost) return endUnknown(target.uid, undefined, 'It was still there when last looked at.').report;
  return endWith(outcome === 'throttled' ? 'throttled' : 'unavailable', target.uid, undefined, saying(answer)).report;
}
