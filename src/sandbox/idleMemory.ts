import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const IDLE_MS = 2000;
/** Requests that are not worth a collection. */
const MIN_REQUESTS = 500;

type Collect = (options: { type: 'major'; flavor: 'last-resort'; execution: 'sync' }) => void;

/**
 * Gives memory back once a busy time is over: V8 keeps what a burst needed until it needs it again. For a process that
 * does nothing else; the collection stops it for some tenths of a second. While nothing happens no timer runs.
 */
export class IdleMemory {
  private requests = 0;
  private last = 0;
  private timer: NodeJS.Timeout | undefined;

  /** A request was answered. */
  touch(): void {
    this.requests += 1;
    this.last = performance.now();
    if (this.requests >= MIN_REQUESTS && this.timer === undefined) this.wait(IDLE_MS);
  }

  /** Ends the waiting. */
  stop(): void {
    clearTimeout(this.timer);
  }

  private wait(ms: number): void {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      const quiet = performance.now() - this.last;
      if (quiet < IDLE_MS) this.wait(IDLE_MS - quiet);
      else this.collect();
    }, ms);
    this.timer.unref();
  }

  private collect(): void {
    this.requests = 0;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as Collect;
    collect({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  }
}
