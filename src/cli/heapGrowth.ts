import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const LOOK_MS = 100;
const LARGE_BYTES = 32 * 1024 * 1024;
const GROWING_PERCENT = 40;

/**
 * Keeps the memory of a long run near what it really holds: left alone, the engine lets a heap grow to four times that before
 * it collects, the longer the run the more. A small heap grows as quickly as ever, so that short runs lose no time. For a
 * process that has nothing else to do, as the engine's flags are the whole process's.
 */
export function boundHeapGrowth(): Disposable {
  const timer = setInterval(() => {
    if (getHeapStatistics().used_heap_size < LARGE_BYTES) return;
    setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
    clearInterval(timer);
  }, LOOK_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
