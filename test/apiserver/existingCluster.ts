import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '../../src/base/clock.ts';
import type { ServerRequest } from '../../src/base/server.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import type { ApiServer } from './apiServer.ts';
import { kubeconfigText } from './files.ts';

const signal = new AbortController().signal;

/** The kubeconfig's own cluster, with two service accounts in a namespace that `stop` deletes again. */
export async function existingCluster(): Promise<ApiServer> {
  const kubeconfig = loadKubeconfig({ env: process.env, home: homedir() });
  const cluster = connectCluster(kubeconfig, { userAgent: 'object-versions-test', clock: systemClock });
  const folder = await mkdtemp(join(tmpdir(), 'object-versions-existing-'));
  const namespace = nameOf(
    await call(cluster, 'POST', '/api/v1/namespaces', { metadata: { generateName: 'object-versions-test-' } }),
  );
  const binding = nameOf(
    await call(cluster, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { generateName: 'object-versions-test-' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'admin', namespace }],
    }),
  );
  const [token, userToken] = [await tokenFor(cluster, namespace, 'admin'), await tokenFor(cluster, namespace, 'alice')];
  const caPem = await cluster.caPem();
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, caPem ?? '');
  return {
    url: cluster.url,
    token,
    userToken,
    caFile,
    async kubeconfig(path, user = 'admin') {
      const text = kubeconfigText({
        url: cluster.url,
        caPem: caPem ?? '',
        token: user === 'admin' ? token : userToken,
        user,
      });
      await writeFile(path, text, { mode: 0o600 });
      return path;
    },
    async stop() {
      await call(cluster, 'DELETE', `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${binding}`);
      await call(cluster, 'DELETE', `/api/v1/namespaces/${namespace}`);
      cluster.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function tokenFor(cluster: Cluster, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await call(cluster, 'POST', path, { metadata: { name } });
  const answer = await call(cluster, 'POST', `${path}/${name}/token`, { spec: { expirationSeconds: 7200 } });
  const status = answer['status'];
  const token = isJsonObject(status) ? status['token'] : undefined;
  if (typeof token !== 'string') throw new Error('the cluster gave no token for a service account');
  return token;
}

async function call(cluster: Cluster, method: ServerRequest['method'], path: string, body?: Json): Promise<JsonObject> {
  const headers = { 'content-type': 'application/json' };
  const reply = await cluster.send(
    { method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    signal,
  );
  const answer = parseJson(reply.body);
  if (reply.status >= 300 || !isJsonObject(answer))
    throw new Error(`${method} ${path} answered ${reply.status}: ${reply.body}`);
  return answer;
}

function nameOf(object: JsonObject): string {
  const metadata = object['metadata'];
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string') throw new Error('the cluster named no object');
  return name;
}
