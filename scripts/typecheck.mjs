// Checks the types: everything, then core alone, which must do without Node, the DOM and VS Code.
import { root, run, toolEnv } from './bootstrap.mjs';
import { join } from 'node:path';

for (const project of ['tsconfig.json', 'src/core/tsconfig.json'])
  run('tsc', ['-p', join(root, project)], { env: toolEnv() });
