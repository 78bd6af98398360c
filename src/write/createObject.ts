import { message } from '../base/message.ts';
import type { Server } from '../base/server.ts';
import { equalJson, isJsonObject, stringifyJson, type JsonObject } from '../codec/json.ts';
import { noListSchema } from '../core/listSchema.ts';
import { backoffMs } from './backoff.ts';
import type { WriteContext } from './context.ts';
import { endCancelled, endUnknown, endWith, isFinal, saying, type PartReport } from './endings.ts';
import type { ModifyOptions } from './options.ts';
import { readObject } from './readObject.ts';
import type { Report } from './report.ts';
import { reported } from './reported.ts';
import { sendOnce, type SentOnce } from './sendOnce.ts';
import { collectionPath, describeTarget, metadataOf, type Target } from './target.ts';
import { changedPaths } from './winners.ts';

/**
 * Creates an object: a new incarnation, whatever had its name before. `already-exists`: another holds the name, and it is
 * left as it is. `terminating`: the name, or the namespace, is still being deleted.
 *
 * A create by name whose answer was lost is settled by reading; by `generateName` it is never repeated and ends `unknown`,
 * because each one would make another object.
 */
export async function createObject(
  server: Server,
  target: Target,
  object: JsonObject,
  options: ModifyOptions,
): Promise<Report> {
  return await reported(server, target, options, (context) => run(context, object));
}

async function run(context: WriteContext, object: JsonObject): Promise<PartReport> {
  const isNamed = typeof metadataOf(object)['name'] === 'string';
  let lost = false;
  for (let count = 1; ; count += 1) {
    const { answer, stored } = await attempt(context, object);
    const { outcome } = answer;
    if (stored !== undefined) return endWith('written', undefined, stored, identityNote(stored)).report;
    if (outcome === 'cancelled') return endCancelled(context, undefined, lost).report;
    if (outcome === 'already-exists' && lost) return afterLost(context, object);
    if (outcome === 'uncertain') {
      if (!isNamed)
        return endUnknown(
          undefined,
          undefined,
          'A create by generateName is not repeated: it would make another object.',
        ).report;
      lost = true;
      const read = await readObject(context, undefined);
      if (read.kind === 'object') return afterLost(context, object);
    } else if (outcome !== 'throttled' && outcome !== 'unavailable') {
      return endWith(isFinal(outcome) ? outcome : 'unknown', undefined, undefined, saying(answer)).report;
    }
    const pause = Math.max(answer.retryAfterMs ?? 0, backoffMs(count, context.backoff, context.options.clock.random()));
    const paused = count >= context.maxAttempts ? 'over' : await context.session.pause(pause);
    if (paused === 'cancelled') return endCancelled(context, undefined, lost).report;
    if (paused === 'over') {
      if (lost) return endUnknown(undefined, undefined, 'It was not there when last looked at.').report;
      return endWith(outcome === 'throttled' ? 'throttled' : 'unavailable', undefined, undefined, saying(answer))
        .report;
    }
  }
}

async function attempt(context: WriteContext, object: JsonObject): Promise<SentOnce> {
  const { target, options } = context;
  const request = {
    method: 'POST',
    path: collectionPath(target),
    query: { fieldManager: context.manager, ...(options.dryRun === true ? { dryRun: 'All' } : {}) },
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: stringifyJson(object),
  } as const;
  return sendOnce(context, request, { verb: 'create', uid: '', paths: [] });
}

/**
 * Somebody's object has the name after a create whose answer was lost. If it holds all that was sent, and only this field
 * manager wrote it, then what was asked is there.
 */
async function afterLost(context: WriteContext, object: JsonObject): Promise<PartReport> {
  const read = await readObject(context, undefined);
  const name = describeTarget(context.target);
  if (read.kind !== 'object') return endUnknown(undefined, undefined, `${name} could not be read.`).report;
  const fields = metadataOf(read.object)['managedFields'];
  const oursAlone =
    !Array.isArray(fields) ||
    fields.every(
      (entry) => isJsonObject(entry) && entry['manager'] === context.manager && entry['operation'] === 'Update',
    );
  const same = holdsAll(read.object, object);
  if (same && oursAlone) return endWith('written', read.identity.uid, read.object).report;
  return endWith('already-exists', read.identity.uid, read.object, { message: message`Another ${name} has the name.` })
    .report;
}

/** Whether a stored object has everything that was sent; what the server added does not matter. */
function holdsAll(stored: JsonObject, sent: JsonObject): boolean {
  return changedPaths(sent, { ...sent, ...pick(stored, sent) }, noListSchema).length === 0;
}

function pick(stored: JsonObject, sent: JsonObject): JsonObject {
  const picked: JsonObject = {};
  for (const [key, value] of Object.entries(sent)) {
    const there = stored[key];
    if (there === undefined) picked[key] = null;
    else
      picked[key] =
        isJsonObject(value) && isJsonObject(there) ? pick(there, value) : equalJson(value, there) ? value : there;
  }
  return picked;
}

function identityNote(stored: JsonObject): Partial<Report> {
  const uid = metadataOf(stored)['uid'];
  return typeof uid === 'string' ? { uid } : {};
}
