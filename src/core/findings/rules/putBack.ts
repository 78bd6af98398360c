import type { WriteEvent } from '../../traceEvent.ts';
import { latestChange } from '../given.ts';
import { sameActor } from '../knowledge.ts';
import { changedTimes, mapOf, type Leaves } from '../leaves.ts';
import type { VersionChange } from '../rule.ts';

const FINALIZERS = '.metadata.finalizers[';

/**
 * Whether a whole object came back without finalizers of others and without its sender's own at once. To take one of others
 * away may be an answer to them; who is done takes away its own.
 */
export function isSweep(
  { object, version, index, changed = [] }: VersionChange,
  write: WriteEvent,
  putBack: readonly string[],
): boolean {
  const isFinalizer = (path: string): boolean => path.startsWith(FINALIZERS);
  return (
    write.verb === 'replace' &&
    putBack.some(isFinalizer) &&
    changed.some((path) => {
      const at = isFinalizer(path) && version.leaves?.has(path) !== true ? latestChange(object, path, index - 1) : 0;
      const by = at === undefined || at === 0 ? undefined : object.versions[at]?.author;
      return by !== undefined && sameActor(by.actor, write.actor);
    })
  );
}

/**
 * Whether what keeps time changed elsewhere than beside the fields that were put back: a heartbeat is a change like any other,
 * the time of a transition belongs to what it is of.
 */
export function keepsTime(before: Leaves, after: Leaves, putBack: readonly string[]): boolean {
  const beside = new Set(putBack.map(mapOf));
  return changedTimes(before, after).some((path) => !beside.has(mapOf(path)));
}
