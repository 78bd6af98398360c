// Contention: 32 writers add to one counter 20 times each, by the safe write and by client-go's RetryOnConflict, in turn on
// one real API server. One JSON object on stdout; exits with 1 where a target is missed or an update is lost.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import type { Server } from '../../src/base/server.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { strategies, type Strategy } from '../../src/write/outcome.ts';
import { createNamespace, startApiServer } from '../apiserver/apiServer.ts';
import { buildGoClient } from '../goclients/build.ts';
import { contend, makeCounter, type Contention } from '../write/contend.ts';

const WRITERS = 32;
const UPDATES = 20;
const RUNS = 5;
const TARGET = { acceptedPerSecond: 1, requestsPerAccepted: 1 };

interface GoResult {
  accepted: number;
  requests: number;
  seconds: number;
  counter: number;
}

/** The same measure of both sides. */
interface Measure {
  readonly acceptedPerSecond: number;
  readonly requestsPerAccepted: number;
  readonly lost: number;
}

const run = promisify(execFile);

function measure({ accepted, requests, seconds, counter }: GoResult | Contention): Measure {
  return { acceptedPerSecond: accepted / seconds, requestsPerAccepted: requests / accepted, lost: accepted - counter };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function summary(runs: readonly Measure[]): Record<string, unknown> {
  const rounded = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 100) / 100);
  const speeds = rounded(runs.map((one) => one.acceptedPerSecond));
  const costs = rounded(runs.map((one) => one.requestsPerAccepted));
  return {
    acceptedPerSecond: median(speeds),
    requestsPerAccepted: median(costs),
    lost: runs.map((one) => one.lost),
    speeds,
    costs,
  };
}

const folder = await mkdtemp(join(tmpdir(), 'object-versions-bench-'));
const server = await startApiServer();
let cluster: Cluster | undefined;
try {
  const program = await buildGoClient('contention');
  const kubeconfig = await server.kubeconfig(join(folder, 'kubeconfig'));
  const namespace = await createNamespace(server, 'bench');
  const config = loadKubeconfig({ paths: [kubeconfig], env: {}, home: '/' });
  cluster = connectCluster(config, { userAgent: 'bench', clock: systemClock, env: {} });
  const client: Server = cluster;
  const ours = async (name: string): Promise<Measure> =>
    measure(
      await contend(client, {
        namespace,
        name,
        writers: WRITERS,
        updates: UPDATES,
        strategy: 'replace',
        clock: systemClock,
      }),
    );
  const theirs = async (name: string): Promise<Measure> => {
    const args = [
      '-kubeconfig',
      kubeconfig,
      '-namespace',
      namespace,
      '-name',
      name,
      '-writers',
      `${WRITERS}`,
      '-updates',
      `${UPDATES}`,
    ];
    return measure(JSON.parse((await run(program, args)).stdout) as GoResult);
  };
  const sides = { ours, theirs };
  const runs: Record<'ours' | 'theirs', Measure[]> = { ours: [], theirs: [] };
  for (let round = 0; round <= RUNS; round += 1) {
    for (const side of ['theirs', 'ours'] as const) {
      const name = `${side}-${round}`;
      await makeCounter(client, namespace, name);
      const result = await sides[side](name);
      if (round > 0) runs[side].push(result);
    }
    process.stderr.write(`contention: ${round === 0 ? 'warmed up' : `run ${round} of ${RUNS}`}\n`);
  }
  const others: Measure[] = [];
  const [us, them] = [summary(runs.ours), summary(runs.theirs)];
  const of = (side: readonly Measure[], what: 'acceptedPerSecond' | 'requestsPerAccepted'): number =>
    median(side.map((one) => one[what]));
  const ratio = {
    acceptedPerSecond:
      Math.round((of(runs.ours, 'acceptedPerSecond') / of(runs.theirs, 'acceptedPerSecond')) * 1000) / 1000,
    requestsPerAccepted:
      Math.round((of(runs.ours, 'requestsPerAccepted') / of(runs.theirs, 'requestsPerAccepted')) * 1000) / 1000,
  };
  const otherStrategies: Partial<Record<Strategy, Record<string, unknown>>> = {};
  for (const strategy of strategies.filter((one) => one !== 'replace')) {
    await makeCounter(client, namespace, `other-${strategy}`);
    const spec = {
      namespace,
      name: `other-${strategy}`,
      writers: WRITERS,
      updates: UPDATES,
      strategy,
      clock: systemClock,
    };
    const result = measure(await contend(client, spec));
    others.push(result);
    otherStrategies[strategy] = summary([result]);
  }
  const lost = [...runs.ours, ...others].some((one) => one.lost !== 0);
  const ok =
    !lost &&
    ratio.acceptedPerSecond >= TARGET.acceptedPerSecond &&
    ratio.requestsPerAccepted <= TARGET.requestsPerAccepted;
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? '', cores: availableParallelism() };
  const what = `${WRITERS} writers add to one counter ${UPDATES} times each, until all are accepted`;
  process.stdout.write(
    `${JSON.stringify({ bench: 'contention', what, ours: us, clientGoRetryOnConflict: them, otherStrategies, ratio, target: { acceptedPerSecond: '>= 1', requestsPerAccepted: '<= 1', lost: 0 }, ok, machine })}\n`,
  );
  process.exitCode = ok ? 0 : 1;
} finally {
  cluster?.dispose();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
