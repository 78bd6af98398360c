import type { JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { secondsText } from '../schema/goTime.ts';
import { typingProblem } from './checkTypes.ts';
import { FieldSet } from './fieldSet.ts';
import {
  compareText,
  managedFieldsOf,
  managerId,
  managerKey,
  readManagedFields,
  withManagedFields,
  type Managed,
  type ManagedFields,
} from './managedFields.ts';
import {
  changesByVersion,
  compareWrite,
  conflictsWith,
  emptyObject,
  ownable,
  reconcile,
  resetSet,
  servedEntries,
  takeFields,
  UntypableVersion,
} from './ownership.ts';

/** A write that is not an apply: a POST, a PUT or one of the other patches. */
export interface TrackedWrite {
  readonly kind: Kind;
  /** The stored object in this kind's version; undefined for a create. */
  readonly live: JsonObject | undefined;
  /** The object as the client wants it, decoded and defaulted, before the endpoint resets or adds anything. */
  readonly next: JsonObject;
  readonly manager: string;
  /** '' on the object itself. */
  readonly subresource: string;
  readonly nowMs: number;
}

const MAX_UPDATE_ENTRIES = 10;
const ANCIENT = 'ancient-changes';

/**
 * Records in `managedFields` what an update changed: the changed and added fields move to the updater's entry, removed
 * ones leave every entry, all else stays with whom it was. An update never conflicts; it takes.
 * An object whose managedFields somebody cleared is not tracked until it is applied. Where the object cannot be typed by
 * the schema (a custom resource through /status, whose spec is not validated there), the server forgets all entries.
 * @returns `next` with its managedFields
 */
export function trackUpdate(write: TrackedWrite): JsonObject {
  const { kind, live } = write;
  const apiVersion = apiVersionOf(kind);
  const entries = entriesToStartFrom(write);
  const next = withManagedFields(write.next, undefined);
  if (entries.size === 0 && live !== undefined) return next;
  const before = live === undefined ? emptyObject(kind, apiVersion, kind.kind) : withManagedFields(live, undefined);
  if ([before, next].some((object) => typingProblem(kind.schema, object, 'allow-duplicates') !== undefined))
    return next;
  try {
    return withManagedFields(
      next,
      capUpdateEntries(recordUpdate(kind, servedEntries(entries, kind, [before, next]), before, next, write)),
    );
  } catch (error) {
    if (error instanceof UntypableVersion) return next;
    throw error;
  }
}

/** The apiVersion of a kind: `v1`, `apps/v1`. */
export function apiVersionOf(kind: { readonly group: string; readonly version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/**
 * A client may clear managedFields, or replace them by a well-formed list. What it leaves out or garbles is kept as
 * stored, so that clients which know nothing of managedFields do no harm. A subresource never changes them this way.
 */
function entriesToStartFrom({ live, next, subresource }: TrackedWrite): ManagedFields {
  const stored = readManagedFields(managedFieldsOf(live)) ?? new Map();
  if (subresource !== '') return stored;
  const sent = managedFieldsOf(next);
  // A completed object holds [] for a reset in either form.
  if (Array.isArray(sent) && sent.length === 0) return new Map();
  const read = readManagedFields(sent);
  return read === undefined || read.size === 0 ? stored : read;
}

/** The bookkeeping of one update, shared with the entry that apply makes for what was there before the first apply. */
export function recordUpdate(
  kind: Kind,
  entries: ManagedFields,
  before: JsonObject,
  after: JsonObject,
  write: { readonly manager: string; readonly subresource: string; readonly nowMs: number },
): ManagedFields {
  const apiVersion = apiVersionOf(kind);
  const id = managerId(write.manager, 'Update', apiVersion, write.subresource);
  const key = managerKey(id);
  const reset = resetSet(kind.resetPaths(write.subresource));
  const change = compareWrite(kind.schema, before, after, reset);
  const current = reconcile(entries, kind);
  const changes = changesByVersion(kind, before, after, change, reset);
  const changed = change.modified.union(change.added);
  const written = ownable(changed);
  const conflicts = conflictsWith(current, key, changes);
  // What the writer changed again stays in its set; what nobody may own leaves it.
  const own = current.get(key);
  if (own !== undefined) conflicts.set(key, own.set.intersection(changed.difference(written)));
  const left = takeFields(current, '', changes, conflicts);
  if (written.isEmpty) return left;
  const previous = left.get(key)?.set ?? new FieldSet();
  const entry: Managed = { id, apiVersion, set: previous.union(written), time: secondsText(write.nowMs) };
  return left.set(key, entry);
}

/** At most ten updaters are told apart; beyond, the oldest are merged into one entry for each API version. */
function capUpdateEntries(entries: ManagedFields): ManagedFields {
  if (entries.size <= MAX_UPDATE_ENTRIES) return entries;
  const updaters = [...entries].filter(([, entry]) => entry.id.operation === 'Update');
  if (updaters.length <= MAX_UPDATE_ENTRIES) return entries;
  updaters.sort(([aKey, a], [bKey, b]) => compareText(a.time ?? '', b.time ?? '') || compareText(aKey, bKey));
  const result = new Map(entries);
  const firstOfVersion = new Map<string, string>();
  let count = updaters.length;
  for (const [key, entry] of updaters) {
    if (count <= MAX_UPDATE_ENTRIES) break;
    const first = firstOfVersion.get(entry.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(entry.apiVersion, key);
      continue;
    }
    const id = managerId(ANCIENT, 'Update', entry.apiVersion, '');
    const bucket = managerKey(id);
    const base = result.get(bucket) ?? result.get(first);
    if (bucket !== first) result.delete(first);
    result.delete(key);
    result.set(bucket, {
      id,
      apiVersion: entry.apiVersion,
      set: entry.set.union(base?.set ?? new FieldSet()),
      time: entry.time,
    });
    count -= 1;
  }
  return result;
}

/**
 * Puts the stored times back where a write changed nothing but times in managedFields, so that it is a no-op.
 * `next` is changed in place.
 */
export function settleTimes(next: JsonObject, live: JsonObject): void {
  const [mine, stored] = [managedFieldsOf(next), managedFieldsOf(live)];
  if (!Array.isArray(mine) || !Array.isArray(stored) || mine.length !== stored.length) return;
  if (!mine.every((entry, index) => equalJson(withoutTime(entry), withoutTime(stored[index] ?? null)))) return;
  if (!equalJson(withManagedFields(next, undefined), withManagedFields(live, undefined))) return;
  if (isJsonObject(next['metadata'])) next['metadata']['managedFields'] = stored;
}

function withoutTime(entry: JsonObject[string]): JsonObject[string] {
  if (!isJsonObject(entry)) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}
