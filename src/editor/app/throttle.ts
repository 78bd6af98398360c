import type { Disposable } from '../../base/disposable.ts';

/** Runs `work` at most once in `intervalMs`, the last time after the last request; never after disposal. */
export interface Throttle extends Disposable {
  request(): void;
}

/** Makes a throttle with the machine's timers. */
export function throttle(intervalMs: number, work: () => void): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let lastRun = 0;
  let disposed = false;
  const run = (): void => {
    timer = undefined;
    lastRun = performance.now();
    work();
  };
  return {
    request() {
      if (disposed || timer !== undefined) return;
      timer = setTimeout(run, Math.max(0, lastRun + intervalMs - performance.now()));
    },
    dispose() {
      disposed = true;
      clearTimeout(timer);
    },
  };
}
