import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerCommands } from '../../src/cli/commands.ts';
import { candidates } from '../../src/cli/completion.ts';
import { needKubectl } from '../apiserver/kubectl.ts';

const program = new Command('object-versions');
registerCommands(program, {
  stdout: () => undefined,
  stderr: () => undefined,
  stdin: process.stdin,
  env: {},
  clock: systemClock,
  signal: new AbortController().signal,
  exit: () => undefined,
});

describe('shell completion', () => {
  it('offers commands, subcommands, options and their choices', () => {
    assert.deepEqual(candidates(program, ['mod']), ['modify']);
    assert.deepEqual(candidates(program, ['lab', 'c']), ['contention']);
    assert.deepEqual(candidates(program, ['lab', 'contention', '--strategy', '']), [
      'naive',
      'token-swap',
      'read-modify-write',
      'apply',
    ]);
    assert.ok(candidates(program, ['sandbox', '--s']).includes('--scenario'));
    assert.deepEqual(candidates(program, ['completion', 'f']), ['fish']);
  });

  it('offers nothing where a file is wanted, so that the shell does', () => {
    assert.deepEqual(candidates(program, ['get', '--kubeconfig', '']), []);
  });

  it('never offers the hidden command', () => {
    assert.ok(!candidates(program, ['']).includes('complete'));
  });
});

describe('completion of the kubectl plugin', function () {
  this.timeout(30_000);
  const clone = join(import.meta.dirname, '..', '..');
  let folder: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    // As in the clone, but with the sources of now, whatever was bundled before.
    folder = await mkdtemp(join(tmpdir(), 'completion-test-'));
    await cp(join(clone, 'bin'), join(folder, 'bin'), { recursive: true });
    await symlink(join(clone, 'src'), join(folder, 'src'));
    const path = [join(folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''];
    env = { ...process.env, PATH: path.join(delimiter) };
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs a program of that PATH; what it prints, in lines. */
  async function lines(file: string, args: readonly string[]): Promise<string[]> {
    return (await promisify(execFile)(file, args, { env })).stdout.split('\n').slice(0, -1);
  }

  it('prints the candidates and, as the last line, whether files are offered besides', async () => {
    const complete = 'kubectl_complete-object_versions';
    assert.deepEqual(await lines(complete, ['lab', 'c']), ['contention', ':4']);
    assert.deepEqual(await lines(complete, ['lab', 'contention', '--str']), ['--strategy', ':4']);
    assert.deepEqual(await lines(complete, ['get', '--kubeconfig', '']), [':0']);
  });

  it('kubectl finds it and hands its candidates on', async function () {
    await needKubectl(this);
    env['PATH'] = [env['PATH'], process.env['PATH']].join(delimiter);
    assert.deepEqual(await lines('kubectl', ['__complete', 'object-versions', 'lab', '']), [
      'modular',
      'replay',
      'contention',
      'lesson',
      'help',
      ':4',
    ]);
    assert.deepEqual(await lines('kubectl', ['__complete', 'object-versions', 'analyze', '']), [':0']);
  });

  it('is among the programs that npm puts on the PATH', async () => {
    const { bin } = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')) as { bin: Record<string, string> };
    const file = join(clone, bin['kubectl_complete-object_versions'] ?? '');
    assert.deepEqual(await lines(process.execPath, [file, 'lab', 'c']), ['contention', ':4']);
  });
});
