import type { Clock } from '../base/clock.ts';
import type { Server } from '../base/server.ts';

/** How many requests may go to a cluster. */
export interface Budget {
  readonly perSecond: number;
  /** How many may go at once after a silence. */
  readonly burst: number;
  readonly clock: Clock;
}

/**
 * A server that is asked no more often than the budget allows: requests wait for their turn, in order, and cancelled ones
 * give theirs back. A token bucket.
 * @throws AppError `cancelled` from `send` when the signal aborts while waiting
 */
export function withBudget(server: Server, { perSecond, burst, clock }: Budget): Server {
  const spacingMs = 1000 / perSecond;
  /** When the bucket would be full again if nobody asked. */
  let fullAt = clock.now();
  return {
    send: async (request, signal) => {
      const now = clock.now();
      fullAt = Math.max(fullAt, now) + spacingMs;
      const waitMs = fullAt - now - burst * spacingMs;
      if (waitMs > 0) {
        try {
          await clock.delay(waitMs, signal);
        } catch (error) {
          fullAt -= spacingMs;
          throw error;
        }
      }
      return server.send(request, signal);
    },
  };
}
