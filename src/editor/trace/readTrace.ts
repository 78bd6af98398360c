import { createReadStream } from 'node:fs';
import { AppError } from '../../base/appError.ts';
import { Emitter } from '../../base/emitter.ts';
import { EventLog } from '../../core/eventLog.ts';
import { createDetector } from '../../core/findings/detect.ts';
import type { Finding } from '../../core/findings/finding.ts';
import { TraceReader, type TraceProblem } from '../../core/trace.ts';
import type { NewTraceEvent, TraceEvent } from '../../core/traceEvent.ts';
import type { TimelineSource } from '../timeline/timelineSource.ts';

/** A trace that was read whole. */
export interface LoadedTrace {
  readonly source: TimelineSource;
  readonly problems: readonly TraceProblem[];
  readonly events: number;
}

/**
 * Reads a trace from a file, piece by piece, and works out its findings.
 * @throws AppError `trace-unreadable`, `trace-newer`, `cancelled`
 */
export async function readTrace(path: string, signal: AbortSignal): Promise<LoadedTrace> {
  const log = new EventLog();
  const detector = createDetector();
  const reader = await readEvents(path, signal, (events) => {
    for (const event of log.appendAll(events.map(withoutSeq))) detector.add(event);
  });
  detector.end();
  const findings: readonly Finding[] = detector.findings();
  const labels = reader.header?.clusters ?? {};
  const silent = new Emitter<{ readonly events: readonly TraceEvent[]; readonly findingsChanged: boolean }>(
    () => undefined,
  );
  return {
    source: {
      log,
      hasCluster: false,
      findings: () => findings,
      clusterLabel: (cluster) => labels[cluster]?.label ?? cluster,
      onDidChange: silent.event,
    },
    problems: reader.problems,
    events: log.lastSeq,
  };
}

/** Reads the events of a trace; gives them in batches. */
export async function readEvents(
  path: string,
  signal: AbortSignal,
  take: (events: readonly TraceEvent[]) => void,
): Promise<TraceReader> {
  const reader = new TraceReader();
  try {
    for await (const chunk of createReadStream(path, { encoding: 'utf8', signal, highWaterMark: 1 << 20 }))
      take(reader.push(chunk as string));
  } catch (error) {
    if (signal.aborted) throw new AppError('cancelled', 'Cancelled.');
    throw new AppError('trace-unreadable', `The file ${path} cannot be read.`, { cause: error });
  }
  take(reader.end());
  if (reader.failure !== undefined) throw reader.failure;
  return reader;
}

/** An event as another log takes it. */
export function withoutSeq(event: TraceEvent): NewTraceEvent {
  const { seq: _seq, ...rest } = event;
  return rest;
}
