import { throwIfAborted, type Clock } from '../base/clock.ts';
import type { Server } from '../base/server.ts';
import type { JsonObject } from '../codec/json.ts';
import { errorOf } from '../kube/answers.ts';
import { modify } from '../write/modify.ts';
import type { Target } from '../write/target.ts';
import {
  dataOf,
  LabClient,
  tokenOf,
  uninterrupted,
  withData,
  withToken,
  type Exchange,
  type SafeWriteLog,
} from './labClient.ts';
import { metadataOf } from '../write/target.ts';
import { MadeObjects } from './removal.ts';
import { endedOtherwise } from './endedOtherwise.ts';
import { seededRandom } from './seededRandom.ts';

/** What a contending actor does with its read: two ways that lose updates, and two that do not. */
export const contentionStrategies = ['naive', 'token-swap', 'read-modify-write', 'apply'] as const;

/** One of the contention lab's strategies. */
export type ContentionStrategy = (typeof contentionStrategies)[number];

/** What the contention lab runs. Times in milliseconds. */
export interface ContentionOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly suffix: string;
  readonly strategy: ContentionStrategy;
  readonly actors: number;
  /** Updates that each actor makes. */
  readonly updates: number;
  /** The longest time between an actor's read and its write; each is drawn from 0 to this. */
  readonly thinkMs: number;
  readonly seed: number;
  /** Of a read-modify-write or an apply. */
  readonly maxAttempts: number;
  /** Told of every attempt, as it is answered. */
  readonly onAttempt?: (attempt: ContentionAttempt) => void;
  /**
   * Told of losses while they happen: the object is read again and again, and what it lacks of the updates that were
   * accepted before the read is at least what was lost so far.
   */
  readonly onLost?: (atLeast: number) => void;
  readonly onProgress?: (counts: ContentionCounts) => void;
  readonly onExchange?: (exchange: Exchange) => void;
  /** Where the requests of the safe strategies are logged. */
  readonly safeWriteLog?: SafeWriteLog;
}

/** One attempt to write. `at`: local clock, ms. */
export interface ContentionAttempt {
  readonly at: number;
  readonly manager: string;
  readonly accepted: boolean;
}

/** Live counts. `retried`: writes sent again after a refusal; `gaveUp`: updates that ended at the bound. */
export interface ContentionCounts {
  accepted: number;
  refused: number;
  retried: number;
  attempts: number;
  gaveUp: number;
}

/** What came of it. `lost` is counted independently of the actors, from what the server holds afterwards. */
export interface ContentionResult extends ContentionCounts {
  readonly strategy: ContentionStrategy;
  readonly actors: number;
  readonly lost: number;
  readonly seconds: number;
}

interface Run {
  readonly options: ContentionOptions;
  readonly client: LabClient;
  readonly target: Target;
  readonly path: string;
  readonly counts: ContentionCounts;
}

/** How often losses are looked for while the run goes on, in milliseconds. */
const lookMs = 200;

/**
 * N actors each add 1 to a counter `updates` times. With `apply` each actor has a key of its own; with all others they
 * share one. Afterwards the counters are read: what was accepted and is not in them was lost.
 * @throws AppError `cancelled` when the signal aborts, after the clean-up; as the server says where it creates nothing
 */
export async function runContention(given: ContentionOptions): Promise<ContentionResult> {
  const stopping = new AbortController();
  const options = { ...given, signal: AbortSignal.any([given.signal, stopping.signal]) };
  const name = `versions-contention-${options.suffix}`;
  const collection = `/api/v1/namespaces/${options.namespace}/configmaps`;
  const target: Target = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
    namespace: options.namespace,
    name,
  };
  const run: Run = {
    options,
    client: new LabClient(options),
    target,
    path: `${collection}/${name}`,
    counts: { accepted: 0, refused: 0, retried: 0, attempts: 0, gaveUp: 0 },
  };
  const body: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { count: '0' } };
  throwIfAborted(options.signal);
  const made = new MadeObjects();
  try {
    const { reply } = await made.create(run.path, 'versions-lab', () =>
      run.client.send('versions-lab', 'POST', collection, { body, signal: uninterrupted() }),
    );
    if (reply.status !== 201) throw errorOf(reply);
    const startedAt = options.clock.now();
    const random = seededRandom(options.seed);
    const actors = Array.from({ length: options.actors }, (_, index) =>
      actor(run, `actor-${index + 1}`, seededRandom(Math.floor(random() * 2 ** 31))),
    );
    const looking = new AbortController();
    const looked = lookForLosses(run, AbortSignal.any([looking.signal, options.signal]));
    try {
      await Promise.all(actors);
    } finally {
      looking.abort();
      stopping.abort();
      await Promise.allSettled([...actors, looked]);
    }
    const seconds = (options.clock.now() - startedAt) / 1000;
    const held = await heldUpdates(run, new LabClient(given));
    return {
      strategy: options.strategy,
      actors: options.actors,
      ...run.counts,
      lost: run.counts.accepted - held,
      seconds,
    };
  } finally {
    await made.remove(run.client);
  }
}

