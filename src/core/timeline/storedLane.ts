import { MarksByActor } from './actorMarks.ts';
import type { LaneSeries } from './cells.ts';
import type { MarkTable } from './columns.ts';
import { firstWhere } from './firstWhere.ts';
import { LINK_KINDS, type AnnotationInfo, type LaneInfo } from './model.ts';
import { MarkSeries } from './series.ts';

/** A link as the drawing needs it. */
export interface StoredLink {
  readonly kind: number;
  readonly event: number;
  readonly fromAt: number;
  readonly toAt: number;
}

/** A time in which observedGeneration had not reached generation. */
export interface StoredLag {
  readonly from: number;
  readonly to: number;
}

const WINNER = LINK_KINDS.indexOf('winner');

/** Most of a hundred thousand lanes have nothing of a kind: they share this. */
const NONE: readonly never[] = [];

/**
 * All that is kept of one lane. Its marks are put in order when somebody looks at them first: of a hundred thousand lanes,
 * a person sees a dozen.
 */
export class StoredLane {
  info: LaneInfo;
  private ownLinks: StoredLink[] | undefined;
  private ownLags: StoredLag[] | undefined;
  private ownAnnotations: AnnotationInfo[] | undefined;
  count = 0;
  /** How many of its marks are refusals and worse. */
  alarms = 0;
  lastAt = 0;
  private readonly table: MarkTable;
  /** Marks that are not in order yet: a part of a list shared by all lanes, and those that came later. */
  private shared: Uint32Array | undefined;
  private sharedFrom = 0;
  private sharedTo = 0;
  private later: number[] | undefined;
  private ordered: LaneSeries | undefined;
  private ofActors: MarksByActor | undefined;
  /** How many marks are of which actor, once somebody asked. */
  private counts: Map<number, number> | undefined;
  private winners: Map<number, number> | undefined;

  constructor(info: LaneInfo, table: MarkTable) {
    this.info = info;
    this.table = table;
  }

  /** Links that begin on this lane, in order of their later end. */
  get links(): readonly StoredLink[] {
    return this.ownLinks ?? NONE;
  }

  /** In order of their ends. */
  get lags(): readonly StoredLag[] {
    return this.ownLags ?? NONE;
  }

  get annotations(): readonly AnnotationInfo[] {
    return this.ownAnnotations ?? NONE;
  }

  addLink(link: StoredLink): void {
    insertByEnd((this.ownLinks ??= []), link, ({ fromAt, toAt }) => Math.max(fromAt, toAt));
    if (link.kind === WINNER) (this.winners ??= new Map()).set(link.event, link.toAt);
  }

  /** The time of the version that a refused write, by its event, lost to; undefined where it was not seen. */
  winnerAt(event: number): number | undefined {
    return this.winners?.get(event);
  }

  addLag(lag: StoredLag): void {
    insertByEnd((this.ownLags ??= []), lag, ({ to }) => to);
  }

  addAnnotation(annotation: AnnotationInfo): void {
    (this.ownAnnotations ??= []).push(annotation);
  }

  clearAnnotations(): void {
    this.ownAnnotations = undefined;
  }

  /** Whether nobody watches it and nothing happened on it that is worth a look: nothing refused, recreated or found. */
  get isIncidental(): boolean {
    const { info } = this;
    return (
      !info.watched &&
      info.findings === 0 &&
      this.alarms === 0 &&
      info.incarnations < 2 &&
      this.annotations.length === 0
    );
  }

  /** The marks by kind, each kind in order of time. */
  get series(): LaneSeries {
    return this.ordered ?? this.putInOrder();
  }

  /** The same by who made them. */
  get byActor(): MarksByActor {
    return this.ofActors ?? this.putByActor();
  }

  /** How many actors are known to have made any of the marks. */
  get actorCount(): number {
    if (this.counts === undefined) {
      this.counts = new Map();
      for (const mark of this.marks()) this.countActor(mark, 1);
    }
    return this.counts.size - (this.counts.has(0) ? 1 : 0);
  }

  /** Takes the marks that a part of a shared list names. */
  addShared(marks: Uint32Array, from: number, to: number): void {
    if (this.ordered === undefined && this.shared === undefined) {
      this.shared = marks;
      this.sharedFrom = from;
      this.sharedTo = to;
    } else for (let index = from; index < to; index += 1) this.add(marks[index] ?? 0);
  }

  /** Takes one mark. */
  add(mark: number): void {
    if (this.ordered === undefined) (this.later ??= []).push(mark);
    else this.insert(this.ordered, mark);
  }

  /** A mark changes its kind or its actor in the table: call before, and `putBack` after. */
  takeOut(mark: number): void {
    this.ordered?.[this.table.kind.at(mark)]?.remove(this.table.at.at(mark), mark);
    this.ofActors?.takeOut(mark);
    this.countActor(mark, -1);
  }

  putBack(mark: number): void {
    if (this.ordered !== undefined) this.insert(this.ordered, mark);
  }

  /** Forgets which marks matched. */
  resetMatched(): void {
    for (const series of this.ordered ?? []) series?.resetMatched();
    this.ofActors?.resetMatched();
  }

  private *marks(): Generator<number> {
    for (const series of this.series)
      for (let index = 0; index < (series?.length ?? 0); index += 1) yield series?.markAt(index) ?? 0;
  }

  private putByActor(): MarksByActor {
    const marks = new MarksByActor(this.table);
    for (const mark of this.marks()) marks.add(mark);
    this.ofActors = marks;
    return marks;
  }

  private putInOrder(): LaneSeries {
    const series: LaneSeries = [];
    const { shared, later } = this;
    if (shared !== undefined) {
      for (let index = this.sharedFrom; index < this.sharedTo; index += 1) this.insert(series, shared[index] ?? 0);
    }
    for (const mark of later ?? NONE) this.insert(series, mark);
    this.shared = undefined;
    this.later = undefined;
    this.ordered = series;
    return series;
  }

  private insert(lane: LaneSeries, mark: number): void {
    const kind = this.table.kind.at(mark);
    const series = lane[kind] ?? new MarkSeries();
    lane[kind] = series;
    series.insert(this.table.at.at(mark), mark);
    this.ofActors?.add(mark);
    this.countActor(mark, 1);
  }

  private countActor(mark: number, by: 1 | -1): void {
    if (this.counts === undefined) return;
    const actor = this.table.actor.at(mark);
    const count = (this.counts.get(actor) ?? 0) + by;
    if (count > 0) this.counts.set(actor, count);
    else this.counts.delete(actor);
  }
}

/** Inserts by time: nearly always at the end, but a clock may have been set back. */
function insertByEnd<T>(list: T[], item: T, endOf: (item: T) => number): void {
  const at = endOf(item);
  const isLater = (index: number): boolean => {
    const one = list[index];
    return one !== undefined && endOf(one) > at;
  };
  list.splice(firstWhere(list.length, isLater), 0, item);
}
