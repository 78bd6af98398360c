import { firstWhere } from './firstWhere.ts';

/**
 * Marks of one kind on one lane, sorted by time. Appending at the end is O(1) amortized, counting in a stretch is two
 * binary searches, however many marks there are: this is what makes a frame cheap.
 */
export class MarkSeries {
  // Plain lists: most of a hundred thousand lanes hold a handful of marks, for which typed arrays cost more than they save.
  private readonly times: number[] = [];
  private readonly places: number[] = [];
  /** Number of matching marks before each place; absent while everything matches. */
  private matchedBefore: Uint32Array | undefined;

  get length(): number {
    return this.times.length;
  }

  /** Adds a mark, by its place in the columns; a late one goes where its time is. */
  insert(at: number, mark: number): void {
    const last = this.times[this.times.length - 1];
    if (last === undefined || last <= at) {
      this.times.push(at);
      this.places.push(mark);
    } else {
      const index = this.upperBound(at);
      this.times.splice(index, 0, at);
      this.places.splice(index, 0, mark);
    }
    this.matchedBefore = undefined;
  }

  /** Takes a mark out again; false where it is not there. */
  remove(at: number, mark: number): boolean {
    for (let index = this.lowerBound(at); index < this.length && this.times[index] === at; index += 1) {
      if (this.places[index] !== mark) continue;
      this.times.splice(index, 1);
      this.places.splice(index, 1);
      this.matchedBefore = undefined;
      return true;
    }
    return false;
  }

  /** The first index whose time is at least `at`. */
  lowerBound(at: number, low = 0): number {
    let from = low;
    let to = this.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.times[middle] ?? 0) < at) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  private upperBound(at: number): number {
    return firstWhere(this.length, (index) => (this.times[index] ?? 0) > at);
  }

  timeAt(index: number): number {
    return this.times[index] ?? 0;
  }

  /** The place in the columns of the mark at an index of this series. */
  markAt(index: number): number {
    return this.places[index] ?? 0;
  }

  /** How many marks of [from, to) of this series match; all of them where there is no filter. */
  matchedIn(from: number, to: number, matched: Uint8Array | undefined): number {
    if (matched === undefined) return to - from;
    const before = this.matchedBefore ?? this.countMatched(matched);
    return (before[to] ?? 0) - (before[from] ?? 0);
  }

  /** Forgets what matched: the filter is another one now. */
  resetMatched(): void {
    this.matchedBefore = undefined;
  }

  private countMatched(matched: Uint8Array): Uint32Array {
    const before = new Uint32Array(this.length + 1);
    for (let index = 0; index < this.length; index += 1) {
      before[index + 1] = (before[index] ?? 0) + (matched[this.places[index] ?? 0] ?? 0);
    }
    this.matchedBefore = before;
    return before;
  }
}
