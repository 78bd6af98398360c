import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerLab } from '../../src/cli/lab.ts';
import { inLanguage, type Lesson, type LessonStep } from '../../src/lab/lesson.ts';
import { builtInLessons } from '../../src/lab/lessonFiles.ts';
import type { LessonReport } from '../../src/lab/lessonRun.ts';
import { needKubectl } from '../apiserver/kubectl.ts';
import { labServers, namesLeft, type LabServer } from './labCluster.ts';

const run = promisify(execFile);
const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** A learner at two terminals: one plays the lesson, in the other the commands that it shows are typed. */
class Learner {
  readonly said: string[] = [];
  private readonly typed = Object.assign(new PassThrough(), { isTTY: true });
  private readonly lesson: Lesson;
  private readonly act: (step: LessonStep) => Promise<void>;
  private at = 0;
  private checks = 0;
  private working: Promise<void> = Promise.resolve();

  constructor(lesson: Lesson, act: (step: LessonStep) => Promise<void>) {
    this.lesson = lesson;
    this.act = act;
  }

  async play(args: readonly string[]): Promise<void> {
    const io = {
      stdout: (text: string) => this.hear(text),
      stderr: (text: string) => this.hear(text),
      stdin: this.typed as unknown as typeof process.stdin,
      env: {},
      clock: systemClock,
      signal: new AbortController().signal,
      exit: (code: number) => this.hear(`exit ${code}`),
    };
    const program = new Command('object-versions').exitOverride();
    registerLab(program, io);
    await program.parseAsync(['lab', 'lesson', this.lesson.id, ...args], { from: 'user' });
    await this.working;
  }

  private hear(text: string): void {
    this.said.push(text);
    const step = this.lesson.steps[this.at];
    if (step !== undefined && text === `${step.lesson}\n`) {
      this.at += 1;
      this.checks = 0;
    } else if (step !== undefined && text.endsWith('> ')) this.working = this.answer(step, text);
  }

  /** Predicts wrongly, checks before anything is done, then acts as the lesson shows and checks again. */
  private async answer(step: LessonStep, prompt: string): Promise<void> {
    const { predict } = step;
    if (predict !== undefined && prompt.startsWith(predict.question))
      this.type(String(predict.choices.findIndex((choice) => choice !== predict.answer) + 1));
    else if (prompt.startsWith('The labels')) this.type(this.checks === 1 ? '1 2 3 4 5 6 7 8' : '1 2 3 4 5 6 7 0');
    else {
      this.checks += 1;
      if (this.checks === 2) await this.act(step);
      this.type(this.checks > 3 ? 'q' : '');
    }
  }

  private type(line: string): void {
    this.typed.write(`${line}\n`);
  }
}

for (const on of ['the real server', 'the sandbox'])
  describe(`lessons at a terminal, on ${on}`, function () {
    this.timeout(120_000);
    let server: LabServer;
    let folder: string;
    let env: Record<string, string | undefined>;

    before(async function () {
      await needKubectl(this);
      const start = labServers[on];
      assert.ok(start !== undefined);
      server = await start(this);
      folder = await mkdtemp(join(tmpdir(), 'object-versions-terminal-'));
      const kubeconfig = join(folder, 'kubeconfig');
      await copyFile(server.kubeconfig, kubeconfig);
      const shim = join(folder, 'object-versions');
      await writeFile(shim, `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`, { mode: 0o755 });
      const path = [folder, process.env['PATH'] ?? ''].join(delimiter);
      env = { ...process.env, KUBECONFIG: kubeconfig, PATH: path };
      await run('kubectl', ['config', 'set-context', '--current', `--namespace=${server.namespace}`], { env });
    });

    after(async () => {
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    for (const lesson of builtInLessons())
      it(`"${lesson.id}": fails without the action, passes by the commands that it shows, and knows a wrong prediction`, async () => {
        const report = join(folder, `${lesson.id}.json`);
        const learner = new Learner(lesson, async (step) => {
          assert.ok(step.commands.length > 0, step.id);
          // Some are refused, which is what they are there to show.
          await run('sh', ['-c', step.commands.join('\n')], { env, cwd: folder }).catch(() => undefined);
        });
        await learner.play(['--kubeconfig', server.kubeconfig, '-n', server.namespace, '--report', report]);
        const { passed, steps } = JSON.parse(await readFile(report, 'utf8')) as LessonReport;
        assert.equal(passed, true, learner.said.join(''));
        assert.deepEqual(
          steps.map(({ id, passed: own, tries, shown, predictedRight }) => [id, own, tries, shown, predictedRight]),
          lesson.steps.map(({ id }) => [id, true, 2, false, false]),
        );
        assert.deepEqual(await namesLeft(server), []);
      });

    it('a lesson speaks German where it is asked to', async () => {
      const [first] = builtInLessons();
      assert.ok(first !== undefined);
      const german = inLanguage(first, 'de');
      const learner = new Learner(german, async (step) => {
        await run('sh', ['-c', step.commands.join('\n')], { env, cwd: folder });
      });
      await learner.play(['--kubeconfig', server.kubeconfig, '-n', server.namespace, '--language', 'de']);
      assert.ok(learner.said.join('').includes('Dem Namen ein zweites Leben geben'));
      assert.ok(!learner.said.some((text) => text.startsWith('exit')), learner.said.join(''));
    });
  });
