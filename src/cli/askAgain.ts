import { isAppError } from '../base/appError.ts';
import type { Clock } from '../base/clock.ts';

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 200;
const LONGEST_WAIT_MS = 30_000;

/**
 * Asks again where a server is throttling or cannot answer at the moment: after the time it names, else after a random
 * pause whose bound doubles. Only for what changes nothing. A wait that would outlast `withinMs` is not begun.
 * @throws AppError of the last answer, `cancelled`
 */
export async function askAgain<T>(
  ask: () => Promise<T>,
  { clock, signal, withinMs = LONGEST_WAIT_MS }: { clock: Clock; signal: AbortSignal; withinMs?: number },
): Promise<T> {
  const until = clock.now() + withinMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isAppError(error, 'throttled', 'unavailable') || attempt >= ATTEMPTS) throw error;
      const named = error.details['retryAfterMs'];
      const pause = Math.max(
        typeof named === 'number' ? named : 0,
        clock.random() * FIRST_PAUSE_MS * 2 ** (attempt - 1),
      );
      if (clock.now() + pause >= until) throw error;
      await clock.delay(pause, signal);
    }
  }
}
