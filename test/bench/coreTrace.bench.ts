// Opening a trace of 100 MB from disk, beside readline and JSON.parse of the same file, in turn in one process, by the time of
// the processor.
// One JSON object on stdout; exits with 1 where the target is missed.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TraceReader } from '../../src/core/trace.ts';
import { readTraceFile } from '../../src/storage/traceFile.ts';
import { traceLines } from './traceFixture.ts';

const EVENTS = 56_000;
const RUNS = 5;
const TARGET = 0.5;

const folder = await mkdtemp(join(tmpdir(), 'trace-bench-'));
const path = join(folder, 'bench.ovtrace.jsonl');

async function write(): Promise<void> {
  const file = createWriteStream(path);
  for (const line of traceLines(EVENTS)) if (!file.write(line)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}

async function open(): Promise<number> {
  const reader = new TraceReader();
  let count = 0;
  for await (const events of readTraceFile(path, reader)) count += events.length;
  return count;
}

async function readLines(): Promise<number> {
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (JSON.parse(line) !== null) count += 1;
  }
  return count;
}

/** Seconds of the processor, so that what else runs on the machine counts for neither side. */
async function seconds(work: () => Promise<number>): Promise<number> {
  const start = process.cpuUsage();
  if ((await work()) < EVENTS / 2) throw new Error('nothing was read');
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

try {
  await write();
  const { size } = await stat(path);
  await seconds(open);
  await seconds(readLines);
  const times = { open: [] as number[], lines: [] as number[] };
  for (let run = 0; run < RUNS; run += 1) {
    times.lines.push(await seconds(readLines));
    times.open.push(await seconds(open));
  }
  const ratio = median(times.open.map((own, run) => (times.lines[run] ?? 0) / own));
  const holds = ratio >= TARGET;
  const side = (all: number[]): object => ({ megabytesPerSecond: Math.round(size / 1e6 / median(all)), seconds: all });
  process.stdout.write(
    `${JSON.stringify({
      name: 'core: speed of opening a trace, as a share of readline and JSON.parse',
      ratio: Number(ratio.toFixed(3)),
      target: `>= ${TARGET}`,
      holds,
      sides: { 'trace reader': side(times.open), 'readline, JSON.parse': side(times.lines) },
      input: { events: EVENTS, megabytes: Math.round(size / 1e6) },
      node: process.version,
    })}\n`,
  );
  if (!holds) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
