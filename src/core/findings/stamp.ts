import { isJsonObject, stringifyCanonical, type Json, type JsonObject } from '../../codec/json.ts';
import { hashText } from '../hash.ts';
import type { WriteEvent } from '../traceEvent.ts';
import { leavesOf } from './leaves.ts';

const hashes = new WeakMap<object, string>();

/**
 * The owners of an object's fields as text that tells one version's from another's, in whatever way a client writes a time;
 * undefined where there are none. Versions share the entries that are the same, so that each is worked out once.
 */
export function ownersStamp(managedFields: readonly Json[] | undefined): string | undefined {
  if (managedFields === undefined || managedFields.length === 0) return undefined;
  return managedFields.map(entryStamp).join('\n');
}

/** The owners that a replacement carries: those of the version from which its metadata were read. */
export function sentOwners(write: WriteEvent): readonly Json[] | undefined {
  const metadata = write.verb === 'replace' && isJsonObject(write.body) ? write.body['metadata'] : undefined;
  const managedFields = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  return Array.isArray(managedFields) ? managedFields : undefined;
}

/** What nobody but the server sets, as a replacement carries it of the version that it was made from. */
export function copiedStamp({ body }: WriteEvent, owners: readonly Json[] | undefined): string {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  const generation = isJsonObject(metadata) ? metadata['generation'] : undefined;
  return stringifyCanonical([generation ?? '', ownersStamp(owners) ?? '']);
}

/** The body as text without what names a version; key order does not matter. */
export function withoutToken(body: Json): string {
  if (Array.isArray(body))
    return stringifyCanonical(
      body.filter((item) => !isJsonObject(item) || item['path'] !== '/metadata/resourceVersion'),
    );
  if (!isJsonObject(body)) return stringifyCanonical(body);
  return JSON.stringify([...leavesOf(body)].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function entryStamp(entry: Json): string {
  if (!isJsonObject(entry)) return '';
  const known = hashes.get(entry);
  if (known !== undefined) return known;
  const { manager, operation, subresource, time, fieldsV1 } = entry;
  // The server counts whole seconds of UTC; clients write that with fractions or another sign for UTC.
  const at = typeof time === 'string' ? time.slice(0, 19) : '';
  const fields = isJsonObject(fieldsV1) ? fieldsStamp(fieldsV1) : '';
  const stamp = hashed([manager ?? '', operation ?? '', subresource ?? '', at, fields]);
  hashes.set(entry, stamp);
  return stamp;
}

/** Of its own, as most of its owner's writes change the time only. */
function fieldsStamp(fields: JsonObject): string {
  const stamp = hashes.get(fields) ?? hashed(fields);
  hashes.set(fields, stamp);
  return stamp;
}

function hashed(value: Json): string {
  const text = stringifyCanonical(value);
  return hashText(text) + hashText(text, 1);
}
