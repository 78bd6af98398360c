import type { Json, JsonObject } from '../codec/json.ts';
import { equalJson, isJsonObject, stringifyJson } from '../codec/json.ts';
import type { ListSchema, ListType } from './listSchema.ts';
import { noListSchema } from './listSchema.ts';
import type { Path, PathStep } from '../codec/path.ts';

/** One difference between two values, at the topmost path where they differ as a whole. */
export interface Change {
  readonly path: Path;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Absent for what was added. */
  readonly before?: Json;
  /** Absent for what was removed. */
  readonly after?: Json;
}

/**
 * What changed from `before` to `after`, in the order of `before`, then of `after`. Maps are compared by key. Lists are
 * compared as the schema declares them: keyed lists by their keys (declared defaults filled in), sets by value, atomic
 * lists as one. A list of which nothing is declared is compared position by position where only items were changed in
 * place, or some were appended or cut off at the end; otherwise it counts as one value, because positions have no identity.
 * A keyed list or set whose common items changed their order is reported as a whole.
 * An absent member, null and an empty map are three different things; 1 and 1.0 are one.
 */
export function diffObjects(before: Json | undefined, after: Json | undefined, schema: ListSchema): Change[] {
  const changes: Change[] = [];
  diffValue(undefined, before, after, schema, changes);
  return changes;
}

/** A path on the way down, from its last step up: only differences pay for a whole one. */
interface Trail {
  readonly up: Trail | undefined;
  readonly step: PathStep;
}

function pathOf(trail: Trail | undefined): Path {
  const path: PathStep[] = [];
  for (let at = trail; at !== undefined; at = at.up) path.push(at.step);
  return path.reverse();
}

function diffValue(
  trail: Trail | undefined,
  before: Json | undefined,
  after: Json | undefined,
  schema: ListSchema,
  out: Change[],
): void {
  if (before === after || (before === undefined && after === undefined)) return;
  if (before === undefined) out.push({ path: pathOf(trail), kind: 'added', after: after ?? null });
  else if (after === undefined) out.push({ path: pathOf(trail), kind: 'removed', before });
  else if (isJsonObject(before) && isJsonObject(after)) diffMap(trail, before, after, schema, out);
  else if (Array.isArray(before) && Array.isArray(after)) diffList(trail, before, after, schema, out);
  else if (!equalJson(before, after)) out.push({ path: pathOf(trail), kind: 'changed', before, after });
}

function diffMap(
  trail: Trail | undefined,
  before: JsonObject,
  after: JsonObject,
  schema: ListSchema,
  out: Change[],
): void {
  if (schema !== noListSchema && schema.isAtomicMapAt(pathOf(trail))) {
    if (!equalJson(before, after)) out.push({ path: pathOf(trail), kind: 'changed', before, after });
    return;
  }
  for (const field of Object.keys(before)) {
    const next = Object.hasOwn(after, field) ? after[field] : undefined;
    const old = before[field];
    if (old === next || (typeof old !== 'object' && equalJson(old, next))) continue;
    diffValue({ up: trail, step: { field } }, old, next, schema, out);
  }
  for (const field of Object.keys(after)) {
    if (!Object.hasOwn(before, field)) diffValue({ up: trail, step: { field } }, undefined, after[field], schema, out);
  }
}

function diffList(trail: Trail | undefined, before: Json[], after: Json[], schema: ListSchema, out: Change[]): void {
  const type = schema === noListSchema ? undefined : schema.listTypeAt(pathOf(trail));
  if (type === undefined) diffPositions(trail, before, after, schema, out);
  else if (!equalJson(before, after) && !diffIdentified(trail, type, before, after, schema, out)) {
    out.push({ path: pathOf(trail), kind: 'changed', before, after });
  }
}

/** Whether a list with declared identities could be compared item by item. */
function diffIdentified(
  trail: Trail | undefined,
  type: ListType,
  before: Json[],
  after: Json[],
  schema: ListSchema,
  out: Change[],
): boolean {
  const old = identifyItems(before, type);
  const young = identifyItems(after, type);
  if (old === undefined || young === undefined) return false;
  const inOldOrder = [...old.keys()].filter((id) => young.has(id));
  const inNewOrder = [...young.keys()].filter((id) => old.has(id));
  if (inOldOrder.some((id, index) => id !== inNewOrder[index])) return false;
  for (const [id, { step, item }] of old) diffValue({ up: trail, step }, item, young.get(id)?.item, schema, out);
  for (const [id, { step, item }] of young)
    if (!old.has(id)) diffValue({ up: trail, step }, undefined, item, schema, out);
  return true;
}

/** An item of a list and the step that leads to it. */
export interface Identified {
  readonly step: PathStep;
  readonly item: Json;
}

/**
 * The items of a list by their identity: the step that leads to each. Undefined where identities are not to be had: an
 * atomic list, an item without its key fields, two items with one identity.
 */
export function identifyItems(list: readonly Json[], type: ListType): ReadonlyMap<string, Identified> | undefined {
  if (type.type === 'atomic') return undefined;
  const items = new Map<string, Identified>();
  for (const item of list) {
    const step = type.type === 'set' ? { value: item } : keyStep(item, type.keys, type.defaults);
    if (step === undefined) return undefined;
    const id = stringifyJson('value' in step ? step.value : step.key);
    if (items.has(id)) return undefined;
    items.set(id, { step, item });
  }
  return items;
}

/** The key step of an item of a keyed list: key fields in the order of `keys`, defaults filled in; undefined without any. */
export function keyStep(
  item: Json,
  keys: readonly string[],
  defaults: Readonly<Record<string, string | number>> | undefined,
): { readonly key: JsonObject } | undefined {
  if (!isJsonObject(item)) return undefined;
  const key: JsonObject = {};
  let own = 0;
  for (const name of keys) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (value !== undefined) own += 1;
    const given = value ?? defaults?.[name];
    if (given !== undefined) key[name] = given;
  }
  return own === 0 ? undefined : { key };
}

function diffPositions(
  trail: Trail | undefined,
  before: Json[],
  after: Json[],
  schema: ListSchema,
  out: Change[],
): void {
  const common = Math.min(before.length, after.length);
  if (before.length !== after.length) {
    for (let index = 0; index < common; index += 1) {
      if (equalJson(before[index], after[index])) continue;
      out.push({ path: pathOf(trail), kind: 'changed', before, after });
      return;
    }
  }
  for (let index = 0; index < common; index += 1)
    diffValue({ up: trail, step: { index } }, before[index], after[index], schema, out);
  for (let index = common; index < before.length; index += 1)
    diffValue({ up: trail, step: { index } }, before[index], undefined, schema, out);
  for (let index = common; index < after.length; index += 1)
    diffValue({ up: trail, step: { index } }, undefined, after[index], schema, out);
}
