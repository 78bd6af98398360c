import type { Anonymizer } from '../anonymize.ts';
import { emptyHistory, reduce } from '../reduce.ts';
import type { TraceEvent } from '../traceEvent.ts';
import type { TimelineFinding, TimelineModel } from './model.ts';
import { TimelineProjection } from './project.ts';
import type { Translate } from './translate.ts';

/**
 * The timeline of a log whose names and values are replaced, as `Anonymizer` does: for a picture that can be shared. Only
 * the numbers of findings are kept, and what they are about under its new name.
 */
export function sharedModel(
  events: readonly TraceEvent[],
  findings: readonly TimelineFinding[],
  anonymizer: Anonymizer,
  translate: Translate,
): TimelineModel {
  const history = emptyHistory();
  const replaced = events.map((event) => anonymizer.event(event));
  const bySeq = new Map(replaced.map((event) => [event.seq, event]));
  const projection = new TimelineProjection({
    clusterLabel: (cluster) => anonymizer.clusterLabel(cluster),
    translate,
    eventAt: (seq) => bySeq.get(seq),
  });
  for (const event of replaced) {
    reduce(history, event);
    projection.add([event], history);
  }
  projection.setFindings(findings.map((finding) => anonymizer.finding(finding)));
  return projection.model();
}
