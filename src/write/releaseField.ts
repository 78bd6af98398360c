import type { Server } from '../base/server.ts';
import { equalJson, isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { formatPath, type Path, type PathStep } from '../codec/path.ts';
import { backoffMs } from './backoff.ts';
import { classifyReply } from './classify.ts';
import { contextOf, type WriteContext } from './context.ts';
import { endCancelled, endRecreated, endUnknown, endWith, isFinal, saying, type PartReport } from './endings.ts';
import type { Answer } from './exchange.ts';
import { defaultFieldManager, type ModifyOptions } from './options.ts';
import { readObject } from './readObject.ts';
import type { Report } from './report.ts';
import { Session } from './session.ts';
import { objectOf } from './statusObject.ts';
import { metadataOf, targetPath, type Target } from './target.ts';
import { WriteLog } from './writeLog.ts';

/**
 * Gives up what a field manager claims of a field, and all beneath it, and keeps the value: only the manager's entries of
 * `managedFields` change, on the condition that the object still is that incarnation at the version that was read. Leaving
 * the field out of an apply would remove a value that nobody else owns. `unchanged`: the manager claims nothing there.
 * Source: Kubernetes documentation, Server-Side Apply, "Clearing managedFields" and "Transferring ownership".
 */
export async function releaseField(
  server: Server,
  target: Target & { readonly uid: string },
  path: Path,
  options: ModifyOptions,
): Promise<Report> {
  const session = new Session(server, options.clock, options.timeoutMs ?? 30_000, options.signal);
  const log = new WriteLog(target, options, options.fieldManager ?? defaultFieldManager);
  const context = contextOf(target, options, session, log);
  try {
    return { ...(await run(context, target.uid, path)), attempts: context.attempts.all };
  } finally {
    log.flush();
  }
}

async function run(context: WriteContext, uid: string, path: Path): Promise<PartReport> {
  let lost = false;
  for (let count = 1; ; count += 1) {
    const read = await readObject(context, undefined);
    if (read.kind === 'cancelled') return endCancelled(context, uid, lost).report;
    let answer: Answer;
    if (read.kind === 'failed') ({ answer } = read);
    else {
      context.log.read(read.object, undefined);
      if (read.identity.uid !== uid) return endRecreated(context, uid, read.identity.uid).report;
      const kept = without(read.object, context.manager, path);
      // Whoever gave the claim up, also a write of ours whose answer was lost: that is what was asked.
      if (kept === undefined) return endWith(lost ? 'written' : 'unchanged', uid, read.object).report;
      const sent = await attempt(context, uid, read.identity.token, kept, path);
      if (sent.stored !== undefined) return endWith('written', uid, sent.stored).report;
      ({ answer } = sent);
    }
    const { outcome } = answer;
    if (outcome === 'cancelled') return endCancelled(context, uid, lost).report;
    if (outcome === 'uid-mismatch') return endRecreated(context, uid, answer.holder).report;
    lost ||= outcome === 'uncertain';
    const again = ['version-conflict', 'uncertain', 'throttled', 'unavailable'].includes(outcome);
    if (!again) return endWith(isFinal(outcome) ? outcome : 'unknown', uid, undefined, saying(answer)).report;
    const pause = Math.max(answer.retryAfterMs ?? 0, backoffMs(count, context.backoff, context.options.clock.random()));
    const paused = count >= context.maxAttempts ? 'over' : await context.session.pause(pause);
    if (paused === 'cancelled') return endCancelled(context, uid, lost).report;
    if (paused !== 'over') continue;
    if (lost) return endUnknown(uid, undefined, 'The claim was there when last looked at.').report;
    if (outcome === 'version-conflict') return endWith('contended', uid, undefined, saying(answer)).report;
    return endWith(outcome === 'throttled' ? 'throttled' : 'unavailable', uid, undefined, saying(answer)).report;
  }
}

async function attempt(
  context: WriteContext,
  uid: string,
  token: string,
  managedFields: Json[],
  path: Path,
): Promise<{ answer: Answer; stored: JsonObject | undefined }> {
  const { target, options } = context;
  const replace = (field: string, value: Json): JsonObject => ({ op: 'replace', path: `/metadata/${field}`, value });
  const request = {
    method: 'PATCH',
    path: targetPath(target),
    query: { fieldManager: context.manager, ...(options.dryRun === true ? { dryRun: 'All' } : {}) },
    headers: { 'content-type': 'application/json-patch+json', accept: 'application/json' },
    body: stringifyJson([
      replace('uid', uid),
      replace('resourceVersion', token),
      replace('managedFields', managedFields),
    ]),
  } as const;
  const startedAt = options.clock.now();
  const sent = await context.session.send(request);
  const answer: Answer =
    sent.kind === 'reply'
      ? classifyReply(sent.reply, { verb: 'patch', resource: target.resource, terminating: false })
      : sent.kind === 'cancelled'
        ? { outcome: 'cancelled' }
        : { outcome: sent.kind === 'lost' ? 'uncertain' : 'unavailable', message: sent.message };
  const stored = sent.kind === 'reply' && answer.outcome === 'written' ? objectOf(sent.reply) : undefined;
  const { outcome, code, reason, message } = answer;
  const { attempt: number } = context.attempts.add({
    outcome,
    basedOn: token,
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  });
  const about = { verb: 'patch', patchType: 'json-patch', uid, token, basedOn: token, attempt: number } as const;
  const paths = [`.metadata.managedFields of ${formatPath(path)}`];
  context.log.wrote({ ...about, paths, request, startedAt }, outcome, answer, stored);
  return { answer, stored };
}

/** The managed fields without what a manager claims at a path; undefined where it claims nothing there. */
function without(object: JsonObject, manager: string, path: Path): Json[] | undefined {
  const entries = metadataOf(object)['managedFields'];
  if (!Array.isArray(entries)) return undefined;
  let found = false;
  const kept = entries.flatMap((entry): Json[] => {
    if (!isJsonObject(entry) || entry['manager'] !== manager || !isJsonObject(entry['fieldsV1'])) return [entry];
    const fields = withoutPath(entry['fieldsV1'], path);
    if (fields === undefined) return [entry];
    found = true;
    return Object.keys(fields).length === 0 ? [] : [{ ...entry, fieldsV1: fields }];
  });
  if (!found) return undefined;
  // The server takes an empty list for one that was left out; one empty entry says that nobody owns anything.
  return kept.length === 0 ? [{}] : kept;
}

/** A FieldsV1 value without a path and all beneath it; undefined where it does not have the path. */
function withoutPath(fields: JsonObject, path: Path): JsonObject | undefined {
  const [step, ...rest] = path;
  const name = step === undefined ? undefined : Object.keys(fields).find((key) => names(key, step));
  if (name === undefined) return undefined;
  const { [name]: below, ...others } = fields;
  if (rest.length === 0) return others;
  const less = isJsonObject(below) ? withoutPath(below, rest) : undefined;
  if (less === undefined) return undefined;
  return Object.keys(less).length === 0 ? others : { ...others, [name]: less };
}

/** Whether a name of FieldsV1 stands for a step: `f:NAME`, `k:{"name":"web"}`, `v:"value"`, `i:0`. */
function names(key: string, step: PathStep): boolean {
  const text = key.slice(2);
  if ('field' in step) return key === `f:${step.field}`;
  if ('index' in step) return key === `i:${step.index}`;
  if ('key' in step) return key.startsWith('k:') && equalJson(parseJson(text), step.key);
  return key.startsWith('v:') && equalJson(parseJson(text), step.value);
}
