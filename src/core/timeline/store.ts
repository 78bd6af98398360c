import { ActorIndex } from './actorIndex.ts';
import { isAboveBar } from './cells.ts';
import { Density } from './density.ts';
import { MarkTable, ReadTable } from './columns.ts';
import type { FilterMatch } from './filterMatch.ts';
import { findingsByActor, type ActorFindings } from './findingActors.ts';
import { ReadIndex } from './readIndex.ts';
import { unpackLanes, type PackedLane } from './packedLanes.ts';
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
  PackedLanes,
  TimelineDelta,
  TimelineModel,
} from './model.ts';

/** From so many marks at once on, they are taken as a whole. */
const MANY = 2000;

/** The model as the view holds it: indexed by lane, kind and time, and growing by deltas. */
export class TimelineStore {
  readonly lanes: StoredLane[] = [];
  readonly groups: GroupInfo[] = [];
  readonly strings: string[] = [];
  readonly marks = new MarkTable();
  /** What actors were given. */
  readonly reads = new ReadTable();
  readonly density = new Density();
  gaps: readonly GapInfo[] = [];
  annotations: readonly AnnotationInfo[] = [];
  notes: readonly NoteInfo[] = [];
  firstAt = Number.POSITIVE_INFINITY;
  lastAt = Number.NEGATIVE_INFINITY;
  lastSeq = 0;
  private index: ActorIndex | undefined;
  private readIndex: ReadIndex | undefined;
  private ofActors: ReadonlyMap<number, ActorFindings> | undefined;
  /** Grows when lanes come, change their order by findings, or begin or cease to be folded: what was laid out is out of date. */
  layoutVersion = 0;
  /** Grows with each change of a lane, a gap or a finding. */
  lanesVersion = 0;

  constructor(model: TimelineModel) {
    for (const text of model.strings) this.strings.push(text);
    this.groups.push(...model.groups);
    this.setLanes(model, (lane) => lane);
    this.addMarks(model.marks);
    this.addLinks(model.links);
    this.addLags(model.lags);
    this.reads.append(model.reads);
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
    let rejected = this.setLanes(delta, (lane) => lane.copied()) + this.addMarks(delta.marks);
    for (const patch of delta.patches) {
      if (patch.index < this.marks.length) this.patch(patch.index, patch);
      else rejected += 1;
    }
    rejected += this.addLinks(delta.links) + this.addLags(delta.lags);
    this.reads.append(delta.reads);
    this.setSmall(delta);
    this.finish(delta);
    return { rejected };
  }

  /** The text at a place of `strings`. */
  text(place: number): string {
    return this.strings[place] ?? '';
  }

  /** The marks of each actor on the lanes that a match shows, up to now. */
  actors(match: FilterMatch): ActorIndex {
    if (this.index?.filter !== match.filter) this.index = new ActorIndex(this.marks, match.filter);
    this.index.catchUp(match.lanes);
    return this.index;
  }

  /** What each actor was given of what a match shows, up to now. */
  readsOf(match: FilterMatch): ReadIndex {
    if (this.readIndex?.filter !== match.filter) this.readIndex = new ReadIndex(this, match.filter);
    this.readIndex.catchUp(match.lanes);
    return this.readIndex;
  }

  /** What the findings are to each actor. */
  get findingsByActor(): ReadonlyMap<number, ActorFindings> {
    this.ofActors ??= findingsByActor(this);
    return this.ofActors;
  }

  /** Forgets which marks matched. */
  resetMatched(): void {
    for (const lane of this.lanes) lane.resetMatched();
    this.index?.resetMatched();
  }

  private setLanes(packed: PackedLanes, kept: (lane: PackedLane) => LaneInfo): number {
    let rejected = 0;
    for (const from of packed.bars.from) if (from < this.firstAt) this.firstAt = from;
    unpackLanes(packed, this.strings).forEach((lane, row) => {
      const place = packed.lanes.place[row] ?? 0;
      if (place > this.lanes.length) rejected += 1;
      else this.setLane(place, kept(lane));
    });
    return rejected;
  }

  private setLane(index: number, info: LaneInfo): void {
    const known = this.lanes[index];
    this.lanesVersion += 1;
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
    const { at, lane } = columns;
    if (at.length >= MANY && lane.every((index) => index < this.lanes.length)) {
      this.addMany(columns);
      return 0;
    }
    let rejected = 0;
    for (let index = 0; index < at.length; index += 1) {
      const stored = this.lanes[lane[index] ?? 0];
      if (stored === undefined) rejected += 1;
      else this.addOne(columns, index, stored);
    }
    return rejected;
  }

