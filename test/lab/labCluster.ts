import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { createNamespace, sharedApiServer } from '../apiserver/apiServer.ts';

/** A connection to the shared real API server and a namespace of one's own there. */
export async function realCluster(context: Mocha.Context): Promise<{ cluster: Cluster; namespace: string }> {
  const server = await sharedApiServer(context);
  const folder = await mkdtemp(join(tmpdir(), 'object-versions-lab-test-'));
  try {
    const file = await server.kubeconfig(join(folder, 'kubeconfig'));
    const kubeconfig = loadKubeconfig({ paths: [file], env: {}, home: folder });
    const cluster = connectCluster(kubeconfig, { userAgent: 'lab-test', clock: systemClock, env: {} });
    return { cluster, namespace: await createNamespace(server, 'lab') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
