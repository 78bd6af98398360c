// Gets a fresh clone to the point where its scripts can run: dependencies installed, Node 24 at work.
// Plain JavaScript with built-ins only: this is the first thing that runs, on whatever Node the person has.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onceAtATime } from './onceAtATime.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const bundledNode = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const needed = 22;

/** Says on stderr what a long step is doing. */
export function say(message) {
  process.stderr.write(`[object-versions] ${message}\n`);
}

const parent = process.ppid;

/**
 * Calls `then` once when what started this process has ended. npm passes a SIGTERM or SIGINT to its shell alone, which ends
 * without a word to its children. Only under npm: a script that is run by itself may outlive the terminal on purpose.
 */
function whenParentEnds(then) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, 500);
  timer.unref();
}

/**
 * Calls `then` once when this process is told to end: by a signal, or as above. A terminal's Ctrl+C reaches a process and
 * what started it, which passes it on, so that it may come twice: the second one must not cut short what the first began.
 */
export function whenToldToEnd(then) {
  let isTold = false;
  const tell = () => {
    if (isTold) return;
    isTold = true;
    then();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, tell);
  whenParentEnds(tell);
}

/** Runs a command to its end with the terminal's own output; throws if it fails. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
    ...options,
  });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${done.status ?? done.signal}`);
}

/** Environment in which `node` is the project's own and its tools are on the PATH. */
export function toolEnv(extra = {}) {
  return { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}`, ...extra };
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/** `npm ci` removes what is there first: two of them at once, or one beside a script that runs, would take it from each other. */
async function ensureInstalled() {
  const stamp = join(modules, '.object-versions-installed');
  const wanted = lockHash();
  const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(bundledNode);
  const install = () => {
    // `npm ci` empties the folder that a link leads to: another checkout's, in use perhaps.
    if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Error(`${modules} is a link: install the dependencies in the folder that it leads to`);
    say('installing the dependencies (npm ci, about a minute the first time) …');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    writeFileSync(stamp, wanted);
  };
  const onWait = () => say('another run is installing the dependencies; waiting for it …');
  await onceAtATime(join(root, '.cache', 'install.lock'), isInstalled, install, { onWait });
}

/**
 * Installs what is missing; where this Node is too old for the tools, runs the same script again on Node 24 and never
 * returns. Call it first in every script that a person may start on a fresh clone.
 */
export async function bootstrap(script) {
  await ensureInstalled();
  if (Number(process.versions.node.split('.')[0]) >= needed) return;
  const child = spawn(bundledNode, [fileURLToPath(script), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: toolEnv(),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  whenParentEnds(() => child.kill('SIGTERM'));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (...end) => resolve(end));
  });
  process.exit(code ?? (signal === 'SIGINT' ? 130 : 143));
}
