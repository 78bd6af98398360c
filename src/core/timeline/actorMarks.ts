import { isAboveBar, type LaneSeries } from './cells.ts';
import type { MarkTable } from './columns.ts';
import { MarkSeries } from './series.ts';

/** The marks of one actor, each kind in order of time. */
export class ActorMarks {
  readonly series: LaneSeries = [];
  count = 0;
  /** How many of them are refusals and worse. */
  alarms = 0;
  firstAt = Number.POSITIVE_INFINITY;
  lastAt = Number.NEGATIVE_INFINITY;
}

/**
 * Marks by who made them: actors are places in `strings`, 0 where it is not known. A mark is named by its place in the table,
 * which says its time, kind and actor; one whose kind or actor changes is taken out before, and added after.
 */
export class MarksByActor {
  readonly actors = new Map<number, ActorMarks>();
  private readonly table: MarkTable;

  constructor(table: MarkTable) {
    this.table = table;
  }

  add(mark: number): void {
    const { table } = this;
    const at = table.at.at(mark);
    const kind = table.kind.at(mark);
    const actor = table.actor.at(mark);
    const marks = this.actors.get(actor) ?? new ActorMarks();
    this.actors.set(actor, marks);
    const series = marks.series[kind] ?? new MarkSeries();
    marks.series[kind] = series;
    series.insert(at, mark);
    marks.count += 1;
    if (isAboveBar(kind)) marks.alarms += 1;
    if (at < marks.firstAt) marks.firstAt = at;
    if (at > marks.lastAt) marks.lastAt = at;
  }

  takeOut(mark: number): void {
    const { table } = this;
    const kind = table.kind.at(mark);
    const actor = table.actor.at(mark);
    const marks = this.actors.get(actor);
    if (marks?.series[kind]?.remove(table.at.at(mark), mark) !== true) return;
    marks.count -= 1;
    if (isAboveBar(kind)) marks.alarms -= 1;
    if (marks.count === 0) this.actors.delete(actor);
  }

  /** Forgets which marks matched. */
  resetMatched(): void {
    for (const { series } of this.actors.values()) for (const one of series) one?.resetMatched();
  }
}
