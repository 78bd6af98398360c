import { runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startApiServer, type ApiServer } from '../apiserver/apiServer.ts';
import { requestJson } from '../apiserver/request.ts';

/**
 * Runs the tests of `suite/` inside a real VS Code, newest and floor, those of `restart/` after a restart of the newest
 * with the same user data, and those of `german/` in a window of that language. Each through `@vscode/test-electron`, whose executable is our launcher where no VS Code is named
 * in VSCODE_EXECUTABLE. Results go, counted, to OBJECT_VERSIONS_TEST_RESULT, as every suite's do.
 */
interface Counted {
  passed: number;
  failed: number;
  skipped: number;
  /** Which failed, each with the first words of why. */
  failures: string[];
  slowest: [number, string][];
}

type Suite = 'suite' | 'restart' | 'german';

const root = join(import.meta.dirname, '..', '..');
const out = join(root, 'out', 'editor');
const extension = join(out, 'extension');
const asked = process.argv.slice(2);
const launcher = join(root, 'scripts', 'vscodeLauncher.mjs');

/** What a package holds, copied, so that a build beside the tests changes nothing under them. */
function stageExtension(): void {
  rmSync(extension, { recursive: true, force: true });
  mkdirSync(extension, { recursive: true });
  const parts = [
    'package.json',
    'bin',
    'l10n',
    'media/icons',
    'media/walkthrough',
    ...globSync('package.nls*.json', { cwd: root }),
  ];
  for (const part of parts) cpSync(join(root, part), join(extension, part), { recursive: true });
  cpSync(process.env['OBJECT_VERSIONS_DIST'] ?? join(root, 'dist'), join(extension, 'dist'), { recursive: true });
}

async function bundleTests(): Promise<void> {
  const entryPoints = globSync('test/editor/{suite,restart,german}/*.ts', { cwd: root }).map((file) =>
    join(root, file),
  );
  await build({
    entryPoints,
    outdir: join(out, 'tests'),
    outbase: join(root, 'test', 'editor'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

async function runIn(
  which: 'stable' | 'floor',
  suite: Suite,
  userData: string,
  env: Record<string, string>,
): Promise<Counted> {
  const result = join(out, `${which}-${suite}.json`);
  rmSync(result, { force: true });
  const folder = join(userData, 'workspace');
  mkdirSync(folder, { recursive: true });
  const failed = await runTests({
    vscodeExecutablePath: process.env['VSCODE_EXECUTABLE'] ?? launcher,
    extensionDevelopmentPath: extension,
    extensionTestsPath: join(out, 'tests', suite, 'index.cjs'),
    launchArgs: [folder, `--user-data-dir=${userData}`, `--extensions-dir=${join(userData, 'extensions')}`],
    extensionTestsEnv: {
      ...env,
      OBJECT_VERSIONS_VSCODE: which,
      ...(suite === 'german' ? { OBJECT_VERSIONS_LANGUAGE: 'de' } : {}),
      OBJECT_VERSIONS_RESULTS: result,
      OBJECT_VERSIONS_TEST_SETTINGS: JSON.stringify(settings[which]),
      OBJECT_VERSIONS_SCREENSHOTS: join(root, 'out', 'screenshots'),
    },
  }).then(
    () => false,
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      return true;
    },
  );
  if (!existsSync(result))
    return { passed: 0, failed: 1, skipped: 0, failures: ['it ended without a result'], slowest: [] };
  const counted = JSON.parse(readFileSync(result, 'utf8')) as Counted;
  return failed && counted.failed === 0 ? { ...counted, failed: 1 } : counted;
}

/** One run is dark and one is light, so that pictures of both are there to look at. */
const settings = {
  stable: { 'workbench.colorTheme': 'Default Dark Modern' },
  floor: { 'workbench.colorTheme': 'Default Light Modern' },
};

/** What happens to objects while no window is open. */
async function actMeanwhile(server: ApiServer): Promise<void> {
  const path = '/api/v1/namespaces/restart-kept/configmaps';
  await requestJson(server, 'DELETE', `${path}/short-lived`);
  const kept = (await requestJson(server, 'GET', `${path}/kept`)) as { data: Record<string, string> };
  await requestJson(server, 'PUT', `${path}/kept`, { ...kept, data: { ...kept.data, other: 'meanwhile' } });
}

const runs: ['stable' | 'floor', Suite][] = [
  ['stable', 'suite'],
  ['stable', 'restart'],
  ['stable', 'german'],
  ['floor', 'suite'],
];
const chosen =
  asked.length === 0
    ? runs
    : runs.filter(([which, suite]) => asked.includes(which) || asked.includes(`${which}-${suite}`));
const total: Counted = { passed: 0, failed: 0, skipped: 0, failures: [], slowest: [] };
const dataOf = (name: string): string => mkdtempSync(join(tmpdir(), `ov-${name}-`));
/** A restart finds what the suite before it left; the other runs begin with nothing. */
const data = { stable: dataOf('stable'), german: dataOf('german'), floor: dataOf('floor') };
stageExtension();
await bundleTests();
const server = await startApiServer();
try {
  const env = {
    OBJECT_VERSIONS_TEST_URL: server.url,
    OBJECT_VERSIONS_TEST_TOKEN: server.token,
    OBJECT_VERSIONS_TEST_CA: server.caFile,
    KUBECONFIG: join(data.stable, 'none'),
  };
  for (const [which, suite] of chosen) {
    console.error(`VS Code (${which}): ${suite}`);
    if (suite === 'restart') await actMeanwhile(server);
    const counted = await runIn(which, suite, data[suite === 'german' ? 'german' : which], env);
    total.passed += counted.passed;
    total.failed += counted.failed;
    total.skipped += counted.skipped;
    total.failures.push(...counted.failures.map((failure) => `${which}: ${failure}`));
    total.slowest.push(...counted.slowest.map(([ms, title]): [number, string] => [ms, `${which}: ${title}`]));
  }
} finally {
  await server.stop();
  for (const folder of Object.values(data)) rmSync(folder, { recursive: true, force: true });
}
const report = process.env['OBJECT_VERSIONS_TEST_RESULT'];
if (report !== undefined) writeFileSync(report, JSON.stringify(total));
console.log(`${basename(import.meta.dirname)}: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
