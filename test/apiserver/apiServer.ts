import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApiServerUnavailable, findApiServer, type ApiServerBinary } from './binary.ts';
import { startProgram, type Running } from './childProcess.ts';
import { startEtcd } from './etcd.ts';
import { existingCluster } from './existingCluster.ts';
import { kubeconfigText, serverFlags, writeServerFiles, type ServerFiles } from './files.ts';
import { freePort, waitUntilReady } from './health.ts';
import { requestJson } from './request.ts';

/** A real Kubernetes API server, for tests. */
export interface ApiServer {
  readonly url: string;
  /** Bearer token of a user who may do everything. */
  readonly token: string;
  /** Bearer token of a second user with no rights at all (`alice`, group `devs`). */
  readonly userToken: string;
  /** File with the certificate that its own is signed by. */
  readonly caFile: string;
  /** Writes a kubeconfig (mode 0600) for the first user, or the second, to a file and returns its path. */
  kubeconfig(path: string, user?: 'admin' | 'alice'): Promise<string>;
  stop(): Promise<void>;
}

/** `flags` are added to kube-apiserver's own, such as `--audit-log-path=…`. */
export interface ApiServerOptions {
  flags?: readonly string[];
}

const STARTS = 5;

/**
 * Starts a real API server with an empty store on a free loopback port: about three seconds.
 * With USE_EXISTING_CLUSTER=true it is the kubeconfig's cluster instead, and two service accounts of a namespace of ours.
 * @throws ApiServerUnavailable where this machine can have none
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  if (process.env['USE_EXISTING_CLUSTER'] === 'true') return existingCluster();
  const binary = await findApiServer();
  for (let attempt = 1; ; attempt += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'object-versions-apiserver-'));
    const running: Running[] = [];
    const removeOnExit = (): void => rmSync(folder, { recursive: true, force: true });
    process.once('exit', removeOnExit);
    const undo = async (): Promise<void> => {
      for (const program of running.reverse()) await program.stop();
      await rm(folder, { recursive: true, force: true });
      process.off('exit', removeOnExit);
    };
    try {
      const files = await writeServerFiles(folder);
      const url = await startPrograms(binary, files, options.flags ?? [], running);
      return serverAt(url, files, undo);
    } catch (error) {
      const output = running.map((program) => program.output()).join('\n');
      await undo();
      if (attempt < STARTS && output.includes('address already in use')) continue;
      throw new Error(
        `The real API server did not start: ${error instanceof Error ? error.message : String(error)}\n${output}`,
        { cause: error },
      );
    }
  }
}

async function startPrograms(
  binary: ApiServerBinary,
  files: ServerFiles,
  extra: readonly string[],
  running: Running[],
): Promise<string> {
  const port = await freePort();
  const flags = serverFlags(files, port, extra);
  if (binary.kind === 'combined') {
    running.push(startProgram(binary.program, [`--etcd-dir=${files.etcdFolder}`, ...flags]));
  } else {
    const etcdUrl = await startEtcd(binary.etcd, files.etcdFolder, running);
    running.push(startProgram(binary.kubeApiserver, [`--etcd-servers=${etcdUrl}`, ...flags]));
  }
  const url = `https://127.0.0.1:${port}`;
  const server = running.at(-1);
  await waitUntilReady(url, files, () => server?.hasExited() === true);
  return url;
}

function serverAt(url: string, files: ServerFiles, stop: () => Promise<void>): ApiServer {
  let stopping: Promise<void> | undefined;
  return {
    url,
    token: files.token,
    userToken: files.userToken,
    caFile: files.caFile,
    async kubeconfig(path, user = 'admin') {
      const token = user === 'admin' ? files.token : files.userToken;
      const caPem = await readFile(files.caFile, 'utf8');
      await writeFile(path, kubeconfigText({ url, caPem, token, user }), { mode: 0o600 });
      return path;
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

let shared: Promise<ApiServer> | undefined;

/**
 * The one server that all tests of this process share; it is stopped after the last test. Tests keep apart by namespaces
 * (`createNamespace`). Given a mocha context: where no server can be had, the suite is skipped and says so, but fails in CI.
 */
export async function sharedApiServer(context?: Mocha.Context): Promise<ApiServer> {
  context?.timeout(1_800_000);
  shared ??= startApiServer();
  try {
    return await shared;
  } catch (error) {
    if (!(error instanceof ApiServerUnavailable) || context === undefined || process.env['CI'] === 'true') throw error;
    process.stderr.write(`apiserver: the real server's tests did NOT run. ${error.message}\n`);
    return context.skip();
  }
}

if (typeof after === 'function') {
  after('the shared API server stops', async function () {
    this.timeout(30_000);
    const server = await shared?.catch(() => undefined);
    await server?.stop();
  });
}

/** Creates a namespace with a generated name, made from the prefix, and returns its name. */
export async function createNamespace(server: ApiServer, prefix = 'test'): Promise<string> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: `${prefix}-` } };
  const created = (await requestJson(server, 'POST', '/api/v1/namespaces', body)) as { metadata: { name: string } };
  return created.metadata.name;
}
