import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Activation of the extension without a cluster: loading the bundle and running `activate` with a VS Code that does nothing,
 * each time in a fresh process, so that only our own code counts: the processor time of the whole process, compiling and
 * collecting garbage on other threads included, so that a busy machine does not tell. One warm-up, five runs, median.
 * Beside it, in turn, an empty extension in the same harness: what Node itself takes.
 */
const TARGET_MS = 50;
const RUNS = 5;
const root = join(import.meta.dirname, '..', '..');
const bundle = join(root, 'dist', 'node', 'extension.js');

const harness = String.raw`
const Module = require('node:module');
const anything = () => new Proxy(function () {}, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : name === 'then' ? undefined : name === Symbol.iterator ? function* () {} : anything()),
  apply: () => anything(),
  construct: () => anything(),
  set: () => true,
});
const settings = { get: () => undefined, update: async () => {}, inspect: () => undefined };
const vscode = new Proxy({ EventEmitter: class { event = () => ({ dispose() {} }); fire() {} dispose() {} }, workspace: new Proxy({ getConfiguration: () => settings, textDocuments: [] }, { get: (target, name) => target[name] ?? anything() }) }, { get: (target, name) => target[name] ?? anything() });

globalThis.fakeVscode = vscode;
// What every extension host has loaded before the first extension.
for (const name of ['fs', 'crypto']) require('node:' + name);
const [main, ...names] = process.argv.slice(1);
Module.registerHooks({
  resolve: (specifier, parent, next) => (specifier === 'vscode' ? { url: 'fake:vscode', format: 'module', shortCircuit: true } : next(specifier, parent)),
  load: (url, parent, next) =>
    url === 'fake:vscode'
      ? { format: 'module', shortCircuit: true, source: names.map((name) => 'export const ' + name + ' = globalThis.fakeVscode.' + name + ';').join('\n') }
      : next(url, parent),
});
const context = { subscriptions: [], extensionUri: anything(), globalStorageUri: { fsPath: '/nowhere' }, storageUri: undefined, environmentVariableCollection: anything(), asAbsolutePath: String, workspaceState: { get: () => [], update: async () => {} }, extension: { id: 'x', packageJSON: { version: '0' } } };
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1000; };
const run = async () => {
  gc();
  await new Promise((done) => setTimeout(done, 50));
  const started = process.cpuUsage();
  const extension = main === 'empty' ? await import('data:text/javascript,export const activate = () => {};') : await import(main);
  const load = spent(started);
  extension.activate(context);
  const total = spent(started);
  console.log(JSON.stringify({ load, activate: total - load, total }));
  process.exit(0);
};
void run();
`;

/** What the extension imports of VS Code, whose exports a module has to name. */
const imported = /import\s*(?:\*as \w+|\{([^}]*)\})\s*from\s*"vscode"/g;
const names = new Set(
  readdirSync(join(bundle, '..'))
    .flatMap((file) => [...readFileSync(join(bundle, '..', file), 'utf8').matchAll(imported)])
    .flatMap(([, list = '']) => list.split(',').map((item) => item.trim().split(/\s/)[0] ?? ''))
    .filter((name) => name !== ''),
);

function once(main: string): { load: number; activate: number; total: number } {
  const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '-e', harness, main, ...names], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as { load: number; activate: number; total: number };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

once(bundle);
once('empty');
const ours = [];
const empty = [];
for (let run = 0; run < RUNS; run += 1) {
  ours.push(once(bundle));
  empty.push(once('empty'));
}
const result = {
  bench: 'activation',
  measured: `${bundle} in a fresh process of Node ${process.version}`,
  loadMs: median(ours.map(({ load }) => load)),
  activateMs: median(ours.map(({ activate }) => activate)),
  totalMs: median(ours.map(({ total }) => total)),
  emptyMs: median(empty.map(({ total }) => total)),
  targetMs: TARGET_MS,
};
console.log(JSON.stringify({ ...result, holds: result.totalMs < TARGET_MS }));
process.exitCode = result.totalMs < TARGET_MS ? 0 : 1;
