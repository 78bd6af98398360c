// A complete VS Code without a desktop build: the server and workbench inside the npm package code-server, installed into a
// cache outside the clone, run by Node and looked at with a browser.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SERVER_MAIN = join('node_modules', 'code-server', 'lib', 'vscode', 'out', 'server-main.js');
const READY = /Extension host agent listening on (\d+)/;
const START_LIMIT_MS = 60_000;

/** The versions of VS Code that are tested: the newest known to work and the floor of `engines.vscode`. */
export const vscodeVersions = {
  stable: { codeServer: '4.139.1', vscode: '1.139.1', node: undefined },
  floor: { codeServer: '4.103.2', vscode: '1.103.2', node: '22' },
};

/** The folder of this project's downloads, outside the clone. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'object-versions');
}

/** Node 24 of this clone; the Node that runs this where that is not installed. */
export function projectNode() {
  const own = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(own) ? own : process.execPath;
}

/**
 * Installs a VS Code server unless it is there.
 * @param {{ which: 'stable' | 'floor', log?: (line: string) => void }} options
 * @returns {Promise<{ node: string, main: string, version: string }>}
 */
export async function ensureVSCode({ which, log = console.error }) {
  const wanted = vscodeVersions[which];
  const folder = join(cacheFolder(), `vscode-${wanted.vscode}`);
  const found = { main: join(folder, SERVER_MAIN), node: nodeOf(folder, wanted), version: wanted.vscode };
  if (existsSync(join(folder, 'complete'))) return found;
  await mkdir(cacheFolder(), { recursive: true });
  const building = await mkdtemp(join(cacheFolder(), `vscode-${wanted.vscode}-building-`));
  try {
    await writeFile(join(building, 'package.json'), '{"private":true}\n');
    const packages = [
      `code-server@${wanted.codeServer}`,
      ...(wanted.node === undefined ? [] : [`node@${wanted.node}`]),
    ];
    log(`VS Code ${wanted.vscode}: installing ${packages.join(' and ')} (about 600 MB, 1 of 2) …`);
    await npm(
      building,
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', ...packages],
      log,
    );
    if (wanted.node !== undefined) await linkNode(building);
    log(`VS Code ${wanted.vscode}: installing the server's own packages (2 of 2) …`);
    const inner = join(building, 'node_modules', 'code-server', 'lib', 'vscode');
    await npm(inner, ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'], log);
    await writeFile(join(building, 'complete'), `${new Date().toISOString()}\n`);
    await moveIntoPlace(building, folder);
    log(`VS Code ${wanted.vscode}: ready in ${folder}`);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  return found;
}

function nodeOf(folder, wanted) {
  if (wanted.node === undefined) return projectNode();
  return join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** The npm package `node` fetches its binary as a dependency; its install script, which is not run here, only links it. */
async function linkNode(folder) {
  const target = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (existsSync(target)) return;
  const script = join(folder, 'node_modules', 'node', 'installArchSpecificPackage.js');
  if (existsSync(script)) await run(process.execPath, [script], { cwd: dirname(script) }, () => {});
  if (!existsSync(target)) throw new Error(`The npm package node did not bring ${target}.`);
}

async function moveIntoPlace(from, to) {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(join(to, 'complete'))) {
      await rm(to, { recursive: true, force: true });
      await rename(from, to);
    } else if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}

function npm(cwd, args, log) {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (/^npm_(config|package|lifecycle)_/i.test(name) && name !== 'npm_config_registry') delete env[name];
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd, env }, log);
}

function run(command, args, options, log) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let tail = '';
    const keep = (chunk) => {
      tail = (tail + chunk.toString()).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const since = Date.now();
    const beat = setInterval(() => log(`  … still working, ${Math.round((Date.now() - since) / 1000)} s`), 15_000);
    child.on('error', (error) => {
      clearInterval(beat);
      reject(error);
    });
    child.on('close', (code) => {
      clearInterval(beat);
      if (code === 0) resolve(undefined);
      else reject(new Error(`"${command} ${args.join(' ')}" ended with ${code}:\n${tail}`));
    });
  });
}

/**
 * Starts a VS Code server on a free port of the loopback interface.
 * @param {{ installed: { node: string, main: string }, dataDir: string, extensionsDir: string, token?: string,
 *   testDriver?: boolean, port?: number, env?: Record<string, string | undefined>, onOutput?: (text: string) => void }} options
 * @returns {Promise<{ port: number, stop: () => Promise<void> }>}
 */
