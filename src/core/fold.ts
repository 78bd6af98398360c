import type { Incarnation, Version } from './history.ts';
import { changeLabel } from './versionChange.ts';

/** A row of an incarnation's versions: one version, or a run of status-only changes of one actor. */
export interface FoldedRow {
  readonly first: Version;
  readonly last: Version;
  /** How many versions the row stands for. */
  readonly count: number;
  readonly label: ReturnType<typeof changeLabel>;
  /** The actor's name, where every version of the row has the same known one. */
  readonly actor?: string;
}

/**
 * Versions as rows: runs of status-only changes of one actor (heartbeats, lease renewals of status) become one row with a
 * count, so that what matters is seen. `isHeartbeat` may declare further versions to be such noise, for kinds whose
 * renewals are not in a status (Leases, Endpoints). Nothing else is ever folded, a change of the desired state least of all.
 */
export function foldVersions(
  incarnation: Incarnation,
  isHeartbeat: (version: Version) => boolean = () => false,
): FoldedRow[] {
  const rows: FoldedRow[] = [];
  let open = false;
  for (const version of incarnation.versions) {
    const label = changeLabel(version.changed);
    const actor = actorName(version);
    const foldable = label === 'status' || (label !== 'unknown' && isHeartbeat(version));
    const last = rows[rows.length - 1];
    if (foldable && open && last !== undefined && last.label === label && last.actor === actor) {
      rows[rows.length - 1] = { ...last, last: version, count: last.count + 1 };
    } else {
      rows.push({ first: version, last: version, count: 1, label, ...(actor === undefined ? {} : { actor }) });
    }
    open = foldable;
  }
  return rows;
}

function actorName(version: Version): string | undefined {
  const { actor } = version;
  return actor?.manager ?? actor?.client ?? actor?.user ?? actor?.agent;
}

const RENEWAL_PATHS = /^\.(spec\.(renewTime|acquireTime)|subsets|endpoints)(?![\w-])/;

/** Whether a version of a Lease, Endpoints or EndpointSlice changed nothing but what they renew all the time. */
export function isRenewal(incarnation: Incarnation, version: Version): boolean {
  if (!['leases', 'endpoints', 'endpointslices'].includes(incarnation.name.resource)) return false;
  const paths = version.changed?.paths ?? [];
  return (
    paths.length > 0 && paths.every((path) => RENEWAL_PATHS.test(path) || path.startsWith('.metadata.annotations'))
  );
}
