import type { Server } from '../base/server.ts';
import { equalJson, isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { formatPath, type Path, type PathStep } from '../codec/path.ts';
import { backoffMs } from './backoff.ts';
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
import { readForEdit } from './readObject.ts';
import type { Report } from './report.ts';
import { reported } from './reported.ts';
import { sendOnce, type SentOnce } from './sendOnce.ts';
import { metadataOf, targetPath, type Identity, type Target } from './target.ts';
import { winnersBetween } from './winners.ts';

/**
 * Gives up what a field manager claims of a field, and all beneath it, and keeps the value: only the manager's entries of
 * `managedFields` change, on the condition that the object still is that incarnation at the version that was read. Leaving
 * the field out of an apply would remove a value that nobody else owns. `unchanged`: the manager claims nothing there.
 * Where an answer was lost and the claim is gone at the next look, it is `written`: whoever gave it up, nobody claims it.
 * Source: Kubernetes documentation, Server-Side Apply, "Clearing managedFields" and "Transferring ownership".
 */
export async function releaseField(
  server: Server,
  target: Target,
  path: Path,
  options: ModifyOptions,
): Promise<Report> {
  return await reported(server, target, options, (context) => run(context, path));
}

/** A version on which the release was refused. */
interface Refused {
  readonly object: JsonObject;
  readonly token: string;
  readonly attempt: number;
}

async function run(context: WriteContext, path: Path): Promise<PartReport> {
  let { uid } = context.target;
  let lost = false;
  let refused: Refused | undefined;
  for (let count = 1; ; count += 1) {
    const read = await readForEdit(context, undefined);
    if (read.kind === 'cancelled') return endCancelled(context, uid, lost).report;
    let answer: Answer;
    if (read.kind === 'failed') ({ answer } = read);
    else {
      const { object, identity } = read;
      if (refused !== undefined && identity.uid === uid) tellWinners(context, refused, object);
      context.log.read(object, undefined);
      uid ??= identity.uid;
      if (identity.uid !== uid) return endRecreated(context, uid, identity.uid).report;
      const kept = without(object, context.manager, path);
      if (kept === undefined) return endWith(lost ? 'written' : 'unchanged', uid, object).report;
      // A read of the version that was just refused: the server is behind, and the same is not sent again.
      if (refused?.token === identity.token) answer = { outcome: 'version-conflict' };
      else {
        const sent = await attempt(context, identity, kept, path);
        if (sent.stored !== undefined) return endWith('written', uid, sent.stored).report;
        ({ answer } = sent);
        if (answer.outcome === 'version-conflict') refused = { object, token: identity.token, attempt: sent.attempt };
      }
    }
    const { outcome } = answer;
    if (outcome === 'cancelled') return endCancelled(context, uid, lost).report;
    if (outcome === 'uid-mismatch') return endRecreated(context, uid, answer.holder).report;
    if (outcome === 'gone') return endGone(context, uid, lost).report;
    lost ||= outcome === 'uncertain';
    if (!isAskedAgain(outcome))
      return endWith(isFinal(outcome) ? outcome : 'unknown', uid, undefined, saying(answer)).report;
    const pause = Math.max(answer.retryAfterMs ?? 0, backoffMs(count, context.backoff, context.options.clock.random()));
    const paused = count >= context.maxAttempts ? 'over' : await context.session.pause(pause);
    if (paused === 'cancelled') return endCancelled(context, uid, lost).report;
    if (paused !== 'over') continue;
    if (lost) return endUnknown(uid, undefined, 'The claim was there when last looked at.').report;
    if (outcome === 'version-conflict') return endWith('contended', uid, undefined, saying(answer)).report;
    const ending = outcome === 'throttled' || outcome === 'timed-out' ? outcome : 'unavailable';
    return endWith(ending, uid, undefined, saying(answer)).report;
  }
}

function isAskedAgain(outcome: AttemptOutcome): boolean {
  return ['version-conflict', 'uncertain', 'throttled', 'unavailable', 'timed-out'].includes(outcome);
}

function tellWinners(context: WriteContext, refused: Refused, object: JsonObject): void {
  const wonBy = winnersBetween(refused.object, object, context.schema);
  if (wonBy.length > 0 && context.attempts.all[refused.attempt - 1]?.wonBy === undefined)
    context.attempts.amend(refused.attempt, { wonBy });
  context.log.flush(wonBy);
}

async function attempt(
  context: WriteContext,
  { uid, token }: Identity,
  managedFields: Json[],
  path: Path,
): Promise<SentOnce> {
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
  const paths = [`.metadata.managedFields of ${formatPath(path)}`];
  const about = { verb: 'patch', patchType: 'json-patch', uid, token, basedOn: token, paths } as const;
  return sendOnce(context, request, about);
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
