import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { diffObjects } from '../core/diff.ts';
import type { ListSchema } from '../core/listSchema.ts';
import { withServerSet } from '../core/merge.ts';
import type { MergeConflict } from '../core/mergeTypes.ts';
import { formatPath, valueAt } from '../codec/path.ts';
import type { Conflict, StoredOtherwise } from './report.ts';
import { otherOwnersAt } from './winners.ts';

/** What one write asked for and what came of it. */
interface WriteResult {
  /** What was there before. */
  readonly before: JsonObject;
  readonly asked: JsonObject;
  readonly stored: JsonObject;
  readonly manager: string;
  readonly schema: ListSchema;
  /** Whether the endpoint has a status of its own, which this write did not ask for. */
  readonly besidesStatus: boolean;
  /** Whether values are secret and stay out of the report. */
  readonly secret: boolean;
}

/**
 * Where the server stored something else than was asked: defaults, webhooks, parts that the endpoint ignores, fields that
 * another manager keeps. As the write was conditional on the version it was computed from, nobody else's change is in it.
 */
export function storedOtherwise(result: WriteResult): StoredOtherwise[] {
  const stored = withServerSet(result.asked, result.stored);
  return diffObjects(result.asked, stored, result.schema).flatMap((change) => {
    const first = change.path[0];
    if (result.besidesStatus && first !== undefined && 'field' in first && first.field === 'status') return [];
    if (change.after === undefined && isEmpty(change.before)) return [];
    if (change.before === undefined && isEmpty(change.after)) return [];
    const was = valueAt(result.before, change.path);
    const keptBy =
      change.before === undefined ? otherOwnersAt(result.stored, change.path, result.manager, result.schema) : [];
    return [
      {
        path: formatPath(change.path),
        ...values(result.secret, { asked: change.before, stored: change.after, was }),
        ...(keptBy.length === 0 ? {} : { keptBy }),
      },
    ];
  });
}

/** Null, an empty map and an empty list: a server stores none of them as absent or the reverse, and nothing is lost. */
function isEmpty(value: Json | undefined): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** Merge conflicts as a report has them; a Secret's without values. */
export function reportConflicts(conflicts: readonly MergeConflict[], secret: boolean): Conflict[] {
  return conflicts.map(({ path, base, theirs, yours }) => ({
    path: formatPath(path),
    ...values(secret, { base, theirs, yours }),
  }));
}

function values<K extends string>(secret: boolean, given: Record<K, Json | undefined>): Partial<Record<K, Json>> {
  if (secret) return {};
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<
    Record<K, Json>
  >;
}
