import { formatPath } from '../../codec/path.ts';
import type { Association } from '../../core/associations.ts';
import type { History, Incarnation } from '../../core/history.ts';
import { referencesOf } from '../../core/references.ts';
import { newestVersion } from '../tree/wording.ts';

/**
 * What is known to point at an incarnation by its UID, a line each: living objects that were seen to (`Pod shop/web-1:
 * .metadata.ownerReferences[0]`), and things outside the cluster that were declared to belong to it.
 */
export function pointingAt(
  { uids }: Pick<History, 'uids'>,
  associations: readonly Association[],
  { cluster, uid }: Pick<Incarnation, 'cluster' | 'uid'>,
): string[] {
  const referring = [...uids.values()].flatMap((other) => {
    const body = newestVersion(other)?.body;
    if (other.end !== undefined || other.cluster !== cluster || body === undefined) return [];
    const { namespace, name } = other.name;
    return referencesOf(body)
      .filter((reference) => reference.uid === uid)
      .map(({ path }) => `${other.kind} ${namespace === '' ? name : `${namespace}/${name}`}: ${formatPath(path)}`);
  });
  const outside = associations.filter((one) => one.cluster === cluster && one.uid === uid);
  return [...referring, ...outside.map(({ what, id }) => `${what} ${id}`)];
}
