import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { Server, ServerReply, ServerRequest } from '../../src/base/server.ts';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import type { ListSchema } from '../../src/core/listSchema.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { listSchemaFor } from '../../src/kube/schema.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Intent } from '../../src/write/intent.ts';
import { modify } from '../../src/write/modify.ts';
import type { ModifyOptions } from '../../src/write/options.ts';
import type { Report } from '../../src/write/report.ts';
import { collectionPath, targetPath, type Target } from '../../src/write/target.ts';
import { createNamespace, sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';

/** A request that a write sent, and what was answered. */
export interface Seen {
  readonly request: ServerRequest;
  readonly reply: ServerReply;
  readonly body: Json;
}

/** The servers that the same tests run on. */
export const serverKinds = ['real server', 'sandbox'] as const;
export type ServerKind = (typeof serverKinds)[number];

/** A sandbox of its own, as the tests know servers; its tokens are random strings, in no order. */
async function sandboxAsApiServer(folder: string): Promise<ApiServer> {
  const sandbox = await startSandbox({ tokens: 'random' });
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, sandbox.caPem);
  return {
    url: sandbox.url,
    token: sandbox.token,
    userToken: sandbox.userToken,
    caFile,
    kubeconfig: async (path, user) => {
      const text = user === 'alice' ? sandbox.kubeconfig.replace(sandbox.token, sandbox.userToken) : sandbox.kubeconfig;
      await writeFile(path, text, { mode: 0o600 });
      return path;
    },
    stop: async () => sandbox.stop(),
  };
}

/** The real server as the tests of writes use it: a writer A, whose requests are seen, and somebody else, B. */
export class RealServer {
  readonly server: ApiServer;
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly kubeconfig: string;
  private readonly folder: string;
  /** The server, where it was started for this test alone. */
  private readonly owned: ApiServer | undefined;

  private constructor(
    server: ApiServer,
    cluster: Cluster,
    namespace: string,
    folder: string,
    kubeconfig: string,
    owned: ApiServer | undefined,
  ) {
    this.server = server;
    this.cluster = cluster;
    this.namespace = namespace;
    this.folder = folder;
    this.owned = owned;
    this.kubeconfig = kubeconfig;
  }

  static async start(context: Mocha.Context, on: ServerKind = 'real server'): Promise<RealServer> {
    const folder = await mkdtemp(join(tmpdir(), 'object-versions-write-'));
    const server = on === 'sandbox' ? await sandboxAsApiServer(folder) : await sharedApiServer(context);
    const kubeconfig = await server.kubeconfig(join(folder, 'kubeconfig'));
    const config = loadKubeconfig({ paths: [kubeconfig], env: {}, home: '/' });
    const cluster = connectCluster(config, { userAgent: 'write-test', clock: systemClock, env: {} });
    const owned = on === 'sandbox' ? server : undefined;
    return new RealServer(server, cluster, await createNamespace(server, 'write'), folder, kubeconfig, owned);
  }

