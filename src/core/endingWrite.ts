import { isJsonObject, type JsonObject } from '../codec/json.ts';
import type { Incarnation, NameHistory } from './history.ts';
import type { WriteEvent } from './traceEvent.ts';

/** The write that ended an incarnation, and what tells so. */
export interface EndingWrite {
  readonly write: WriteEvent;
  /**
   * `gone`: the answer to the deletion was that nothing is left; `version`: it carried the version of the deletion;
   * `released`: the write took the last finalizer away; `unheld`: the version that the deletion made waited for nothing, as
   * that of a Pod that runs nowhere; `only`: no other deletion was accepted at the name while it lived.
   */
  readonly known: 'gone' | 'version' | 'released' | 'unheld' | 'only';
}

/**
 * Who ended an incarnation of a name, as far as recorded writes tell; undefined while it lives, and where they do not. An accepted
 * deletion of what waits for finalizers or a grace period only began its end: the server answers it with the object, all
 * others with a Status (ConfigMaps, Deployments, …) or with the version of the deletion (Pods, Services, …).
 */
export function endingWrite({ incarnations, writes }: NameHistory, incarnation: Incarnation): EndingWrite | undefined {
  const { uid, end } = incarnation;
  if (end === undefined) return undefined;
  const next = incarnations[incarnations.lastIndexOf(incarnation) + 1];
  const first = incarnation.versions.length === 0 ? 0 : incarnation.firstSeq;
  const began = incarnation.versions.find(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  let only: WriteEvent | undefined;
  let deletions = 0;
  for (let index = writes.length - 1; index >= 0; index -= 1) {
    const write = writes[index];
    if (write === undefined || write.seq < first) break;
    if (write.outcome !== 'accepted' || write.dryRun === true) continue;
    const { result } = write;
    if (result?.uid === uid && result.released === true) return { write, known: 'released' };
    if (write.verb !== 'delete' || write.subresource !== undefined) continue;
    if (result?.uid === uid) {
      if (result.token === '') return { write, known: 'gone' };
      if (result.token === end.token) return { write, known: 'version' };
      if (result.token === began?.token && isHeldByNothing(began.body)) return { write, known: 'unheld' };
      deletions += 1;
    } else if (result === undefined && isOf(write, incarnation, next)) {
      only = write;
      deletions += 1;
    }
  }
  return only === undefined || deletions > 1 || began !== undefined ? undefined : { write: only, known: 'only' };
}

/** Whether a deletion whose answer is not known was of an incarnation: by its precondition, or by the time it was sent. */
function isOf({ preconditions, startedAt, at }: WriteEvent, incarnation: Incarnation, next?: Incarnation): boolean {
  if (preconditions?.uid !== undefined) return preconditions.uid === incarnation.uid;
  const sent = startedAt ?? at;
  const { firstAt, end } = incarnation;
  return sent >= firstAt && sent <= (end?.at ?? sent) && (next === undefined || sent < next.firstAt);
}

/**
 * Whether the answer to a write is the last content of an object that waited only for its finalizers: nothing is stored any
 * more, and the token is of the version before. What waits for its grace period is still there.
 */
export function releases(verb: WriteEvent['verb'], object: JsonObject | undefined): boolean {
  return (verb === 'replace' || verb === 'patch' || verb === 'apply') && isHeldByNothing(object);
}

/** Whether an object is terminating and waits for nothing more: no grace period, no finalizer. */
function isHeldByNothing(object: JsonObject | undefined): boolean {
  const metadata = object?.['metadata'];
  if (!isJsonObject(metadata)) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  const isWaiting = typeof deletionTimestamp === 'string' && deletionGracePeriodSeconds === 0;
  return isWaiting && (!Array.isArray(finalizers) || finalizers.length === 0);
}
