import { kindCode } from './model.ts';

/** So many that a quarter of them, the least that is in use after doubling, is more than the widest minimap has columns. */
const MAX_BINS = 4096;
const FIRST_ALARM = kindCode('conflict');

/**
 * How many marks there are over all time, in at most 4096 bins: what the minimap shows. A mark outside the present stretch
 * doubles the length of the bins, so adding is O(1) amortized.
 */
export class Density {
  private counts = new Uint32Array(MAX_BINS);
  private alarms = new Uint32Array(MAX_BINS);
  private origin = 0;
  private binMs = 0;

  /** Counts a mark; conflicts and worse are counted apart as well. */
  add(at: number, kind: number): void {
    if (this.binMs === 0) {
      this.binMs = 1;
      this.origin = Math.floor(at);
    }
    while (at < this.origin) this.growLeft();
    while (at >= this.origin + this.binMs * MAX_BINS) this.growRight();
    const bin = Math.floor((at - this.origin) / this.binMs);
    this.counts[bin] = (this.counts[bin] ?? 0) + 1;
    if (kind >= FIRST_ALARM) this.alarms[bin] = (this.alarms[bin] ?? 0) + 1;
  }

  /** Sums over a stretch, one for each of `columns`. */
  columns(from: number, to: number, columns: number): { readonly count: number; readonly alarms: number }[] {
    const sums = Array.from({ length: columns }, () => ({ count: 0, alarms: 0 }));
    if (this.binMs === 0) return sums;
    const perColumn = (to - from) / columns;
    for (let bin = 0; bin < MAX_BINS; bin += 1) {
      const count = this.counts[bin] ?? 0;
      if (count === 0) continue;
      const at = this.origin + (bin + 0.5) * this.binMs;
      const sum = sums[Math.min(columns - 1, Math.max(0, Math.floor((at - from) / perColumn)))];
      if (sum === undefined) continue;
      sum.count += count;
      sum.alarms += this.alarms[bin] ?? 0;
    }
    return sums;
  }

  private growRight(): void {
    this.merge(0);
    this.binMs *= 2;
  }

  private growLeft(): void {
    this.merge(MAX_BINS / 2);
    this.origin -= this.binMs * MAX_BINS;
    this.binMs *= 2;
  }

  /** Adds up neighbours and puts the sums from `start` on. */
  private merge(start: number): void {
    this.counts = halved(this.counts, start);
    this.alarms = halved(this.alarms, start);
  }
}

function halved(values: Uint32Array, start: number): Uint32Array<ArrayBuffer> {
  const sums = new Uint32Array(MAX_BINS);
  for (let index = 0; index < MAX_BINS; index += 2)
    sums[start + index / 2] = (values[index] ?? 0) + (values[index + 1] ?? 0);
  return sums;
}
