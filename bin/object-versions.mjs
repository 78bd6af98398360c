#!/usr/bin/env node
// Starts the command line. Integers beyond 2^53 need a Node that shows JSON's source text, so an older one hands over to
// the Node of this folder's dependencies where there is one.
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const newEnough = Number(process.versions.node.split('.')[0]) >= 22;
const ownNode = here('../node_modules/node/bin/node');

if (newEnough) {
  // What this Node has compiled once, the next run need not compile again.
  module.enableCompileCache?.();
  // Whoever handed over was killed: this process ends as if it had been told to.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
  await import(existsSync(here('../dist/node/cli.js')) ? '../dist/node/cli.js' : '../src/cli.ts');
} else if (existsSync(ownNode)) {
  const { spawn } = await import('node:child_process');
  const child = spawn(ownNode, [here('./object-versions.mjs'), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
} else {
  process.stderr.write(`object-versions needs Node 22 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
