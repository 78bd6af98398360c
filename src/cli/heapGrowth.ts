import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';

const LOOK_MS = 10;
const YOUNG_BYTES = 64 * 1024 * 1024;
const LARGE_BYTES = 48 * 1024 * 1024;
const GROWING_PERCENT = 40;

/**
 * Keeps the memory of a long run near what it really holds. Left alone, the engine lets the space of new objects grow to
 * 128 MB by how many of them happen to survive, the longer the run and the busier the machine the more likely, and the whole
 * heap to four times what it holds before it collects. A small heap grows as quickly as ever, so that short runs lose no
 * time. For a process that has nothing else to do, as the engine's flags are the whole process's.
 */
export function boundHeapGrowth(): Disposable {
  let isGrowing = true;
  let isBounded = false;
  const timer = setInterval(() => {
    // The engine also shrinks the space of new objects: then it may grow again.
    const mayGrow = youngBytes() < YOUNG_BYTES;
    if (mayGrow !== isGrowing) setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
    isGrowing = mayGrow;
    if (isBounded || getHeapStatistics().used_heap_size < LARGE_BYTES) return;
    setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
    isBounded = true;
  }, LOOK_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** What the engine has set aside for new objects, in bytes: both halves of it. */
function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
}
