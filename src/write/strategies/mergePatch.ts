import { message } from '../../base/message.ts';
import { equalJson, isJsonObject, setOwn, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import { pinned } from './replace.ts';
import type { Draft, Drafted } from './strategy.ts';

/**
 * A JSON merge patch (RFC 7396) from the read to the desired object, with UID and token inside. Lists are sent whole, which
 * loses nothing because the patch is conditional. A merge patch cannot store null: it removes.
 */
export function draftMergePatch(draft: Draft): Drafted {
  const patch: JsonObject = {};
  const nulls = diffInto(patch, draft.current, draft.desired);
  if (nulls)
    return {
      kind: 'refused',
      why: message`A merge patch cannot store null, it removes the field instead: use another strategy.`,
    };
  return {
    kind: 'request',
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: stringifyJson(pinned(patch, draft)),
  };
}

/** Fills `patch`; tells whether a null would have to be stored. */
function diffInto(patch: JsonObject, before: JsonObject, after: JsonObject): boolean {
  let nulls = false;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [own(before, key), own(after, key)];
    if (equalJson(was, is)) continue;
    if (is === undefined) setOwn(patch, key, null);
    else if (isJsonObject(was) && isJsonObject(is)) {
      const below: JsonObject = {};
      nulls = diffInto(below, was, is) || nulls;
      setOwn(patch, key, below);
    } else {
      nulls = nulls || storesNull(is);
      setOwn(patch, key, is);
    }
  }
  return nulls;
}

/** Null by itself or as a member of a map; inside a list it is stored as it is. */
function storesNull(value: Json): boolean {
  return value === null || (isJsonObject(value) && Object.values(value).some(storesNull));
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
