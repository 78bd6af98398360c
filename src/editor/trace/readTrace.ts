import { Emitter } from '../../base/emitter.ts';
import { EventLog } from '../../core/eventLog.ts';
import { createDetector } from '../../core/findings/detect.ts';
import type { DetectorOptions } from '../../core/findings/options.ts';
import type { Finding } from '../../core/findings/finding.ts';
import { TraceReader, type TraceProblem } from '../../core/trace.ts';
import type { NewTraceEvent, TraceEvent } from '../../core/traceEvent.ts';
import { readTraceFile } from '../../storage/traceFile.ts';
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
export async function readTrace(path: string, thresholds: DetectorOptions, signal: AbortSignal): Promise<LoadedTrace> {
  const log = new EventLog();
  const detector = createDetector(thresholds);
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
      clusterLabels: () => labels,
      exported: () => log.eventsFrom(1),
      onDidChange: silent.event,
    },
    problems: reader.problems,
    events: log.lastSeq,
  };
}

/**
 * Reads the events of a trace; gives them in batches.
 * @throws AppError `trace-unreadable`, `trace-newer`, `cancelled`
 */
export async function readEvents(
  path: string,
  signal: AbortSignal,
  take: (events: readonly TraceEvent[]) => void,
): Promise<TraceReader> {
  const reader = new TraceReader();
  for await (const events of readTraceFile(path, reader, signal)) take(events);
  return reader;
}

/** An event as another log takes it. */
export function withoutSeq(event: TraceEvent): NewTraceEvent {
  const { seq: _seq, ...rest } = event;
  return rest;
}
