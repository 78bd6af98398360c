// The recorder, with recording and findings on, against `kubectl proxy`: the same client, the same real API server, in turns.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { startApiServer } from '../apiserver/apiServer.ts';
import { needKubectl } from '../apiserver/kubectl.ts';

const ROUNDS = 3;
const ROUND_MS = 2_000;
const CONCURRENCY = 16;
const SENT_PER_SECOND = 10_500;
const LIMITS = { rate: 0.8, addedP50Ms: 1, watchEvents: 10_000, grownMb: 30 };

interface Target {
  readonly url: string;
  readonly token?: string;
  readonly ca?: string;
}

interface Round {
  readonly requests: number;
  readonly p50Ms: number;
}

if (isMainThread) await main();
else
  parentPort?.postMessage(await load(workerData as { target: Target; path: string; concurrency: number; ms: number }));

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'recorder-bench-'));
  const server = await startApiServer();
  const kubeconfig = await server.kubeconfig(join(folder, 'config'));
  const recorder = await startRecord(kubeconfig);
  const proxy = await startKubectlProxy(kubeconfig);
  const path = '/api/v1/namespaces/kube-system';
  const result: Record<string, Round[]> = { recorder: [], proxy: [], recorderAlone: [], proxyAlone: [] };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, target] of [
        ['recorder', recorder.target],
        ['proxy', proxy.target],
      ] as const) {
        result[name]?.push(await inWorker(target, path, CONCURRENCY));
        result[`${name}Alone`]?.push(await inWorker(target, path, 1));
      }
    }
    const rate = median(rates('recorder')) / median(rates('proxy'));
    const addedP50Ms = median(p50s('recorderAlone')) - median(p50s('proxyAlone'));
    const watch = await watchRate();
    const held =
      rate >= LIMITS.rate &&
      addedP50Ms <= LIMITS.addedP50Ms &&
      watch.perSecond >= LIMITS.watchEvents &&
      watch.grownMb <= LIMITS.grownMb &&
      watch.lost === 0;
    process.stdout.write(
      `${JSON.stringify({ bench: 'recorder', against: 'kubectl proxy', rate: round2(rate), recorderPerSecond: Math.round(median(rates('recorder'))), proxyPerSecond: Math.round(median(rates('proxy'))), addedP50Ms: round2(addedP50Ms), watch, load: round2(loadavg()[0] ?? 0), limits: LIMITS, held })}\n`,
    );
    if (!held) process.exitCode = 1;
  } finally {
    recorder.child.kill('SIGTERM');
    proxy.child.kill('SIGTERM');
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }

  function rates(name: string): number[] {
    return (result[name] ?? []).map((round) => (round.requests * 1_000) / ROUND_MS);
  }
  function p50s(name: string): number[] {
    return (result[name] ?? []).map((round) => round.p50Ms);
  }
}

function inWorker(target: Target, path: string, concurrency: number): Promise<Round> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { target, path, concurrency, ms: ROUND_MS } });
    worker.once('message', (round: Round) => resolve(round));
    worker.once('error', reject);
  });
}

/** Sends requests one after another over so many kept-alive connections. */
async function load({
  target,
  path,
  concurrency,
  ms,
}: {
  target: Target;
  path: string;
  concurrency: number;
  ms: number;
}): Promise<Round> {
  const secure = target.url.startsWith('https:');
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, ...(target.ca === undefined ? {} : { ca: target.ca }) })
    : new HttpAgent({ keepAlive: true });
  const headers = {
    accept: 'application/json',
    ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }),
  };
  const times: number[] = [];
  const until = performance.now() + ms;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const from = performance.now();
      const sent = (secure ? httpsRequest : httpRequest)(`${target.url}${path}`, { agent, headers }, (answer) => {
        answer.resume();
        answer.on('end', () => {
          times.push(performance.now() - from);
          resolve();
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < until) await one();
    }),
  );
  agent.destroy();
  return { requests: times.length, p50Ms: median(times) };
}

async function startRecord(kubeconfig: string): Promise<{ child: ChildProcess; target: Target }> {
  const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [cli, 'record', '--kubeconfig', kubeconfig, '-o', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = JSON.parse(await firstLine(child)) as { url: string; kubeconfig: string };
  const { readFile } = await import('node:fs/promises');
  const config = JSON.parse(await readFile(ready.kubeconfig, 'utf8')) as {
    clusters: [{ cluster: { 'certificate-authority-data': string } }];
    users: [{ user: { token: string } }];
  };
  return {
    child,
    target: {
      url: ready.url,
      token: config.users[0].user.token,
      ca: Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString(),
    },
  };
}

async function startKubectlProxy(kubeconfig: string): Promise<{ child: ChildProcess; target: Target }> {
  const child = spawn(await needKubectl(), ['proxy', '--kubeconfig', kubeconfig, '--port=0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = /:(\d+)/.exec(await firstLine(child))?.[1];
  return { child, target: { url: `http://127.0.0.1:${port}` } };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\n')[0] ?? ''));
    child.once('close', () => reject(new Error('It ended before it was ready.')));
  });
}

/** Watch events through the recorder in a second, from a server that sends as fast as it is read, and how memory grew. */
async function watchRate(): Promise<{ perSecond: number; grownMb: number; lost: number }> {
  const { behindRecorder, open } = await import('../recorder/standIn.ts');
  const { RecordingSession } = await import('../../src/recorder/session.ts');
  const session = new RecordingSession(() => undefined);
  let version = 0;
  const line = (): string => {
    version += 1;
    const name = `demo-${version % 100}`;
    const metadata = {
      name,
      namespace: 'lab',
      uid: `00000000-0000-4000-8000-${String(version % 100).padStart(12, '0')}`,
      resourceVersion: String(version),
      labels: { app: name },
    };
    return `${JSON.stringify({ type: 'MODIFIED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { a: 'x'.repeat(200), n: String(version) } } })}\n`;
  };
  const behind = await behindRecorder(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      // A little more than the target, evenly: what is left over shows whether the recorder keeps up.
      const from = performance.now();
      let sent = 0;
      const timer = setInterval(() => {
        const due = Math.floor(((performance.now() - from) * SENT_PER_SECOND) / 1_000) - sent;
        if (due > 0) response.write(Array.from({ length: due }, line).join(''));
        sent += Math.max(due, 0);
      }, 10);
      response.on('close', () => clearInterval(timer));
    },
    { sink: (event) => void session.add(event) },
  );
  let lines = 0;
  const request = open(behind, 'GET', '/api/v1/namespaces/lab/configmaps?watch=true', {}, (answer) => {
    answer.on('error', () => undefined);
    answer.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 10) lines += 1;
    });
  });
  request.on('error', () => undefined);
  request.end();
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  await pause(3_000);
  const [linesBefore, memoryBefore] = [lines, heldBytes()];
  await pause(5_000);
  const perSecond = Math.round((lines - linesBefore) / 5);
  const grownMb = Math.round((heldBytes() - memoryBefore) / 2 ** 20);
  const { lost } = behind.recorder.notAnalysed();
  request.destroy();
  await behind.stop();
  return { perSecond, grownMb, lost };
}

/** The heap that is held, garbage collected first. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
