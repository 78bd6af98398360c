import type { Json, JsonObject } from '../../src/codec/json.ts';
import { cloneJson, equalJson, isJsonObject, setOwn } from '../../src/codec/json.ts';
import type { Change } from '../../src/core/diff.ts';
import type { Path, PathStep } from '../../src/codec/path.ts';
import { hasKey } from '../../src/codec/path.ts';

/** Makes the changes of a diff: what is removed is removed, what is added is set, appended where a list has no place for it. */
export function applyChanges(value: Json, changes: readonly Change[]): Json {
  let result = cloneJson(value);
  const removals = changes.filter(({ kind }) => kind === 'removed').toReversed();
  for (const change of [...removals, ...changes.filter(({ kind }) => kind !== 'removed')]) {
    result = put(result, change.path, change.kind === 'removed' ? undefined : change.after) ?? null;
  }
  return result;
}

function put(holder: Json | undefined, path: Path, value: Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(holder)) {
    const found = placeOf(holder, step);
    const place = found < 0 ? holder.length : found;
    const next = put(holder[place], rest, value);
    if (next === undefined) return holder.toSpliced(place, 1);
    return place >= holder.length ? [...holder, next] : holder.with(place, next);
  }
  if (!('field' in step) || !isJsonObject(holder)) throw new Error(`nothing at ${JSON.stringify(path)}`);
  const copy: JsonObject = { ...holder };
  const next = put(Object.hasOwn(copy, step.field) ? copy[step.field] : undefined, rest, value);
  if (next === undefined) delete copy[step.field];
  else setOwn(copy, step.field, next);
  return copy;
}

function placeOf(list: readonly Json[], step: PathStep): number {
  if ('index' in step) return step.index;
  return list.findIndex((item) =>
    'key' in step ? hasKey(item, step.key) : 'value' in step && equalJson(item, step.value),
  );
}
