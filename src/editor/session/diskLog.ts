import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { Clock } from '../../base/clock.ts';
import type { TraceEvent } from '../../core/traceEvent.ts';
import { withoutSeq } from '../trace/readTrace.ts';
import { withoutSecretContent } from './secretContent.ts';
import type { Session } from './session.ts';

const MEGABYTE = 1024 * 1024;
const DAY_MS = 86_400_000;
const BATCH = 2000;

/** What the log on disk needs of the rest. */
export interface DiskLogOptions {
  readonly folder: string;
  readonly session: Session;
  readonly clock: Clock;
  readonly creator: string;
  sizeMegabytes(): number;
  ageDays(): number;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Reads the log of earlier windows of this workspace into the session, and from then on writes what the session gets.
 * A disk that fails, or a log that is damaged, is told and nothing else stops.
 */
export async function keepOnDisk(options: DiskLogOptions): Promise<Disposable> {
  const store = new DisposableStore();
  const { session, folder, clock, creator, onProblem } = options;
  if (options.sizeMegabytes() === 0) return store;
  const { openLog } = await import('../../storage/logFiles.ts');
  const log = await openLog(
    folder,
    { maxBytes: options.sizeMegabytes() * MEGABYTE, maxAgeMs: options.ageDays() * DAY_MS },
    { clock, creator, onProblem, clusters: () => session.clusterLabels() },
  );
  store.add({ dispose: () => void log.close().catch(onProblem) });
  let batch: TraceEvent[] = [];
  const restore = (): void => {
    for (const [id, { label, server }] of Object.entries(log.clusters)) session.nameCluster(id, label, server);
    session.restore(batch.map((event) => withoutSecretContent(withoutSeq(event))));
    batch = [];
  };
  for await (const event of log.readAll()) {
    batch.push(event);
    if (batch.length < BATCH) continue;
    restore();
    await new Promise((turn) => setImmediate(turn));
  }
  restore();
  for (const { file, message } of log.problems) onProblem(`${file}: ${String(message)}`);
  log.nameClusters();
  store.add(session.onDidNameCluster(() => log.nameClusters()));
  store.add(
    session.onDidAppend((events) => {
      for (const event of events) log.append(event);
    }),
  );
  return store;
}
