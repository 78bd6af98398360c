import { equalJson, isJsonObject, setOwn, type Json, type JsonObject } from '../codec/json.ts';
import { mergeList } from './mergeList.ts';
import type { Maybe, MergeContext } from './mergeTypes.ts';
import type { Path } from '../codec/path.ts';

/** Merges one value; undefined means that nothing is there. The rules are those of `merge3`. */
export function mergeValue(path: Path, base: Maybe, theirs: Maybe, yours: Maybe, context: MergeContext): Maybe {
  if (equalJson(theirs, yours) || equalJson(base, yours)) return theirs;
  if (equalJson(base, theirs)) return yours;
  const maps = asMaps(path, base, theirs, yours);
  if (maps !== undefined && !context.schema.isAtomicMapAt(path)) return mergeMaps(path, maps, theirs, yours, context);
  if (Array.isArray(theirs) && Array.isArray(yours) && (base === undefined || Array.isArray(base))) {
    return mergeList(path, base, theirs, yours, context);
  }
  context.out.add(
    path,
    theirs === undefined || yours === undefined
      ? 'removed-and-changed'
      : base === undefined
        ? 'both-added'
        : 'both-changed',
    base,
    theirs,
    yours,
  );
  return theirs;
}

interface Maps {
  readonly base: JsonObject;
  readonly theirs: JsonObject;
  readonly yours: JsonObject;
}

/**
 * The three sides as maps, where they can be merged by key: all that are there are maps. A side that removed the map counts
 * as empty only where the map holds nothing but plain values (labels, data): removing a structure or an item of a list is
 * one decision.
 */
function asMaps(path: Path, base: Maybe, theirs: Maybe, yours: Maybe): Maps | undefined {
  if (isJsonObject(theirs) && isJsonObject(yours)) {
    if (base === undefined || isJsonObject(base)) return { base: base ?? {}, theirs, yours };
    return undefined;
  }
  const last = path.at(-1);
  if (last === undefined || !('field' in last) || !isJsonObject(base) || !isFlat(base)) return undefined;
  if (theirs === undefined && isJsonObject(yours) && isFlat(yours)) return { base, theirs: {}, yours };
  if (yours === undefined && isJsonObject(theirs) && isFlat(theirs)) return { base, theirs, yours: {} };
  return undefined;
}

function isFlat(map: JsonObject): boolean {
  return Object.values(map).every((value) => typeof value !== 'object' || value === null);
}

function mergeMaps(path: Path, maps: Maps, theirs: Maybe, yours: Maybe, context: MergeContext): Maybe {
  const merged: JsonObject = {};
  for (const field of keysOf(maps)) {
    const value = mergeValue(
      [...path, { field }],
      own(maps.base, field),
      own(maps.theirs, field),
      own(maps.yours, field),
      context,
    );
    if (value !== undefined) setOwn(merged, field, value);
  }
  const removed = theirs === undefined || yours === undefined;
  return removed && Object.keys(merged).length === 0 ? undefined : merged;
}

/** Their order first, then what only yours has. */
function keysOf(maps: Maps): Iterable<string> {
  return new Set([...Object.keys(maps.theirs), ...Object.keys(maps.yours), ...Object.keys(maps.base)]);
}

function own(map: JsonObject, field: string): Json | undefined {
  return Object.hasOwn(map, field) ? map[field] : undefined;
}
