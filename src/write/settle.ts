import { equalJson, isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { Change } from '../core/diff.ts';
import { valueAt } from '../codec/path.ts';
import type { WriteContext } from './context.ts';
import { collectionPath, identityOf, metadataOf } from './target.ts';

/** A write whose answer was lost. */
export interface Pending {
  /** The number of the attempt that sent it. */
  readonly attempt: number;
  /** The token that it was conditional on; undefined for an unconditional one. */
  readonly token: string | undefined;
  readonly base: JsonObject;
  readonly desired: JsonObject;
  /** The whole desire, where its status is written after this. */
  readonly whole: JsonObject | undefined;
  readonly changes: readonly Change[];
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string | undefined;
  /** Whether the API server itself answered that it failed, as a Status: then it is not on its way any more. A proxy cannot know. */
  readonly answered: boolean;
}

/** A version in which the effect of a lost write is looked for. */
interface Candidate {
  readonly object: JsonObject;
  /** Whether it is the version that came right after the one that the write was conditional on. */
  readonly isNext: boolean;
}

/**
 * What a version tells of a lost write.
 * `stored`: all that was asked is in it, and this manager may have written it. `same`: all that was asked is in it, but another
 * manager wrote it. `held`: all that was asked is in it, and who wrote it cannot be told. `not-stored`: it is what came next,
 * and it is not this write. `unclear`: it cannot be told.
 */
export type Evidence = 'stored' | 'same' | 'held' | 'not-stored' | 'unclear';

/** Looks for a lost write in a version, by content and by the entry of this manager. */
export function evidenceIn(candidate: Candidate, pending: Pending, manager: string): Evidence {
  const held = pending.changes.filter((change) => isHeld(candidate.object, change)).length;
  const ours = wroteIt(candidate.object, pending, manager);
  if (held === pending.changes.length) {
    if (candidate.isNext) return ours === false ? 'same' : 'stored';
    return ours === true ? 'stored' : 'held';
  }
  if (!candidate.isNext) return 'unclear';
  return held === 0 || ours === false ? 'not-stored' : 'unclear';
}

function isHeld(object: JsonObject, change: Change): boolean {
  const value = valueAt(object, change.path);
  return change.after === undefined ? value === undefined : value !== undefined && equalJson(value, change.after);
}

/**
 * Whether this manager's entry says that it wrote the version: its time moved. False where only other entries moved;
 * undefined where nothing tells (no managed fields, or two writes within one second).
 */
function wroteIt(object: JsonObject, pending: Pending, manager: string): boolean | undefined {
  const before = times(pending.base);
  const after = times(object);
  if (after.size === 0) return undefined;
  const own = identity({ manager, operation: pending.operation, subresource: pending.subresource ?? '' });
  if (after.get(own) !== before.get(own)) return after.has(own) ? true : undefined;
  const others = [...after].some(([entry, time]) => entry !== own && before.get(entry) !== time);
  return others ? false : undefined;
}

function times(object: JsonObject): Map<string, string> {
  const entries = metadataOf(object)['managedFields'];
  const found = new Map<string, string>();
  for (const entry of Array.isArray(entries) ? entries.filter(isJsonObject) : []) {
    const subresource = text(entry['subresource']);
    found.set(
      identity({ manager: text(entry['manager']), operation: text(entry['operation']), subresource }),
      text(entry['time']),
    );
  }
  return found;
}

function identity(entry: { manager: string; operation: string; subresource: string }): string {
  return `${entry.manager}\n${entry.operation}\n${entry.subresource}`;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/**
 * The version that came right after a token, by a watch from it; undefined where it cannot be had (no right to watch, too
 * old, nothing came within a second).
 */
export async function versionAfter(context: WriteContext, token: string, uid: string): Promise<JsonObject | undefined> {
  const { target, session } = context;
  const sent = await session.send({
    method: 'GET',
    path: collectionPath(target),
    query: {
      watch: 'true',
      resourceVersion: token,
      fieldSelector: `metadata.name=${target.name}`,
      timeoutSeconds: '1',
    },
    headers: { accept: 'application/json' },
  });
  if (sent.kind !== 'reply' || sent.reply.status !== 200) return undefined;
  for (const line of sent.reply.body.split('\n')) {
    if (line.trim() === '') continue;
    const event = parsedLine(line);
    const type = event?.['type'];
    const object = event?.['object'];
    if (type === 'BOOKMARK') continue;
    if (!isJsonObject(object) || (type !== 'ADDED' && type !== 'MODIFIED')) return undefined;
    return identityOf(object).uid === uid ? object : undefined;
  }
  return undefined;
}

function parsedLine(line: string): JsonObject | undefined {
  try {
    const event = parseJson(line);
    return isJsonObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
