import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject, parseJson, setOwn, stringifyJson } from '../../codec/json.ts';
import { isAppError } from '../../base/appError.ts';
import type { Kind } from '../kinds/kind.ts';
import { secondsText } from '../schema/goTime.ts';
import { DecodeError } from '../schema/normalize.ts';
import { bareError } from '../status.ts';
import { checkTypes } from './applyChecks.ts';
import { compareObjects, fieldSetOf, type Comparison } from './compare.ts';
import { completeApplied } from './complete.ts';
import { conflictError, listConflicts, type FieldConflict } from './conflict.ts';
import { FieldSet } from './fieldSet.ts';
import {
  managedFieldsOf,
  managerId,
  managerKey,
  readManagedFields,
  withManagedFields,
  type ManagedFields,
} from './managedFields.ts';
import { mergeApplied, removeFields } from './mergeApplied.ts';
import {
  changesByVersion,
  compareWrite,
  conflictsWith,
  emptyObject,
  ownable,
  reconcile,
  resetSet,
  takeFields,
} from './ownership.ts';
import { apiVersionOf, recordUpdate } from './track.ts';
import { plainText } from '../schema/plainText.ts';

/** A server-side apply of a configuration to an object that may not exist yet. */
export interface AppliedWrite {
  readonly kind: Kind;
  /** The stored object in this kind's version; undefined where the name is free. */
  readonly live: JsonObject | undefined;
  /** What the manager wants, and nothing else. */
  readonly config: JsonObject;
  readonly manager: string;
  /** '' on the object itself. */
  readonly subresource: string;
  /** Take fields that others own. */
  readonly force: boolean;
  readonly nowMs: number;
  /** The version in which conflicts name updaters, where it is not their own: an applied Scale sees all as its own. */
  readonly seenAs?: string;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const KUBECTL = 'kubectl';

/**
 * Server-side apply: lays the configuration over the object, removes what this manager applied before and no longer
 * sends (unless somebody else owns it), refuses where that would change what others own, and records that the manager
 * now owns exactly what it sent.
 * Source: the Server-Side Apply page of the Kubernetes documentation and KEP-555.
 * @returns the merged object, completed by defaults, with its managedFields
 * @throws StatusError 409 with every conflicting field; 400 and 500 for configurations that cannot be applied
 */
export function applyFields(write: AppliedWrite): JsonObject {
  const { kind, config } = write;
  checkTypes(kind, config);
  const base = startingPoint(write);
  const outcome = tryApply(write, base, write.force);
  if ('object' in outcome) return syncLastApplied(write, outcome.object);
  const conflicts =
    write.manager === KUBECTL ? withoutClientSideApplied(write, base.live, outcome.conflicts) : outcome.conflicts;
  if (conflicts.length > 0) throw conflictError(conflicts, write.seenAs);
  const forced = tryApply(write, base, true);
  if ('object' in forced) return syncLastApplied(write, forced.object);
  throw conflictError(forced.conflicts, write.seenAs);
}

interface StartingPoint {
  readonly live: JsonObject;
  readonly entries: ManagedFields;
}

/**
 * What an apply starts from: the object without managedFields, and its entries. An object that nobody tracked gets an
 * entry for all that it holds, so that the first apply cannot take it silently.
 */
function startingPoint({ kind, live, subresource, nowMs }: AppliedWrite): StartingPoint {
  const empty = emptyObject(kind, apiVersionOf(kind), kind.kind);
  if (live === undefined) return { live: empty, entries: new Map() };
  const entries = readManagedFields(managedFieldsOf(live)) ?? new Map();
  const bare = withManagedFields(live, undefined);
  if (entries.size > 0) return { live: bare, entries: reconcile(entries, kind) };
  return {
    live: bare,
    entries: recordUpdate(kind, entries, empty, bare, { manager: BEFORE_FIRST_APPLY, subresource, nowMs }),
  };
}

function tryApply(
  write: AppliedWrite,
  { live, entries }: StartingPoint,
  force: boolean,
): { object: JsonObject } | { conflicts: FieldConflict[] } {
  const { kind, config } = write;
  const apiVersion = apiVersionOf(kind);
  const id = managerId(write.manager, 'Apply', apiVersion, write.subresource);
  const key = managerKey(id);
  const reset = resetSet(kind.resetPaths(write.subresource));
  const sent = fieldSetOf(kind.schema, config).without(reset);
  const previous = entries.get(key);
  const merged = asObject(mergeApplied(kind.schema, live, config));
  const withSent: ManagedFields = new Map(entries).set(key, { id, apiVersion, set: sent, time: previous?.time });
  const next = prune(kind, merged, withSent, previous?.set);

  const change: Comparison = compareWrite(kind.schema, live, next, reset);
  const changes = changesByVersion(kind, live, next, change, reset);
  const conflicts = conflictsWith(withSent, key, changes);
  if (!force && conflicts.size > 0) return { conflicts: listConflicts(withSent, conflicts) };
  const after = takeFields(withSent, key, changes, conflicts);

  const owned = ownable(sent);
  const time = equalJson(live, next) ? previous?.time : secondsText(write.nowMs);
  if (owned.isEmpty) after.delete(key);
  else after.set(key, { id, apiVersion, set: owned, time });
  return { object: withManagedFields(complete(kind, next, config), after) };
}

/**
 * Removes what the manager applied last time and does not send now, unless another entry owns it. Fields go together
 * with the structs that become empty by it; what was never the manager's comes back.
 */
function prune(kind: Kind, merged: JsonObject, entries: ManagedFields, last: FieldSet | undefined): JsonObject {
  if (last === undefined || last.isEmpty) return merged;
  const { schema } = kind;
  const named = (set: FieldSet): FieldSet => set.withNamedFields(schema);
  const placesOf = (object: JsonObject): FieldSet => named(fieldSetOf(schema, object));
  const remove = (places: FieldSet): JsonObject => asObject(removeFields(schema, merged, places));
  let owned = new FieldSet();
  for (const entry of entries.values()) owned = owned.union(entry.set);

  const without = remove(named(last));
  const withOwned = remove(placesOf(merged).difference(placesOf(without).union(named(owned))));
  return remove(placesOf(merged).difference(placesOf(withOwned)).intersection(named(last)));
}

function complete(kind: Kind, merged: JsonObject, config: JsonObject): JsonObject {
  try {
    return completeApplied(kind, merged);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const metadata = isJsonObject(config['metadata']) ? config['metadata'] : {};
    const gvk = `${apiVersionOf(kind)}, Kind=${kind.kind}`;
    const shown = kind.group === '' ? `/${gvk}` : gvk;
    const place = `${plainText(metadata['namespace'] ?? '')}/${plainText(metadata['name'] ?? '')}; ${shown}`;
    throw bareError(
      `failed to convert new object (${place}) to proper version: unable to convert unstructured object to ${shown}: ${error.message}`,
    );
  }
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/**
 * An object that kubectl managed on the client side says in an annotation what was applied. The field manager `kubectl`
 * may take fields that still are as that annotation says: they are its own from before.
 */
function withoutClientSideApplied(
  { kind }: AppliedWrite,
  live: JsonObject,
  conflicts: FieldConflict[],
): FieldConflict[] {
  const applied = lastAppliedOf(live);
  if (applied === undefined || applied['apiVersion'] !== apiVersionOf(kind)) return conflicts;
  const { added, modified, removed } = compareObjects(kind.schema, applied, live);
  const unchanged = fieldSetOf(kind.schema, applied).difference(modified).difference(added).difference(removed);
  return conflicts.filter(({ path }) => !unchanged.has(path));
}

function annotationOf(object: JsonObject): string {
  const annotations = asObject(asObject(object['metadata'])['annotations']);
  return plainText(annotations[LAST_APPLIED] ?? '');
}

function lastAppliedOf(object: JsonObject): JsonObject | undefined {
  const text = annotationOf(object);
  if (text === '') return undefined;
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (isAppError(error, 'invalid-json')) return undefined;
    throw error;
  }
}

/** Keeps kubectl's annotation true after an apply by `kubectl`, so that both ways of applying may be mixed. */
function syncLastApplied(write: AppliedWrite, object: JsonObject): JsonObject {
  if (write.manager !== KUBECTL || annotationOf(object) === '') return object;
  const metadata = asObject(write.config['metadata']);
  const annotations = { ...asObject(metadata['annotations']) };
  delete annotations[LAST_APPLIED];
  const { annotations: _, ...rest } = metadata;
  const kept = Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
  const text = `${stringifyJson({ ...write.config, metadata: kept })}\n`;
  const target = asObject(asObject(object['metadata'])['annotations']);
  setOwn(target, LAST_APPLIED, text);
  return object;
}
