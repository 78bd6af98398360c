import { message } from '../base/message.ts';
import type { Server } from '../base/server.ts';
import { stringifyJson, type JsonObject } from '../codec/json.ts';
import { backoffMs } from './backoff.ts';
import { changedSince } from './changedSince.ts';
import type { WriteContext } from './context.ts';
import {
  endCancelled,
  endGone,
  endRecreated,
  endUnknown,
  endWith,
  isFinal,
  saying,
  type PartReport,
} from './endings.ts';
import type { Answer } from './exchange.ts';
import type { ModifyOptions } from './options.ts';
import type { AttemptOutcome } from './outcome.ts';
import { readObject } from './readObject.ts';
import type { Report } from './report.ts';
import { reported } from './reported.ts';
import { sendOnce, type SentOnce } from './sendOnce.ts';
import { describeTarget, identityOf, metadataOf, targetPath, type Target } from './target.ts';

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
  | 'schema'
  | 'onAttempt'
> & {
  /** Delete only this version; left out: whatever version the incarnation has. */
  readonly token?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
};

/** A target whose incarnation is named. */
type DeleteTarget = Target & { readonly uid: string };

/**
 * Deletes one incarnation, and only if it still is at `token` where one is given: the UID always goes with the request.
 * `written`: it is gone, or being deleted while finalizers hold it. `recreated`: another holds the name. `needs-decision`:
 * it was changed since that version. After such a refusal it is only read, to say what changed and at which version it is
 * now: whether that one is to be deleted is another question.
 *
 * A delete whose answer was lost may be sent again, because it can only ever hit this incarnation.
 */
export async function deleteObject(server: Server, target: DeleteTarget, options: DeleteOptions): Promise<Report> {
  if (target.uid === '') {
    const said = message`Which ${describeTarget(target)} is meant? A delete needs the UID of the incarnation.`;
    return { outcome: 'unsupported', message: said, attempts: [] };
  }
  return await reported(server, target, options, (context) => run(context, target, options));
}

async function run(context: WriteContext, target: DeleteTarget, options: DeleteOptions): Promise<PartReport> {
  let lost = false;
  for (let count = 1; ; count += 1) {
    const { answer, stored } = await attempt(context, target, options);
    const { outcome } = answer;
    if (outcome === 'written') return deleted(target, options, stored);
    if (outcome === 'cancelled') return endCancelled(context, target.uid, lost).report;
    if (lost && (outcome === 'gone' || outcome === 'uid-mismatch'))
      return goneAfterLost(target, options, answer.holder);
    if (outcome === 'uncertain') {
      lost = true;
      const settled = await settle(context, target, options);
      if (settled !== undefined) return settled;
    } else if (outcome === 'version-conflict') return changed(context, target, options);
    else if (outcome !== 'throttled' && outcome !== 'unavailable') return refused(context, target, answer);
    if (count >= context.maxAttempts) return atBound(target, outcome, lost, answer);
    const pause = Math.max(answer.retryAfterMs ?? 0, backoffMs(count, context.backoff, options.clock.random()));
    const paused = await context.session.pause(pause);
    if (paused === 'cancelled') return endCancelled(context, target.uid, lost).report;
    if (paused === 'over') return atBound(target, outcome, lost, answer);
  }
}

async function attempt(context: WriteContext, target: DeleteTarget, options: DeleteOptions): Promise<SentOnce> {
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
  const condition = token === undefined ? {} : { token, basedOn: token };
  return sendOnce(context, request, { verb: 'delete', uid: target.uid, paths: [], ...condition });
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
  return read.identity.terminating ? deleted(target, options, read.object) : undefined;
}

function deleted(target: DeleteTarget, { dryRun }: DeleteOptions, object: JsonObject | undefined): PartReport {
  const finalizers = object === undefined ? undefined : metadataOf(object)['finalizers'];
  const held = Array.isArray(finalizers) && finalizers.length > 0;
  const name = describeTarget(target);
  const finalizersText = held ? finalizers.filter((one) => typeof one === 'string').join(', ') : '';
  const would = held
    ? message`${name} would be deleted; it would go when its finalizers are released: ${finalizersText}.`
    : message`${name} would be deleted.`;
  const is = held
    ? message`${name} is being deleted; it goes when its finalizers are released: ${finalizersText}.`
    : message`${name} is deleted.`;
  const token = object === undefined ? undefined : identityOf(object).token;
  return {
    outcome: 'written',
    uid: target.uid,
    ...(held && token !== undefined ? { token } : {}),
    message: dryRun === true ? would : is,
  };
}

/** The incarnation is gone. Whoever did it, that is what was asked, unless it was asked of one version only. */
function goneAfterLost(target: DeleteTarget, options: DeleteOptions, holder: string | undefined): PartReport {
  const held = holder === undefined ? {} : { holder };
  if (options.token !== undefined)
    return { ...endUnknown(target.uid, undefined, message`It is gone, by this delete or by another.`).report, ...held };
  const said = message`${describeTarget(target)} is gone; as the answer was lost, by this delete or by another.`;
  return { outcome: 'written', uid: target.uid, message: said, ...held };
}

function refused(context: WriteContext, target: DeleteTarget, answer: Answer): PartReport {
  const { outcome } = answer;
  const name = describeTarget(target);
  if (outcome === 'uid-mismatch') {
    const said = message`${name} has another UID now: the incarnation that was meant is not there, and nothing was deleted.`;
    return { ...endRecreated(context, target.uid, answer.holder).report, message: said };
  }
  if (outcome === 'gone') return endGone(context, target.uid, false).report;
  return endWith(isFinal(outcome) ? outcome : 'unknown', target.uid, undefined, saying(answer)).report;
}

/** It is not at the version that was meant any more: what it is now, and what others changed, is for a person to look at. */
async function changed(context: WriteContext, target: DeleteTarget, options: DeleteOptions): Promise<PartReport> {
  const name = describeTarget(target);
  const said = message`${name} was changed since that version: look at it again. Nothing was deleted.`;
  const read = await readObject(context, undefined);
  if (read.kind === 'cancelled') return endCancelled(context, target.uid, false).report;
  if (read.kind === 'failed') {
    const { outcome } = read.answer;
    return outcome === 'gone'
      ? refused(context, target, read.answer)
      : endWith('needs-decision', target.uid, undefined, { message: said }).report;
  }
  if (read.identity.uid !== target.uid)
    return refused(context, target, { outcome: 'uid-mismatch', holder: read.identity.uid });
  const since = options.token === undefined ? undefined : await changedSince(context, options.token, read.object);
  const wonBy = since?.wonBy ?? [];
  if (wonBy.length > 0) context.attempts.amend(context.attempts.all.length, { wonBy });
  context.log.flush(wonBy);
  context.log.read(read.object, undefined);
  return endWith('needs-decision', target.uid, read.object, {
    message: said,
    ...(since === undefined ? {} : { conflicts: since.conflicts }),
  }).report;
}

function atBound(target: DeleteTarget, outcome: AttemptOutcome, lost: boolean, answer: Answer): PartReport {
  if (lost) return endUnknown(target.uid, undefined, 'It was still there when last looked at.').report;
  return endWith(outcome === 'throttled' ? 'throttled' : 'unavailable', target.uid, undefined, saying(answer)).report;
}
