import type { WriteEvent } from '../../traceEvent.ts';
import { givenTokens, isForeign, latestChange, wasGiven } from '../given.ts';
import type { VersionChange } from '../rule.ts';
import type { World } from '../world.ts';
import { isUnconditional, type Loss } from './lostUpdateKinds.ts';

/** Where leader election says who leads. */
const HOLDERS = ['.spec.holderIdentity', '.metadata.annotations["control-plane.alpha.kubernetes.io/leader"]'];

/**
 * A lock that was taken without a version check from who had got it since its sender looked: both hold it. To lose a round of
 * an election is nothing.
 */
export function stolenLock(
  { object, index, previous, version }: VersionChange,
  write: WriteEvent,
  world: World,
): Loss | undefined {
  if ((write.verb !== 'replace' && write.verb !== 'patch') || !isUnconditional(write)) return undefined;
  const isHeld = (path: string): boolean => (previous?.leaves?.get(path) ?? '""') !== '""';
  const paths = HOLDERS.filter((path) => {
    if (!isHeld(path) || previous?.leaves?.get(path) === version.leaves?.get(path)) return false;
    const at = latestChange(object, path, index - 1);
    const by = at === undefined ? undefined : object.versions[at];
    return (
      at !== undefined &&
      by !== undefined &&
      isForeign(by, write.actor) &&
      wasGiven(write, object, at, index, world) === 'no'
    );
  });
  if (paths.length === 0) return undefined;
  return { how: 'unseen', paths, previous: index - 1, base: givenTokens(write, object, world).at(-1), proof: [] };
}
