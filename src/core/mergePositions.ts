import { stringifyCanonical, type Json } from '../codec/json.ts';

/** A stretch of the base that one side replaced. `from` up to but without `to`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly items: readonly Json[];
}

/**
 * Merges two changes of a list whose items have no declared identity, or undefined where positions do not tell what is meant.
 *
 * It is unambiguous when every item that both sides kept is there once only, and between any two stretches that were changed
 * by different sides there is at least one item that both kept: then both changes have a place of their own.
 */
export function mergePositions(
  base: readonly Json[],
  theirs: readonly Json[],
  yours: readonly Json[],
): Json[] | undefined {
  const theirEdits = editsOf(base, theirs);
  const yourEdits = editsOf(base, yours);
  if (theirEdits === undefined || yourEdits === undefined) return undefined;
  const edits = [
    ...theirEdits.map((edit) => ({ edit, side: 0 })),
    ...yourEdits.map((edit) => ({ edit, side: 1 })),
  ].sort((a, b) => a.edit.from - b.edit.from);
  const merged: Json[] = [];
  let at = 0;
  let last: { edit: Edit; side: number } | undefined;
  for (const next of edits) {
    if (last !== undefined && last.side !== next.side && next.edit.from <= last.edit.to) return undefined;
    merged.push(...base.slice(at, next.edit.from), ...next.edit.items);
    at = next.edit.to;
    last = next;
  }
  merged.push(...base.slice(at));
  return merged;
}

/** What a side did to the base, by items that are there once in both; undefined where an item is doubled or was moved. */
function editsOf(base: readonly Json[], side: readonly Json[]): Edit[] | undefined {
  const places = placesOf(base);
  const sidePlaces = placesOf(side);
  if (places === undefined || sidePlaces === undefined) return undefined;
  const edits: Edit[] = [];
  let [at, sideAt] = [0, 0];
  for (let index = 0; index <= base.length; index += 1) {
    const item = base[index];
    const place = item === undefined ? side.length : sidePlaces.get(stringifyCanonical(item));
    if (place === undefined) continue;
    if (place < sideAt) return undefined;
    if (index > at || place > sideAt) edits.push({ from: at, to: index, items: side.slice(sideAt, place) });
    [at, sideAt] = [index + 1, place + 1];
  }
  return edits;
}

function placesOf(list: readonly Json[]): Map<string, number> | undefined {
  const places = new Map<string, number>();
  for (const [index, item] of list.entries()) places.set(stringifyCanonical(item), index);
  return places.size === list.length ? places : undefined;
}
