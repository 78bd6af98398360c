import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerCommands } from '../../src/cli/commands.ts';
import { candidates } from '../../src/cli/completion.ts';
import { builtInLessons } from '../../src/lab/lessonFiles.ts';
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

/** The words that are offered in place of the last one. */
async function words(typed: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  return (await candidates(program, typed, env)).map(({ word }) => word);
}

describe('shell completion', () => {
  it('offers commands, subcommands, options and their choices', async () => {
    assert.deepEqual(await words(['mod']), ['modify']);
    assert.deepEqual(await words(['lab', 'c']), ['contention']);
    const strategies = ['naive', 'token-swap', 'read-modify-write', 'apply'];
    assert.deepEqual(await words(['lab', 'contention', '--strategy', '']), strategies);
    assert.deepEqual(
      await words(['lab', 'contention', '--strategy=']),
      strategies.map((name) => `--strategy=${name}`),
    );
    assert.ok((await words(['sandbox', '--s'])).includes('--scenario'));
    assert.deepEqual(await words(['get', 'cm', '-o', 'j']), ['json']);
    assert.deepEqual(await words(['completion', 'f']), ['fish']);
  });

  it('offers the lessons with their titles, once, and the steps and languages of the one that is named', async () => {
    const lessons = builtInLessons();
    assert.deepEqual(
      await candidates(program, ['lab', 'lesson', ''], {}),
      lessons.map(({ id, title }) => ({ word: id, about: title })),
    );
    assert.deepEqual(await words(['lab', 'lesson', '--solve', 'opa']), ['opaque-token']);
    assert.deepEqual(await words(['lab', 'lesson', 'opaque-token', '']), []);
    const steps = lessons.find(({ id }) => id === 'opaque-token')?.steps.map(({ id }) => id);
    assert.deepEqual(await words(['lab', 'lesson', 'opaque-token', '--skip', '']), steps);
    assert.deepEqual(await words(['lab', 'lesson', 'opaque-token', '--skip', 'no-change', '']), steps);
    assert.deepEqual(await words(['lab', 'lesson', 'none-of-them', '--skip', '']), []);
    assert.deepEqual(await words(['lab', 'lesson', '--language', '']), ['en', 'de']);
  });

  it('offers findings and severities one after the other', async () => {
    assert.deepEqual(await words(['analyze', '--fail-on', 'w']), ['warning', 'watch-gap']);
    assert.deepEqual(await words(['record', '--fail-on', 'error,hot']), ['error,hot-conflict-loop']);
  });

  it('offers the contexts of the kubeconfig that is named, and of the environment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'completion-test-'));
    try {
      const file = join(folder, 'kubeconfig');
      await writeFile(
        file,
        '{apiVersion: v1, kind: Config, contexts: [{name: "arn:aws:eks:one", context: {cluster: c}}]}',
      );
      assert.deepEqual(await words(['get', '--kubeconfig', file, 'cm', '--context', '']), ['arn:aws:eks:one']);
      assert.deepEqual(await words(['lab', 'replay', `--kubeconfig=${file}`, '--context=arn']), [
        '--context=arn:aws:eks:one',
      ]);
      assert.deepEqual(await words(['get', '--context', ''], { KUBECONFIG: file }), ['arn:aws:eks:one']);
      assert.deepEqual(await words(['get', '--context', ''], { KUBECONFIG: join(folder, 'none') }), []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('offers nothing where a file is wanted, so that the shell does', async () => {
    assert.deepEqual(await words(['get', '--kubeconfig', '']), []);
    assert.deepEqual(await words(['lab', 'replay', '']), []);
    assert.deepEqual(await words(['record', '--', '--n']), []);
  });

  it('never offers the hidden command', async () => {
    assert.ok(!(await words([''])).includes('complete'));
  });
});

describe('completion in a shell and of the kubectl plugin', function () {
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

  it('bash offers the candidates where words hold = and :, and files where there are none', async () => {
    const file = join(folder, 'kubeconfig');
    await writeFile(file, '{apiVersion: v1, kind: Config, contexts: [{name: "arn:aws:eks", context: {cluster: c}}]}');
    // What bash sets, with the words as it takes them apart.
    const script = `source <(object-versions completion bash)
complete -p object-versions
ask() { COMP_LINE=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _object_versions; echo "\${COMPREPLY[*]}"; }
ask 'object-versions lab lesson opa' object-versions lab lesson opa
ask 'object-versions lab contention --strategy=tok' object-versions lab contention --strategy = tok
ask 'object-versions get cm --context arn:aw' object-versions get cm --context arn : aw
ask 'object-versions lab replay tr' object-versions lab replay tr
`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: { ...env, KUBECONFIG: file } });
    assert.deepEqual(stdout.split('\n').slice(0, -1), [
      'complete -o default -F _object_versions object-versions',
      'opaque-token',
      'token-swap',
      'aws:eks',
      '',
    ]);
  });

  it('is among the programs that npm puts on the PATH', async () => {
    const { bin } = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')) as { bin: Record<string, string> };
    const file = join(clone, bin['kubectl_complete-object_versions'] ?? '');
    assert.deepEqual(await lines(process.execPath, [file, 'lab', 'c']), ['contention', ':4']);
  });
});
