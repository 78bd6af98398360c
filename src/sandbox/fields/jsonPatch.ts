import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, equalJson, isJsonObject, setOwn } from '../../codec/json.ts';
import { parseGoJson } from '../goJson.ts';
import { badRequest, failure, type StatusError } from '../status.ts';
import { strictProblems } from './strictFields.ts';

/** A patched document and what a strict reader objects to in the patch itself. */
export interface Patched {
  readonly value: Json;
  readonly warnings: readonly string[];
}

const MAX_OPERATIONS = 10_000;
const FIELDS = new Set(['op', 'path', 'from', 'value']);

/**
 * Applies a JSON Patch (RFC 6902) with the API server's ways: `replace` of a missing key adds it, `test` of an absent path
 * against null passes, negative indexes count from the end, `add` without a value adds null, and so does `copy` of what is
 * absent; whatever is before the first slash of a path is ignored.
 * @throws StatusError 400 for text that is no patch, 422 without a reason in words where an operation fails
 */
export function jsonPatch(document: JsonObject, patchText: string): Patched {
  const { operations, warnings } = readPatch(patchText);
  let result: Json = cloneJson(document);
  for (const operation of operations) result = applyOperation(result, operation);
  return { value: result, warnings };
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: Json;
}

function readPatch(text: string): { operations: Operation[]; warnings: string[] } {
  const patch = parseGoJson(text, (problem) => badRequest(`error decoding patch: ${problem}`));
  if (patch === null) return { operations: [], warnings: [] };
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goName(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  const operations = patch.map(readOperation);
  if (operations.length > MAX_OPERATIONS) {
    const limit = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`;
    throw failure(413, 'RequestEntityTooLarge', `Request entity too large: ${limit}`);
  }
  const duplicates = strictProblems(text, undefined);
  return { operations, warnings: [...unknownFields(patch), ...duplicates].map((warning) => `json patch ${warning}`) };
}

function unknownFields(patch: readonly Json[]): string[] {
  return patch.flatMap((item, index) =>
    isJsonObject(item)
      ? Object.keys(item)
          .filter((name) => !FIELDS.has(name))
          .map((name) => `unknown field "[${index}].${name}"`)
      : [],
  );
}

function readOperation(item: Json): Operation {
  if (item !== null && !isJsonObject(item)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goName(item)} into Go value of type handlers.jsonPatchOp`,
    );
  }
  const fields = item ?? {};
  const text = (name: 'op' | 'path' | 'from'): string => {
    const value = fields[name];
    if (value === undefined || value === null) return '';
    if (typeof value === 'string') return value;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goName(value)} into Go struct field jsonPatchOp.${name} of type string`,
    );
  };
  return { op: text('op'), path: text('path'), from: text('from'), value: fields['value'] ?? null };
}

function goName(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return typeof value === 'number' || typeof value === 'bigint' ? 'number' : 'object';
}

function refused(): StatusError {
  return failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

function applyOperation(document: Json, { op, path, from, value }: Operation): Json {
  switch (op) {
    case 'add':
      return change(document, path, (parent, key) => add(parent, key, cloneJson(value)));
    case 'replace':
      if (path === '' && typeof value === 'object' && value !== null) return cloneJson(value);
      return change(document, path, (parent, key) => replace(parent, key, cloneJson(value)));
    case 'remove':
      return change(document, path, remove);
    case 'test':
      if (!equalJson(lookUp(document, path) ?? null, value)) throw refused();
      return document;
    case 'copy': {
      if (from === '') throw refused();
      const copied = lookUp(document, from) ?? null;
      return change(document, path, (parent, key) => add(parent, key, cloneJson(copied)));
    }
    case 'move': {
      const moved = lookUp(document, from);
      if (moved === undefined) throw refused();
      const without = change(document, from, remove);
      return change(without, path, (parent, key) => add(parent, key, moved));
    }
    default:
      throw refused();
  }
}

type Parent = JsonObject | Json[];

/** Changes what a pointer leads to, in its parent; the whole document has none, so that all but replacing it is refused. */
function change(document: Json, pointer: string, act: (parent: Parent, key: string) => void): Json {
  const keys = keysOf(pointer);
  const last = keys.pop();
  let parent: Json | undefined = document;
  for (const key of keys) parent = childOf(parent, key);
  if (last === undefined || (!isJsonObject(parent) && !Array.isArray(parent))) throw refused();
  act(parent, last);
  return document;
}

function keysOf(pointer: string): string[] {
  const [, ...keys] = pointer.split('/');
  if (keys.length === 0) throw refused();
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function childOf(parent: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(parent)) {
    const index = indexOf(parent, key, parent.length - 1);
    return parent[index];
  }
  return isJsonObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** A position in a list: digits, negative from the end; refused outside 0…max. */
function indexOf(list: readonly Json[], key: string, max: number): number {
  if (!/^-?\d+$/.test(key)) throw refused();
  const given = Number(key);
  const index = given < 0 ? given + list.length + (max === list.length ? 1 : 0) : given;
  if (index < 0 || index > max) throw refused();
  return index;
}

function lookUp(document: Json, pointer: string): Json | undefined {
  if (pointer === '') return document;
  let value: Json | undefined = document;
  const keys = keysOf(pointer);
  for (const [position, key] of keys.entries()) {
    if (value === undefined || value === null || typeof value !== 'object') {
      if (position < keys.length) throw refused();
    }
    value = childOf(value, key);
  }
  return value;
}

function add(parent: Parent, key: string, value: Json): void {
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (key === '-') parent.push(value);
  else parent.splice(indexOf(parent, key, parent.length), 0, value);
}

function replace(parent: Parent, key: string, value: Json): void {
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else parent[indexOf(parent, key, parent.length - 1)] = value;
}

function remove(parent: Parent, key: string): void {
  if (Array.isArray(parent)) parent.splice(indexOf(parent, key, parent.length - 1), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw refused();
}
