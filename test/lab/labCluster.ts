import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createNamespace, sharedApiServer } from '../apiserver/apiServer.ts';

/** A server that the labs' tests run on: a connection, a namespace of one's own, and the kubeconfig in a file. */
export interface LabServer {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** The labs' servers by name; every test of theirs runs on each. */
export const labServers: Readonly<Record<string, (context: Mocha.Context) => Promise<LabServer>>> = {
  'the real server': async (context) => {
    const server = await sharedApiServer(context);
    const namespace = await createNamespace(server, 'lab');
    return connected(namespace, async (file) => void (await server.kubeconfig(file)));
  },
  'the sandbox': async () => sandboxServer('numeric'),
  'a sandbox whose tokens are in no order': async () => sandboxServer('random'),
};

async function sandboxServer(tokens: 'numeric' | 'random'): Promise<LabServer> {
  const sandbox = await startSandbox({ tokens });
  const server = await connected('default', (file) => writeFile(file, sandbox.kubeconfig, { mode: 0o600 }));
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await sandbox.stop();
    },
  };
}

async function connected(namespace: string, write: (file: string) => Promise<void>): Promise<LabServer> {
  const folder = await mkdtemp(join(tmpdir(), 'object-versions-lab-test-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await write(kubeconfig);
  const loaded = loadKubeconfig({ paths: [kubeconfig], env: {}, home: folder });
  const cluster = connectCluster(loaded, { userAgent: 'lab-test', clock: systemClock, env: {} });
  return {
    cluster,
    namespace,
    kubeconfig,
    stop: async () => {
      cluster.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The ConfigMaps and Deployments in a server's namespace, but what every namespace has. */
export async function namesLeft({ cluster, namespace }: LabServer): Promise<string[]> {
  const names: string[] = [];
  for (const collection of ['api/v1/namespaces/%/configmaps', 'apis/apps/v1/namespaces/%/deployments']) {
    const path = `/${collection.replace('%', namespace)}`;
    const { body } = await cluster.send({ method: 'GET', path }, AbortSignal.timeout(5000));
    const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
    names.push(...items.map(({ metadata }) => metadata.name));
  }
  return names.filter((name) => name !== 'kube-root-ca.crt');
}
