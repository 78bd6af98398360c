import type { LagColumns, LinkColumns, MarkColumns } from './model.ts';

type NumberArray = Float64Array | Uint32Array | Uint8Array;

/** A column of numbers that grows by doubling; reading past its end gives 0. */
export class Column<A extends NumberArray> {
  private data: A;
  private readonly make: (length: number) => A;
  length = 0;

  constructor(make: (length: number) => A) {
    this.make = make;
    this.data = make(64);
  }

  push(value: number): void {
    if (this.length === this.data.length) {
      const grown = this.make(this.data.length * 2);
      grown.set(this.data);
      this.data = grown;
    }
    this.data[this.length] = value;
    this.length += 1;
  }

  /** Appends many at once. */
  append(values: A): void {
    const length = this.length + values.length;
    if (length > this.data.length) {
      const grown = this.make(Math.max(length, this.data.length * 2));
      grown.set(this.data);
      this.data = grown;
    }
    this.data.set(values, this.length);
    this.length = length;
  }

  at(index: number): number {
    return this.data[index] ?? 0;
  }

  set(index: number, value: number): void {
    this.data[index] = value;
  }

  /** A copy of the values from `start` on. */
  copy(start = 0): A {
    return this.data.slice(start, this.length) as A;
  }

  /** The values themselves, not copied: valid until the next push. */
  view(): A {
    return this.data.subarray(0, this.length) as A;
  }
}

const floats = (length: number): Float64Array => new Float64Array(length);
const words = (length: number): Uint32Array => new Uint32Array(length);
const bytes = (length: number): Uint8Array => new Uint8Array(length);

/** One mark as a row. */
export interface MarkRow {
  at: number;
  lane: number;
  kind: number;
  flags: number;
  event: number;
  actor: number;
  label: number;
  uid: number;
  outcome: number;
}

/** Marks that grow. */
export class MarkTable {
  readonly at = new Column(floats);
  readonly lane = new Column(words);
  readonly kind = new Column(bytes);
  readonly flags = new Column(bytes);
  readonly event = new Column(words);
  readonly actor = new Column(words);
  readonly label = new Column(words);
  readonly uid = new Column(words);
  readonly outcome = new Column(bytes);

  get length(): number {
    return this.at.length;
  }

  push(row: MarkRow): number {
    this.at.push(row.at);
    this.lane.push(row.lane);
    this.kind.push(row.kind);
    this.flags.push(row.flags);
    this.event.push(row.event);
    this.actor.push(row.actor);
    this.label.push(row.label);
    this.uid.push(row.uid);
    this.outcome.push(row.outcome);
    return this.length - 1;
  }

  /** Appends whole columns, which are of one length. */
  append(columns: MarkColumns): void {
    this.at.append(columns.at);
    this.lane.append(columns.lane);
    this.kind.append(columns.kind);
    this.flags.append(columns.flags);
    this.event.append(columns.event);
    this.actor.append(columns.actor);
    this.label.append(columns.label);
    this.uid.append(columns.uid);
    this.outcome.append(columns.outcome);
  }

  /** Copies of the columns from `start` on. */
  copy(start = 0): MarkColumns {
    return {
      at: this.at.copy(start),
      lane: this.lane.copy(start),
      kind: this.kind.copy(start),
      flags: this.flags.copy(start),
      event: this.event.copy(start),
      actor: this.actor.copy(start),
      label: this.label.copy(start),
      uid: this.uid.copy(start),
      outcome: this.outcome.copy(start),
    };
  }
}

/** Links that grow. */
export class LinkTable {
  private readonly kind = new Column(bytes);
  private readonly event = new Column(words);
  private readonly fromLane = new Column(words);
  private readonly fromAt = new Column(floats);
  private readonly toLane = new Column(words);
  private readonly toAt = new Column(floats);

  get length(): number {
    return this.kind.length;
  }

  push(kind: number, event: number, from: { lane: number; at: number }, to: { lane: number; at: number }): void {
    this.kind.push(kind);
    this.event.push(event);
    this.fromLane.push(from.lane);
    this.fromAt.push(from.at);
    this.toLane.push(to.lane);
    this.toAt.push(to.at);
  }

  /** Copies of the columns from `start` on. */
  copy(start = 0): LinkColumns {
    return {
      kind: this.kind.copy(start),
      event: this.event.copy(start),
      fromLane: this.fromLane.copy(start),
      fromAt: this.fromAt.copy(start),
      toLane: this.toLane.copy(start),
      toAt: this.toAt.copy(start),
    };
  }
}

/** Lags that grow. */
export class LagTable {
  private readonly lane = new Column(words);
  private readonly from = new Column(floats);
  private readonly to = new Column(floats);

  get length(): number {
    return this.lane.length;
  }

  push(lane: number, from: number, to: number): void {
    this.lane.push(lane);
    this.from.push(from);
    this.to.push(to);
  }

  /** Copies of the columns from `start` on. */
  copy(start = 0): LagColumns {
    return { lane: this.lane.copy(start), from: this.from.copy(start), to: this.to.copy(start) };
  }
}

/** Strings by place; place 0 is the empty string. */
export class StringTable {
  private readonly places = new Map<string, number>([['', 0]]);
  private readonly all: string[] = [''];

  get length(): number {
    return this.all.length;
  }

  place(text: string): number {
    const known = this.places.get(text);
    if (known !== undefined) return known;
    const place = this.all.length;
    this.places.set(text, place);
    this.all.push(text);
    return place;
  }

  text(place: number): string {
    return this.all[place] ?? '';
  }

  /** A copy of the strings from `start` on. */
  copy(start = 0): string[] {
    return this.all.slice(start);
  }
}