export async function startVSCodeServer({
  installed,
  dataDir,
  extensionsDir,
  token,
  testDriver = false,
  port = 0,
  env = {},
  onOutput = () => {},
}) {
  const args = [
    installed.main,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--accept-server-license-terms',
    '--telemetry-level',
    'off',
  ];
  args.push(
    '--server-data-dir',
    dataDir,
    '--extensions-dir',
    extensionsDir,
    '--log',
    'info',
    '--disable-workspace-trust',
  );
  if (token === undefined) args.push('--without-connection-token');
  else args.push('--connection-token', token);
  if (testDriver) args.push('--enable-smoke-test-driver');
  const child = spawn(installed.node, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: cleanEnvironment(env),
    detached: process.platform !== 'win32',
  });
  const stop = () => stopGroup(child);
  try {
    return { port: await listeningPort(child, onOutput), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function listeningPort(child, onOutput) {
  return new Promise((resolve, reject) => {
    let seen = '';
    const timer = setTimeout(
      () => reject(new Error(`VS Code's server was not ready in ${START_LIMIT_MS / 1000} s:\n${seen}`)),
      START_LIMIT_MS,
    );
    const read = (chunk) => {
      onOutput(chunk.toString());
      if (seen.length < 20_000) seen += chunk.toString();
      const found = READY.exec(seen);
      if (found !== null) {
        clearTimeout(timer);
        resolve(Number(found[1]));
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`VS Code's server ended with ${code}:\n${seen}`));
    });
  });
}

/** The environment without what an outer VS Code left in it, and without a marketplace: nothing is asked of the network. */
function cleanEnvironment(extra) {
  const env = { ...process.env, ...extra };
  delete env.ELECTRON_RUN_AS_NODE;
  env.EXTENSIONS_GALLERY = '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}';
  for (const name of Object.keys(env)) if (name.startsWith('VSCODE_') || env[name] === undefined) delete env[name];
  return env;
}

/** Ends a process started in a group of its own, and what it started: TERM, then KILL after five seconds. */
async function stopGroup(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const send = (signal) => {
    try {
      if (process.platform === 'win32') child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  };
  send('SIGTERM');
  const timer = setTimeout(() => send('SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
}

/** Settings that make the first picture ours: no chat, no welcome page, no questions. */
const firstPicture = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.tips.enabled': false,
  'workbench.layoutControl.enabled': false,
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'extensions.ignoreRecommendations': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'git.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.commandCenter': false,
  'npm.autoDetect': 'off',
  'remote.autoForwardPorts': false,
};

/** Writes settings where the server reads them, both as the machine's and the user's, unless some are there. */
export async function writeSettings(dataDir, settings) {
  const text = `${JSON.stringify({ ...firstPicture, ...settings }, undefined, 2)}\n`;
  for (const level of ['Machine', 'User']) {
    await mkdir(join(dataDir, 'data', level), { recursive: true });
    await writeFile(join(dataDir, 'data', level, 'settings.json'), text, { flag: 'wx' }).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * Serves a VS Code with the packaged extension in it, for a person with a browser.
 * @param {{ vsix: string, folder: string, settings?: Record<string, unknown>, port?: number, log?: (line: string) => void }} options `settings` are the extension's and VS Code's; `folder` is opened.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function serveVSCode({ vsix, folder, settings = {}, port = 0, log = console.error }) {
  const installed = await ensureVSCode({ which: 'stable', log });
  const home = await mkdtemp(join(tmpdir(), 'object-versions-vscode-'));
  const dataDir = join(home, 'data');
  const extensionsDir = join(home, 'extensions');
  try {
    await writeSettings(dataDir, settings);
    const common = ['--server-data-dir', dataDir, '--extensions-dir', extensionsDir, '--accept-server-license-terms'];
    log('VS Code: installing the extension …');
    await run(
      installed.node,
      [installed.main, ...common, '--install-extension', vsix],
      { env: cleanEnvironment({}) },
      log,
    );
    const token = randomBytes(24).toString('hex');
    const server = await startVSCodeServer({ installed, dataDir, extensionsDir, token, port });
    return {
      url: `http://127.0.0.1:${server.port}/?tkn=${token}&folder=${encodeURIComponent(folder)}`,
      stop: async () => {
        await server.stop();
        await rm(home, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}
