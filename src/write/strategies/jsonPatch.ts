import { equalJson, isJsonObject, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import type { Draft, Drafted } from './strategy.ts';

interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: Json;
}

/**
 * A JSON Patch (RFC 6902) from the read to the desired object. It begins with `replace` of UID and token: a stale token is
 * then answered 409, as on PUT (a `test` of it would be answered with a 422 that names no cause). Whatever stands at a
 * position of a list is tested before it is touched.
 */
export function draftJsonPatch(draft: Draft): Drafted {
  const operations: Operation[] = [{ op: 'replace', path: '/metadata/uid', value: draft.uid }];
  if (draft.token !== undefined)
    operations.push({ op: 'replace', path: '/metadata/resourceVersion', value: draft.token });
  diffMap('', draft.current, draft.desired, operations);
  return {
    kind: 'request',
    method: 'PATCH',
    contentType: 'application/json-patch+json',
    body: stringifyJson(operations.map((operation): JsonObject => ({ ...operation }))),
    tests: operations.some(({ op }) => op === 'test'),
  };
}

function diffValue(path: string, before: Json, after: Json, out: Operation[]): void {
  if (equalJson(before, after)) return;
  if (isJsonObject(before) && isJsonObject(after)) diffMap(path, before, after, out);
  else if (Array.isArray(before) && Array.isArray(after)) diffList(path, before, after, out);
  else out.push({ op: 'replace', path, value: after });
}

function diffMap(path: string, before: JsonObject, after: JsonObject, out: Operation[]): void {
  for (const [key, was] of Object.entries(before)) {
    const at = `${path}/${escape(key)}`;
    const is = Object.hasOwn(after, key) ? after[key] : undefined;
    if (is === undefined) out.push({ op: 'remove', path: at });
    else diffValue(at, was, is, out);
  }
  for (const [key, is] of Object.entries(after)) {
    if (!Object.hasOwn(before, key)) out.push({ op: 'add', path: `${path}/${escape(key)}`, value: is });
  }
}

/** Longer lists are replaced as a whole: finding what they have in common would take too long. */
const longestCompared = 1000;

/** Keeps the longest run of common items; what lies between is tested, then changed in place, removed or added. */
function diffList(path: string, before: readonly Json[], after: readonly Json[], out: Operation[]): void {
  if (Math.max(before.length, after.length) > longestCompared) {
    out.push({ op: 'replace', path, value: [...after] });
    return;
  }
  const kept = commonItems(before, after);
  let [from, to, shift] = [0, 0, 0];
  for (const [keptBefore, keptAfter] of [...kept, [before.length, after.length] as const]) {
    const old = before.slice(from, keptBefore);
    const young = after.slice(to, keptAfter);
    for (const [index, item] of young.entries()) {
      const at = `${path}/${from + shift + index}`;
      const was = old[index];
      if (was === undefined) {
        out.push({ op: 'add', path: at, value: item });
        continue;
      }
      out.push({ op: 'test', path: at, value: was });
      diffValue(at, was, item, out);
    }
    for (let index = young.length; index < old.length; index += 1) {
      const at = `${path}/${from + shift + young.length}`;
      out.push({ op: 'test', path: at, value: old[index] ?? null }, { op: 'remove', path: at });
    }
    shift += young.length - old.length;
    [from, to] = [keptBefore + 1, keptAfter + 1];
  }
}

/** The longest common subsequence, as pairs of positions. */
function commonItems(before: readonly Json[], after: readonly Json[]): (readonly [number, number])[] {
  const lengths = Array.from({ length: before.length + 1 }, () => Array.from({ length: after.length + 1 }, () => 0));
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const length = equalJson(before[row], after[column])
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
      const line = lengths[row];
      if (line !== undefined) line[column] = length;
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let [row, column] = [0, 0]; row < before.length && column < after.length;) {
    if (equalJson(before[row], after[column])) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

function escape(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
