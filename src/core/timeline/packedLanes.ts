import { BarTable, LaneColumnTable, type StringTable } from './columns.ts';
import {
  BAR_BEGINNINGS,
  BAR_ENDS,
  type BarColumns,
  type BarInfo,
  type LaneColumns,
  type LaneInfo,
  type PackedLanes,
} from './model.ts';

/** Lanes by column, with the place of each; their texts get places in `strings`. */
export function packLanes(
  lanes: Iterable<readonly [place: number, lane: LaneInfo]>,
  strings: StringTable,
): PackedLanes {
  const rows = new LaneColumnTable();
  const bars = new BarTable();
  for (const [place, lane] of lanes) {
    for (const bar of lane.bars) {
      bars.push({
        uid: strings.place(bar.uid),
        from: bar.from,
        began: BAR_BEGINNINGS.indexOf(bar.began),
        terminatingAt: bar.terminatingAt ?? Number.NaN,
        to: bar.to ?? Number.NaN,
        endHow: BAR_ENDS.indexOf(bar.endHow ?? ''),
      });
    }
    rows.push({
      place,
      group: lane.group,
      kind: strings.place(lane.kind),
      namespace: strings.place(lane.namespace),
      name: strings.place(lane.name),
      remark: strings.place(lane.remark ?? ''),
      findings: lane.findings,
      watched: lane.watched ? 1 : 0,
      lagFrom: lane.lagFrom ?? Number.NaN,
      barsEnd: bars.length,
    });
  }
  return { lanes: rows.copy(), bars: bars.copy() };
}

/**
 * The lanes again, each read where it lies: of a hundred thousand, a person sees a dozen. What is asked of one holds the
 * columns of all; a `copied` one stands alone.
 */
export function unpackLanes({ lanes, bars }: PackedLanes, strings: readonly string[]): PackedLane[] {
  return Array.from(lanes.place, (_, row) => new PackedLane(lanes, bars, strings, row));
}

/** One row of the columns. */
export class PackedLane implements LaneInfo {
  private readonly lanes: LaneColumns;
  private readonly ofAll: BarColumns;
  private readonly strings: readonly string[];
  private readonly row: number;
  private own: readonly BarInfo[] | undefined;

  constructor(lanes: LaneColumns, bars: BarColumns, strings: readonly string[], row: number) {
    this.lanes = lanes;
    this.ofAll = bars;
    this.strings = strings;
    this.row = row;
  }

  get group(): number {
    return this.lanes.group[this.row] ?? 0;
  }

  get kind(): string {
    return this.text(this.lanes.kind);
  }

  get namespace(): string {
    return this.text(this.lanes.namespace);
  }

  get name(): string {
    return this.text(this.lanes.name);
  }

  get remark(): string | undefined {
    return this.text(this.lanes.remark) || undefined;
  }

  get findings(): number {
    return this.lanes.findings[this.row] ?? 0;
  }

  get watched(): boolean {
    return this.lanes.watched[this.row] === 1;
  }

  get lagFrom(): number | undefined {
    return timeAt(this.lanes.lagFrom, this.row);
  }

  get incarnations(): number {
    return (this.lanes.barsEnd[this.row] ?? 0) - this.barsFrom;
  }

  get bars(): readonly BarInfo[] {
    this.own ??= Array.from({ length: this.incarnations }, (_, index) =>
      barAt(this.ofAll, this.strings, this.barsFrom + index),
    );
    return this.own;
  }

  /** The same without the columns: so that a lane that changes alone does not keep those of all it came with. */
  copied(): LaneInfo {
    const { group, kind, namespace, name, remark, findings, watched, lagFrom, incarnations, bars } = this;
    return { group, kind, namespace, name, remark, findings, watched, lagFrom, incarnations, bars };
  }

  private get barsFrom(): number {
    return this.lanes.barsEnd[this.row - 1] ?? 0;
  }

  private text(column: Uint32Array): string {
    return this.strings[column[this.row] ?? 0] ?? '';
  }
}

function barAt(bars: BarColumns, strings: readonly string[], row: number): BarInfo {
  const terminatingAt = timeAt(bars.terminatingAt, row);
  const to = timeAt(bars.to, row);
  const endHow = BAR_ENDS[bars.endHow[row] ?? 0];
  return {
    uid: strings[bars.uid[row] ?? 0] ?? '',
    from: bars.from[row] ?? 0,
    began: BAR_BEGINNINGS[bars.began[row] ?? 0] ?? 'earlier',
    ...(terminatingAt === undefined ? {} : { terminatingAt }),
    ...(to === undefined ? {} : { to }),
    ...(endHow === undefined || endHow === '' ? {} : { endHow }),
  };
}

function timeAt(column: Float64Array, row: number): number | undefined {
  const at = column[row];
  return at === undefined || Number.isNaN(at) ? undefined : at;
}