/** Reads the counters until the signal aborts; never rejects, because what it finds is only news. */
async function lookForLosses(run: Run, signal: AbortSignal): Promise<void> {
  const { onLost, clock, server } = run.options;
  if (onLost === undefined) return;
  const watcher = new LabClient({ server, clock, signal });
  while (!signal.aborted) {
    const { accepted } = run.counts;
    const held = await heldUpdates(run, watcher).catch(() => undefined);
    if (held !== undefined) onLost(Math.max(0, accepted - held));
    await clock.delay(lookMs, signal).catch(() => undefined);
  }
}

/** How many updates the server holds: the sum of all counters. */
async function heldUpdates(run: Run, client: LabClient): Promise<number> {
  const { answer } = await client.send('versions-lab', 'GET', run.path);
  const data = answer['data'];
  const keys = typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.keys(data) : [];
  return keys.reduce((sum, key) => sum + Number(dataOf(answer, key)), 0);
}

async function actor(run: Run, manager: string, random: () => number): Promise<void> {
  const { strategy, updates } = run.options;
  for (let update = 0; update < updates; update += 1) {
    if (strategy === 'naive') await naive(run, manager, random);
    else if (strategy === 'token-swap') await tokenSwap(run, manager, random);
    else await safe(run, manager, random, strategy);
    run.options.onProgress?.(run.counts);
  }
}

const think = (run: Run, random: () => number): Promise<void> =>
  run.options.clock.delay(random() * run.options.thinkMs, run.options.signal);
const increment = (object: JsonObject, key = 'count'): JsonObject =>
  withData(object, { [key]: String(Number(dataOf(object, key)) + 1) });

function count(run: Run, manager: string, written: Exchange): boolean {
  run.counts.attempts += 1;
  const accepted = written.reply.status < 300;
  if (!accepted && written.reply.status !== 409) throw errorOf(written.reply);
  if (accepted) run.counts.accepted += 1;
  else run.counts.refused += 1;
  run.options.onAttempt?.({ at: written.endedAt, manager, accepted });
  return accepted;
}

/** Writes the whole object without a token: the last writer wins, and nobody is told. */
async function naive(run: Run, manager: string, random: () => number): Promise<void> {
  const { answer } = await run.client.send(manager, 'GET', run.path);
  await think(run, random);
  const { resourceVersion: _token, ...metadata } = metadataOf(answer);
  const body = { ...increment(answer), metadata };
  count(run, manager, await run.client.send(manager, 'PUT', run.path, { body }));
}

/** On a conflict, borrows the newest token for the stale content. */
async function tokenSwap(run: Run, manager: string, random: () => number): Promise<void> {
  const { answer } = await run.client.send(manager, 'GET', run.path);
  await think(run, random);
  let desired = increment(answer);
  for (let attempt = 1; attempt <= run.options.maxAttempts; attempt += 1) {
    if (attempt > 1) run.counts.retried += 1;
    const written = await run.client.send(manager, 'PUT', run.path, { body: desired });
    if (count(run, manager, written)) return;
    const newest = await run.client.send(manager, 'GET', run.path);
    desired = withToken(desired, tokenOf(newest.answer));
  }
  run.counts.gaveUp += 1;
}

/** The safe write: refetch, recompute, bounded, backed off. */
async function safe(
  run: Run,
  manager: string,
  random: () => number,
  strategy: 'read-modify-write' | 'apply',
): Promise<void> {
  const { options, counts } = run;
  const key = strategy === 'apply' ? manager : 'count';
  const compute = async (current: JsonObject): Promise<JsonObject> => {
    await think(run, random);
    return increment(current, key);
  };
  const report = await modify(
    options.server,
    run.target,
    { kind: 'function', compute },
    {
      clock: {
        ...options.clock,
        now: () => options.clock.now(),
        delay: (ms, signal) => options.clock.delay(ms, signal),
        random,
      },
      signal: options.signal,
      strategy: strategy === 'apply' ? 'apply' : 'replace',
      fieldManager: manager,
      soleManager: true,
      maxAttempts: options.maxAttempts,
      ...options.safeWriteLog,
      onAttempt: (attempt) => {
        counts.attempts += 1;
        if (attempt.attempt > 1) counts.retried += 1;
        if (attempt.outcome === 'version-conflict') counts.refused += 1;
        options.onAttempt?.({ at: options.clock.now(), manager, accepted: attempt.outcome === 'written' });
      },
    },
  );
  const lostEvery = report.attempts.at(-1)?.outcome === 'version-conflict';
  if (report.outcome === 'written') counts.accepted += 1;
  else if (report.outcome === 'contended' || (report.outcome === 'timed-out' && lostEvery)) counts.gaveUp += 1;
  else throw endedOtherwise(report);
}
