import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { run, told } from './cli.ts';

const runFile = promisify(execFile);
const PYTHON_CLIENT = 'kubernetes==34.1.0';
const source = (path: string): string => fileURLToPath(new URL(`../clients/${path}`, import.meta.url));

/** A Python with the official client, made once outside the clone. */
async function pythonWithClient(): Promise<string> {
  const base = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'object-versions');
  const folder = join(base, `python-${PYTHON_CLIENT.replace('==', '-')}`);
  const python = join(folder, 'bin', 'python');
  if (existsSync(join(folder, 'complete'))) return python;
  await mkdir(base, { recursive: true });
  await rm(folder, { recursive: true, force: true });
  await runFile('python3', ['-m', 'venv', folder]);
  await runFile(python, ['-m', 'pip', 'install', '--quiet', PYTHON_CLIENT], { timeout: 300_000 });
  await writeFile(join(folder, 'unfinished'), '');
  await rename(join(folder, 'unfinished'), join(folder, 'complete'));
  return python;
}

describe('clients in other languages behind the recorder', function () {
  this.timeout(120_000);
  let sandbox: Sandbox;
  let folder = '';
  let kubeconfig = '';
  let namespaces = 0;

  before(async () => {
    sandbox = await startSandbox({ clock: systemClock });
    folder = await mkdtemp(join(tmpdir(), 'clients-test-'));
    kubeconfig = join(folder, 'config');
    await writeFile(kubeconfig, sandbox.kubeconfig);
  });
  after(async () => {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function namespace(): Promise<string> {
    namespaces += 1;
    const name = `clients-${namespaces}`;
    await runFile('kubectl', ['--kubeconfig', kubeconfig, 'create', 'namespace', name]);
    return name;
  }

  async function holds(
    program: readonly string[],
    expected: Readonly<Record<string, readonly string[]>>,
  ): Promise<void> {
    const [command = '', ...args] = program;
    const plain = await runFile(command, [...args, 'use', await namespace()], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
    });
    for (const flags of [[], ['--transparent']]) {
      const report = join(folder, 'report.jsonl');
      const through = await run([
        'record',
        '--kubeconfig',
        kubeconfig,
        '--trace',
        report,
        '--overwrite',
        ...flags,
        '--fail-on',
        'warning',
        '--',
        ...program,
        'use',
        await namespace(),
      ]);
      assert.equal(through.code, 0, through.stderr);
      assert.equal(through.stdout, plain.stdout);
    }
    for (const [scenario, findings] of Object.entries(expected)) {
      for (const variant of ['bug', 'good']) {
        const ran = await run([
          'record',
          '--kubeconfig',
          kubeconfig,
          '-o',
          'json',
          '--',
          ...program,
          scenario,
          await namespace(),
          variant,
        ]);
        assert.equal(ran.code, 0, ran.stderr);
        assert.deepEqual(told(ran.stdout), variant === 'bug' ? findings : [], `${scenario} ${variant}\n${ran.stdout}`);
      }
    }
  }

  it('client-node: the same with and without it, its bugs are named, and nothing else', async () => {
    await holds([process.execPath, source('clientNode.ts')], {
      swap: ['lost-update/token-swap'],
      exists: ['already-exists-loop'],
      nothing: ['no-op-writes'],
    });
  });

  it('the Python client: the same with and without it, its bugs are named, and nothing else', async function () {
    let python: string;
    try {
      this.timeout(600_000);
      python = await pythonWithClient();
    } catch (error) {
      process.stderr.write(
        `python: its tests did NOT run: the client cannot be had here. ${error instanceof Error ? error.message : ''}\n`,
      );
      if (process.env['CI'] === 'true') throw error;
      this.skip();
    }
    await holds([python, source('python.py')], {
      swap: ['lost-update/token-swap'],
      spin: ['hot-conflict-loop'],
      blank: ['lost-update/unconditional-overwrite'],
      reborn: ['stale-incarnation-write/delete'],
      heartbeat: ['update-loop'],
    });
  });
});
