/** How many bins a series has at most; when time goes on, bins are merged two by two. */
export const SERIES_BINS = 60;

/** Attempts over time: how many were accepted and refused in each stretch of `binMs`. */
export class AttemptSeries {
  /** The length of a bin in milliseconds. */
  binMs = 50;
  /** Accepted attempts, by bin. */
  accepted: number[] = [];
  /** Refused attempts, by bin; as long as `accepted`. */
  refused: number[] = [];
  private readonly startedAt: number;

  /** @param startedAt the time of the first bin's beginning, in ms */
  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** Counts one attempt. `at`: ms, not before the start; earlier ones count in the first bin. */
  add(at: number, isAccepted: boolean): void {
    const bin = (): number => Math.max(0, Math.floor((at - this.startedAt) / this.binMs));
    while (bin() >= SERIES_BINS) this.halve();
    while (this.accepted.length <= bin()) {
      this.accepted.push(0);
      this.refused.push(0);
    }
    const counts = isAccepted ? this.accepted : this.refused;
    counts[bin()] = (counts[bin()] ?? 0) + 1;
  }

  private halve(): void {
    this.binMs *= 2;
    this.accepted = merged(this.accepted);
    this.refused = merged(this.refused);
  }
}

function merged(counts: readonly number[]): number[] {
  return Array.from(
    { length: Math.ceil(counts.length / 2) },
    (_, index) => (counts[index * 2] ?? 0) + (counts[index * 2 + 1] ?? 0),
  );
}
