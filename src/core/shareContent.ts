import type { Json, JsonObject } from '../codec/json.ts';
import { equalJson, isJsonObject } from '../codec/json.ts';
import type { ObservedEvent } from './traceEvent.ts';

/**
 * Makes the content of an observation share what is equal in the one before it: mostly all but a status or a field. Contents
 * of many versions then take little more than one, and comparing them later is comparing references. Only what is deeply
 * equal is exchanged, so that the observation says the same as before.
 */
export function shareContent(before: ObservedEvent, event: ObservedEvent): void {
  if (before.body !== undefined && event.body !== undefined) shareMembers(before.body, event.body, true);
  else if (before.managedFields !== undefined && event.managedFields !== undefined) {
    shareItems(before.managedFields, event.managedFields);
  }
  const metadata = event.body?.['metadata'];
  if (!isJsonObject(metadata)) return;
  if (event.labels !== undefined && isJsonObject(metadata['labels']))
    event.labels = metadata['labels'] as Record<string, string>;
  if (event.annotations !== undefined && isJsonObject(metadata['annotations'])) {
    event.annotations = metadata['annotations'] as Record<string, string>;
  }
  if (event.managedFields !== undefined && Array.isArray(metadata['managedFields']))
    event.managedFields = metadata['managedFields'];
  if (event.ownerReferences !== undefined && Array.isArray(metadata['ownerReferences'])) {
    event.ownerReferences = metadata['ownerReferences'];
  }
}

/** Members that are equal are exchanged as a whole; of metadata and status, which change all the time, theirs are. */
function shareMembers(before: JsonObject, after: JsonObject, isRoot: boolean): void {
  for (const name in after) {
    const old = before[name];
    const now = after[name];
    if (old === now || typeof old !== 'object' || typeof now !== 'object' || name === '__proto__') continue;
    if (isRoot && (name === 'metadata' || name === 'status') && isJsonObject(old) && isJsonObject(now)) {
      shareMembers(old, now, false);
    } else if (equalJson(old, now)) after[name] = old;
    else if (Array.isArray(old) && Array.isArray(now)) shareItems(old, now);
  }
}

function shareItems(before: readonly Json[], after: Json[]): void {
  for (const [index, item] of after.entries()) {
    const old = before[index];
    if (old !== undefined && old !== item && equalJson(old, item)) after[index] = old;
  }
}
