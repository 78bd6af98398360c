import { message } from '../../base/message.ts';
import { equalJson, isJsonObject, setOwn, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import type { Path } from '../../codec/path.ts';
import { identifyItems } from '../../core/diff.ts';
import { rekeyedList } from '../rekeyed.ts';
import { pinned } from './replace.ts';
import type { Draft, Drafted } from './strategy.ts';

/** What a server takes for a custom resource instead. */
const customTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

/**
 * A strategic merge patch from the read to the desired object, with UID and token inside; for built-in kinds only. Items of
 * lists with one declared key are patched by it; a set is added to and taken from; every other list that changed is
 * replaced as a whole, which loses nothing because the patch is conditional.
 * Source: "Strategic merge patch" in the Kubernetes API conventions.
 */
export function draftStrategicPatch(draft: Draft): Drafted {
  if (isCustomGroup(draft.target.group)) {
    return {
      kind: 'refused',
      why: message`Custom resources have no strategic merge patch: use another strategy.`,
      accepted: customTypes,
    };
  }
  const list = rekeyedList(draft.changes);
  if (list !== undefined) {
    return {
      kind: 'use',
      strategy: 'replace',
      why: message`The change gives an item of ${list} another key, which a strategic merge patch cannot do: the whole object was replaced instead.`,
    };
  }
  const patch = diffMap([], draft.current, draft.desired, draft.schema);
  if (patch === undefined) {
    return {
      kind: 'refused',
      why: message`A strategic merge patch cannot store null, it removes the field instead: use another strategy.`,
    };
  }
  return {
    kind: 'request',
    method: 'PATCH',
    contentType: 'application/strategic-merge-patch+json',
    body: stringifyJson(pinned(patch, draft)),
  };
}

/** Groups of custom resources have a dot; built-in ones have none or end with `.k8s.io`, which decides nothing by itself. */
function isCustomGroup(group: string): boolean {
  return group.includes('.') && !group.endsWith('.k8s.io');
}

/** The patch of a map; undefined where a null would have to be stored. */
function diffMap(path: Path, before: JsonObject, after: JsonObject, schema: ListSchema): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [own(before, key), own(after, key)];
    if (equalJson(was, is)) continue;
    const at = [...path, { field: key }];
    if (is === undefined) setOwn(patch, key, null);
    else if (isJsonObject(was) && isJsonObject(is)) {
      const below = schema.isAtomicMapAt(at) ? { $patch: 'replace', ...is } : diffMap(at, was, is, schema);
      if (below === undefined) return undefined;
      setOwn(patch, key, below);
    } else if (Array.isArray(was) && Array.isArray(is)) {
      if (!diffList(patch, key, at, was, is, schema)) return undefined;
    } else if (storesNull(is)) return undefined;
    else setOwn(patch, key, is);
  }
  return patch;
}

/** Puts the patch of a list under `key`; false where a null would have to be stored. */
function diffList(
  patch: JsonObject,
  key: string,
  path: Path,
  before: Json[],
  after: Json[],
  schema: ListSchema,
): boolean {
  const type = schema.listTypeAt(path);
  if (type?.type === 'set') {
    const gone = before.filter((item) => !after.some((other) => equalJson(item, other)));
    if (gone.length > 0) setOwn(patch, `$deleteFromPrimitiveList/${key}`, gone);
    setOwn(patch, `$setElementOrder/${key}`, after);
    setOwn(
      patch,
      key,
      after.filter((item) => !before.some((other) => equalJson(item, other))),
    );
    return true;
  }
  const name = type?.type === 'map' && type.keys.length === 1 ? type.keys[0] : undefined;
  const items = name === undefined || type === undefined ? undefined : keyedItems(path, name, before, after, schema);
  if (items === null) return false;
  if (items !== undefined && name !== undefined) {
    setOwn(
      patch,
      `$setElementOrder/${key}`,
      after.map((item): JsonObject => ({ [name]: isJsonObject(item) ? (item[name] ?? null) : null })),
    );
    setOwn(patch, key, items);
  } else if (after.every(isJsonObject)) setOwn(patch, key, [{ $patch: 'replace' }, ...after]);
  else setOwn(patch, key, after);
  return true;
}

/** Patches of a keyed list's items; undefined where items cannot be told apart, null where a null would have to be stored. */
function keyedItems(
  path: Path,
  name: string,
  before: Json[],
  after: Json[],
  schema: ListSchema,
): Json[] | undefined | null {
  const old = identifyItems(before, { type: 'map', keys: [name] });
  const young = identifyItems(after, { type: 'map', keys: [name] });
  if (old === undefined || young === undefined) return undefined;
  const items: Json[] = [];
  for (const [id, { item, step }] of young) {
    const was = old.get(id)?.item;
    if (was === undefined) items.push(item);
    else if (isJsonObject(was) && isJsonObject(item) && !equalJson(was, item)) {
      const below = diffMap([...path, step], was, item, schema);
      if (below === undefined) return null;
      items.push({ [name]: item[name] ?? null, ...below });
    }
  }
  for (const [id, { item }] of old) {
    if (!young.has(id) && isJsonObject(item)) items.push({ $patch: 'delete', [name]: item[name] ?? null });
  }
  return items;
}

function storesNull(value: Json): boolean {
  return value === null || (isJsonObject(value) && Object.values(value).some(storesNull));
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
