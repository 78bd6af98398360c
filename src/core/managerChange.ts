import type { Json, JsonObject } from '../codec/json.ts';
import { equalJson, isJsonObject } from '../codec/json.ts';

/** Which parts of an object an entry of managed fields owns fields in. */
export interface OwnedParts {
  readonly spec: boolean;
  readonly status: boolean;
  readonly metadata: boolean;
}

/**
 * The entries that a writer left its mark on between two versions: new ones, ones with another time, ones that own fields
 * they did not own before. An entry that only lost fields lost them to somebody and is not a writer. The server sets the
 * time of the acting manager's entry only (structured-merge-diff, managed fields updater).
 */
export function changedEntries(before: readonly Json[] | undefined, after: readonly Json[] | undefined): JsonObject[] {
  const changes: JsonObject[] = [];
  if (before === after || before === undefined || after === undefined) return changes;
  for (const entry of after) {
    if (before.includes(entry) || !isJsonObject(entry) || typeof entry['manager'] !== 'string') continue;
    const old = before.find((other) => isSameEntry(other, entry));
    if (old === undefined || gained(old as JsonObject, entry)) changes.push(entry);
  }
  return changes;
}

/** The parts that an entry owns fields in. */
export function ownedParts(entry: JsonObject): OwnedParts {
  const { fieldsV1 } = entry;
  const names = isJsonObject(fieldsV1) ? Object.keys(fieldsV1) : [];
  return {
    metadata: names.includes('f:metadata'),
    status: names.includes('f:status'),
    spec: names.some((name) => name !== 'f:metadata' && name !== 'f:status' && name !== '.'),
  };
}

function isSameEntry(other: Json, entry: JsonObject): boolean {
  if (!isJsonObject(other)) return false;
  if (other['manager'] !== entry['manager'] || other['operation'] !== entry['operation']) return false;
  if ((other['subresource'] ?? '') !== (entry['subresource'] ?? '')) return false;
  return entry['operation'] === 'Apply' || other['apiVersion'] === entry['apiVersion'];
}

function gained(before: JsonObject, after: JsonObject): boolean {
  if (before['time'] !== after['time']) return true;
  return !equalJson(before['fieldsV1'], after['fieldsV1']) && !isWithin(after['fieldsV1'], before['fieldsV1']);
}

/** Whether every field of `small` is one of `large`. */
function isWithin(small: Json | undefined, large: Json | undefined): boolean {
  if (!isJsonObject(small)) return true;
  if (!isJsonObject(large)) return Object.keys(small).length === 0;
  return Object.keys(small).every((name) => Object.hasOwn(large, name) && isWithin(small[name], large[name]));
}

/**
 * The one manager that can have made a version out of the one directly before it, or undefined where none or several left a
 * mark. Of a newly created object it is the one manager that owns anything.
 */
export function unambiguousManager(
  before: readonly Json[] | undefined,
  after: readonly Json[] | undefined,
): string | undefined {
  const [only, ...others] = changedEntries(before, after);
  const manager = only?.['manager'];
  return others.length === 0 && typeof manager === 'string' && manager !== '' ? manager : undefined;
}