  async stop(): Promise<void> {
    this.cluster.dispose();
    await this.owned?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  configMap(name: string): Target {
    return this.target('', 'v1', 'configmaps', 'ConfigMap', name);
  }

  target(group: string, version: string, resource: string, kind: string, name: string, namespaced = true): Target {
    return { group, version, resource, kind, namespaced, namespace: namespaced ? this.namespace : '', name };
  }

  /** Any request, as B. */
  async send(
    method: ServerRequest['method'],
    path: string,
    body?: Json,
    more: Partial<ServerRequest> = {},
  ): Promise<JsonObject> {
    const reply = await this.cluster.send(
      {
        method,
        path,
        query: { fieldManager: 'b' },
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        ...(body === undefined ? {} : { body: stringifyJson(body) }),
        ...more,
      },
      AbortSignal.timeout(30_000),
    );
    const answer = parseJson(reply.body);
    if (reply.status >= 300 || !isJsonObject(answer))
      throw new Error(`${method} ${path}: ${reply.status} ${reply.body.slice(0, 500)}`);
    return answer;
  }

  async create(target: Target, object: JsonObject, manager = 'b'): Promise<JsonObject> {
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
    const apiVersion = target.group === '' ? target.version : `${target.group}/${target.version}`;
    const whole = { apiVersion, kind: target.kind, ...object, metadata: { ...metadata, name: target.name } };
    return this.send('POST', collectionPath(target), whole, { query: { fieldManager: manager } });
  }

  async read(target: Target): Promise<JsonObject> {
    return this.send('GET', targetPath(target));
  }

  /** B's merge patch, without a condition. */
  async patch(target: Target, patch: JsonObject, manager = 'b', subresource?: string): Promise<JsonObject> {
    return this.send('PATCH', targetPath(target, subresource), patch, {
      query: { fieldManager: manager },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  }

  async apply(target: Target, object: JsonObject, manager: string): Promise<JsonObject> {
    return this.send('PATCH', targetPath(target), object, {
      query: { fieldManager: manager },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  }

  async delete(target: Target): Promise<void> {
    await this.send('DELETE', targetPath(target));
  }

  async schema(target: Target): Promise<ListSchema> {
    return listSchemaFor(this.cluster, target, AbortSignal.timeout(30_000));
  }

  /** Creates a custom resource definition and waits until its resource is served. */
  async define(plural: string, kind: string, group: string, spec: JsonObject, more: JsonObject = {}): Promise<void> {
    const definition: JsonObject = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular: plural.slice(0, -1), kind },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: spec } },
            ...more,
          },
        ],
      },
    };
    await this.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    const signal = AbortSignal.timeout(30_000);
    for (;;) {
      const path = `/apis/${group}/v1/namespaces/${this.namespace}/${plural}`;
      const reply = await this.cluster.send({ method: 'GET', path }, signal);
      if (reply.status === 200) return;
      await systemClock.delay(100, signal);
    }
  }

  /** A's view of the server: what it sends is seen; `before` may let others act first. */
  watched(before?: (request: ServerRequest, count: number) => Promise<ServerReply | undefined | void>): {
    server: Server;
    seen: Seen[];
  } {
    const seen: Seen[] = [];
    let count = 0;
    const server: Server = {
      send: async (request, signal) => {
        count += 1;
        const instead = await before?.(request, count);
        const reply = typeof instead === 'object' ? instead : await this.cluster.send(request, signal);
        seen.push({ request, reply, body: request.body === undefined ? null : parseJson(request.body) });
        return reply;
      },
    };
    return { server, seen };
  }

  /** A's write. */
  async modify(
    target: Target,
    intent: Intent,
    options: Partial<ModifyOptions> = {},
    before?: Parameters<RealServer['watched']>[0],
  ): Promise<{ report: Report; seen: Seen[]; writes: Seen[] }> {
    const { server, seen } = this.watched(before);
    const report = await modify(server, target, intent, {
      clock: systemClock,
      backoff: { baseMs: 5, capMs: 20 },
      ...options,
    });
    return { report, seen, writes: seen.filter(({ request }) => request.method !== 'GET') };
  }
}

/** Values set and removed, by paths as people write them. */
export function changes(set: Record<string, Json>, remove: readonly string[] = []): Intent {
  return {
    kind: 'changes',
    set: Object.entries(set).map(([path, value]) => [fields(path), value] as const),
    remove: remove.map(fields),
  };
}

function fields(path: string): { field: string }[] {
  return path.split('/').map((field) => ({ field }));
}

/** A member of a member … of an object. */
export function at(object: Json | undefined, ...steps: string[]): Json | undefined {
  let value = object;
  for (const step of steps)
    value = isJsonObject(value) ? value[step] : Array.isArray(value) ? value[Number(step)] : undefined;
  return value;
}

/** The text there, '' where there is none. */
export function textAt(object: Json | undefined, ...steps: string[]): string {
  const value = at(object, ...steps);
  return typeof value === 'string' ? value : '';
}
