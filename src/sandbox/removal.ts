import type { JsonObject } from '../codec/json.ts';
import type { Kind } from './kinds/kind.ts';
import { bucketOf, keyOf } from './registry.ts';
import { writeContext, type ApiState } from './state.ts';

/** Removes an object from the store and gives back what it held. Answers its last content with the version of the deletion. */
export function removeStored(state: ApiState, kind: Kind, namespace: string, name: string): JsonObject | undefined {
  const removed = state.store.remove(bucketOf(kind), keyOf(kind, namespace, name));
  if (removed !== undefined) kind.released(removed.object, writeContext(state, { dryRun: false }));
  return removed?.object;
}
