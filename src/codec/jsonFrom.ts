import { setOwn, type Json, type JsonObject } from './json.ts';
import { formatPath, type PathStep } from './path.ts';

/** What cannot be said in JSON, and where it stands. */
class NotJson extends Error {}

/** Deeper than any object of Kubernetes, and far from where recursion ends. */
const MAX_DEPTH = 1000;

/**
 * An object that a program made, as JSON: a copy, without the members that are undefined. What JSON would change without a
 * word (NaN to null, a function to nothing, a Date to text) is a problem, which says where it stands.
 */
export function jsonFrom(object: object): { object: JsonObject } | { problem: string } {
  try {
    return { object: members(object, []) };
  } catch (error) {
    if (error instanceof NotJson) return { problem: error.message };
    throw error;
  }
}

function members(object: object, path: readonly PathStep[]): JsonObject {
  const copy: JsonObject = {};
  for (const [field, item] of Object.entries(object) as [string, unknown][])
    if (item !== undefined) setOwn(copy, field, valueFrom(item, [...path, { field }]));
  return copy;
}

function valueFrom(value: unknown, path: readonly PathStep[]): Json {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new NotJson(`${formatPath(path)} is ${value}`);
  }
  if (typeof value !== 'object')
    throw new NotJson(`${formatPath(path)} is ${value === undefined ? 'undefined' : `a ${typeof value}`}`);
  if (value === null) return null;
  if (path.length > MAX_DEPTH) throw new NotJson('it is nested too deeply, or holds itself');
  if (Array.isArray(value)) return Array.from(value, (item, index) => valueFrom(item, [...path, { index }]));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (isPlain) return members(value, path);
  throw new NotJson(`${formatPath(path)} is a ${value.constructor.name}, and no plain object`);
}
