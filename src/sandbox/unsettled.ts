import type { JsonObject } from '../codec/json.ts';
import type { Kind } from './kinds/kind.ts';

/**
 * Kinds of which the real server stores another form at the first write after the create, whatever it changes: what it
 * stored first is not byte for byte what it would store again. So that write gets a version even if it changes nothing.
 * Recorded, not derived.
 */
const KINDS: readonly string[] = ['/persistentvolumeclaims', 'batch/jobs'];

const unsettled = new WeakSet<JsonObject>();

/** Notes that an object was just created. */
export function noteCreated(kind: Kind, object: JsonObject): void {
  if (KINDS.includes(`${kind.group}/${kind.plural}`)) unsettled.add(object);
}

/** Whether the next write of a stored object is stored even if it changes nothing. */
export function isUnsettled(object: JsonObject): boolean {
  return unsettled.has(object);
}
