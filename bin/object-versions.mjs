#!/usr/bin/env node
// Starts the command line. Integers beyond 2^53 need a Node that shows JSON's source text, so an older one hands over to
// the Node of this folder's dependencies or, in a terminal of VS Code, to VS Code's own.
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const newEnough = Number(process.versions.node.split('.')[0]) >= 22;
const ownNode = [here('../node_modules/node/bin/node'), process.env.OBJECT_VERSIONS_NODE ?? ''].find(existsSync);

if (newEnough) {
  // VS Code is Node for this program only, not for what it starts.
  delete process.env.ELECTRON_RUN_AS_NODE;
  // What this Node has compiled once, the next run need not compile again.
  module.enableCompileCache?.();
  // Whoever handed over was killed: this process ends as if it had been told to.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
  await import(existsSync(here('../dist/node/cli.js')) ? '../dist/node/cli.js' : '../src/cli.ts');
} else if (ownNode !== undefined) {
  const { spawn } = await import('node:child_process');
  const child = spawn(ownNode, [here('./object-versions.mjs'), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
} else {
  process.stderr.write(`object-versions needs Node 22 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
