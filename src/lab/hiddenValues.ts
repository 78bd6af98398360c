import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { HIDDEN, isSecretResource } from '../core/secrets.ts';
import type { ObjectName } from '../core/traceEvent.ts';

/**
 * A body as a server can store it: a trace holds keyed hashes in place of a Secret's values, which are no base64. Values that
 * were equal stay equal, and different ones different, whether they were written as `data` or as `stringData`.
 */
export function storable(name: ObjectName, body: Json): Json {
  if (!isSecretResource(name)) return body;
  if (Array.isArray(body)) return body.map((operation) => storableOperation(operation));
  return isJsonObject(body) ? storableObject(body) : body;
}

/** `storable` of a whole object. */
export function storableObject(body: JsonObject): JsonObject {
  const { data } = body;
  return isJsonObject(data) ? { ...body, data: encoded(data) } : body;
}

function storableOperation(operation: Json): Json {
  if (!isJsonObject(operation)) return operation;
  const { path, value } = operation;
  if (typeof path !== 'string' || value === undefined || !/^\/data(\/|$)/.test(path)) return operation;
  return { ...operation, value: encoded(value) };
}

function encoded<T extends Json>(value: T): T;
function encoded(value: Json): Json {
  if (typeof value === 'string') return value.startsWith(HIDDEN) ? Buffer.from(value).toString('base64') : value;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encoded(item)]));
}
