// `analyze` against `jq -c .` on the same audit log, in turns; its two shards at once, each on a core of its own, against one
// run on one core; and its memory on a log several times as long. By the clock, on a machine that does nothing else. Beside it
// are told: the time of the processor, in which the engine's own threads count too, and what else runs does not; and the same
// runs where each may use all cores (one run alone keeps more than one of them busy, for the engine collects and compiles
// beside it).
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAuditLog } from './auditLog.ts';

const ROUNDS = 3;
const BYTES = 100e6;
const LONGER = 4;
const LIMITS = { speed: 2.5, shardsSpeed: 1, memoryRatio: 1.5 };
const BUILT = new URL('../../dist/node/cli.js', import.meta.url).pathname;
const CLI = existsSync(BUILT) ? BUILT : new URL('../../src/cli.ts', import.meta.url).pathname;

const folder = await mkdtemp(join(tmpdir(), 'analyze-bench-'));
try {
  const log = join(folder, 'audit.jsonl');
  await writeAuditLog(log, BYTES);
  const analyse = (...args: string[]): Promise<Took> =>
    time(process.execPath, [CLI, 'analyze', log, '-o', 'json', ...args]);
  const jq: Took[] = [];
  const own: Took[] = [];
  const oneCore: Took[] = [];
  const shards: Took[][] = [];
  const shardsAnywhere: Took[][] = [];
  const [first = '0', second = first] = cores();
  const pinned = (core: string, ...args: string[]): Promise<Took> =>
    time('taskset', ['-c', core, process.execPath, CLI, 'analyze', log, '-o', 'json', ...args]);
  for (let round = 0; round < ROUNDS; round += 1) {
    jq.push(await time('jq', ['-c', '.', log]));
    own.push(await analyse());
    oneCore.push(await pinned(first));
    shards.push(await Promise.all([pinned(first, '--shard', '1/2'), pinned(second, '--shard', '2/2')]));
    shardsAnywhere.push(await Promise.all([1, 2].map((index) => analyse('--shard', `${index}/2`))));
  }
  const long = join(folder, 'long.jsonl');
  await writeAuditLog(long, BYTES * LONGER);
  const [small, large] = [
    await time(process.execPath, [CLI, 'analyze', log, '-o', 'json']),
    await time(process.execPath, [CLI, 'analyze', long, '-o', 'json']),
  ];
  const by = (clock: 'ms' | 'cpuMs', all: readonly Took[]): number => median(all.map((took) => took[clock]));
  const slower = (clock: 'ms' | 'cpuMs', all: readonly Took[][]): number =>
    median(all.map((both) => Math.max(...both.map((took) => took[clock]))));
  const speed = by('ms', jq) / by('ms', own);
  const shardsSpeed = by('ms', oneCore) / slower('ms', shards);
  const memoryRatio = large.peakMb / small.peakMb;
  const held = speed >= LIMITS.speed && memoryRatio <= LIMITS.memoryRatio && shardsSpeed > LIMITS.shardsSpeed;
  const figures = {
    speedByCpu: round2(by('cpuMs', jq) / by('cpuMs', own)),
    shardByCpu: round2(slower('cpuMs', shardsAnywhere) / by('cpuMs', own)),
    jqMs: Math.round(by('ms', jq)),
    analyzeMs: Math.round(by('ms', own)),
    oneCoreMs: Math.round(by('ms', oneCore)),
    twoShardsMs: Math.round(slower('ms', shards)),
    twoShardsOnAllCoresMs: Math.round(slower('ms', shardsAnywhere)),
    peakMb: small.peakMb,
    peakMbOfLonger: large.peakMb,
  };
  process.stdout.write(
    `${JSON.stringify({ bench: 'analyze', against: 'jq -c .', speed: round2(speed), shardsSpeed: round2(shardsSpeed), memoryRatio: round2(memoryRatio), ...figures, load: round2(loadavg()[0] ?? 0), limits: LIMITS, held })}\n`,
  );
  if (!held) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The cores that may be used. Source: proc(5), `Cpus_allowed_list` (such as 0-1,4). */
function cores(): string[] {
  const [, list = ''] = /Cpus_allowed_list:\s+(\S+)/.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => String(from + at));
  });
}

/** The most memory that a process has had so far, in MB; 0 once it is gone. */
function peakOf(pid: number | undefined): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(procFile(pid, 'status'))?.[1] ?? 0) / 1024);
}

/** The time that a process has had of the processor so far, in ms; 0 once it is gone. Source: proc_pid_stat(5), fields 14 and 15. */
function cpuOf(pid: number | undefined): number {
  const fields = procFile(pid, 'stat').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

function procFile(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    // It has ended between two samples.
    return '';
  }
}

interface Took {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Runs a program to its end; its output is thrown away. Its time and the peak of its memory are sampled. */
function time(program: string, args: readonly string[]): Promise<Took> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const startedAt = performance.now();
    let peakMb = 0;
    let cpuMs = 0;
    const sample = setInterval(() => {
      peakMb = Math.max(peakMb, peakOf(child.pid));
      cpuMs = Math.max(cpuMs, cpuOf(child.pid));
    }, 20);
    child.once('error', (error) => {
      clearInterval(sample);
      reject(new Error(`${program} cannot be run: install it (apt-get install jq util-linux)`, { cause: error }));
    });
    child.once('close', () => {
      clearInterval(sample);
      resolve({ ms: performance.now() - startedAt, cpuMs, peakMb });
    });
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
