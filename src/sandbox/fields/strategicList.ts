import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { bareError } from '../status.ts';
import { goMap } from './goMap.ts';

const DIRECTIVE = '$patch';

/** A list that a strategic merge patch merges: how two items merge, and the key that tells them apart ('' for scalars). */
export interface MergedList {
  readonly mergeItems: (current: JsonObject, patch: JsonObject) => JsonObject;
  readonly goName: string;
  readonly mergeKey: string;
}

/** Merges the items of a patch into a list: known ones in place, new ones too, deleted ones out; then orders them. */
export function mergeKeyed(list: MergedList, current: readonly Json[], patch: readonly Json[]): Json[] {
  if (current.length === 0 && patch.length === 0) return [];
  const { mergeKey } = list;
  const kinds = new Set([...current, ...patch].map(elementKind));
  if (kinds.size > 1) throw bareError(`list element types are not identical: ${goMap([[...current], [...patch]])}`);
  if (![...current, ...patch].some(isJsonObject)) return orderItems(unique([...current, ...patch]), patch, current, '');
  if (mergeKey === '') throw bareError(`cannot merge lists without merge key for ${list.goName}`);
  const { kept, additions, replaced } = obeyItems(current, patch, mergeKey);
  const merged = replaced ? additions : addItems(list, kept, additions);
  const sent = replaced ? [] : additions;
  return orderItems(merged, sent, kept, mergeKey);
}

function elementKind(item: Json): string {
  if (Array.isArray(item)) return 'list';
  return typeof item === 'bigint' ? 'number' : typeof item;
}

function unique(items: readonly Json[]): Json[] {
  return items.filter((item, index) => items.findIndex((other) => equalJson(other, item)) === index);
}

function obeyItems(
  current: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
): { kept: Json[]; additions: Json[]; replaced: boolean } {
  let kept = [...current];
  let replaced = false;
  const additions: Json[] = [];
  for (const item of patch) {
    const map = asMap(item);
    const directive = map[DIRECTIVE];
    if (directive === undefined) {
      additions.push(map);
    } else if (directive === 'delete') {
      const gone = map[mergeKey];
      if (gone === undefined) throw noMergeKey(map, mergeKey);
      kept = kept.filter((other) => !equalJson(keyOf(other, mergeKey), gone));
    } else if (directive === 'replace') {
      replaced = true;
    } else if (directive === 'merge') {
      throw bareError('merging lists cannot yet be specified in the patch');
    } else {
      throw bareError(`unknown patch type: ${goMap(directive)} in map: ${goMap(map)}`);
    }
  }
  return { kept, additions, replaced };
}

function addItems({ mergeItems, mergeKey }: MergedList, kept: readonly Json[], additions: readonly Json[]): Json[] {
  const merged = [...kept];
  for (const item of additions) {
    const map = asMap(item);
    const key = map[mergeKey];
    if (key === undefined) throw noMergeKey(map, mergeKey);
    const at = merged.findIndex((other) => equalJson(keyOf(other, mergeKey), key));
    const known = merged[at];
    if (known === undefined) merged.push(map);
    else merged[at] = mergeItems(asMap(known), map);
  }
  return merged;
}

function asMap(item: Json): JsonObject {
  if (isJsonObject(item)) return item;
  throw bareError(
    `expected a map, but received a ${typeof item === 'string' ? 'string' : typeof item === 'boolean' ? 'bool' : 'number'}`,
  );
}

function noMergeKey(map: JsonObject, mergeKey: string): Error {
  return bareError(`map: ${goMap(map)} does not contain declared merge key: ${mergeKey}`);
}

function keyOf(item: Json, mergeKey: string): Json | undefined {
  return mergeKey !== '' && isJsonObject(item) ? item[mergeKey] : item;
}

/**
 * Orders a merged list: items of the patch as `order` has them, the others as the list had them; where the two meet, an
 * item of the list comes before one of the patch only if both were in the list in that order. So new items come first.
 */
export function orderItems(
  merged: readonly Json[],
  order: readonly Json[],
  before: readonly Json[],
  mergeKey: string,
): Json[] {
  const positionIn = (list: readonly Json[], item: Json): number =>
    list.findIndex((other) => equalJson(keyOf(other, mergeKey), keyOf(item, mergeKey)));
  const sortBy = (list: readonly Json[], items: Json[]): Json[] =>
    items.sort((a, b) => positionIn(list, a) - positionIn(list, b));
  const sent = sortBy(
    order,
    merged.filter((item) => positionIn(order, item) >= 0),
  );
  const rest = sortBy(
    before,
    merged.filter((item) => positionIn(order, item) < 0),
  );
  const result: Json[] = [];
  while (sent.length > 0 || rest.length > 0) {
    const [left, right] = [rest[0], sent[0]];
    if (left === undefined && right === undefined) break;
    const takesLeft =
      right === undefined || (left !== undefined && comesBefore(positionIn(before, left), positionIn(before, right)));
    const next = takesLeft ? rest.shift() : sent.shift();
    if (next !== undefined) result.push(next);
  }
  return result;
}

function comesBefore(left: number, right: number): boolean {
  return left >= 0 && right >= 0 && left < right;
}
