import type { ServerRequest } from '../base/server.ts';
import { isJsonObject, setOwn, type Json, type JsonObject } from '../codec/json.ts';
import type { WriteEvent } from '../core/traceEvent.ts';
import { metadataOf } from '../write/target.ts';
import { storable } from './hiddenValues.ts';

/** What equals what: UIDs and tokens of the trace, and those of the server that it is replayed on. */
export interface Equals {
  readonly uids: Map<string, string>;
  readonly tokens: Map<string, string>;
}

/** A recorded write as a request to another server. */
export interface ReplayRequest {
  readonly method: ServerRequest['method'];
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body?: Json;
  readonly contentType?: string;
}

const methods = {
  create: 'POST',
  replace: 'PUT',
  patch: 'PATCH',
  apply: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
} as const;
const patchMediaTypes = {
  'json-patch': 'application/json-patch+json',
  'merge-patch': 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Makes the request of a recorded write, with UIDs and tokens replaced by their counterparts. */
export function replayRequest(
  event: WriteEvent,
  path: { collection: string; object: string },
  equals: Equals,
): ReplayRequest {
  // A subresource is created below its object: a pod's binding, its eviction.
  const onCollection =
    (event.verb === 'create' && event.subresource === undefined) || event.verb === 'deletecollection';
  const place = onCollection ? path.collection : path.object;
  const patchType = event.verb === 'apply' ? 'apply' : event.patchType;
  const query = {
    ...(event.force === true ? { force: 'true' } : {}),
    ...(event.dryRun === true ? { dryRun: 'All' } : {}),
  };
  const body =
    methods[event.verb] === 'DELETE'
      ? deleteOptions(event, equals)
      : event.body === undefined
        ? undefined
        : named(event, mapped(storable(event.name, event.body), equals));
  return {
    method: methods[event.verb],
    path: event.subresource === undefined ? place : `${place}/${event.subresource}`,
    query,
    ...(body === undefined ? {} : { body }),
    ...(methods[event.verb] === 'PATCH' ? { contentType: patchMediaTypes[patchType ?? 'merge-patch'] } : {}),
  };
}

/** A create by `generateName` under the name that the recording's server gave, by which the rest of it knows the object. */
function named({ verb, subresource, name: { name } }: WriteEvent, body: Json): Json {
  if (verb !== 'create' || subresource !== undefined || name === '' || !isJsonObject(body)) return body;
  const metadata = metadataOf(body);
  return metadata['name'] === undefined ? { ...body, metadata: { ...metadata, name } } : body;
}

function deleteOptions(event: WriteEvent, { uids, tokens }: Equals): JsonObject | undefined {
  const { uid, token } = event.preconditions ?? {};
  if (uid === undefined && token === undefined) return undefined;
  const preconditions: JsonObject = {};
  if (uid !== undefined) preconditions['uid'] = uids.get(uid) ?? uid;
  if (token !== undefined) preconditions['resourceVersion'] = tokens.get(token) ?? token;
  return { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
}

/** The body with every known UID, and every token at its place, replaced by its counterpart. */
function mapped(value: Json, equals: Equals): Json {
  if (typeof value === 'string') return equals.uids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => mappedOperation(item, equals));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    setOwn(
      copy,
      key,
      key === 'resourceVersion' && typeof item === 'string' ? (equals.tokens.get(item) ?? item) : mapped(item, equals),
    );
  }
  return copy;
}

/** One operation of a JSON Patch names the token's place in its `path`. */
function mappedOperation(item: Json, equals: Equals): Json {
  const next = mapped(item, equals);
  if (!isJsonObject(next) || next['path'] !== '/metadata/resourceVersion' || typeof next['value'] !== 'string')
    return next;
  return { ...next, value: equals.tokens.get(next['value']) ?? next['value'] };
}
