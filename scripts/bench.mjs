// Runs the benches of test/bench one after another: npm run bench -- [NAME…]. Each prints one JSON object on stdout; a
// missed target makes the whole run fail.
// Imports that an older Node lacks come after the bootstrap, which hands over to a newer one.
import { bootstrap, root, say, toolEnv } from './bootstrap.mjs';
await bootstrap(import.meta.url);
import { spawnSync } from 'node:child_process';
const { globSync } = await import('node:fs');
import { basename } from 'node:path';
import { ensureBrowser } from './browser.mjs';

const asked = process.argv.slice(2);
const benches = globSync('test/bench/*.bench.ts', { cwd: root })
  .sort()
  .filter((file) => asked.length === 0 || asked.includes(basename(file, '.bench.ts')));
const missed = [];
spawnSync('node', ['scripts/build.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: toolEnv() });
const env = toolEnv({ CHROME_PATH: ensureBrowser() });
for (const file of benches) {
  say(`${file} …`);
  const { status } = spawnSync('node', ['--expose-gc', file], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
  if (status !== 0) missed.push(file);
}
if (missed.length > 0) say(`missed: ${missed.join(', ')}`);
process.exitCode = missed.length > 0 ? 1 : 0;
