import { toDisposable } from '../../base/disposable.ts';
import type { Event } from '../../base/emitter.ts';
import type { EventLog } from '../../core/eventLog.ts';
import type { Finding } from '../../core/findings/finding.ts';
import type { ClusterLabels, TraceEvent } from '../../core/traceEvent.ts';
import type { Session } from '../session/session.ts';

/** What a timeline shows: the live log of this window, or a trace that was read from a file. */
export interface TimelineSource {
  readonly log: EventLog;
  /** Whether its objects can be edited: not those of a trace. */
  readonly hasCluster: boolean;
  findings(): readonly Finding[];
  clusterLabel(cluster: string): string;
  /** What is exported of it. */
  clusterLabels(): ClusterLabels;
  exported(): Iterable<TraceEvent>;
  /** Fires with what is new; the log holds it already. */
  readonly onDidChange: Event<{ readonly events: readonly TraceEvent[]; readonly findingsChanged: boolean }>;
}

/** The live log as a source. */
export function liveSource(session: Session): TimelineSource {
  return {
    get log() {
      return session.log;
    },
    hasCluster: true,
    findings: () => session.findings(),
    clusterLabel: (cluster) => session.clusterLabels()[cluster]?.label ?? cluster,
    clusterLabels: () => session.clusterLabels(),
    exported: () => session.exported(),
    // Events at once, so that each time little is projected; findings, and what an earlier window left, with the news.
    onDidChange: (listener) => {
      const appended = session.onDidAppend((events) => listener({ events, findingsChanged: false }));
      const news = session.onDidChange(listener);
      return toDisposable(() => {
        appended.dispose();
        news.dispose();
      });
    },
  };
}
