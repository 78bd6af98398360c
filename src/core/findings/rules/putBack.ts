import type { WriteEvent } from '../../traceEvent.ts';
import { latestChange } from '../given.ts';
import { sameActor } from '../knowledge.ts';
import { changedTimes, mapOf, type Leaves } from '../leaves.ts';
import type { VersionChange } from '../rule.ts';

const HOLDS = /^\.metadata\.(finalizers|ownerReferences)\[/;

/**
 * Whether a whole object came back without finalizers (or owners) of others and without its sender's own at once. To take one
 * of others away may be an answer to them; who is done takes away its own.
 */
export function isSweep(
  { object, version, index, changed = [] }: VersionChange,
  write: WriteEvent,
  putBack: readonly string[],
): boolean {
  return (
    write.verb === 'replace' &&
    putBack.some((path) => HOLDS.test(path)) &&
    changed.some((path) => {
      if (!HOLDS.test(path) || version.leaves?.has(path) === true) return false;
      const at = latestChange(object, path, index - 1) ?? 0;
      const { author, leaves } = object.versions[at] ?? {};
      // What the oldest version that is known has, its writer set only if it made the object.
      const isSetter = at > 0 || (author?.verb === 'create' && leaves?.has(path) === true);
      return author !== undefined && isSetter && sameActor(author.actor, write.actor);
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

/** Whether a number is one more, or less, than it was: most likely it was computed from that. */
export function isCounted(old: string | undefined, now: string | undefined): boolean {
  const [from, to] = [old, now].map((value) => /^"?(-?\d{1,15})"?$/.exec(value ?? '')?.[1]);
  return from !== undefined && to !== undefined && Math.abs(Number(to) - Number(from)) === 1;
}
