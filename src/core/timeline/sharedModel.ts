import { Anonymizer } from '../anonymize.ts';
import { createDetector } from '../findings/detect.ts';
import { emptyHistory, reduce } from '../reduce.ts';
import type { TraceEvent } from '../traceEvent.ts';
import type { TimelineModel } from './model.ts';
import { TimelineProjection } from './project.ts';
import type { Translate } from './translate.ts';

/**
 * The timeline of a log whose names and values are replaced, as `Anonymizer` does with this secret: for a picture that can
 * be shared. The findings are found anew in what was replaced, so that their words hold no name either.
 */
export function sharedModel(events: Iterable<TraceEvent>, secret: string, translate: Translate): TimelineModel {
  const anonymizer = new Anonymizer(secret);
  const history = emptyHistory();
  const detector = createDetector({ translate });
  const known = new Map<number, TraceEvent>();
  const projection = new TimelineProjection({
    clusterLabel: (cluster) => anonymizer.clusterLabel(cluster),
    translate,
    eventAt: (seq) => known.get(seq),
  });
  for (const original of events) {
    const event = anonymizer.event(original);
    known.set(event.seq, event);
    reduce(history, event);
    detector.add(event);
    projection.add([event], history);
  }
  detector.end();
  projection.setFindings(
    detector.findings().map((finding) => ({ ...finding, object: { ...finding.object, cluster: finding.cluster } })),
  );
  return projection.model();
}
