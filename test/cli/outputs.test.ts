import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import type { CliResult } from '../write/runCli.ts';

const main = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

describe('where a command’s output goes', function () {
  this.timeout(60_000);
  let folder: string;
  let running: RunningScenario;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-outputs-'));
    await mkdir(join(folder, 'tmp'));
    running = await startScenario({ scenario: 'bare' });
    await writeFile(join(folder, 'kubeconfig'), running.sandbox.kubeconfig);
  });
  after(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a line of bash in which `ov` is the command line; its temporary files go to a folder of their own. */
  const shell = async (line: string): Promise<CliResult> => {
    const ov = `ov() { '${process.execPath}' '${main}' "$@"; }; cd '${folder}'; export TMPDIR='${folder}/tmp' KUBECONFIG='${folder}/kubeconfig'; `;
    const child = spawn('bash', ['-c', ov + line], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? -1, stdout, stderr };
  };
  const leftBehind = (): Promise<string[]> => readdir(join(folder, 'tmp'));
  const mode = async (name: string): Promise<string> => ((await stat(join(folder, name))).mode & 0o777).toString(8);
  const precious = async (name: string, text = 'precious\n'): Promise<void> => {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o644);
  };

  describe('files', () => {
    it('sandbox writes its kubeconfig for its owner only, over another sandbox’s, and over nothing else', async () => {
      const begun = `timeout -s INT 5 '${process.execPath}'`;
      const serve = `${begun} '${main}' sandbox --scenario bare --kubeconfig own`;
      await precious('own', running.sandbox.kubeconfig);
      assert.match((await shell(serve)).stdout, /serves at/);
      assert.equal(await mode('own'), '600');
      assert.notEqual(await readFile(join(folder, 'own'), 'utf8'), running.sandbox.kubeconfig);
      const merged = `${running.sandbox.kubeconfig.trimEnd()}\n- name: production\n  user: {token: t}\n`;
      for (const theirs of [merged, 'precious\n']) {
        await precious('own', theirs);
        const refused = await shell(serve);
        assert.equal(refused.code, 2);
        assert.match(refused.stderr, /^error: The kubeconfig cannot go into .*own: .*\n$/);
        assert.equal(await readFile(join(folder, 'own'), 'utf8'), theirs);
      }
    });

    it('a trace or a report replaces a file only with --overwrite, and is for its owner only', async () => {
      const solve = 'lab lesson opaque-token --solve --report file';
      for (const command of ['record --trace file -- true', solve]) {
        await precious('file');
        const refused = await shell(`ov ${command}`);
        assert.equal(refused.code, 2, command);
        assert.match(refused.stderr, /^error: The \w+ cannot go into .*file: .*\n$/);
        assert.equal(await readFile(join(folder, 'file'), 'utf8'), 'precious\n');
        const replaced = await shell(`ov ${command.replace(/(--\w+ file)/, '$1 --overwrite')}`);
        assert.equal(replaced.code, 0, replaced.stderr);
        assert.match(await readFile(join(folder, 'file'), 'utf8'), /^\{/);
        assert.equal(await mode('file'), '600');
      }
      const node = `'${process.execPath}' '${main}'`;
      assert.equal((await shell('ov watch cm --trace file')).code, 2);
      await shell(`timeout -s INT 5 ${node} watch cm --trace file --overwrite`);
      assert.match(await readFile(join(folder, 'file'), 'utf8'), /"creator":"object-versions"/);
    });
  });

  describe('a stderr that has gone away', () => {
    for (const [what, end] of [
      ['closed', '2> >(exec true)'],
      ['full', '2> /dev/full'],
    ] as const) {
      it(`${what}: changes neither what is done nor the exit code`, async function () {
        if (!existsSync('/dev/full')) this.skip();
        const recorded = await shell(
          `{ sleep 0.2; ov record -- sh -c "sleep 0.5; echo done > ran; exit 7"; echo $? >&3; } 3>&1 ${end}`,
        );
        assert.equal(recorded.stdout, '7\n');
        assert.equal(await readFile(join(folder, 'ran'), 'utf8'), 'done\n');
        await rm(join(folder, 'ran'));
        const wrong = await shell(`{ sleep 0.2; ov get nothing; echo $? >&3; } 3>&1 ${end}`);
        assert.equal(wrong.stdout, '6\n');
        assert.deepEqual(await leftBehind(), []);
      });
    }
  });

  describe('a stdout that has gone away', () => {
    it('ends a lab with 0 and leaves nothing behind', async () => {
      const ended = await shell('set -o pipefail; ov lab lesson opaque-token --solve | exec true; echo $?');
      assert.equal(ended.stdout, '0\n');
      assert.deepEqual(await leftBehind(), []);
    });

    it('ends watch at the next thing it would say', async () => {
      const watch = 'ov watch configmaps -A -o json | exec true; echo $?';
      const [ended] = await Promise.all([
        shell(`set -o pipefail; ${watch}`),
        shell('sleep 3; ov lab contention --actors 1 --kubeconfig kubeconfig'),
      ]);
      assert.deepEqual([ended.stdout, ended.stderr], ['0\n', '']);
    });

    it('keeps the exit code of what was done', async () => {
      const ended = await shell(
        'set -o pipefail; ov lab modular -o json | exec true; ov get nothing | exec true; echo $?',
      );
      assert.equal(ended.stdout, '6\n');
    });

    it('a full disk is a failure, with one sentence', async function () {
      if (!existsSync('/dev/full')) this.skip();
      for (const command of ['lab modular -o json', 'get cm -A -o json', '--help', 'lab lesson opaque-token --solve']) {
        const ended = await shell(`ov ${command} > /dev/full`);
        assert.equal(ended.code, 1, command);
        assert.match(ended.stderr, /^error: The output could not be written: .*ENOSPC.*\n$/);
      }
      assert.deepEqual(await leftBehind(), []);
    });
  });
});
