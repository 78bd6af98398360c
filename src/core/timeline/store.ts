import { isAboveBar } from './cells.ts';
import { Density } from './density.ts';
import { MarkTable } from './columns.ts';
import { StoredLane } from './storedLane.ts';
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

/** From so many marks at once on, lanes share one list of them. */
const MANY = 2000;

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
  /** Grows when lanes come, change their order by findings, or begin or cease to be folded: what was laid out is out of date. */
  layoutVersion = 0;
  /** Grows with each change of a lane or of a finding. */
  lanesVersion = 0;

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
    this.lanesVersion += 1;
    for (const bar of info.bars) this.firstAt = Math.min(this.firstAt, bar.from);
    if (known !== undefined) {
      const before = known.isIncidental;
      const moved = known.info.findings !== info.findings || known.info.watched !== info.watched;
      known.info = info;
      if (moved || known.isIncidental !== before) this.layoutVersion += 1;
      return;
    }
    this.layoutVersion += 1;
    this.lanes[index] = new StoredLane(info, this.marks);
  }

  private addMarks(columns: MarkColumns): number {
    const { at, lane, kind, flags, event, actor, label, uid, outcome } = columns;
    const first = this.marks.length;
    let rejected = 0;
    for (let index = 0; index < at.length; index += 1) {
      const stored = this.lanes[lane[index] ?? 0];
      if (stored === undefined) {
        rejected += 1;
        continue;
      }
      const time = at[index] ?? 0;
      this.marks.push({
        at: time,
        lane: lane[index] ?? 0,
        kind: kind[index] ?? 0,
        flags: flags[index] ?? 0,
        event: event[index] ?? 0,
        actor: actor[index] ?? 0,
        label: label[index] ?? 0,
        uid: uid[index] ?? 0,
        outcome: outcome[index] ?? 0,
      });
      stored.count += 1;
      if (isAboveBar(kind[index] ?? 0)) this.addAlarm(stored);
      if (time > stored.lastAt) stored.lastAt = time;
      if (time < this.firstAt) this.firstAt = time;
      if (time > this.lastAt) this.lastAt = time;
      this.density.add(time, kind[index] ?? 0);
    }
    if (this.marks.length - first >= MANY) this.shareOut(first);
    else for (let mark = first; mark < this.marks.length; mark += 1) this.lanes[this.marks.lane.at(mark)]?.add(mark);
    return rejected;
  }

  private addAlarm(lane: StoredLane): void {
    if (lane.isIncidental) this.layoutVersion += 1;
    lane.alarms += 1;
  }

  /** Gives each lane its part of one list of the marks from `first` on, sorted by lane (a counting sort). */
  private shareOut(first: number): void {
    const { lane } = this.marks;
    const ends = new Uint32Array(this.lanes.length + 1);
    for (let mark = first; mark < this.marks.length; mark += 1) {
      const place = lane.at(mark) + 1;
      ends[place] = (ends[place] ?? 0) + 1;
    }
    for (let index = 1; index < ends.length; index += 1) ends[index] = (ends[index] ?? 0) + (ends[index - 1] ?? 0);
    const sorted = new Uint32Array(this.marks.length - first);
    const next = ends.slice();
    for (let mark = first; mark < this.marks.length; mark += 1) {
      const place = next[lane.at(mark)] ?? 0;
      sorted[place] = mark;
      next[lane.at(mark)] = place + 1;
    }
    this.lanes.forEach((stored, index) => stored.addShared(sorted, ends[index] ?? 0, ends[index + 1] ?? 0));
  }

  private patch(index: number, patch: { kind: number; flags: number; actor: number; label: number }): void {
    if (this.marks.kind.at(index) !== patch.kind) this.lanes[this.marks.lane.at(index)]?.changeKind(index, patch.kind);
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
    const before = new Set(this.annotations.map(({ lane }) => lane));
    for (const lane of before) {
      const stored = this.lanes[lane];
      if (stored !== undefined) stored.annotations = [];
    }
    for (const annotation of from.annotations) this.lanes[annotation.lane]?.annotations.push(annotation);
    const after = new Set(from.annotations.map(({ lane }) => lane));
    if (before.size !== after.size || [...after].some((lane) => !before.has(lane))) this.layoutVersion += 1;
    this.annotations = from.annotations;
    this.lanesVersion += 1;
  }

  private finish(from: { readonly lastAt: number; readonly lastSeq: number }): void {
    if (from.lastSeq > 0) this.lastAt = Math.max(this.lastAt, from.lastAt);
    this.lastSeq = from.lastSeq;
  }
}
