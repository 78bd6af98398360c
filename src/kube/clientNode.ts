import type { Agent as HttpAgent } from 'node:http';
import type { RequestOptions } from 'node:https';

import type { Cluster as NodeCluster, User as NodeUser } from '@kubernetes/client-node/dist/config_types.js';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';

import type { ClusterEntry, UserEntry } from './kubeconfigFile.ts';

/** What client-node makes of a cluster and user: headers that authenticate, and an agent that goes through the proxy. */
export interface ClientNodeAuth {
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: HttpAgent | undefined;
}

/** Marks on the global object by which undici shares its dispatcher with the `fetch` of the whole process. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
const NAME = 'object-versions';

/**
 * Authentication by @kubernetes/client-node: auth providers (OIDC, GCP, Azure) and proxies (HTTP, HTTPS, SOCKS).
 * It is loaded when a kubeconfig first needs it, because it is large, and what loading it does to the process's own `fetch`
 * is undone.
 */
export class ClientNodeConfig {
  private readonly cluster: ClusterEntry;
  private readonly user: UserEntry | undefined;
  private loaded: Promise<KubeConfig> | undefined;

  constructor(cluster: ClusterEntry, user: UserEntry | undefined) {
    this.cluster = cluster;
    this.user = user;
  }

  async auth(): Promise<ClientNodeAuth> {
    this.loaded ??= this.load();
    const options: RequestOptions = {};
    await (await this.loaded).applyToHTTPSOptions(options);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(options.headers ?? {}))
      if (typeof value === 'string') headers[name.toLowerCase()] = value;
    const { agent } = options;
    return { headers, agent: typeof agent === 'object' ? agent : undefined };
  }

  private async load(): Promise<KubeConfig> {
    const config = new (await loadKubeConfigClass())();
    config.loadFromOptions({
      clusters: [nodeCluster(this.cluster)],
      users: [nodeUser(this.user)],
      contexts: [{ name: NAME, cluster: NAME, user: NAME }],
      currentContext: NAME,
    });
    return config;
  }
}

async function loadKubeConfigClass(): Promise<typeof KubeConfig> {
  const before = DISPATCHERS.map((symbol): unknown => Reflect.get(globalThis, symbol));
  const module = await import('@kubernetes/client-node/dist/config.js');
  DISPATCHERS.forEach((symbol, index) => {
    if (Reflect.get(globalThis, symbol) !== before[index]) Reflect.set(globalThis, symbol, before[index]);
  });
  return module.KubeConfig;
}

function nodeCluster(cluster: ClusterEntry): NodeCluster {
  return {
    name: NAME,
    server: cluster.server,
    // client-node refuses plain http unless told this; for http it changes nothing else.
    skipTLSVerify: cluster.insecure || cluster.server.startsWith('http:'),
    ...(cluster.caFile === undefined ? {} : { caFile: cluster.caFile }),
    ...(cluster.caData === undefined ? {} : { caData: cluster.caData }),
    ...(cluster.tlsServerName === undefined ? {} : { tlsServerName: cluster.tlsServerName }),
    ...(cluster.proxyUrl === undefined ? {} : { proxyUrl: cluster.proxyUrl }),
  };
}

function nodeUser(user: UserEntry | undefined): NodeUser {
  return {
    name: NAME,
    ...(user?.certFile === undefined ? {} : { certFile: user.certFile }),
    ...(user?.certData === undefined ? {} : { certData: user.certData }),
    ...(user?.keyFile === undefined ? {} : { keyFile: user.keyFile }),
    ...(user?.keyData === undefined ? {} : { keyData: user.keyData }),
    ...(user?.authProvider === undefined ? {} : { authProvider: user.authProvider }),
  };
}
