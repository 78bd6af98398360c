import { nameKey } from '../../core/history.ts';
import type { GapEvent } from '../../core/traceEvent.ts';
import type { Session } from '../session/session.ts';
import { currentIncarnation } from '../tree/wording.ts';
import type { WatchDefinition } from './watchDefinition.ts';

/** The time between the end of the log on disk and now, in which nobody watched. */
export interface RestartGap {
  /** The first list is complete: what it did not have is gone since some time in the gap. `delivered` are keys of names. */
  close(delivered: ReadonlySet<string>): void;
}

/**
 * Opens a gap for what a watch is about, where the log of an earlier window knows something of it: an object may have been
 * deleted and recreated since, any number of times. Undefined where the log knows nothing.
 */
export function openRestartGap(
  session: Session,
  cluster: string,
  definition: WatchDefinition,
  now: () => number,
): RestartGap | undefined {
  const from = session.restoredUntil;
  const { group, resource, namespace, name, labelSelector } = definition;
  const known = [...session.history.names.values()].filter(
    (history) =>
      history.cluster === cluster &&
      history.name.group === group &&
      history.name.resource === resource &&
      (namespace === undefined || history.name.namespace === namespace) &&
      (name === undefined || history.name.name === name),
  );
  if (from === undefined || known.length === 0) return undefined;
  const gap: Omit<GapEvent, 'seq' | 'at'> = {
    type: 'gap',
    via: 'list',
    cluster,
    gap: `restart-${definition.id}-${from}`,
    scope: {
      group,
      resource,
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    },
    from,
    cause: 'restart',
  };
  session.append([{ ...gap, at: now() }]);
  return {
    close(delivered) {
      const at = now();
      // A selector leaves objects out that live on: only a watch of all of them tells what is gone.
      const missing =
        labelSelector === undefined ? known.filter((history) => !delivered.has(nameKey(cluster, history.name))) : [];
      const living = missing
        .flatMap((history) => currentIncarnation(history) ?? [])
        .filter((incarnation) => incarnation.end === undefined);
      session.append([
        ...living.map((incarnation) => ({
          type: 'absent' as const,
          at,
          via: 'list' as const,
          cluster,
          name: incarnation.name,
          uid: incarnation.uid,
          how: 'list' as const,
        })),
        { ...gap, at, to: at },
      ]);
    },
  };
}
