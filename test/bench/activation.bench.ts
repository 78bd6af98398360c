import { spawnSync } from 'node:child_process';
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
const bundle = join(root, 'dist', 'extension.cjs');

const harness = String.raw`
const Module = require('node:module');
const anything = () => new Proxy(function () {}, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : name === 'then' ? undefined : name === Symbol.iterator ? function* () {} : anything()),
  apply: () => anything(),
  construct: () => anything(),
});
const settings = { get: () => undefined, update: async () => {}, inspect: () => undefined };
const vscode = new Proxy({ EventEmitter: class { event = () => ({ dispose() {} }); fire() {} dispose() {} }, workspace: new Proxy({ getConfiguration: () => settings, textDocuments: [] }, { get: (target, name) => target[name] ?? anything() }) }, { get: (target, name) => target[name] ?? anything() });

const original = Module._load;
Module._load = function (request, ...rest) { return request === 'vscode' ? vscode : original.call(this, request, ...rest); };
const context = { subscriptions: [], extensionUri: anything(), globalStorageUri: { fsPath: '/nowhere' }, storageUri: undefined, workspaceState: { get: () => [], update: async () => {} }, extension: { id: 'x', packageJSON: { version: '0' } } };
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1000; };
const started = process.cpuUsage();
const main = process.argv[1];
const extension = main === 'empty' ? { activate() {} } : require(main);
const load = spent(started);
extension.activate(context);
const total = spent(started);
console.log(JSON.stringify({ load, activate: total - load, total }));
process.exit(0);
`;

function once(main: string): { load: number; activate: number; total: number } {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', harness, main], { encoding: 'utf8' });
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
