import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, equalJson, isJsonObject, setOwn } from '../../codec/json.ts';
import { parseGoJson } from '../goJson.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Field, Schema } from '../schema/schema.ts';
import { badRequest, bareError } from '../status.ts';
import { goMap } from './goMap.ts';
import type { Patched } from './jsonPatch.ts';
import { mergeKeyed, orderItems } from './strategicList.ts';
import { strictProblems } from './strictFields.ts';

const DIRECTIVE = '$patch';
const RETAIN = '$retainKeys';
const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';

/** A patched document; `shown` is how a refusal of the result shows it. */
export interface StrategicallyPatched extends Patched {
  readonly shown: string;
}

/**
 * Applies a strategic merge patch: maps merge, null deletes, lists merge by the key that the type declares, or are replaced
 * where it declares none; directives delete, replace, keep and order.
 * Source: the strategic merge patch page of the Kubernetes API machinery's documentation.
 * @throws StatusError 400 for text that is no JSON object, a bare 500 or 400 for directives and items that make no sense
 */
export function strategicMerge(kind: Kind, document: JsonObject, patchText: string): StrategicallyPatched {
  const patch = parseGoJson(patchText, badRequest);
  if (patch !== null && !isJsonObject(patch)) {
    const name = Array.isArray(patch)
      ? 'array'
      : typeof patch === 'string'
        ? 'string'
        : typeof patch === 'boolean'
          ? 'bool'
          : 'number';
    throw badRequest(`json: cannot unmarshal ${name} into Go value of type map[string]interface {}`);
  }
  const value = mergeMaps(kind.schema, cloneJson(document), cloneJson(patch ?? {}));
  return { value, warnings: strictProblems(patchText, undefined), shown: goMap(value) };
}

/** Merges a patch into a map; both may be changed. */
export function mergeMaps(schema: Schema, original: JsonObject, patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive !== undefined) return obey(directive, patch);
  retainKeys(original, patch);
  mergeOrderedLists(schema, original, patch);
  for (const [given, value] of Object.entries(patch)) {
    const deletes = given.startsWith(DELETE_FROM);
    const key = deletes ? given.slice(DELETE_FROM.length) : given;
    mergeField(schema, original, key, value, deletes);
  }
  return original;
}

function obey(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'replace') {
    const { [DIRECTIVE]: _, ...rest } = patch;
    return rest;
  }
  if (directive === 'delete') return {};
  throw badDirective(directive, patch);
}

function badDirective(directive: Json, patch: JsonObject): Error {
  return bareError(`unknown patch type: ${goMap(directive)} in map: ${goMap(patch)}`);
}

function mergeField(schema: Schema, original: JsonObject, key: string, value: Json, deletes: boolean): void {
  if (value === null) {
    delete original[key];
    return;
  }
  const current = Object.hasOwn(original, key) ? original[key] : undefined;
  if (current === undefined || shapeName(current) !== shapeName(value)) {
    if (!deletes) putWithoutDirectives(original, key, dropNulls(value));
    return;
  }
  if (isJsonObject(current) && isJsonObject(value)) {
    const { field, schema: below } = fieldAt(schema, key);
    setOwn(
      original,
      key,
      field?.patchStrategies.includes('replace') === true ? value : mergeMaps(below, current, value),
    );
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setOwn(original, key, mergeLists(schema, key, current, value, deletes));
  } else {
    setOwn(original, key, value);
  }
}

function shapeName(value: Json): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** The declared field of a key, and the schema of what it holds. */
function fieldAt(schema: Schema, key: string): { field: Field | undefined; schema: Schema } {
  if (schema.type === 'struct') {
    const field = schema.fields.get(key);
    if (field === undefined)
      throw bareError(
        `unable to find api field in struct ${schema.goName.split('.').at(-1) ?? ''} for the json field "${key}"`,
      );
    return { field, schema: field.schema };
  }
  return { field: undefined, schema: schema.type === 'map' ? schema.values : { type: 'any', atomic: false } };
}

function mergeLists(schema: Schema, key: string, current: Json[], patch: Json[], deletes: boolean): Json[] {
  const { field, schema: list } = fieldAt(schema, key);
  const items: Schema = list.type === 'list' ? list.items : { type: 'any', atomic: false };
  if (deletes) return current.filter((item) => !patch.some((gone) => equalJson(gone, item)));
  if (field?.patchStrategies.includes('merge') !== true) return patch;
  return mergeKeyed(
    {
      mergeItems: (one, other) => mergeMaps(items, one, other),
      goName: structName(schema),
      mergeKey: field.patchMergeKey ?? '',
    },
    current,
    patch,
  );
}

function structName(schema: Schema): string {
  return schema.type === 'struct' ? schema.goName : '';
}

/** `$retainKeys` names all keys that a map may have afterwards (the type of a union and its members). */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const keep = patch[RETAIN];
  if (keep === undefined) return;
  delete patch[RETAIN];
  if (!Array.isArray(keep)) throw badRequest('invalid patch format of retainKeys');
  const kept = new Set(keep.map(String));
  const stray = Object.entries(patch).some(
    ([key, value]) => value !== null && !key.startsWith(DELETE_FROM) && !key.startsWith(ORDER) && !kept.has(key),
  );
  if (stray) throw badRequest('invalid patch format of retainKeys');
  for (const key of Object.keys(original)) if (!kept.has(key)) delete original[key];
}

/** `$setElementOrder/x` gives the order of the list x after the merge; it and its list are taken out of the patch. */
function mergeOrderedLists(schema: Schema, original: JsonObject, patch: JsonObject): void {
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(ORDER)) continue;
    delete patch[directive];
    const key = directive.slice(ORDER.length);
    const [current, changes] = [original[key], patch[key]];
    if (!Array.isArray(order)) throw badRequest('invalid patch format of setElementOrder list');
    if (current === undefined && changes === undefined) continue;
    const mergeKey = fieldAt(schema, key).field?.patchMergeKey ?? '';
    const list = Array.isArray(current) ? current : [];
    const sent = Array.isArray(changes) ? changes : [];
    checkOrder(sent, order, mergeKey);
    const merged =
      current === undefined
        ? withoutDirectives(sent)
        : changes === undefined
          ? list
          : mergeLists(schema, key, [...list], sent, false);
    setOwn(original, key, orderItems(Array.isArray(merged) ? merged : [], order, list, mergeKey));
    delete patch[key];
  }
}

function checkOrder(sent: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (order.length === 0 || sent.length === 0) return;
  const identity = (item: Json): Json => (mergeKey === '' || !isJsonObject(item) ? item : (item[mergeKey] ?? null));
  let at = 0;
  for (const item of sent) {
    if (isJsonObject(item) && item[DIRECTIVE] !== undefined) continue;
    while (at < order.length && !equalJson(identity(order[at] ?? null), identity(item))) at += 1;
    if (at >= order.length) {
      throw bareError(
        `The order in patch list:\n${goMap([...sent])}\n doesn't match $setElementOrder list:\n${goMap([...order])}\n`,
      );
    }
    at += 1;
  }
}

function putWithoutDirectives(target: JsonObject, key: string, value: Json): void {
  const kept = withoutDirectives(value);
  if (kept === undefined) delete target[key];
  else setOwn(target, key, kept);
}

/** A value from a patch that meets nothing to merge with: its directives mean nothing; a map that is one goes. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.flatMap((item) => withoutDirectives(item) ?? []);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const kept = withoutDirectives(item);
    if (kept !== undefined) setOwn(out, key, kept);
  }
  return out;
}

function dropNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) if (item !== null) setOwn(out, key, dropNulls(item));
  return out;
}
