#!/usr/bin/env node
// Starts the command line. Integers beyond 2^53 need a Node that shows JSON's source text, so an older one hands over to
// the Node of this folder's dependencies where there is one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const newEnough = Number(process.versions.node.split('.')[0]) >= 22;
const ownNode = here('../node_modules/node/bin/node');

if (newEnough) {
  await import(existsSync(here('../dist/cli/main.js')) ? '../dist/cli/main.js' : '../src/cli.ts');
} else if (existsSync(ownNode)) {
  const child = spawn(ownNode, [here('./object-versions.mjs'), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
} else {
  process.stderr.write(`object-versions needs Node 22 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
