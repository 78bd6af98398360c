import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onceAtATime } from '../../scripts/onceAtATime.mjs';

const module = join(import.meta.dirname, '../../scripts/onceAtATime.mjs');

describe('work that one process does for all', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'object-versions-once-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is done once by several that begin together, and the others wait for it', async () => {
    const [log, done, lock] = [join(folder, 'log'), join(folder, 'done'), join(folder, 'sub', 'lock')];
    const script = `
      import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
      import { setTimeout as delay } from 'node:timers/promises';
      import { onceAtATime } from ${JSON.stringify(module)};
      const [log, done, lock] = ${JSON.stringify([log, done, lock])};
      await onceAtATime(lock, () => existsSync(done), async () => {
        appendFileSync(log, 'begin ');
        await delay(600);
        appendFileSync(log, 'end ');
        writeFileSync(done, '');
      });
      appendFileSync(log, 'on ');
    `;
    const all = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' }),
    );
    await Promise.all(all.map((child) => once(child, 'exit')));
    assert.equal(readFileSync(log, 'utf8'), 'begin end on on on ');
    assert.ok(!existsSync(lock));
  });

  it('is taken over, where it has a time, from whoever took it longer ago', async () => {
    const lock = join(folder, 'lock');
    writeFileSync(lock, String(process.pid));
    utimesSync(lock, new Date(), new Date(Date.now() - 2000));
    let count = 0;
    const isDone = (): boolean => count > 0;
    await onceAtATime(lock, isDone, () => void (count += 1), { staleMs: 1000 });
    assert.equal(count, 1);
    assert.ok(!existsSync(lock));
  });

  it('is taken over from a process that was killed, and given up where it fails', async () => {
    const lock = join(folder, 'lock');
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    writeFileSync(lock, String(gone));
    const failed = (): void => {
      throw new Error('no network');
    };
    await assert.rejects(
      onceAtATime(lock, () => false, failed),
      /no network/,
    );
    assert.ok(!existsSync(lock));
    let count = 0;
    const isDone = (): boolean => count > 0;
    const work = (): void => {
      count += 1;
    };
    await onceAtATime(lock, isDone, work);
    await onceAtATime(lock, isDone, work);
    assert.equal(count, 1);
  });
});
