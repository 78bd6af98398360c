import { AppError, messageOf } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import { connectCluster } from '../../src/kube/cluster.ts';
import { discover } from '../../src/kube/discovery.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { watchResource } from '../../src/kube/watch.ts';

/** One measurement: from start to the complete model, and what the model holds on to afterwards. */
export interface Measurement {
  ms: number;
  heapBytes: number;
  objects: number;
}

/** A model that is complete; `stop` ends what keeps it up to date. */
interface Complete {
  /** Kept alive until the heap was measured. */
  model: unknown;
  objects: number;
  stop(): Promise<void>;
}

const [side, kubeconfigFile, namespace] = process.argv.slice(2);
if (kubeconfigFile === undefined || namespace === undefined)
  throw new AppError('usage', 'listSide SIDE KUBECONFIG NAMESPACE');

/** Ours: the watch as the tree runs it, into the log and its history. */
async function ours(file: string, within: string): Promise<Complete> {
  const cluster = connectCluster(loadKubeconfig({ paths: [file], env: {}, home: '/' }), {
    userAgent: 'bench',
    clock: systemClock,
    env: {},
  });
  const stop = new AbortController();
  const log = new EventLog();
  const resource = (await discover(cluster, stop.signal)).find('configmaps');
  const running = { watch: Promise.resolve() };
  await new Promise<void>((resolve, reject) => {
    running.watch = watchResource(
      cluster,
      { resource, namespace: within, bodies: 'auto' },
      {
        events: (events) => void log.appendAll(events),
        state: (state) => {
          if (state.phase === 'live') resolve();
          if (state.error !== undefined) reject(state.error);
        },
      },
      { secretKey: '0'.repeat(32) },
      stop.signal,
    );
  });
  return {
    model: log,
    objects: log.history.names.size,
    async stop() {
      stop.abort();
      await running.watch;
      cluster.dispose();
    },
  };
}

/** Theirs: client-node's informer with its own cache. */
async function theirs(file: string, within: string): Promise<Complete> {
  const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(file);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, `/api/v1/namespaces/${within}/configmaps`, () =>
    api.listNamespacedConfigMap({ namespace: within }),
  );
  await new Promise<void>((resolve, reject) => {
    informer.on('connect', () => resolve());
    informer.on('error', reject);
    informer.start().catch(reject);
  });
  // The first `connect` comes before the list, the list is in the cache when `start` has asked for the watch.
  while (informer.list(within).length === 0) await systemClock.delay(1);
  return { model: informer, objects: informer.list(within).length, stop: () => informer.stop() };
}

/** What the run before has let go of is gone, so that it is not counted for or against this one. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await systemClock.delay(100);
    globalThis.gc?.();
  }
}

async function measure(file: string, within: string): Promise<Measurement> {
  const run = side === 'ours' ? ours : theirs;
  await settle();
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  const complete = await run(file, within);
  const ms = performance.now() - start;
  await settle();
  const heapBytes = process.memoryUsage().heapUsed - before;
  await complete.stop();
  return { ms, heapBytes, objects: complete.model === undefined ? 0 : complete.objects };
}

process.on('message', (message) => {
  if (message !== 'run') {
    process.disconnect();
    return;
  }
  measure(kubeconfigFile, namespace).then(
    (measurement) => process.send?.(measurement),
    (error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exit(1);
    },
  );
});
