import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AppError } from '../../src/base/appError.ts';
import { isAppError } from '../../src/base/appError.ts';
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import { printTraceLine, TraceReader, traceHeader } from '../../src/core/trace.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { LineFile } from '../../src/storage/lineFile.ts';
import type { LogFiles } from '../../src/storage/logFiles.ts';
import { openLog } from '../../src/storage/logFiles.ts';
import { readTraceFile } from '../../src/storage/traceFile.ts';

const LIMITS = { maxBytes: 10_000_000, maxAgeMs: 3_600_000 };

const note = (seq: number, text = `note ${seq}`): TraceEvent => ({
  type: 'note',
  seq,
  at: seq,
  via: 'list',
  cluster: 'c1',
  text,
});

async function seqs(log: LogFiles): Promise<number[]> {
  const found: number[] = [];
  for await (const event of log.readAll()) found.push(event.seq);
  return found;
}

const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('the log on disk', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'log-files-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('what was appended is read back, also by the next process', async () => {
    const log = await openLog(join(folder, 'new', 'deep'), LIMITS);
    for (const seq of upTo(100)) log.append(note(seq));
    assert.deepEqual(await seqs(log), upTo(100));
    await log.close();
    const next = await openLog(join(folder, 'new', 'deep'), LIMITS);
    next.append(note(101));
    assert.deepEqual(await seqs(next), upTo(101));
    assert.deepEqual(next.problems, []);
    await next.close();
  });

  it('says what its clusters are called, as it becomes known, in every segment and to the next process', async () => {
    let clusters = {};
    const log = await openLog(folder, { maxBytes: 80_000, maxAgeMs: 3_600_000 }, { clusters: () => clusters });
    log.append(note(1));
    clusters = { c1: { label: 'kind-a', server: 'https://127.0.0.1:1' } };
    log.nameClusters();
    for (const seq of upTo(400, 2)) log.append(note(seq));
    clusters = { ...clusters, c1: { label: 'renamed' }, c2: { label: 'kind-b' } };
    log.nameClusters();
    await log.close();
    const next = await openLog(folder, { maxBytes: 80_000, maxAgeMs: 3_600_000 });
    assert.deepEqual(next.clusters, {}, 'nothing was read yet');
    await seqs(next);
    assert.deepEqual(next.problems, []);
    assert.deepEqual(next.clusters, { c1: { label: 'renamed' }, c2: { label: 'kind-b' } });
    await next.close();
  });

  it('the size is bounded by deleting the oldest segments, and the newest events stay', async () => {
    const limits = { maxBytes: 80_000, maxAgeMs: 3_600_000 };
    const log = await openLog(folder, limits, { flushChars: 512 });
    for (const seq of upTo(2_000)) {
      log.append(note(seq, 'x'.repeat(100)));
      if (seq % 50 === 0) await log.flush();
    }
    const kept = await seqs(log);
    await log.close();
    assert.deepEqual(kept, upTo(2_000, kept[0]));
    assert.ok(kept.length > 200, `${kept.length} events are kept`);
    const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(join(folder, file))).size));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total <= limits.maxBytes * 1.25, `${total} bytes`);
  });

  it('segments beyond the age are deleted when a log is opened', async () => {
    const log = await openLog(folder, LIMITS);
    log.append(note(1));
    await log.close();
    const [file] = await readdir(folder);
    const past = new Date(Date.now() - 2 * LIMITS.maxAgeMs);
    await utimes(join(folder, file ?? ''), past, past);
    const next = await openLog(folder, LIMITS);
    assert.deepEqual(await seqs(next), []);
    await next.close();
  });

  it('a torn tail is dropped and reported, and the rest is read', async () => {
    const log = await openLog(folder, LIMITS);
    for (const seq of upTo(3)) log.append(note(seq));
    await log.close();
    const [file = ''] = await readdir(folder);
    await appendFile(join(folder, file), '{"type":"note","seq":4,"at');
    const next = await openLog(folder, LIMITS);
    next.append(note(5));
    assert.deepEqual(await seqs(next), [1, 2, 3, 5]);
    assert.deepEqual(
      next.problems.map(({ code, file: name, line }) => [code, name, line]),
      [['torn-tail', file, 5]],
    );
    await next.close();
  });

  it('a foreign or newer segment is reported and does not hide the others', async () => {
    await writeFile(join(folder, 'log-00000001.ovtrace.jsonl'), 'hello\n');
    await writeFile(join(folder, 'log-00000002.ovtrace.jsonl'), '{"trace":"object-versions","version":99}\n');
    await writeFile(join(folder, 'other.txt'), 'not ours');
    const log = await openLog(folder, LIMITS);
    log.append(note(1));
    assert.deepEqual(await seqs(log), [1]);
    assert.deepEqual(
      log.problems.map(({ code }) => code),
      ['no-header', 'trace-newer'],
    );
    await log.close();
  });

  it('two processes can share a folder', async () => {
    const logs = await Promise.all([openLog(folder, LIMITS), openLog(folder, LIMITS)]);
    logs[0]?.append(note(1));
    logs[1]?.append(note(2));
    await Promise.all(logs.map((log) => log.flush()));
    const [first] = logs;
    assert.deepEqual(new Set(await seqs(first)), new Set([1, 2]));
    await Promise.all(logs.map((log) => log.close()));
  });

  it('a folder that cannot be written is one clear error', async () => {
    await writeFile(join(folder, 'file'), '');
    await assert.rejects(
      openLog(join(folder, 'file', 'below'), LIMITS),
      (error) => isAppError(error, 'storage-failed') && error.advice !== '',
    );
  });

  it('a disk that fails while running is reported once, what comes meanwhile is kept, and the log goes on when it works again', async () => {
    const problems: AppError[] = [];
    let now = 1_000_000;
    const clock: Clock = { ...systemClock, now: () => now };
    const inner = join(folder, 'inner');
    const log = await openLog(
      inner,
      { maxBytes: 1, maxAgeMs: 1e12 },
      { clock, onProblem: (error) => problems.push(error) },
    );
    await rm(inner, { recursive: true });
    for (const seq of upTo(100)) log.append(note(seq, 'x'.repeat(100)));
    await log.flush();
    for (const seq of upTo(200, 101)) log.append(note(seq, 'x'.repeat(100)));
    await log.flush();
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['storage-failed'],
    );
    await mkdir(inner);
    now += 10_000;
    log.append(note(201));
    await log.flush();
    const found = await seqs(log);
    await log.close();
    assert.ok(found.includes(150) && found.includes(201), found.join(' '));
  });

  it('what a failing disk cannot take is counted and noted', async () => {
    let now = 1_000_000;
    const clock: Clock = { ...systemClock, now: () => now };
    const inner = join(folder, 'inner');
    const log = await openLog(
      inner,
      { maxBytes: 30_000, maxAgeMs: 1e12 },
      { clock, maxWaitingChars: 10_000, onProblem: () => {} },
    );
    await rm(inner, { recursive: true });
    for (const seq of upTo(500)) {
      log.append(note(seq, 'x'.repeat(100)));
      if (seq % 20 === 0) await log.flush();
    }
    await mkdir(inner);
    now += 10_000;
    log.append(note(501));
    await log.flush();
    log.append(note(502));
    const texts: string[] = [];
    for await (const event of log.readAll()) if (event.type === 'note') texts.push(event.text);
    await log.close();
    assert.ok(
      texts.some((text) => /^\d+ events could not be stored/.test(text)),
      texts.join('\n').slice(0, 500),
    );
  });

  it('files are for their owner alone', async () => {
    const log = await openLog(folder, LIMITS);
    await log.close();
    const [file = ''] = await readdir(folder);
    assert.equal((await stat(join(folder, file))).mode & 0o077, 0);
    await chmod(folder, 0o700);
  });

  it('a process killed in the middle loses nothing that was flushed', async function () {
    this.timeout(30_000);
    const writer = fileURLToPath(new URL('./logWriter.ts', import.meta.url));
    const child = spawn(process.execPath, [writer, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    let flushed = 0;
    for await (const chunk of child.stdout) {
      flushed = Math.max(flushed, ...String(chunk).trim().split('\n').map(Number));
      if (flushed >= 3_000) break;
    }
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const log = await openLog(folder, LIMITS);
    const found = await seqs(log);
    await log.close();
    assert.deepEqual(found, upTo(found.length));
    assert.ok(found.length >= flushed, `${found.length} of at least ${flushed}`);
    assert.ok(log.problems.every(({ code }) => code === 'torn-tail'));
  });
});

