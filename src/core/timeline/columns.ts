import type { BarColumns, LagColumns, LaneColumns, LinkColumns, MarkColumns, ReadColumns } from './model.ts';

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

type Columns<C> = { readonly [K in keyof C]: NumberArray };
type RowOf<C> = { readonly [K in keyof C]: number };

/** Columns of one length that grow row by row. */
class Table<C extends Columns<C>> {
  protected readonly columns: { readonly [K in keyof C]: Column<C[K]> };
  private readonly names: readonly (keyof C)[];

  constructor(columns: { readonly [K in keyof C]: Column<C[K]> }) {
    this.columns = columns;
    this.names = Object.keys(columns) as (keyof C)[];
  }

  get length(): number {
    const [first] = this.names;
    return first === undefined ? 0 : this.columns[first].length;
  }

  /** Adds a row; says its place. */
  push(row: RowOf<C>): number {
    for (const name of this.names) this.columns[name].push(row[name]);
    return this.length - 1;
  }

  /** Appends whole columns, which are of one length. */
  append(columns: C): void {
    for (const name of this.names) this.columns[name].append(columns[name]);
  }

  /** Copies of the columns from `start` on. */
  copy(start = 0): C {
    return Object.fromEntries(this.names.map((name) => [name, this.columns[name].copy(start)])) as unknown as C;
  }
}

/** Marks that grow. */
export class MarkTable extends Table<MarkColumns> {
  readonly at = this.columns.at;
  readonly lane = this.columns.lane;
  readonly kind = this.columns.kind;
  readonly flags = this.columns.flags;
  readonly event = this.columns.event;
  readonly actor = this.columns.actor;
  readonly label = this.columns.label;
  readonly uid = this.columns.uid;
  readonly outcome = this.columns.outcome;

  constructor() {
    super({
      at: new Column(floats),
      lane: new Column(words),
      kind: new Column(bytes),
      flags: new Column(bytes),
      event: new Column(words),
      actor: new Column(words),
      label: new Column(words),
      uid: new Column(words),
      outcome: new Column(bytes),
    });
  }

  /** The same as of any table, without a loop: a million marks come one by one. */
  override push(row: RowOf<MarkColumns>): number {
    this.at.push(row.at);
    this.lane.push(row.lane);
    this.kind.push(row.kind);
    this.flags.push(row.flags);
    this.event.push(row.event);
    this.actor.push(row.actor);
    this.label.push(row.label);
    this.uid.push(row.uid);
    this.outcome.push(row.outcome);
    return this.at.length - 1;
  }
}

/** Links that grow. */
export class LinkTable extends Table<LinkColumns> {
  constructor() {
    super({
      kind: new Column(bytes),
      event: new Column(words),
      fromLane: new Column(words),
      fromAt: new Column(floats),
      toLane: new Column(words),
      toAt: new Column(floats),
    });
  }

  /** Adds a link of a kind for an event. */
  add(kind: number, event: number, from: { lane: number; at: number }, to: { lane: number; at: number }): void {
    this.push({ kind, event, fromLane: from.lane, fromAt: from.at, toLane: to.lane, toAt: to.at });
  }
}

/** Lags that grow. */
export class LagTable extends Table<LagColumns> {
  constructor() {
    super({ lane: new Column(words), from: new Column(floats), to: new Column(floats) });
  }
}

/** Reads that grow. */
export class ReadTable extends Table<ReadColumns> {
  readonly at = this.columns.at;
  readonly lane = this.columns.lane;
  readonly actor = this.columns.actor;
  readonly event = this.columns.event;
  readonly uid = this.columns.uid;
  readonly verb = this.columns.verb;

  constructor() {
    super({
      at: new Column(floats),
      lane: new Column(words),
      actor: new Column(words),
      event: new Column(words),
      uid: new Column(words),
      verb: new Column(bytes),
    });
  }
}

/** Lanes that are packed. */
export class LaneColumnTable extends Table<LaneColumns> {
  constructor() {
    super({
      place: new Column(words),
      group: new Column(words),
      kind: new Column(words),
      namespace: new Column(words),
      name: new Column(words),
      remark: new Column(words),
      findings: new Column(words),
      watched: new Column(bytes),
      lagFrom: new Column(floats),
      barsEnd: new Column(words),
    });
  }
}

/** Their bars. */
export class BarTable extends Table<BarColumns> {
  constructor() {
    super({
      uid: new Column(words),
      from: new Column(floats),
      began: new Column(bytes),
      terminatingAt: new Column(floats),
      to: new Column(floats),
      endHow: new Column(bytes),
    });
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
