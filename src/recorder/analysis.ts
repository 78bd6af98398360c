import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Actor, NewTraceEvent, TraceEvent } from '../core/traceEvent.ts';
import { createDetector } from '../core/findings/detect.ts';
import type { Finding } from '../core/findings/finding.ts';
import type { DetectorOptions } from '../core/findings/options.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import { EventSource, refuseEmpty, type TimedEvents } from './eventSource.ts';
import { inOrder } from './findingOrder.ts';
import { Marks } from './marks.ts';
import { ShardView, type Shard } from './shard.ts';

/** What to analyse. */
export interface AnalysisInput {
  readonly files: readonly string[];
  readonly stdin: Readable;
  readonly signal: AbortSignal;
  readonly shard?: Shard;
  readonly detector?: DetectorOptions;
  /** Keep events for a report that shows them. */
  readonly marks?: boolean;
}

/** What an analysis found. */
export interface Analysis {
  readonly findings: Finding[];
  readonly events: number;
  readonly notAnalysed: Record<string, unknown>;
  readonly notes: string[];
  readonly marks: Mark[];
}

/**
 * Finds in traces and audit logs. Several files are merged by time, and writes of several API servers are put in order by the
 * tokens that link them, where they do; empty ones among them are noted. Memory does not grow with the files.
 * @throws AppError `trace-unreadable`, `trace-newer`, `cancelled`
 */
export async function analyse(input: AnalysisInput): Promise<Analysis> {
  const context = { cluster: 'audit', secretKey: randomBytes(16).toString('hex'), actors: new Map<string, Actor>() };
  const { shard } = input;
  const view = shard === undefined ? undefined : new ShardView(shard);
  const sources = input.files.map(
    (path) => new EventSource(path, { stdin: input.stdin, signal: input.signal, context, view }),
  );
  const detector = createDetector({
    ...input.detector,
    ...(view === undefined ? {} : { isAsked: (name) => view.has(name) }),
  });
  const marks = input.marks === true ? new Marks(() => detector.findings()) : undefined;
  let seq = 0;
  const keepNumbers = sources.length === 1;
  const take = (event: TraceEvent | NewTraceEvent): void => {
    seq += 1;
    const own = view?.of(event) ?? event;
    const numbered: TraceEvent = keepNumbers && isNumbered(own) ? own : Object.assign(own, { seq });
    // What was left out of a sight proves nothing.
    if (own === event || event.type !== 'observed') marks?.add(numbered);
    detector.add(numbered);
  };
  if (sources.length === 1 && sources[0] !== undefined) {
    for (let batch = await sources[0].next(); batch !== undefined; batch = await sources[0].next())
      for (const timed of batch) for (const event of timed.events) take(event);
  } else await mergeByTime(sources, take);
  refuseEmpty(sources);
  detector.end();
  return {
    findings: inOrder(detector.findings()),
    events: seq,
    notAnalysed: countsOf(sources),
    notes: notesOf(sources),
    marks: marks?.all() ?? [],
  };
}

function isNumbered(event: TraceEvent | NewTraceEvent): event is TraceEvent {
  return 'seq' in event;
}

/** Takes the earliest of what each file has next. */
async function mergeByTime(
  sources: readonly EventSource[],
  take: (event: TraceEvent | NewTraceEvent) => void,
): Promise<void> {
  const heads: { source: EventSource; batch: TimedEvents[]; at: number }[] = [];
  const refill = async (source: EventSource): Promise<TimedEvents[] | undefined> => {
    let batch = await source.next();
    while (batch?.length === 0) batch = await source.next();
    return batch;
  };
  for (const source of sources) {
    const batch = await refill(source);
    if (batch !== undefined) heads.push({ source, batch, at: 0 });
  }
  while (heads.length > 0) {
    let first = heads[0];
    for (const head of heads)
      if (first === undefined || (head.batch[head.at]?.at ?? 0) < (first.batch[first.at]?.at ?? 0)) first = head;
    if (first === undefined) return;
    for (const event of first.batch[first.at]?.events ?? []) take(event);
    first.at += 1;
    if (first.at < first.batch.length) continue;
    const batch = await refill(first.source);
    if (batch === undefined) heads.splice(heads.indexOf(first), 1);
    else Object.assign(first, { batch, at: 0 });
  }
}

function countsOf(sources: readonly EventSource[]): Record<string, unknown> {
  const sum = (field: 'unreadable' | 'torn'): number =>
    sources.reduce((total, source) => total + source.counts[field], 0);
  const levels: Record<string, number> = {};
  for (const source of sources)
    for (const [level, count] of Object.entries(source.counts.levels)) levels[level] = (levels[level] ?? 0) + count;
  return {
    unreadableLines: sum('unreadable'),
    tornLines: sum('torn'),
    withoutBodies: levels['Metadata'] ?? 0,
    withoutAnswers: levels['Request'] ?? 0,
    ...(Object.keys(levels).length === 0 ? {} : { levels }),
  };
}

const LIMITS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Metadata:
      'At the level Metadata an audit log holds no content: conflicts, loops and races are found, lost updates, takeovers and ignored parts cannot be known.',
    Request:
      'At the level Request an audit log holds no answers: what was stored is not known, so lost updates are found only where the requests alone tell.',
  }),
);

function notesOf(sources: readonly EventSource[]): string[] {
  const levels = new Set(sources.flatMap((source) => Object.keys(source.counts.levels)));
  const notes = [...levels].flatMap((level) => LIMITS.get(level) ?? []);
  const audits = sources.filter((source) => source.counts.kind === 'audit');
  if (audits.length > 0)
    notes.push(
      'An audit log does not show what watches delivered: what an actor had been given is unknown where it watches.',
    );
  if (audits.length > 1)
    notes.push(
      'The files of several API servers were put in order by the tokens that link writes where they do, and by time otherwise.',
    );
  return [...notes, ...sources.flatMap((source) => source.counts.notes)];
}
