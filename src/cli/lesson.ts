import type { Command } from 'commander';
import type { LessonReport, LessonRun } from '../lab/lessonRun.ts';
import { startAsking, type Asking } from './asking.ts';
import { exitCodes } from './exitCodes.ts';
import type { CliIo } from './io.ts';
import { onCluster, withServer, type LabOptions } from './labServer.ts';

interface LessonCliOptions extends LabOptions {
  solve?: boolean;
  skip?: string[];
  report?: string;
}

/** Registers `lab lesson`: lists the lessons, or plays one. */
export function registerLesson(lab: Command, io: CliIo): void {
  onCluster(lab.command('lesson'))
    .argument('[lesson]', 'the id of a lesson, or a lesson file; left out: lists the lessons')
    .description('a lesson: predict, act, and see what the server holds')
    .option('--solve', 'have every step done for you')
    .option('--skip <step...>', 'with --solve: steps that are not done, which must then fail their checks')
    .option('--report <file>', 'write the learner’s report: Markdown where the name ends in .md, else JSON')
    .action(async (lesson: string | undefined, options: LessonCliOptions) => {
      const { builtInLessons, findLesson } = await import('../lab/lessonFiles.ts');
      if (lesson === undefined) {
        const lessons = builtInLessons();
        io.stdout(
          options.output === 'json'
            ? `${JSON.stringify(lessons.map(({ id, title }) => ({ id, title })))}\n`
            : lessons.map(({ id, title }) => `${id.padEnd(26)}${title}\n`).join(''),
        );
        return;
      }
      const found = findLesson(lesson);
      const { LessonRun } = await import('../lab/lessonRun.ts');
      const { discover } = await import('../kube/discovery.ts');
      const report = await withServer(options, io, async (cluster, namespace, kubeconfig) => {
        const resources = await discover(cluster, io.signal);
        const run = new LessonRun(found, { server: cluster, resources, namespace, clock: io.clock, signal: io.signal });
        const file = kubeconfig ?? options.kubeconfig;
        const tool = `kubectl${file === undefined ? '' : ` --kubeconfig ${file}`} -n ${namespace}`;
        return play(run, options, io, tool);
      });
      if (options.report !== undefined) {
        const { writeFile } = await import('node:fs/promises');
        const { lessonReportText } = await import('../lab/lessonReportText.ts');
        const { english } = await import('../core/timeline/translate.ts');
        const text = options.report.endsWith('.md')
          ? lessonReportText(report, english)
          : `${JSON.stringify(report, undefined, 2)}\n`;
        await writeFile(options.report, text);
      }
      if (options.output === 'json') io.stdout(`${JSON.stringify(report)}\n`);
      else io.stdout(report.passed ? 'Passed.\n' : 'Not passed.\n');
      if (!report.passed) io.exit(exitCodes.labDidNotHold);
    });
}

/** `tool`: what reaches the lesson's server from another terminal. */
async function play(run: LessonRun, options: LessonCliOptions, io: CliIo, tool: string): Promise<LessonReport> {
  const say = (text: string): void => (options.output === 'json' ? io.stderr(text) : io.stdout(text));
  const asking = options.solve === true ? undefined : startAsking(io);
  try {
    say(`${run.lesson.title}\n${run.lesson.about}\n`);
    await run.start();
    if (asking !== undefined) say(`Act from another terminal, such as with: ${tool}\n`);
    while (run.step !== undefined) if (!(await playStep(run, options, asking, say))) break;
  } finally {
    asking?.close();
    await run.end();
  }
  return run.report();
}

/** Plays one step; false ends the lesson. */
async function playStep(
  run: LessonRun,
  options: LessonCliOptions,
  asking: Asking | undefined,
  say: (text: string) => void,
): Promise<boolean> {
  const { step } = run;
  if (step === undefined) return false;
  say(`\n${step.title}\n${step.task}\n`);
  if (step.predict !== undefined && asking !== undefined) {
    const choice = await asking.choice(step.predict.question, step.predict.choices);
    say(run.predict(choice) ? 'That is what the contract says.\n' : `The contract says: ${step.predict.answer}.\n`);
  }
  const word = asking === undefined ? 'd' : await asking.line('Enter: check, d: do it for me, q: quit > ');
  if (word.trim() === 'q') return false;
  if (word.trim() === 'd' && options.skip?.includes(step.id) !== true) await run.solve();
  const results = await run.check();
  for (const { text, passed } of results) say(`  ${passed ? 'yes' : 'NO '}  ${text}\n`);
  const passed = results.every((result) => result.passed);
  if (passed) say(`${step.lesson}\n`);
  return passed || asking !== undefined;
}