describe('a trace file', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trace-file-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is read back as it was printed', async () => {
    const path = join(folder, 'a.ovtrace.jsonl');
    const lines = [traceHeader('test', undefined, 5), ...upTo(10).map((seq) => note(seq, 'é\u{1f600}'))];
    await writeFile(path, lines.map(printTraceLine).join(''));
    const reader = new TraceReader();
    const events: TraceEvent[] = [];
    for await (const batch of readTraceFile(path, reader)) events.push(...batch);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      upTo(10),
    );
    assert.equal(reader.header?.creator, 'test');
  });

  it('that is missing, foreign or newer is one clear error each', async () => {
    const read = async (path: string): Promise<void> => {
      for await (const batch of readTraceFile(path, new TraceReader())) assert.fail(JSON.stringify(batch));
    };
    await assert.rejects(read(join(folder, 'none')), (error) => isAppError(error, 'trace-unreadable'));
    await writeFile(join(folder, 'audit'), '{"kind":"Event"}\n');
    await assert.rejects(read(join(folder, 'audit')), (error) => isAppError(error, 'trace-unreadable'));
    await writeFile(join(folder, 'newer'), '{"trace":"object-versions","version":2}\n{"type":"note"}\n');
    await assert.rejects(read(join(folder, 'newer')), (error) => isAppError(error, 'trace-newer'));
    await writeFile(join(folder, 'empty'), '');
    await assert.rejects(read(join(folder, 'empty')), (error) => isAppError(error, 'trace-unreadable'));
  });

  it('on a full disk is one problem, and appending goes on', async function () {
    if (process.platform !== 'linux') this.skip();
    const problems: AppError[] = [];
    const file = await LineFile.create('/dev/full', false, (error) => problems.push(error));
    assert.equal(file.append('a\n'), true);
    await file.flush();
    assert.equal(file.append('b\n'), false);
    await file.close();
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['storage-failed'],
    );
    assert.deepEqual(file.unwritten(), ['a\n']);
  });

  it('begins with its header', () => {
    assert.equal(
      printTraceLine(traceHeader('test', { c1: { label: 'lab' } }, 5)),
      '{"trace":"object-versions","version":1,"createdAt":5,"creator":"test","clusters":{"c1":{"label":"lab"}}}\n',
    );
  });
});
