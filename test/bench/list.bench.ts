import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { systemClock } from '../../src/base/clock.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { createNamespace, startApiServer } from '../apiserver/apiServer.ts';
import type { Measurement } from './listSide.ts';

/**
 * 20,000 ConfigMaps of 1 KB on the real API server, from start to the complete model: the watch of the tree with its log
 * and history, against client-node's informer with its cache. Both sides in a process of their own, in turn.
 */
const OBJECTS = Number(process.env['BENCH_OBJECTS'] ?? 20_000);
const RUNS = 5;
const TARGET = { time: 0.6, heap: 0.25 };
const WRITERS = 24;

const signal = new AbortController().signal;

async function fill(cluster: Cluster, namespace: string): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let index = next; index < OBJECTS; index = next) {
      next += 1;
      const body = JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: `settings-${index}`,
          labels: {
            'app.kubernetes.io/name': 'bench',
            'app.kubernetes.io/instance': `instance-${index % 100}`,
            tier: index % 2 === 0 ? 'front' : 'back',
          },
          annotations: { 'example.com/description': `object ${index} of the bench` },
        },
        data: { config: 'x'.repeat(480), index: String(index) },
      });
      const reply = await cluster.send(
        {
          method: 'POST',
          path: `/api/v1/namespaces/${namespace}/configmaps`,
          headers: { 'content-type': 'application/json' },
          body,
        },
        signal,
      );
      if (reply.status !== 201) throw new Error(`a ConfigMap was refused: ${reply.status} ${reply.body}`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

function startSide(side: 'ours' | 'theirs', kubeconfig: string, namespace: string): ChildProcess {
  const script = fileURLToPath(new URL('./listSide.ts', import.meta.url));
  return fork(script, [side, kubeconfig, namespace], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

async function runOnce(child: ChildProcess): Promise<Measurement> {
  child.send('run');
  const ended = new AbortController();
  const died = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('a side of the bench ended early');
  });
  died.catch(() => undefined);
  const [measurement] = (await Promise.race([once(child, 'message', { signal: ended.signal }), died])) as [Measurement];
  ended.abort();
  if (measurement.objects !== OBJECTS) throw new Error(`a side saw ${measurement.objects} of ${OBJECTS} objects`);
  return measurement;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function summary(runs: readonly Measurement[]): { ms: number; heapMb: number; runsMs: number[]; runsHeapMb: number[] } {
  const mb = (bytes: number): number => Math.round(bytes / 10_486) / 100;
  return {
    ms: Math.round(median(runs.map((run) => run.ms))),
    heapMb: mb(median(runs.map((run) => run.heapBytes))),
    runsMs: runs.map((run) => Math.round(run.ms)),
    runsHeapMb: runs.map((run) => mb(run.heapBytes)),
  };
}

const folder = await mkdtemp(join(tmpdir(), 'object-versions-bench-'));
const server = await startApiServer();
const children: ChildProcess[] = [];
try {
  const kubeconfig = await server.kubeconfig(join(folder, 'kubeconfig'));
  const namespace = await createNamespace(server, 'bench');
  const cluster = connectCluster(loadKubeconfig({ paths: [kubeconfig], env: {}, home: '/' }), {
    userAgent: 'bench',
    clock: systemClock,
    env: {},
  });
  process.stderr.write(`list: creating ${OBJECTS} ConfigMaps\n`);
  await fill(cluster, namespace);
  cluster.dispose();
  const sides = { ours: startSide('ours', kubeconfig, namespace), theirs: startSide('theirs', kubeconfig, namespace) };
  children.push(sides.ours, sides.theirs);
  const runs: Record<'ours' | 'theirs', Measurement[]> = { ours: [], theirs: [] };
  for (let round = 0; round <= RUNS; round += 1) {
    for (const side of ['theirs', 'ours'] as const) {
      const measurement = await runOnce(sides[side]);
      if (round > 0) runs[side].push(measurement);
    }
    process.stderr.write(`list: ${round === 0 ? 'warmed up' : `run ${round} of ${RUNS}`}\n`);
  }
  const [ours, theirs] = [summary(runs.ours), summary(runs.theirs)];
  const ratio = {
    time: Math.round((ours.ms / theirs.ms) * 1000) / 1000,
    heap: Math.round((ours.heapMb / theirs.heapMb) * 1000) / 1000,
  };
  const ok = ratio.time <= TARGET.time && ratio.heap <= TARGET.heap;
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? '', cores: availableParallelism() };
  process.stdout.write(
    `${JSON.stringify({ bench: 'list', what: `${OBJECTS} ConfigMaps of 1 KB, start to complete model`, ours, clientNodeInformer: theirs, ratio, target: TARGET, ok, machine })}\n`,
  );
  process.exitCode = ok ? 0 : 1;
} finally {
  for (const child of children) child.kill();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
