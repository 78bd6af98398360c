import { setOwn, type JsonObject } from '../codec/json.ts';
import { serverSetMetadata, withServerSet } from '../core/merge.ts';
import type { Intent } from './intent.ts';
import { metadataOf } from './target.ts';

/**
 * The edits that make a later version like an older one again: what differs between the two, carried to the newest by the
 * same merge as any edit. Status and what only a server sets stay as they are.
 */
export function restoreIntent(older: JsonObject, later: JsonObject): Intent {
  const { status: _status, ...content } = withServerSet(later, older);
  return { kind: 'edits', base: later, desired: withServerSet(later, content) };
}

/**
 * The content of a deleted object for a new one: without what only a server sets, without status, and without what bound it
 * to the life that has ended. It will be a new incarnation: whatever pointed at the old UID does not point at it.
 */
export function contentForNewLife(object: JsonObject): JsonObject {
  const metadata: JsonObject = {};
  for (const [field, value] of Object.entries(metadataOf(object))) {
    if (!serverSetMetadata.includes(field)) setOwn(metadata, field, value);
  }
  const content: JsonObject = {};
  for (const [field, value] of Object.entries(object)) {
    if (field !== 'status') setOwn(content, field, field === 'metadata' ? metadata : value);
  }
  return content;
}
