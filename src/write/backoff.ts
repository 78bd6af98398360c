/** Bounds of the wait between attempts, in ms. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * The default: long enough that a handful of writers get out of each other's way within five attempts, short enough that a
 * person does not notice one conflict. Measured by `test/bench/contention.bench.ts`.
 */
export const defaultBackoff: Backoff = { baseMs: 100, capMs: 2000 };

/**
 * The wait before attempt `attempt + 1`: exponential with full jitter, a random time between 0 and the smaller of the cap
 * and the base doubled with every attempt. `random` is in [0, 1).
 */
export function backoffMs(attempt: number, backoff: Backoff, random: number): number {
  const ceiling = Math.min(backoff.capMs, backoff.baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(random * ceiling);
}

/**
 * The backoff for a server on which one attempt took this long: what others do in that time decides whether the next attempt
 * gets through, so on a slow or busy server pauses grow with it.
 */
export function backoffFor(backoff: Backoff, attemptMs: number): Backoff {
  return { baseMs: Math.max(backoff.baseMs, 2 * attemptMs), capMs: Math.max(backoff.capMs, 8 * attemptMs) };
}
