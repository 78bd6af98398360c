import { isJsonObject, setOwn, type Json, type JsonObject } from '../codec/json.ts';
import { equalJson } from '../codec/json.ts';
import { hasKey, type Path, type PathStep } from './path.ts';

/**
 * A copy of `root` in which the value at `path` is `value`, or is removed where `value` is undefined. Maps, keyed items
 * and set items that are missing on the way are made; a position beyond the end appends. Nothing else changes, and nothing
 * of `root` is touched.
 */
export function setAt(root: Json | undefined, path: Path, value: Json | undefined): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (value === undefined && !hasChild(root, step)) return root;
  const next = setAt(childOf(root, step), rest, value);
  if ('field' in step || (isJsonObject(root) && 'index' in step)) {
    return withField(root, 'field' in step ? step.field : String(step.index), next);
  }
  return withItem(Array.isArray(root) ? root : [], step, next);
}

function childOf(value: Json | undefined, step: PathStep): Json | undefined {
  const at = positionOf(value, step);
  if (Array.isArray(value)) return value[at] ?? ('key' in step ? { ...step.key } : undefined);
  if ('field' in step) return isJsonObject(value) && Object.hasOwn(value, step.field) ? value[step.field] : undefined;
  if ('index' in step && isJsonObject(value)) return value[String(step.index)];
  return 'key' in step ? { ...step.key } : undefined;
}

function hasChild(value: Json | undefined, step: PathStep): boolean {
  if (Array.isArray(value)) return positionOf(value, step) < value.length;
  if (!isJsonObject(value)) return false;
  return 'field' in step
    ? Object.hasOwn(value, step.field)
    : 'index' in step && Object.hasOwn(value, String(step.index));
}

/** Where the step leads in a list; its length where to nothing. */
function positionOf(value: Json | undefined, step: PathStep): number {
  if (!Array.isArray(value) || 'field' in step) return Array.isArray(value) ? value.length : 0;
  if ('index' in step) return Math.min(step.index, value.length);
  const found = value.findIndex((item) => ('value' in step ? equalJson(item, step.value) : hasKey(item, step.key)));
  return found < 0 ? value.length : found;
}

function withField(root: Json | undefined, field: string, next: Json | undefined): JsonObject {
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(isJsonObject(root) ? root : {}))
    if (key !== field || next !== undefined) setOwn(copy, key, item);
  if (next !== undefined) setOwn(copy, field, next);
  return copy;
}

function withItem(root: readonly Json[], step: PathStep, next: Json | undefined): Json[] {
  const at = positionOf([...root], step);
  return next === undefined ? root.toSpliced(at, 1) : root.toSpliced(at, 1, next);
}
