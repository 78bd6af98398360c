import type { Json, JsonObject } from '../codec/json.ts';
import { equalJson, isJsonObject } from '../codec/json.ts';

/** An entry of managed fields that a write made its own. */
export interface ManagerChange {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  /** Which parts of the object the entry owns fields in. */
  readonly parts: { readonly spec: boolean; readonly status: boolean; readonly metadata: boolean };
}

/**
 * The entries that a writer left its mark on between two versions: new ones, ones with another time, ones that own fields
 * they did not own before. An entry that only lost fields lost them to somebody and is not a writer. The server sets the
 * time of the acting manager's entry only (structured-merge-diff, managed fields updater).
 */
export function changedManagers(
  before: readonly Json[] | undefined,
  after: readonly Json[] | undefined,
): ManagerChange[] {
  if (before === after || before === undefined || after === undefined) return [];
  const changes: ManagerChange[] = [];
  for (const entry of after) {
    if (!isJsonObject(entry) || typeof entry['manager'] !== 'string') continue;
    const old = before.find((other) => isSameEntry(other, entry));
    if (old !== undefined && !gained(old as JsonObject, entry)) continue;
    changes.push(managerChange(entry));
  }
  return changes;
}

function managerChange(entry: JsonObject): ManagerChange {
  const { manager, operation, subresource, fieldsV1 } = entry;
  const names = isJsonObject(fieldsV1) ? Object.keys(fieldsV1) : [];
  return {
    manager: typeof manager === 'string' ? manager : '',
    operation: typeof operation === 'string' ? operation : '',
    ...(typeof subresource === 'string' && subresource !== '' ? { subresource } : {}),
    parts: {
      metadata: names.includes('f:metadata'),
      status: names.includes('f:status'),
      spec: names.some((name) => name !== 'f:metadata' && name !== 'f:status' && name !== '.'),
    },
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
  const writers = changedManagers(before, after);
  const [only] = writers;
  return writers.length === 1 && only !== undefined && only.manager !== '' ? only.manager : undefined;
}
