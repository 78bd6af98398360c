import { randomBytes } from 'node:crypto';
import { Anonymizer } from '../../core/anonymize.ts';
import { EventLog } from '../../core/eventLog.ts';
import { createDetector } from '../../core/findings/detect.ts';
import type { TimelineModel } from '../../core/timeline/model.ts';
import { projectTimeline } from '../../core/timeline/project.ts';
import type { Translate } from '../../core/timeline/translate.ts';
import { withoutSeq } from '../trace/readTrace.ts';
import type { TimelineSource } from './timelineSource.ts';

/** What the timeline shows, with names and values replaced consistently, so that a picture of it can be shared. */
export function sharedModel(source: TimelineSource, translate: Translate): TimelineModel {
  const anonymizer = new Anonymizer(randomBytes(16).toString('hex'));
  const log = new EventLog();
  const detector = createDetector();
  const events = log.appendAll([...source.log.eventsFrom(1)].map((event) => withoutSeq(anonymizer.event(event))));
  for (const event of events) detector.add(event);
  const findings = detector
    .findings()
    .map((finding) => ({ ...finding, object: { ...finding.object, cluster: finding.cluster } }));
  return projectTimeline(log.history, events, findings, {
    clusterLabel: () => '',
    translate,
    eventAt: (seq) => log.eventAt(seq),
  });
}
