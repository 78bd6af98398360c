import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import type { CliIo } from '../../src/cli/io.ts';
import { registerLab } from '../../src/cli/lab.ts';
import { startCutProxy } from '../editor/cutProxy.ts';
import { labServers, type LabServer } from './labCluster.ts';
import { recordingIn } from './recording.ts';

const main = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
/** A kubeconfig that must not be read: its server would refuse the connection. */
const ambient = `apiVersion: v1
kind: Config
current-context: ambient
contexts: [{name: ambient, context: {cluster: ambient, user: ambient}}]
clusters: [{name: ambient, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: ambient, user: {token: x}}]
`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('lab, the command', function () {
  this.timeout(60_000);
  let folder: string;
  let sandbox: LabServer;

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-lab-command-'));
    await writeFile(join(folder, 'ambient'), ambient);
    const start = labServers['the sandbox'];
    assert.ok(start !== undefined);
    sandbox = await start(this);
  });

  after(async () => {
    await sandbox?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const begin = (...args: string[]): { child: ChildProcess; ended: Promise<Ended> } => {
    const child = spawn(process.execPath, [main, 'lab', ...args], {
      env: { ...process.env, KUBECONFIG: join(folder, 'ambient'), HOME: folder },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const ended = once(child, 'close').then(([code]): Ended => ({ code: Number(code ?? -1), stdout, stderr }));
    return { child, ended };
  };
  const run = async (...args: string[]): Promise<Ended> => {
    const { child, ended } = begin(...args);
    child.stdin?.end();
    return ended;
  };
  const json = (ended: Ended): unknown => JSON.parse(ended.stdout);
  const left = async (): Promise<string[]> => {
    const request = { method: 'GET', path: '/api/v1/namespaces/default/configmaps' } as const;
    const { body } = await sandbox.cluster.send(request, AbortSignal.timeout(5000));
    const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  };

  it('modular prints m, a and the residues, the start included', async () => {
    assert.deepEqual(json(await run('modular', '-o', 'json')), { m: 8, a: 1, residues: [0, 1, 2, 3, 4, 5, 6, 7, 0] });
    const big = await run(
      'modular',
      '--m',
      '9007199254740991',
      '--a',
      '9007199254740990',
      '--steps',
      '2',
      '-o',
      'json',
    );
    assert.deepEqual(json(big), {
      m: 9007199254740991,
      a: 9007199254740990,
      residues: [0, 9007199254740990, 9007199254740989],
    });
    assert.equal(big.code, 0);
    const text = await run('modular');
    assert.match(text.stdout, /resourceVersion is not modelled by them and is not claimed to wrap/);
  });

  it('modular at a terminal asks for a prediction before each step, and about order after the wrap', async () => {
    const { typed, io, said } = terminal();
    const program = new Command('object-versions').exitOverride();
    registerLab(program, io);
    // An empty line and a word are no predictions: they are asked again and do not count.
    typed.write(['', 'soon', '2', '4', '1', '', '9', '3', '2', '3'].join('\n'));
    typed.write('\n');
    await program.parseAsync(['lab', 'modular', '--m', '5', '--a', '2', '--steps', '5'], { from: 'user' });
    assert.match(said.out, /Right: step 1 shows 2\.[\s\S]*Right: step 3 shows 1\.\n/);
    assert.match(said.out, /No: by that rule it would be older\. But it was shown later/);
    assert.match(said.out, /No: step 4 shows 3\.[\s\S]*0 2 4 1 3 0\n3 of 5 predictions/);
    assert.equal(said.asked.match(/First predict the next label/g)?.length, 2);
    assert.equal(said.asked.match(/Answer with a number from 1 to 3\./g)?.length, 2);
  });

  it('a question that is left unanswered ends its line, so that the shell’s prompt begins one', async () => {
    const { typed, io, said } = terminal();
    const program = new Command('object-versions').exitOverride();
    registerLab(program, io);
    typed.end('1\n');
    await assert.rejects(program.parseAsync(['lab', 'modular'], { from: 'user' }), { code: 'cancelled' });
    assert.match(said.asked, /Step 2, the label is 1\. Next label\? > \n$/);
  });

  for (const [args, sentence] of [
    [['--m', '0'], /m must be a whole number from 1 to 2\^53-1/],
    [['--m=-1'], /m must be/],
    [['--m', '9007199254740992'], /m must be/],
    [['--m', '1e3'], /m must be/],
    [['--m', ''], /m must be/],
    [['--a', '-1'], /a must be a whole number from 0/],
    [['--a=2.5'], /a must be/],
    [['--steps', 'many'], /whole number/],
  ] as const) {
    it(`modular ${args.join(' ')} is refused with a sentence`, async () => {
      const { code, stdout, stderr } = await run('modular', ...args);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, sentence);
    });
  }

  it('replay and contention keep to their JSON, on a sandbox of their own and not on the ambient kubeconfig', async () => {
    const replay = await run('replay', '-o', 'json');
    assert.equal(replay.code, 0, replay.stderr);
    const { steps, holds } = json(replay) as { steps: Record<string, unknown>[]; holds: boolean };
    assert.equal(holds, true);
    assert.ok(steps.length > 0);
    for (const step of steps) assert.deepEqual(Object.keys(step), ['id', 'expected', 'observed', 'holds']);
    const args = ['--strategy', 'token-swap', '--actors', '3', '--updates', '4', '--seed', '7', '-o', 'json'];
    const contention = await run('contention', ...args);
    assert.equal(contention.code, 0, contention.stderr);
    const counts = json(contention) as Record<string, number>;
    assert.deepEqual(Object.keys(counts), ['strategy', 'actors', 'accepted', 'refused', 'attempts', 'lost', 'seconds']);
    assert.equal(counts['accepted'], 12);
    assert.equal(counts['attempts'], 12 + (counts['refused'] ?? 0));
    assert.ok((counts['lost'] ?? 0) > 0);
  });

  it('contention counts on a terminal while it runs, nowhere else, and draws its attempts at the end', async () => {
    const args = ['contention', '--strategy', 'token-swap', '--actors', '3', '--updates', '20', '--think', '20'];
    const piped = await run(...args, '--kubeconfig', sandbox.kubeconfig);
    assert.equal(piped.stderr, '');
    const [, accepted = '', refused = ''] =
      /\nattempts, \d+ ms a column, \d+ at most\naccepted \|([ ▁-█]+)\|\nrefused {2}\|([ ▁-█]+)\|\n/.exec(
        piped.stdout,
      ) ?? [];
    assert.match(accepted, /[▁-█]/);
    assert.match(refused, /[▁-█]/);
    assert.equal(accepted.length, refused.length);
    let [out, err] = ['', ''];
    const program = new Command('object-versions').exitOverride();
    registerLab(program, {
      stdout: (text: string) => void (out += text),
      stderr: (text: string) => void (err += text),
      hasLiveStderr: true,
      stdin: process.stdin,
      env: {},
      clock: systemClock,
      signal: new AbortController().signal,
      exit: () => undefined,
    });
    await program.parseAsync(['lab', ...args, '--kubeconfig', sandbox.kubeconfig], { from: 'user' });
    const drawn = err.split('\r\u001b[K');
    assert.ok(drawn.length > 3, err);
    assert.deepEqual([drawn.at(0), drawn.at(-1)], ['', '']);
    for (const line of drawn.slice(1, -1))
      assert.match(line, /^accepted \d+, refused \d+, retried \d+, lost (0|at least [1-9]\d*)$/);
    assert.match(err, /accepted [1-9]\d*, refused [1-9]\d*, retried [1-9]\d*, lost at least [1-9]/);
    assert.match(out, /^token-swap, 3 actors, 20 updates each/);
  });

  it('a context that is named is used, even where it cannot be reached', async () => {
    const { code, stderr } = await run('replay', '--context', 'ambient', '-o', 'json');
    assert.notEqual(code, 0);
    assert.match(stderr, /127\.0\.0\.1:1 cannot be reached/);
  });

  it('a lesson that is skipped ends with 11, one that is done with 0; the report says which, as JSON and as Markdown', async () => {
    const report = join(folder, 'report.json');
    const args = ['conflict-and-recompute', '--solve', '--kubeconfig', sandbox.kubeconfig];
    const skipped = await run('lesson', ...args, '--skip', 'the-wrong-way', '--report', report);
    assert.equal(skipped.code, 11, skipped.stderr);
    const written = JSON.parse(await readFile(report, 'utf8')) as { passed: boolean; steps: { passed: boolean }[] };
    assert.equal(written.passed, false);
    assert.deepEqual(
      written.steps.map((step) => step.passed),
      [true, true, false, false, false],
    );
    const done = await run('lesson', ...args, '-o', 'json', '--report', join(folder, 'report.md'));
    assert.equal(done.code, 0, done.stderr);
    assert.equal((json(done) as { passed: boolean }).passed, true);
    assert.match(
      await readFile(join(folder, 'report.md'), 'utf8'),
      /^# A conflict means[\s\S]*5 of 5 steps passed, 0 of/,
    );
    assert.deepEqual(await left(), []);
  });

  it('without a lesson, lists them and says how one is played', async () => {
    const { code, stdout } = await run('lesson');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^name-and-uid +A name locates[\s\S]*\n\nPlay one with: object-versions lab lesson name-and-uid\n$/,
    );
  });

  it('a lesson says to another terminal, wherever that is, which kubeconfig is meant', async () => {
    const { stdout } = await run('lesson', 'opaque-token', '--kubeconfig', relative('.', sandbox.kubeconfig));
    assert.ok(stdout.includes(`\n  export KUBECONFIG=${sandbox.kubeconfig}\n  kubectl -n default get configmaps\n`));
  });

  it('a lesson file that is none is refused with the place', async () => {
    const file = join(folder, 'wrong.yaml');
    await writeFile(file, 'lesson: object-versions\nversion: 1\nid: x\n');
    const { code, stderr } = await run('lesson', file);
    assert.notEqual(code, 0);
    assert.match(stderr, /wrong\.yaml: the lesson\.title must be text/);
  });

  describe('interrupted in the middle, leaves nothing behind', () => {
    const cases: Readonly<Record<string, readonly string[]>> = {
      contention: ['contention', '--actors', '4', '--updates', '5000', '--think', '10'],
      lesson: ['lesson', 'conflict-and-recompute'],
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      for (const [lab, args] of Object.entries(cases)) {
        it(`${lab}, by ${signal}`, async () => {
          const { child, ended } = begin(...args, '--kubeconfig', sandbox.kubeconfig);
          const end = Date.now() + 20_000;
          while ((await left()).length === 0) {
            assert.ok(Date.now() < end && child.exitCode === null, 'it made nothing');
            await new Promise((again) => setTimeout(again, 20));
          }
          child.kill(signal);
          const { code, stderr } = await ended;
          assert.equal(code, 130, stderr);
          assert.deepEqual(await left(), []);
        });
      }
    }

    it('the replay of a recording, by SIGINT and by SIGTERM in the middle of it', async () => {
      const events = Array.from({ length: 200 }, (_, index) =>
        recordingIn('shop').slice(index === 0 ? 0 : 2, 3),
      ).flat();
      const lines = [{ trace: 'object-versions', version: 1, createdAt: 1, creator: 'test' }, ...events];
      const file = join(folder, 'recording.jsonl');
      await writeFile(
        file,
        lines.map((line, seq) => `${JSON.stringify({ ...line, ...(seq > 0 ? { seq } : {}) })}\n`).join(''),
      );
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        const { child, ended } = begin('replay', file, '--kubeconfig', sandbox.kubeconfig, '-n', 'default');
        const end = Date.now() + 20_000;
        while ((await left()).length === 0) {
          assert.ok(Date.now() < end && child.exitCode === null, 'it made nothing');
          await new Promise((again) => setTimeout(again, 5));
        }
        child.kill(signal);
        const { code, stderr } = await ended;
        assert.equal(code, 130, stderr);
        assert.deepEqual(await left(), []);
      }
    });

    it('whose server is gone, ends with 9 and names what is left behind', async () => {
      for (const strategy of ['token-swap', 'read-modify-write']) {
        const proxy = await startCutProxy('127.0.0.1', Number(new URL(sandbox.cluster.url).port));
        const kubeconfig = join(folder, 'by-way-of-a-proxy');
        const direct = await readFile(sandbox.kubeconfig, 'utf8');
        await writeFile(kubeconfig, direct.replaceAll(sandbox.cluster.url, `https://127.0.0.1:${proxy.port}`));
        const args = ['contention', '--strategy', strategy, '--updates', '5000', '--kubeconfig', kubeconfig];
        const { child, ended } = begin(...args);
        const end = Date.now() + 20_000;
        while ((await left()).length === 0) {
          assert.ok(Date.now() < end && child.exitCode === null, 'it made nothing');
          await new Promise((again) => setTimeout(again, 20));
        }
        await proxy.stop();
        const { code, stderr } = await ended;
        assert.equal(code, 9, stderr);
        const path = `/api/v1/namespaces/default/configmaps/${(await left()).join(',')}`;
        assert.ok(stderr.includes(`What the lab made could not be removed: ${path}. The API server`), stderr);
        await sandbox.cluster.send({ method: 'DELETE', path }, AbortSignal.timeout(5000));
        assert.deepEqual(await left(), []);
      }
    });

    it('replay, wherever it is when SIGINT comes', async () => {
      for (let round = 0; round < 4; round += 1) {
        const { child, ended } = begin('replay', '--kubeconfig', sandbox.kubeconfig);
        child.stdin?.end();
        let stepsSeen = 0;
        child.stdout?.on('data', (chunk: Buffer) => {
          stepsSeen += chunk.toString().split('\nholds').length;
          if (stepsSeen > round * 3) child.kill('SIGINT');
        });
        await ended;
        assert.deepEqual(await left(), [], `round ${round}`);
      }
    });
  });
});

/** What a command has of somebody at a terminal, with what is written to them. */
function terminal(): { typed: PassThrough; io: CliIo; said: { out: string; asked: string } } {
  const typed = Object.assign(new PassThrough(), { isTTY: true });
  const said = { out: '', asked: '' };
  const io = {
    stdout: (text: string) => void (said.out += text),
    stderr: (text: string) => void (said.asked += text),
    stdin: typed as unknown as typeof process.stdin,
    env: {},
    clock: systemClock,
    signal: new AbortController().signal,
    exit: () => undefined,
  };
  return { typed, io, said };
}
