// The sandbox beside the real API server: the same client, the same requests, keep-alive, in turn in one run.
// One JSON object on stdout; exits with 1 where a target is missed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as send, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { startApiServer } from '../apiserver/apiServer.ts';
import { packData } from '../../scripts/packData.mjs';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const OBJECTS = 10_000;
const WATCHERS = 1000;
const PUTS = 3000;
const CONNECTIONS = 4;
const LISTS = 5;
const CHANGES = 7;
const IDLE_MS = 6000;
const TARGETS = { puts: 3, list: 2, startMs: 300, idleMb: 150 };

interface Subject {
  readonly url: string;
  readonly token: string;
}

interface OpenWatch {
  /** Resolves when the next event has arrived. */
  event(): Promise<void>;
  close(): void;
}

class Client {
  private readonly subject: Subject;
  private readonly agent: Agent;

  constructor(subject: Subject, sockets: number) {
    this.subject = subject;
    this.agent = new Agent({ keepAlive: true, maxSockets: sockets, rejectUnauthorized: false });
  }

  send(method: string, path: string, body?: unknown): Promise<{ status: number; bytes: number }> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.subject.token}`,
      accept: 'application/json',
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const options: RequestOptions = { method, headers, agent: this.agent };
    return new Promise((resolve, reject) => {
      const request = send(this.subject.url + path, options, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(text);
    });
  }

  /** Opens a watch from now on; answers when its headers are there. */
  watch(path: string): Promise<OpenWatch> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.subject.token}`, accept: 'application/json' };
      const request = send(
        this.subject.url + path,
        { headers, agent: false, rejectUnauthorized: false },
        (response) => {
          let arrived = (): void => undefined;
          response.on('data', () => arrived());
          response.on('error', () => undefined);
          const event = (): Promise<void> =>
            new Promise((done) => {
              arrived = done;
            });
          resolve({ event, close: () => request.destroy() });
        },
      );
      request.on('error', reject);
      request.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const PATH = '/api/v1/namespaces/bench/configmaps';
const body = (name: string, value: string): unknown => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench' } },
  data: { value, more: 'x'.repeat(200) },
});

async function inParallel(count: number, width: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function expectStatus(reply: Promise<{ status: number }>, status: number): Promise<void> {
  const found = await reply;
  if (found.status !== status) throw new Error(`answered ${found.status} instead of ${status}`);
}

async function putsPerSecond(client: Client): Promise<number> {
  for (let index = 0; index < CONNECTIONS; index += 1)
    await expectStatus(client.send('POST', PATH, body(`put-${index}`, '0')), 201);
  const run = (count: number): Promise<void> =>
    inParallel(count, CONNECTIONS, (index) =>
      expectStatus(
        client.send(
          'PUT',
          `${PATH}/put-${index % CONNECTIONS}`,
          body(`put-${index % CONNECTIONS}`, `${count} ${index}`),
        ),
        200,
      ),
    );
  await run(PUTS / 4);
  const start = performance.now();
  await run(PUTS);
  return PUTS / ((performance.now() - start) / 1000);
}

async function listMs(client: Client): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < LISTS; run += 1) {
    const start = performance.now();
    const { status, bytes } = await client.send('GET', PATH);
    if (status !== 200 || bytes < OBJECTS * 100) throw new Error('the list is not whole');
    times.push(performance.now() - start);
  }
  return median(times);
}

/** The median of several changes: the first one also measures how cold the client is, and who comes second is at an advantage. */
async function deliveryMs(client: Client): Promise<number> {
  const path = '/api/v1/namespaces/bench/services?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  const open: OpenWatch[] = [];
  await inParallel(WATCHERS, 16, async () => {
    open.push(await client.watch(path));
  });
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    await delay(500);
    const events = open.map((watch) => watch.event());
    const start = performance.now();
    const service = { metadata: { name: `change-${change}` }, spec: { ports: [{ port: 80 }] } };
    await expectStatus(client.send('POST', '/api/v1/namespaces/bench/services', service), 201);
    await Promise.all(events);
    times.push(performance.now() - start);
  }
  for (const watch of open) watch.close();
  return median(times);
}

async function measure(subject: Subject): Promise<{ puts: number; listMs: number; deliveryMs: number }> {
  const client = new Client(subject, 16);
  await client.send('POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
  const puts = await putsPerSecond(client);
  await inParallel(OBJECTS, 16, (index) => expectStatus(client.send('POST', PATH, body(`o-${index}`, 'v')), 201));
  const list = await listMs(client);
  const delivery = await deliveryMs(client);
  client.close();
  return { puts, listMs: list, deliveryMs: delivery };
}

function residentMb(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Bundles the child as the product is bundled: what users start is no folder of TypeScript. */
async function bundleChild(folder: string): Promise<string> {
  const outfile = join(folder, 'node', 'child.mjs');
  const banner = {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  };
  await build({
    entryPoints: [here('sandboxChild.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner,
    logLevel: 'error',
  });
  packData(join(folder, 'data'));
  return outfile;
}

const startChild = async (program: string): Promise<{ child: ChildProcess; ready: Subject & { startMs: number } }> => {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { child, ready: JSON.parse(line.toString('utf8')) as Subject & { startMs: number } };
};

const stopChild = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGTERM');
  await once(child, 'exit');
};

const folder = await mkdtemp(join(tmpdir(), 'object-versions-bench-'));
const program = await bundleChild(folder);
/** What a sandbox holds that got all objects, was listed once, and was then left alone. */
async function idleMemory(program: string): Promise<number> {
  const { child, ready } = await startChild(program);
  const client = new Client(ready, 16);
  await client.send('POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
  await inParallel(OBJECTS, 16, (index) => expectStatus(client.send('POST', PATH, body(`o-${index}`, 'v')), 201));
  await client.send('GET', PATH);
  client.close();
  await delay(IDLE_MS);
  const found = residentMb(child);
  await stopChild(child);
  return found;
}

const starts: number[] = [];
for (let run = 0; run < 3; run += 1) {
  const { child, ready } = await startChild(program);
  starts.push(ready.startMs);
  await stopChild(child);
}
const { child, ready } = await startChild(program);
const sandbox = await measure(ready);
await stopChild(child);
const idleMb = await idleMemory(program);
await rm(folder, { recursive: true });

const server = await startApiServer();
const real = await measure(server);
await server.stop();

const result = {
  bench: 'sandbox',
  sandbox,
  real,
  putsRatio: sandbox.puts / real.puts,
  listRatio: real.listMs / sandbox.listMs,
  startMs: median(starts),
  idleMb,
  targets: TARGETS,
};
const missed = [
  ...(result.putsRatio < TARGETS.puts ? ['puts'] : []),
  ...(result.listRatio < TARGETS.list ? ['list'] : []),
  ...(sandbox.deliveryMs >= real.deliveryMs ? ['delivery'] : []),
  ...(result.startMs >= TARGETS.startMs ? ['start'] : []),
  ...(idleMb >= TARGETS.idleMb ? ['idle memory'] : []),
];
process.stdout.write(`${JSON.stringify({ ...result, missed })}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
