// One process at a time does a piece of work that others may want done too. Built-ins only, as bootstrap.mjs.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 200;

/**
 * Does the work unless it is done, and never beside another process that does: that one is waited for, and then it is looked
 * again. A lock that a killed process left behind is taken over, and any that is older than `staleMs`. `onWait` is called
 * once, if there is a wait.
 */
export async function onceAtATime(
  lock,
  isDone,
  work,
  { onWait = () => undefined, staleMs = Number.POSITIVE_INFINITY } = {},
) {
  let waited = false;
  while (!isDone()) {
    mkdirSync(dirname(lock), { recursive: true });
    if (!taken(lock)) {
      if (!isHeld(lock, staleMs)) rmSync(lock, { force: true });
      else {
        if (!waited) onWait();
        waited = true;
        await delay(POLL_MS);
      }
      continue;
    }
    try {
      if (!isDone()) await work();
      return;
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

function taken(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Whether the process that took the lock is alive. One that has it but has not written its number yet is. */
function isHeld(lock, staleMs) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > staleMs) return false;
    const holder = readFileSync(lock, 'utf8');
    return holder === '' || process.kill(Number(holder), 0);
  } catch (error) {
    if (error.code === 'EPERM') return true;
    if (error.code === 'ESRCH' || error.code === 'ENOENT') return false;
    throw error;
  }
}
