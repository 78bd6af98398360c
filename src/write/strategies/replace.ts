import { setOwn, stringifyJson, type JsonObject } from '../../codec/json.ts';
import { metadataOf } from '../target.ts';
import type { Draft, Drafted } from './strategy.ts';

/** PUT of the whole desired object with the UID and token of the read that it was computed from. */
export function draftReplace(draft: Draft): Drafted {
  return {
    kind: 'request',
    method: 'PUT',
    contentType: 'application/json',
    body: stringifyJson(pinned(draft.desired, draft)),
  };
}

/** `object` with the draft's condition in its metadata; everything else as it is. */
export function pinned(object: JsonObject, draft: Pick<Draft, 'uid' | 'token'>): JsonObject {
  const metadata: JsonObject = {};
  for (const [key, value] of Object.entries(metadataOf(object)))
    if (key !== 'resourceVersion') setOwn(metadata, key, value);
  metadata['uid'] = draft.uid;
  if (draft.token !== undefined) metadata['resourceVersion'] = draft.token;
  return { ...object, metadata };
}
