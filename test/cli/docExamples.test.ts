import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { needKubectl } from '../apiserver/kubectl.ts';
import { recordingIn } from '../lab/recording.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const cli = join(root, 'src/cli.ts');

/** One thing to type, the exit code that the page promises, and whether it serves until it is interrupted. */
interface Example {
  readonly text: string;
  readonly code: number;
  readonly serves: boolean;
}

/** The shell examples of a page: what stands in fences of `sh`, and what stands after `$` in fences of `console`. */
function examplesOf(page: string): Example[] {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```(sh|console)\n([\s\S]*?)^```/gm)];
  return blocks
    .flatMap(([, kind, body = '']) => {
      if (kind === 'console') return body.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []));
      return body.startsWith('for ') ? [body.trim()] : body.split('\n').filter((line) => line.trim() !== '');
    })
    .filter((text) => !text.startsWith('git clone'))
    .map((text) => ({
      text,
      code: Number(/# .*exit code (\d+)$/.exec(text)?.[1] ?? 0),
      serves: text.startsWith('object-versions sandbox'),
    }));
}

/** A script that runs the examples as one session does, and notes each exit code on its third channel. */
function scriptOf(examples: readonly Example[]): string {
  const lines = examples.map(({ text, serves }, index) => {
    if (!serves) return `{ ${text}\n} < "$ANSWERS"\necho "${index} $?" >&3`;
    const file = /--kubeconfig (\S+)/.exec(text)?.[1] ?? '';
    return `${text} &\nSERVERS="$SERVERS $!"\nfor _ in $(seq 300); do [ -s '${file}' ] && break; sleep 0.1; done\necho "${index} 0" >&3`;
  });
  return `SERVERS=\n${lines.join('\n')}\nfor server in $SERVERS; do kill -INT "$server"; wait "$server"; done\n`;
}

const lesson = `lesson: object-versions
version: 1
id: mine
title: Mine
about: About
steps:
  - id: step-id
    title: A step
    task: Create it.
    predict: {question: "Is it there?", choices: ["yes", "no"], answer: "no"}
    solution: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {name: mine}, data: {k: "1"}}}]
    check: [{read: configmaps/mine, where: [{path: .data.k, equals: "1"}]}]
    lesson: Learnt.
`;

describe('the shell examples of the documents', function () {
  this.timeout(180_000);
  let world: RunningScenario;
  let folder: string;

  before(async function () {
    await needKubectl(this);
    world = await startScenario({ scenario: 'quiet' });
    folder = await mkdtemp(join(tmpdir(), 'object-versions-examples-'));
    const trace = [{ trace: 'object-versions', version: 1, createdAt: 1, creator: 'test' }, ...recordingIn('shop')]
      .map((line) => JSON.stringify(line))
      .join('\n');
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ada' } };
    const bin = join(folder, 'bin');
    await mkdir(bin);
    for (const [name, text] of Object.entries({
      kubeconfig: world.sandbox.kubeconfig,
      theirs: world.sandbox.kubeconfig,
      'mine.yaml': lesson,
      'my-exam.yaml': lesson,
      'audit-1.log.gz': gzipSync(trace),
      'audit-2.log.gz': gzipSync(trace),
      'namespace.json': JSON.stringify(namespace),
      answers: '1\nd\n'.repeat(50),
    }))
      await writeFile(join(folder, name), text, { mode: 0o600 });
    await writeFile(join(bin, 'object-versions'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`, {
      mode: 0o755,
    });
    await writeFile(join(bin, 'make'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    await run('kubectl', ['--kubeconfig', join(folder, 'theirs'), 'create', '-f', join(folder, 'namespace.json')]);
  });

  after(async () => {
    await world?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: root })
    .sort()
    .filter((page) => examplesOf(page).some(({ text }) => text.includes('object-versions ')));

  it('are there, on the pages for every kind of reader', () => {
    for (const page of ['README.md', 'docs/lessons.md', 'docs/teaching.md', 'docs/recorder.md'])
      assert.ok(pages.includes(page), page);
  });

  for (const page of pages)
    it(`of ${page} do what the page says, typed one after the other`, async () => {
      const examples = examplesOf(page);
      const codes = join(folder, 'codes');
      await writeFile(codes, '');
      const child = spawn('bash', ['-c', `exec 3>'${codes}'\n${scriptOf(examples)}`], {
        cwd: folder,
        env: {
          ...process.env,
          KUBECONFIG: join(folder, 'kubeconfig'),
          ANSWERS: join(folder, 'answers'),
          PATH: [join(folder, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await once(child, 'close');
      const seen = (await readFile(codes, 'utf8')).trim().split('\n');
      assert.deepEqual(
        seen.map((line, index) => `${line.split(' ')[1]}: ${examples[index]?.text}`),
        examples.map(({ code, text }) => `${code}: ${text}`),
        said,
      );
    });
});
