import type { Clock } from '../base/clock.ts';

const FIRST_MS = 800;
const CAP_MS = 30_000;
const LEAST_SHARE = 0.25;

/**
 * Waits that double up to half a minute, each drawn at random from its upper three quarters, so that many clients spread
 * and none hammers: under permanent failure at most `maxRequestsPerMinute`.
 */
export class Backoff {
  private readonly clock: Clock;
  private failures = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The next wait in milliseconds; never less than what the server asked for. */
  next(atLeastMs = 0): number {
    const whole = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(this.failures, 10));
    this.failures += 1;
    const least = whole * LEAST_SHARE;
    return Math.max(atLeastMs, Math.round(least + this.clock.random() * (whole - least)));
  }

  /** After real progress the next failure waits little again. */
  reset(): void {
    this.failures = 0;
  }
}

/** Connections in any minute of permanent failure, at the very most (all random numbers 0): 0.2 + 0.4 + … + 7.5 s. */
export const maxRequestsPerMinute = 14;
