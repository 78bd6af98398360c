import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';

const LOOK_MS = 10;
const YOUNG_BYTES = 16 * 1024 * 1024;
const LARGE_BYTES = 32 * 1024 * 1024;
const GROWING_PERCENT = 40;

/**
 * Keeps the memory of a long run near what it really holds. Left alone, the engine lets the space of new objects grow to
 * 128 MB by how many of them happen to survive, the longer the run and the busier the machine the more likely, and the whole
 * heap to four times what it holds before it collects. A small heap grows as quickly as ever, so that short runs lose no
 * time. For a process that has nothing else to do, as the engine's flags are the whole process's.
 */
export function boundHeapGrowth(): Disposable {
  const bounds = [
    { reached: () => youngBytes() >= YOUNG_BYTES, flag: '--semi-space-growth-factor=1' },
    {
      reached: () => getHeapStatistics().used_heap_size >= LARGE_BYTES,
      flag: `--heap-growing-percent=${GROWING_PERCENT}`,
    },
  ];
  const timer = setInterval(() => {
    for (const bound of bounds.filter((item) => item.reached())) {
      setFlagsFromString(bound.flag);
      bounds.splice(bounds.indexOf(bound), 1);
    }
    if (bounds.length === 0) clearInterval(timer);
  }, LOOK_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** What the engine has set aside for new objects, in bytes: both halves of it. */
function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
}
