import { MarksByActor, type ActorMarks } from './actorMarks.ts';
import type { MarkTable } from './columns.ts';
import type { Filter } from './filter.ts';

/** The marks of each actor on all lanes that a filter shows; made when lanes are grouped by actor, and kept up then. */
export class ActorIndex {
  readonly filter: Filter;
  private readonly table: MarkTable;
  private readonly marks: MarksByActor;
  /** How many marks each actor has on which lane. */
  private readonly lanes = new Map<number, Map<number, number>>();
  private shown: Uint8Array = new Uint8Array();
  private counted = 0;

  constructor(table: MarkTable, filter: Filter) {
    this.filter = filter;
    this.table = table;
    this.marks = new MarksByActor(table);
  }

  get actors(): ReadonlyMap<number, ActorMarks> {
    return this.marks.actors;
  }

  /** The lanes that an actor has marks on. */
  lanesOf(actor: number): number[] {
    return Array.from(this.lanes.get(actor)?.keys() ?? []);
  }

  /** Takes the marks that came since; `shown` is 1 for each lane that the filter shows. */
  catchUp(shown: Uint8Array): void {
    this.shown = shown;
    for (; this.counted < this.table.length; this.counted += 1) this.add(this.counted);
  }

  /** A mark changes its kind or its actor: call before, and `putBack` after. */
  takeOut(mark: number): void {
    if (mark >= this.counted || !this.isShown(mark)) return;
    this.marks.takeOut(mark);
    this.count(mark, -1);
  }

  putBack(mark: number): void {
    if (mark < this.counted) this.add(mark);
  }

  resetMatched(): void {
    this.marks.resetMatched();
  }

  private add(mark: number): void {
    if (!this.isShown(mark)) return;
    this.marks.add(mark);
    this.count(mark, 1);
  }

  private isShown(mark: number): boolean {
    return this.shown[this.table.lane.at(mark)] === 1;
  }

  private count(mark: number, by: 1 | -1): void {
    const actor = this.table.actor.at(mark);
    const lane = this.table.lane.at(mark);
    const lanes = this.lanes.get(actor) ?? new Map<number, number>();
    this.lanes.set(actor, lanes);
    const count = (lanes.get(lane) ?? 0) + by;
    if (count > 0) lanes.set(lane, count);
    else lanes.delete(lane);
  }
}
