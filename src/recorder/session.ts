import { endNote } from '../core/endNote.ts';
import type { NewTraceEvent, TraceEvent } from '../core/traceEvent.ts';
import { createDetector, type Detector } from '../core/findings/detect.ts';
import type { Finding } from '../core/findings/finding.ts';
import type { DetectorOptions } from '../core/findings/options.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import { Marks } from './marks.ts';

/** What a session does with its events besides finding: write them to a trace, show them on a timeline. */
export type EventListener = (event: TraceEvent) => void;

/** Numbers the events of one recording, passes them on, and finds in them as they come. */
export class RecordingSession {
  private readonly detector: Detector;
  private readonly listener: EventListener;
  private readonly kept: Marks | undefined;
  private seq = 0;

  /** `withMarks`: events are kept for a report that shows them. */
  constructor(listener: EventListener, options: DetectorOptions = {}, withMarks = false) {
    this.detector = createDetector(options);
    this.listener = listener;
    this.kept = withMarks ? new Marks(() => this.detector.findings()) : undefined;
  }

  /** Takes the next event; returns the findings that are new or grew by it. */
  add(event: NewTraceEvent): Finding[] {
    this.seq += 1;
    const numbered: TraceEvent = { ...event, seq: this.seq };
    this.listener(numbered);
    this.kept?.add(numbered);
    return this.detector.add(numbered);
  }

  /** What a report shows of the events, once the recording has ended; empty where none were to be kept. */
  marks(): Mark[] {
    return this.kept?.all() ?? [];
  }

  get events(): number {
    return this.seq;
  }

  /**
   * The recording ends at `at` (milliseconds since the epoch), which a note says: all findings, those that only the end can tell
   * included.
   */
  end({ at, cluster }: { readonly at: number; readonly cluster: string }): Finding[] {
    this.add(endNote(at, cluster, 'recorder'));
    this.detector.end();
    return this.detector.findings();
  }
}
