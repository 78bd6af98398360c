import { doersOf } from '../findings/finding.ts';
import { actorName as findingActor } from '../findings/knowledge.ts';
import type { TraceEvent, WriteEvent } from '../traceEvent.ts';
import { findingWords } from './findingWords.ts';
import type { LaneState, LaneTable } from './lanes.ts';
import type { AnnotationInfo, BarInfo, MarkKind, TimelineFinding } from './model.ts';
import type { Translate } from './translate.ts';

/** Findings whose marks, bars or gaps are there already: they add nothing to see. */
const ALREADY_SHOWN = new Set(['recreated', 'version-conflict', 'uid-mismatch', 'watch-gap', 'uncertain-write']);

const GLYPHS: Readonly<Record<string, MarkKind>> = {
  'lost-update': 'lost-update',
  'force-takeover': 'takeover',
  'stale-reference': 'stale-reference',
};

/** Findings of something that points at, or uses, what is gone. */
const POINTING = new Set(['stale-reference', 'stale-use']);

/** Findings whose every occurrence has a place of its own on the lane. */
const REPEATED = new Set(['lost-update', 'force-takeover']);

/** Findings of a stretch of time: words over it, no glyph of their own. */
const STRETCHES = new Set(['hot-conflict-loop', 'already-exists-loop', 'no-op-writes', 'generation-lag']);

/**
 * What the findings add to the lanes. Lanes get the number of findings that are more than information, and a remark where
 * one points at something gone. `eventAt` gives the evidence.
 */
export function annotate(
  table: LaneTable,
  findings: readonly TimelineFinding[],
  eventAt: (seq: number) => TraceEvent | undefined,
  translate: Translate,
): AnnotationInfo[] {
  const counts = new Map<number, number>();
  const remarks = new Map<number, string>();
  const annotations: AnnotationInfo[] = [];
  for (const finding of findings) {
    const lane = laneOf(table, finding);
    if (lane === undefined) continue;
    if (finding.severity !== 'info') counts.set(lane.index, (counts.get(lane.index) ?? 0) + 1);
    if (finding.id === 'stale-reference') remarks.set(lane.index, translate('refers to a gone UID'));
    if (!ALREADY_SHOWN.has(finding.id)) annotations.push(annotationOf(table, lane, finding, eventAt, translate));
  }
  for (const lane of table.lanes) {
    const count = counts.get(lane.index) ?? 0;
    const remark = remarks.get(lane.index);
    if (lane.findings === count && lane.remark === remark) continue;
    lane.findings = count;
    lane.remark = remark;
    table.dirty.add(lane.index);
  }
  return annotations;
}

function laneOf(table: LaneTable, finding: TimelineFinding): LaneState | undefined {
  const { object } = finding;
  return object.cluster === undefined ? table.findAnywhere(object) : table.find(object.cluster, object);
}

function annotationOf(
  table: LaneTable,
  lane: LaneState,
  finding: TimelineFinding,
  eventAt: (seq: number) => TraceEvent | undefined,
  translate: Translate,
): AnnotationInfo {
  const glyph = GLYPHS[finding.id] ?? (STRETCHES.has(finding.id) ? undefined : 'finding');
  const origin = POINTING.has(finding.id) ? originOf(table, lane, finding, eventAt) : undefined;
  return {
    lane: lane.index,
    from: finding.firstAt,
    to: finding.lastAt,
    id: finding.id,
    key: [
      finding.id,
      finding.kind ?? '',
      lane.key,
      finding.object.uid ?? '',
      ...finding.events.slice(0, 1),
      ...(POINTING.has(finding.id) ? [] : doersOf(finding)),
    ].join(' '),
    severity: finding.severity,
    text: findingWords(finding, translate),
    count: finding.count,
    repeats: repeatsOf(finding, eventAt),
    events: finding.events,
    ...(glyph === undefined ? {} : { glyph }),
    ...(origin === undefined ? {} : { originLane: origin.lane, originAt: origin.at }),
  };
}

/** Where the thing is that a stale reference or use means: the last evidence on another lane. */
function originOf(
  table: LaneTable,
  own: LaneState,
  finding: TimelineFinding,
  eventAt: (seq: number) => TraceEvent | undefined,
): { lane: number; at: number } | undefined {
  for (const seq of finding.events.toReversed()) {
    const event = eventAt(seq);
    if (event?.type !== 'observed' && event?.type !== 'absent') continue;
    const lane = table.find(event.cluster, event.name);
    if (lane === undefined || lane === own) continue;
    const endOf = (bar: BarInfo): number | undefined => bar.terminatingAt ?? bar.to;
    const ended = lane.bars.filter((bar) => endOf(bar) !== undefined);
    const gone = ended.findLast((bar) => (endOf(bar) ?? 0) <= finding.lastAt) ?? ended[0];
    return { lane: lane.index, at: gone === undefined ? event.at : (endOf(gone) ?? event.at) };
  }
  return undefined;
}

/** Earlier times at which it happened: those of its writes that the evidence still names. */
function repeatsOf(finding: TimelineFinding, eventAt: (seq: number) => TraceEvent | undefined): number[] {
  if (finding.count < 2 || !REPEATED.has(finding.id)) return [];
  const times = finding.events.flatMap((seq) => {
    const event = eventAt(seq);
    const isIt = event?.type === 'write' && event.outcome === 'accepted' && event.at !== finding.lastAt;
    return isIt && (event.force === true || finding.id !== 'force-takeover') && isBy(event, finding.actors[0])
      ? [event.at]
      : [];
  });
  return [...new Set(times)];
}

function isBy({ actor }: WriteEvent, name: string | undefined): boolean {
  return name !== undefined && findingActor(actor) === name;
}
