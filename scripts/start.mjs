// npm start: from a fresh clone to a VS Code with the extension in it, connected to something alive.
//   npm start                            a sandbox with the lively scenario
//   npm start -- --scenario contention   another scenario
//   npm start -- --kubeconfig FILE       a cluster of yours, and only when asked
//   npm start -- --browser               a VS Code in the browser, even where there is a desktop one
//   npm start -- --port 8080             its port
import { bootstrap, root, run, say, toolEnv, whenToldToEnd } from './bootstrap.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `usage: npm start -- [options]

  --scenario NAME     the sandbox's scenario: lively (unless said), bare, quiet, contention, recreation, ownership
  --kubeconfig FILE   a cluster of yours instead of the sandbox
  --browser           a VS Code in the browser, even where there is a desktop one
  --port N            its port; a free one unless said
  --help              this

such as: npm start -- --scenario contention
All of it: README.md, docs/sandbox.md
`;
const asked = readOptions(process.argv.slice(2));
await bootstrap(import.meta.url);

/** The options; ends the process where they are not understood, or name a file that cannot be read. */
function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        kubeconfig: { type: 'string' },
        scenario: { type: 'string', default: 'lively' },
        port: { type: 'string', default: '0' },
        browser: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    if (!/^\d{1,5}$/.test(values.port)) throw new Error(`--port: "${values.port}" is no port.`);
    if (values.kubeconfig !== undefined) readFileSync(resolve(values.kubeconfig));
    return values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const steps = asked.kubeconfig === undefined ? 3 : 2;
const home = mkdtempSync(join(tmpdir(), 'object-versions-start-'));
const stops = [];

/** Ends what was started, last first. */
async function stopAll(code) {
  for (const stop of stops.splice(0).reverse()) await stop();
  rmSync(home, { recursive: true, force: true });
  process.exit(code);
}
whenToldToEnd(() => void stopAll(0));

/** Starts the sandbox as a process of its own and waits until it is ready. */
function startSandbox(kubeconfig) {
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin/object-versions.mjs'),
      'sandbox',
      '--scenario',
      asked.scenario,
      '--kubeconfig',
      kubeconfig,
      '-o',
      'json',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  stops.push(
    () =>
      new Promise((done) => {
        if (child.exitCode !== null) return done();
        child.once('exit', done);
        child.kill('SIGTERM');
      }),
  );
  return new Promise((ready, failed) => {
    child.stdout.once('data', () => ready());
    child.once('exit', (code) => failed(new Error(`the sandbox ended with ${code}`)));
  });
}

/** The desktop VS Code, if there is one on the PATH. */
function desktopCode() {
  const found = spawnSync('code', ['--version'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return found.status === 0 && /^\d+\.\d+\.\d+/.test(found.stdout ?? '') ? 'code' : undefined;
}

async function main() {
  say(`1 of ${steps}: building the extension …`);
  run('node', ['scripts/package.mjs'], { env: toolEnv() });
  const vsix = join(root, 'dist', 'object-versions.vsix');
  const kubeconfig = asked.kubeconfig === undefined ? join(home, 'kubeconfig') : resolve(asked.kubeconfig);
  if (asked.kubeconfig === undefined) {
    say(`2 of ${steps}: starting the sandbox (${asked.scenario}) …`);
    await startSandbox(kubeconfig);
    say(`its kubeconfig, for kubectl --kubeconfig and object-versions --kubeconfig: ${kubeconfig}`);
  }
  const folder = join(home, 'workspace');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'README.md'),
    '# Object Versions\n\nOpen the "Object Versions" view on the left. This folder goes when `npm start` ends.\n',
  );
  const settings = {
    'objectVersions.kubeconfig': [kubeconfig],
    ...(asked.kubeconfig === undefined
      ? { 'objectVersions.watches': ['deployments in shop', 'configmaps in shop', 'secrets in shop'] }
      : {}),
    'objectVersions.openOnStart': true,
    'window.autoDetectColorScheme': true,
  };
  say(`${steps} of ${steps}: starting VS Code …`);
  const code = asked.browser ? undefined : desktopCode();
  if (code === undefined) await openInBrowser(vsix, folder, settings);
  else openDesktop(code, vsix, folder, settings);
}

async function openInBrowser(vsix, folder, settings) {
  const { serveVSCode } = await import('./vscodeServer.mjs');
  const served = await serveVSCode({
    vsix,
    folder,
    settings,
    port: Number(asked.port),
    log: say,
  });
  stops.push(served.stop);
  say('ready. Open this address in a browser; Ctrl+C ends everything.');
  process.stdout.write(`\n  ${served.url}\n\n`);
}

function openDesktop(code, vsix, folder, settings) {
  const userData = join(home, 'user-data');
  const dirs = ['--user-data-dir', userData, '--extensions-dir', join(home, 'extensions')];
  mkdirSync(join(userData, 'User'), { recursive: true });
  writeFileSync(
    join(userData, 'User', 'settings.json'),
    JSON.stringify({
      ...settings,
      'workbench.startupEditor': 'none',
      'security.workspace.trust.enabled': false,
      'telemetry.telemetryLevel': 'off',
    }),
  );
  run(code, [...dirs, '--install-extension', vsix]);
  const child = spawn(code, [...dirs, '--new-window', '--wait', folder], {
    stdio: 'ignore',
    shell: process.platform === 'win32',
  });
  child.once('exit', () => void stopAll(0));
  say('ready: VS Code opens with the extension in it. Ctrl+C ends everything.');
}

try {
  await main();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  await stopAll(1);
}
