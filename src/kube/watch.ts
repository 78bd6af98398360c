import type { AppError } from '../base/appError.ts';
import type { NewTraceEvent } from '../core/traceEvent.ts';
import type { Cluster } from './cluster.ts';
import type { Selection } from './selection.ts';
import { Watcher } from './watcher.ts';

/**
 * What is watched. `bodies`: whole objects, their metadata only, or `auto`: whole up to 2,000 objects, metadata beyond.
 * Objects of one page or stream are never mixed.
 */
export interface WatchTarget extends Selection {
  readonly bodies: 'whole' | 'metadata' | 'auto';
}

/**
 * How a watch is doing. `waiting`: it will try again at `retryAt`. `failed`: it tries again too, but a person has to do
 * something (log in, get the right, correct an address).
 */
export interface WatchState {
  readonly phase: 'listing' | 'live' | 'waiting' | 'failed';
  /** When the server was last heard, milliseconds since the epoch; absent before the first byte. */
  readonly lastHeardAt?: number;
  /** Objects read so far, while listing. */
  readonly listed?: number;
  /** Objects that are there, as far as is known. */
  readonly known?: number;
  readonly error?: AppError;
  readonly retryAt?: number;
}

/** Who takes what a watch sees. A sink that throws is reported and the stream goes on after what it was given. */
export interface WatchSink {
  /** Events in the server's order, without holes but for those that `gap` events name. */
  events(events: readonly NewTraceEvent[]): void;
  state(state: WatchState): void;
}

/** Everything is optional but the key that hides Secrets' values (32 hexadecimal digits, see `core/observe.ts`). */
export interface WatchOptions {
  readonly secretKey: string;
  /** Keep whole objects in events, not only hashes of their leaves; default true. */
  readonly keepBodies?: boolean;
  /** A connection is given up after this time without any byte. Default 75 s: servers send a bookmark every minute. */
  readonly idleMs?: number;
  readonly pageSize?: number;
  /** Told what went wrong beside the stream itself: a sink that threw, an object without a name. */
  readonly onProblem?: (problem: AppError) => void;
}

/**
 * Lists and then watches a resource until the signal aborts; never gives up and never ends on its own. Versions are ordered
 * by arrival only. Resolves on abort.
 */
export function watchResource(
  cluster: Cluster,
  target: WatchTarget,
  sink: WatchSink,
  options: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  return new Watcher(cluster, target, sink, options, signal).run();
}
