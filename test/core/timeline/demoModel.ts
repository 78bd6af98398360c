import { emptyHistory, reduce } from '../../../src/core/reduce.ts';
import type { History } from '../../../src/core/history.ts';
import type { LaneInfo, TimelineFinding, TimelineModel } from '../../../src/core/timeline/model.ts';
import { unpackLanes } from '../../../src/core/timeline/packedLanes.ts';
import { TimelineProjection } from '../../../src/core/timeline/project.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import type { NewTraceEvent, TraceEvent } from '../../../src/core/traceEvent.ts';
import { demo } from '../../webview/scenario.ts';

/** Events with their numbers. */
export function numbered(events: readonly NewTraceEvent[]): TraceEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

/** A log and its projection, fed in batches of a size; the history runs ahead within a batch, as it does live. */
export function projected(
  events: readonly TraceEvent[],
  findings: readonly TimelineFinding[] = [],
  batch = events.length,
  known: readonly TraceEvent[] = events,
): { projection: TimelineProjection; history: History } {
  const history = emptyHistory();
  const projection = new TimelineProjection({
    clusterLabel: () => 'kind-dev',
    translate: english,
    eventAt: (seq) => known[seq - 1],
  });
  for (let start = 0; start < events.length; start += Math.max(1, batch)) {
    const part = events.slice(start, start + Math.max(1, batch));
    for (const event of part) reduce(history, event);
    projection.add(part, history);
  }
  projection.setFindings(findings);
  return { projection, history };
}

/** The model of the demo. */
export function demoModel(): TimelineModel {
  const { events, findings } = demo();
  return projected(numbered(events), findings).projection.model();
}

/** A lane of the first group of which nothing more is known. */
export function laneOf(lane: Pick<LaneInfo, 'kind' | 'namespace' | 'name' | 'bars'>): LaneInfo {
  const nothing = { findings: 0, watched: false, lagFrom: undefined, remark: undefined };
  return { group: 0, ...nothing, ...lane, incarnations: lane.bars.length };
}

/** The lanes of a model. */
export function lanesOf(model: TimelineModel): LaneInfo[] {
  return unpackLanes(model, model.strings).map((lane) => lane.copied());
}

/** A model as lines that a person can read. */
export function describeModel(model: TimelineModel, kinds: readonly string[]): string[] {
  const lines: string[] = [];
  for (const [index, lane] of lanesOf(model).entries()) {
    const bars = lane.bars.map(
      (bar) =>
        `${bar.uid.slice(0, 8)} ${bar.began}${bar.terminatingAt === undefined ? '' : ' terminating'}${bar.to === undefined ? '' : ` | ${bar.endHow}`}`,
    );
    lines.push(`${model.groups[lane.group]?.label} ${lane.namespace}/${lane.name}: ${bars.join(', ')}`);
    for (let mark = 0; mark < model.marks.at.length; mark += 1) {
      if (model.marks.lane[mark] !== index) continue;
      const label = model.strings[model.marks.label[mark] ?? 0] ?? '';
      const actor = model.strings[model.marks.actor[mark] ?? 0] ?? '';
      lines.push(
        `  #${model.marks.event[mark]} ${kinds[model.marks.kind[mark] ?? 0]}/${model.marks.flags[mark]} ${actor} ${label}`.trimEnd(),
      );
    }
  }
  return lines;
}