  private addOne(columns: MarkColumns, index: number, stored: StoredLane): void {
    const at = columns.at[index] ?? 0;
    const kind = columns.kind[index] ?? 0;
    const mark = this.marks.push({
      at,
      lane: columns.lane[index] ?? 0,
      kind,
      flags: columns.flags[index] ?? 0,
      event: columns.event[index] ?? 0,
      actor: columns.actor[index] ?? 0,
      label: columns.label[index] ?? 0,
      uid: columns.uid[index] ?? 0,
      outcome: columns.outcome[index] ?? 0,
    });
    this.span(at, at);
    this.density.add(at, kind);
    this.count(stored, 1, at, isAboveBar(kind) ? 1 : 0);
    stored.add(mark);
  }

  /** Appends whole columns, and gives each lane its part of one list of them, sorted by lane (a counting sort). */
  private addMany(columns: MarkColumns): void {
    const { at, lane, kind } = columns;
    const first = this.marks.length;
    const { length } = this.lanes;
    const ends = new Uint32Array(length + 1);
    const last = new Float64Array(length);
    const alarms = new Uint32Array(length);
    let earliest = Number.POSITIVE_INFINITY;
    let latest = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < at.length; index += 1) {
      const place = lane[index] ?? 0;
      const time = at[index] ?? 0;
      const code = kind[index] ?? 0;
      ends[place + 1] = (ends[place + 1] ?? 0) + 1;
      if (time > (last[place] ?? 0)) last[place] = time;
      if (time < earliest) earliest = time;
      if (time > latest) latest = time;
      if (isAboveBar(code)) alarms[place] = (alarms[place] ?? 0) + 1;
      this.density.add(time, code);
    }
    this.marks.append(columns);
    this.span(earliest, latest);
    for (let place = 1; place < ends.length; place += 1) ends[place] = (ends[place] ?? 0) + (ends[place - 1] ?? 0);
    const sorted = new Uint32Array(at.length);
    const next = ends.slice();
    for (let index = 0; index < at.length; index += 1) {
      const place = lane[index] ?? 0;
      const to = next[place] ?? 0;
      sorted[to] = first + index;
      next[place] = to + 1;
    }
    this.lanes.forEach((stored, place) => {
      const from = ends[place] ?? 0;
      const to = ends[place + 1] ?? 0;
      if (from === to) return;
      this.count(stored, to - from, last[place] ?? 0, alarms[place] ?? 0);
      stored.addShared(sorted, from, to);
    });
  }

  private span(from: number, to: number): void {
    if (from < this.firstAt) this.firstAt = from;
    if (to > this.lastAt) this.lastAt = to;
  }

  private count(lane: StoredLane, marks: number, lastAt: number, alarms: number): void {
    lane.count += marks;
    if (lastAt > lane.lastAt) lane.lastAt = lastAt;
    if (alarms === 0) return;
    if (lane.isIncidental) this.layoutVersion += 1;
    lane.alarms += alarms;
  }

  private patch(index: number, patch: { kind: number; flags: number; actor: number; label: number }): void {
    const { marks, index: ofAll } = this;
    const lane = this.lanes[marks.lane.at(index)];
    const moves = marks.kind.at(index) !== patch.kind || marks.actor.at(index) !== patch.actor;
    if (moves) for (const one of [lane, ofAll]) one?.takeOut(index);
    marks.kind.set(index, patch.kind);
    marks.flags.set(index, patch.flags);
    marks.actor.set(index, patch.actor);
    marks.label.set(index, patch.label);
    if (moves) for (const one of [lane, ofAll]) one?.putBack(index);
  }

  private addLinks(links: LinkColumns): number {
    let rejected = 0;
    for (let index = 0; index < links.kind.length; index += 1) {
      const lane = this.lanes[links.fromLane[index] ?? 0];
      if (lane === undefined || this.lanes[links.toLane[index] ?? 0] === undefined) {
        rejected += 1;
        continue;
      }
      lane.addLink({
        kind: links.kind[index] ?? 0,
        event: links.event[index] ?? 0,
        fromAt: links.fromAt[index] ?? 0,
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
      else lane.addLag({ from: lags.from[index] ?? 0, to: lags.to[index] ?? 0 });
    }
    return rejected;
  }

  private setSmall(from: Pick<TimelineDelta, 'gaps' | 'annotations' | 'notes'>): void {
    if (from.gaps !== undefined) {
      this.gaps = from.gaps;
      this.lanesVersion += 1;
    }
    if (from.notes !== undefined) this.notes = from.notes;
    if (from.annotations === undefined) return;
    this.ofActors = undefined;
    const before = new Set(this.annotations.map(({ lane }) => lane));
    for (const lane of before) {
      const stored = this.lanes[lane];
      stored?.clearAnnotations();
    }
    for (const annotation of from.annotations) this.lanes[annotation.lane]?.addAnnotation(annotation);
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
