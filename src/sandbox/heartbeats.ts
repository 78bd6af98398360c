import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';

/** As often as the real server of v1.36 (`defaultBookmarkFrequency` in its watch cache). */
const EVERY_MS = 60_000;
/** Beats that are due within this are one wake-up, as the real server's buckets of a second are. */
const TOGETHER_MS = 1000;

interface Heart {
  due: number;
  readonly beat: () => void;
}

/** Calls whoever asked for it about once a minute. One timer for all, and none while nobody asks. */
export class Heartbeats {
  private readonly clock: Clock;
  /** In the order in which they are due. */
  private readonly hearts = new Set<Heart>();
  private timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Calls `beat` every minute, to within a second, until disposed. */
  add(beat: () => void): Disposable {
    const heart = { due: this.clock.now() + EVERY_MS, beat };
    this.hearts.add(heart);
    this.timer ??= setTimeout(() => this.wake(), EVERY_MS);
    return {
      dispose: () => {
        this.hearts.delete(heart);
        if (this.hearts.size > 0) return;
        clearTimeout(this.timer);
        this.timer = undefined;
      },
    };
  }

  private wake(): void {
    const now = this.clock.now();
    for (const heart of this.hearts) {
      if (heart.due > now + TOGETHER_MS) break;
      this.hearts.delete(heart);
      heart.due = now + EVERY_MS;
      this.hearts.add(heart);
      heart.beat();
    }
    const [next] = this.hearts;
    this.timer = next === undefined ? undefined : setTimeout(() => this.wake(), Math.max(0, next.due - now));
  }
}
