import { message, type Words } from '../base/message.ts';
import { cloneJson, equalJson, isJsonObject, setOwn, type Json, type JsonObject } from '../codec/json.ts';
import { formatPath, hasKey, type Path, type PathStep } from '../codec/path.ts';

/** The result of an edit at a path, or one sentence of why the path leads nowhere. */
type PathEdit = { readonly value: Json } | { readonly problem: Words };

/**
 * A copy of `root` with `value` at `path`; what is missing on the way is made. A keyed step that finds no item appends one
 * with those keys; a value step adds the value to the list; a position must exist or be the next one, `-` is the next one.
 */
export function setAt(root: Json, path: Path, value: Json): PathEdit {
  return edit(root, path, 0, cloneJson(value));
}

/** A copy of `root` without what is at `path`; the same where nothing is there. */
export function removeAt(root: Json, path: Path): PathEdit {
  return edit(root, path, 0, undefined);
}

/** Applies sets, then removals. */
export function editPaths(
  root: JsonObject,
  set: readonly (readonly [Path, Json])[],
  remove: readonly Path[],
): PathEdit {
  let value: Json = root;
  for (const [path, item] of set) {
    const edited = setAt(value, path, item);
    if ('problem' in edited) return edited;
    value = edited.value;
  }
  for (const path of remove) {
    const edited = removeAt(value, path);
    if ('problem' in edited) return edited;
    value = edited.value;
  }
  return { value };
}

function edit(parent: Json | undefined, path: Path, at: number, value: Json | undefined): PathEdit {
  const step = path[at];
  if (step === undefined)
    return value === undefined ? { problem: message`The whole object cannot be removed by a path.` } : { value };
  if (parent === undefined || parent === null) {
    if (value === undefined) return { value: null };
    return edit(emptyFor(step), path, at, value);
  }
  if (Array.isArray(parent)) return editList(parent, step, path, at, value);
  const field = fieldOf(step);
  if (!isJsonObject(parent) || field === undefined) {
    const what = isJsonObject(parent) ? message`a map, not a list` : message`a single value`;
    return {
      problem: message`${formatPath(path)} leads nowhere: ${formatPath(path.slice(0, at)) || message`the object`} is ${what}.`,
    };
  }
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(parent))
    if (key !== field || value !== undefined || at < path.length - 1) setOwn(copy, key, item);
  const here = Object.hasOwn(parent, field) ? parent[field] : undefined;
  if (value === undefined && (at === path.length - 1 || here === undefined)) return { value: copy };
  const below = edit(here, path, at + 1, value);
  if ('problem' in below) return below;
  setOwn(copy, field, below.value);
  return { value: copy };
}

function editList(list: Json[], step: PathStep, path: Path, at: number, value: Json | undefined): PathEdit {
  const place = placeOf(list, step);
  if (place === undefined || place > list.length) {
    return value === undefined
      ? { value: list }
      : { problem: message`${formatPath(path)} leads nowhere: the list ends at ${list.length}.` };
  }
  const last = at === path.length - 1;
  if (value === undefined) {
    if (place === list.length) return { value: list };
    if (last) return { value: list.toSpliced(place, 1) };
  }
  const here = list[place] ?? ('key' in step && !last ? step.key : undefined);
  const below = edit(here, path, at + 1, value);
  if ('problem' in below) return below;
  const item = last && 'key' in step && isJsonObject(below.value) ? { ...step.key, ...below.value } : below.value;
  return { value: list.toSpliced(place, place === list.length ? 0 : 1, item) };
}

/** Where a step leads in a list; the list's length for what is to be appended; undefined for no place at all. */
function placeOf(list: readonly Json[], step: PathStep): number | undefined {
  if ('index' in step) return step.index;
  if ('field' in step) return step.field === '-' ? list.length : undefined;
  const found = list.findIndex((item) => ('value' in step ? equalJson(item, step.value) : hasKey(item, step.key)));
  return found < 0 ? list.length : found;
}

function fieldOf(step: PathStep): string | undefined {
  if ('field' in step) return step.field;
  return 'index' in step ? String(step.index) : undefined;
}

function emptyFor(step: PathStep): Json {
  return 'field' in step && step.field !== '-' ? {} : [];
}
