import { resolve } from 'node:path';
import type { Command } from 'commander';
import { inLanguage, type LessonStep } from '../lab/lesson.ts';
import type { LessonReport, LessonRun } from '../lab/lessonRun.ts';
import { startAsking, type Asking } from './asking.ts';
import { exitCodes } from './exitCodes.ts';
import type { CliIo } from './io.ts';
import { onCluster, withServer, type LabOptions } from './labServer.ts';

interface LessonCliOptions extends LabOptions {
  solve?: boolean;
  skip?: string[];
  report?: string;
  overwrite?: true;
  language?: string;
}

/** Registers `lab lesson`: lists the lessons, or plays one. */
export function registerLesson(lab: Command, io: CliIo): void {
  onCluster(lab.command('lesson'))
    .argument('[lesson]', 'the id of a lesson, or a lesson file; left out: lists the lessons')
    .description('a lesson: predict, act, and see what the server holds')
    .option('--solve', 'have every step done for you')
    .option('--skip <step...>', 'with --solve: steps that are not done, which must then fail their checks')
    .option('--language <tag>', 'the language of the lesson’s texts, such as de, where it has them')
    .option('--report <file>', 'write the learner’s report: Markdown where the name ends in .md, else JSON')
    .option('--overwrite', 'with --report: replace the file that is there')
    .action(async (lesson: string | undefined, options: LessonCliOptions) => {
      const { builtInLessons, findLesson } = await import('../lab/lessonFiles.ts');
      const { language = 'en' } = options;
      if (lesson === undefined) {
        const lessons = builtInLessons().map((item) => inLanguage(item, language));
        io.stdout(
          options.output === 'json'
            ? `${JSON.stringify(lessons.map(({ id, title }) => ({ id, title })))}\n`
            : `${lessons.map(({ id, title }) => `${id.padEnd(26)}${title}\n`).join('')}\nPlay one with: object-versions lab lesson ${lessons[0]?.id ?? 'ID'}\n`,
        );
        return;
      }
      const found = inLanguage(findLesson(lesson), language);
      const file =
        options.report === undefined
          ? undefined
          : { path: options.report, what: 'The report', mayReplace: options.overwrite === true };
      const { isReplaced, writeNamedFile } = await import('../storage/namedFile.ts');
      if (file !== undefined) await isReplaced(file);
      const { LessonRun } = await import('../lab/lessonRun.ts');
      const { discover } = await import('../kube/discovery.ts');
      const report = await withServer(
        options,
        io,
        async (cluster, namespace, kubeconfig) => {
          const resources = await discover(cluster, io.signal);
          const run = new LessonRun(found, {
            server: cluster,
            resources,
            namespace,
            clock: io.clock,
            signal: io.signal,
          });
          return play(run, options, io, whereToAct(namespace, options, kubeconfig));
        },
        found.sandbox,
      );
      if (file !== undefined) {
        const { lessonReportText } = await import('../lab/lessonReportText.ts');
        const { english } = await import('../core/timeline/translate.ts');
        const text = file.path.endsWith('.md')
          ? lessonReportText(report, english)
          : `${JSON.stringify(report, undefined, 2)}\n`;
        await writeNamedFile(file, text);
      }
      if (options.output === 'json') io.stdout(`${JSON.stringify(report)}\n`);
      else io.stdout(report.passed ? 'Passed.\n' : 'Not passed.\n');
      if (!report.passed) io.exit(exitCodes.labDidNotHold);
    });
}

/** How another terminal reaches the lesson's server. */
function whereToAct(namespace: string, { kubeconfig, context }: LessonCliOptions, own?: string): string {
  const file = own ?? kubeconfig;
  const set = file === undefined ? '' : `  export KUBECONFIG=${resolve(file)}\n`;
  const flags = [...(context === undefined ? [] : [`--context ${context}`]), `-n ${namespace}`].join(' ');
  return `Act from another terminal, with kubectl, object-versions or a program of your own:\n${set}  kubectl ${flags} get configmaps\n`;
}

async function play(run: LessonRun, options: LessonCliOptions, io: CliIo, where: string): Promise<LessonReport> {
  const say = (text: string): void => (options.output === 'json' ? io.stderr(text) : io.stdout(text));
  const asking = options.solve === true ? undefined : startAsking(io);
  try {
    say(`${run.lesson.title}\n${run.lesson.about}\n`);
    await run.start();
    if (asking !== undefined) say(where);
    while (run.step !== undefined) if (!(await playStep(run, run.step, options, asking, say))) break;
  } finally {
    asking?.close();
    await run.end();
  }
  return run.report();
}

/** Plays one step; false ends the lesson. */
async function playStep(
  run: LessonRun,
  step: LessonStep,
  options: LessonCliOptions,
  asking: Asking | undefined,
  say: (text: string) => void,
): Promise<boolean> {
  say(`\n${step.title}\n${step.task.trimEnd()}\n`);
  if (asking !== undefined && !(await act(run, step, asking, say))) return false;
  if (asking === undefined && options.skip?.includes(step.id) !== true) await run.solve();
  const results = await run.check();
  for (const { text, passed } of results) say(`  ${passed ? 'yes' : 'NO '}  ${text}\n`);
  const passed = results.every((result) => result.passed);
  if (passed) say(`${step.lesson}\n`);
  return passed || asking !== undefined;
}

/** Asks for the prediction, once, and lets the learner act until a check is wanted; false ends the lesson. */
async function act(run: LessonRun, step: LessonStep, asking: Asking, say: (text: string) => void): Promise<boolean> {
  const predicted = run.report().steps.find(({ id }) => id === step.id)?.predicted;
  if (step.predict !== undefined && predicted === undefined) {
    const choice = await asking.choice(step.predict.question, step.predict.choices);
    say(run.predict(choice) ? 'That is what the contract says.\n' : `The contract says: ${step.predict.answer}.\n`);
  }
  for (;;) {
    const word = (await asking.line('Enter: check, h: how, d: do it for me, q: quit > ')).trim();
    if (word === 'h') say(step.commands.map((line) => `  ${line}\n`).join(''));
    else if (word === 'q') return false;
    else if (word === 'd') {
      await run.solve();
      return true;
    } else {
      if (step.checks.some((check) => 'labels' in check))
        run.predictLabels(
          (await asking.line('The labels in order > ')).split(/[\s,]+/).filter((label) => label !== ''),
        );
      return true;
    }
  }
}
