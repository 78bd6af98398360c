import { Density } from './density.ts';
import type { LaneSeries } from './cells.ts';
import { MarkTable } from './columns.ts';
import { MarkSeries } from './series.ts';
import type {
  AnnotationInfo,
  GapInfo,
  GroupInfo,
  LagColumns,
  LaneInfo,
  LinkColumns,
  MarkColumns,
  NoteInfo,
  TimelineDelta,
  TimelineModel,
} from './model.ts';

/** A link as the drawing needs it. */
export interface StoredLink {
  readonly kind: number;
  readonly event: number;
  readonly fromLane: number;
  readonly fromAt: number;
  readonly toLane: number;
  readonly toAt: number;
}

/** All that is kept of one lane. */
export interface StoredLane {
  info: LaneInfo;
  readonly series: LaneSeries;
  /** Links that begin on this lane, in order of their mark's time. */
  readonly links: StoredLink[];
  readonly lags: { readonly from: number; readonly to: number }[];
  annotations: AnnotationInfo[];
  count: number;
  lastAt: number;
}

/** The model as the view holds it: indexed by lane, kind and time, and growing by deltas. */
export class TimelineStore {
  readonly lanes: StoredLane[] = [];
  readonly groups: GroupInfo[] = [];
  readonly strings: string[] = [];
  readonly marks = new MarkTable();
  readonly density = new Density();
  gaps: readonly GapInfo[] = [];
  annotations: readonly AnnotationInfo[] = [];
  notes: readonly NoteInfo[] = [];
  firstAt = Number.POSITIVE_INFINITY;
  lastAt = Number.NEGATIVE_INFINITY;
  lastSeq = 0;
  /** Grows with each change of the lanes themselves: what was laid out by them is out of date. */
  layoutVersion = 0;

  constructor(model: TimelineModel) {
    for (const text of model.strings) this.strings.push(text);
    this.groups.push(...model.groups);
    model.lanes.forEach((lane, index) => this.setLane(index, lane));
    this.addMarks(model.marks);
    this.addLinks(model.links);
    this.addLags(model.lags);
    this.setSmall(model);
    this.finish(model);
  }

  /**
   * Appends what came since. Places that do not exist make it throw nothing: such rows are left out and counted in the
   * result, so that the view can ask for a new snapshot.
   */
  apply(delta: TimelineDelta): { readonly rejected: number } {
    for (const text of delta.strings) this.strings.push(text);
    this.groups.push(...delta.groups);
    for (const { index, lane } of delta.lanes) this.setLane(index, lane);
    let rejected = this.addMarks(delta.marks);
    for (const patch of delta.patches) {
      if (patch.index < this.marks.length) this.patch(patch.index, patch);
      else rejected += 1;
    }
    rejected += this.addLinks(delta.links) + this.addLags(delta.lags);
    this.setSmall(delta);
    this.finish(delta);
    return { rejected };
  }

  /** The text at a place of `strings`. */
  text(place: number): string {
    return this.strings[place] ?? '';
  }

  private setLane(index: number, info: LaneInfo): void {
    const known = this.lanes[index];
    this.layoutVersion += 1;
    for (const bar of info.bars) this.firstAt = Math.min(this.firstAt, bar.from);
    if (known !== undefined) {
      known.info = info;
      return;
    }
    this.lanes[index] = { info, series: [], links: [], lags: [], annotations: [], count: 0, lastAt: 0 };
  }

  private addMarks(columns: MarkColumns): number {
    const { at, lane, kind, flags, event, actor, label, uid, outcome } = columns;
    let rejected = 0;
    for (let index = 0; index < at.length; index += 1) {
      const stored = this.lanes[lane[index] ?? 0];
      if (stored === undefined) {
        rejected += 1;
        continue;
      }
      const time = at[index] ?? 0;
      const kindOf = kind[index] ?? 0;
      const place = this.marks.push({
        at: time,
        lane: lane[index] ?? 0,
        kind: kindOf,
        flags: flags[index] ?? 0,
        event: event[index] ?? 0,
        actor: actor[index] ?? 0,
        label: label[index] ?? 0,
        uid: uid[index] ?? 0,
        outcome: outcome[index] ?? 0,
      });
      this.seriesOf(stored, kindOf).insert(time, place);
      stored.count += 1;
      if (time > stored.lastAt) stored.lastAt = time;
      if (time < this.firstAt) this.firstAt = time;
      if (time > this.lastAt) this.lastAt = time;
      this.density.add(time, kindOf);
    }
    return rejected;
  }

  private seriesOf(lane: StoredLane, kind: number): MarkSeries {
    const known = lane.series[kind];
    if (known !== undefined) return known;
    const series = new MarkSeries();
    lane.series[kind] = series;
    return series;
  }

  private patch(index: number, patch: { kind: number; flags: number; actor: number; label: number }): void {
    const lane = this.lanes[this.marks.lane.at(index)];
    const before = this.marks.kind.at(index);
    const at = this.marks.at.at(index);
    if (lane !== undefined && before !== patch.kind) {
      lane.series[before]?.remove(at, index);
      this.seriesOf(lane, patch.kind).insert(at, index);
    }
    this.marks.kind.set(index, patch.kind);
    this.marks.flags.set(index, patch.flags);
    this.marks.actor.set(index, patch.actor);
    this.marks.label.set(index, patch.label);
  }

  private addLinks(links: LinkColumns): number {
    let rejected = 0;
    for (let index = 0; index < links.kind.length; index += 1) {
      const fromLane = links.fromLane[index] ?? 0;
      const toLane = links.toLane[index] ?? 0;
      const lane = this.lanes[fromLane];
      if (lane === undefined || this.lanes[toLane] === undefined) {
        rejected += 1;
        continue;
      }
      lane.links.push({
        kind: links.kind[index] ?? 0,
        event: links.event[index] ?? 0,
        fromLane,
        fromAt: links.fromAt[index] ?? 0,
        toLane,
        toAt: links.toAt[index] ?? 0,
      });
    }
    return rejected;
  }

  private addLags(lags: LagColumns): number {
    let rejected = 0;
    for (let index = 0; index < lags.lane.length; index += 1) {
      const lane = this.lanes[lags.lane[index] ?? 0];
      if (lane === undefined) rejected += 1;
      else lane.lags.push({ from: lags.from[index] ?? 0, to: lags.to[index] ?? 0 });
    }
    return rejected;
  }

  private setSmall(from: Pick<TimelineDelta, 'gaps' | 'annotations' | 'notes'>): void {
    if (from.gaps !== undefined) this.gaps = from.gaps;
    if (from.notes !== undefined) this.notes = from.notes;
    if (from.annotations === undefined) return;
    for (const lane of this.lanes) if (lane.annotations.length > 0) lane.annotations = [];
    for (const annotation of from.annotations) this.lanes[annotation.lane]?.annotations.push(annotation);
    this.annotations = from.annotations;
    this.layoutVersion += 1;
  }

  private finish(from: { readonly lastAt: number; readonly lastSeq: number }): void {
    if (from.lastSeq > 0) this.lastAt = Math.max(this.lastAt, from.lastAt);
    this.lastSeq = from.lastSeq;
  }
}
