// Runs the tests: `npm test` all of them, `node scripts/test.mjs SUITE…` some. The last line is `N passed, N failed`.
// Imports that an older Node lacks come after the bootstrap, which hands over to a newer one.
import { bootstrap, root, say, toolEnv } from './bootstrap.mjs';
await bootstrap(import.meta.url);
import { spawn } from 'node:child_process';
const { globSync, mkdirSync, readFileSync, rmSync, existsSync } = await import('node:fs');
import { join } from 'node:path';

const out = join(root, 'out', 'test');
const apart = ['test/conformance/', 'test/webview/', 'test/editor/', 'test/clients/'];
const unit = () =>
  globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => !apart.some((folder) => file.startsWith(folder)))
    .sort();
const under = (folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root }).sort();

/** Each suite is a list of commands; a command is one check (it passes or fails) or a mocha run (its tests count). */
const suites = {
  checks: () => [
    check('types', 'node', ['scripts/typecheck.mjs']),
    check('lint', 'oxlint', ['--type-aware', '--deny-warnings']),
    check('format', 'oxfmt', ['--check']),
    check('package', 'node', ['scripts/package.mjs']),
  ],
  unit: () => mochaOf('unit', unit()),
  conformance: () => mochaOf('conformance', under('conformance')),
  clients: () => mochaOf('clients', under('clients')),
  webview: () => mochaOf('webview', under('webview')),
  editor: () =>
    existsSync(join(root, 'test/editor/run.ts'))
      ? [{ name: 'editor', command: 'node', args: ['test/editor/run.ts'], counts: true }]
      : [],
};

function check(name, command, args) {
  return { name, command, args, counts: false };
}

function mochaOf(name, files) {
  return files.length === 0
    ? []
    : [{ name, command: 'mocha', args: ['--reporter', 'scripts/mochaReporter.cjs', ...files], counts: true }];
}

async function runOne({ name, command, args, counts }) {
  const result = join(out, `${name}.json`);
  rmSync(result, { force: true });
  const startedAt = Date.now();
  say(`${name} …`);
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: toolEnv({ OBJECT_VERSIONS_TEST_RESULT: result, ...browserEnv }),
  });
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(127));
    child.on('exit', (status) => resolve(status ?? 1));
  });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  const counted =
    counts && existsSync(result) ? JSON.parse(readFileSync(result, 'utf8')) : { passed: 0, failed: 0, skipped: 0 };
  if (!counts) counted[code === 0 ? 'passed' : 'failed'] = 1;
  else if (code !== 0 && counted.failed === 0) counted.failed = 1;
  else if (counts && code === 0 && counted.passed === 0) counted.failed = 1;
  say(`${name}: ${counted.passed} passed, ${counted.failed} failed, ${counted.skipped ?? 0} skipped in ${seconds} s`);
  const named = counted.failures ?? [];
  failures.push(...(counted.failed > 0 && named.length === 0 ? [`${name} ended with exit code ${code}`] : named));
  for (const [ms, title] of counted.slowest ?? []) if (ms > 5000) say(`  ${(ms / 1000).toFixed(1)} s: ${title}`);
  return counted;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in suites));
if (unknown.length > 0) {
  say(`no suite is called ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
const chosen = asked.length > 0 ? asked : Object.keys(suites);
mkdirSync(out, { recursive: true });
let browserEnv = {};
if (chosen.some((name) => name === 'webview' || name === 'editor')) {
  const { ensureBrowser } = await import('./browser.mjs');
  browserEnv = { CHROME_PATH: ensureBrowser() };
}
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const { status } = await import('node:child_process').then(({ spawnSync }) =>
  spawnSync('node', ['scripts/build.mjs'], { cwd: root, stdio: 'inherit', env: toolEnv() }),
);
if (status !== 0) {
  total.failed += 1;
  failures.push('the bundles could not be built');
}
for (const name of chosen) {
  for (const command of suites[name]()) {
    const counted = await runOne(command);
    for (const key of Object.keys(total)) total[key] += counted[key] ?? 0;
  }
}
// Once more at the end, where somebody who reads only the last lines finds them.
for (const failure of failures)
  say(
    `failed: ${failure
      .split(/\s*\n\s*/)
      .slice(0, 8)
      .join(' | ')
      .slice(0, 600)}`,
  );
process.stdout.write(
  `\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`,
);
process.exitCode = total.failed > 0 ? 1 : 0;
