import { l10n } from 'vscode';
import type { Lesson, LessonStep } from '../../lab/lesson.ts';
import type { CheckResult, LessonReport } from '../../lab/lessonRun.ts';

/** Where a learner is in a lesson. */
export interface LessonPlace {
  readonly lesson: Lesson;
  /** Undefined after the last step. */
  readonly step: LessonStep | undefined;
  readonly report: LessonReport;
  /** What the last check of the current step found. */
  readonly checks: readonly CheckResult[];
  /** The step before, which has just been passed. */
  readonly passed: LessonStep | undefined;
}

/** The page of a running lesson: what was learnt just now, what to do next, and what the server holds of it. */
export function lessonText({ lesson, step, report, checks, passed }: LessonPlace): string {
  const done = report.steps.filter((item) => item.passed).length;
  const parts = [
    `# ${lesson.title}`,
    lesson.about,
    ...(passed === undefined ? [] : [`> ${l10n.t('Learnt: {0}', passed.lesson)}`]),
    l10n.t('{0} of {1} steps passed.', done, lesson.steps.length),
    ...(step === undefined ? [`## ${l10n.t('The lesson is over.')}`, reportLines(report)] : stepParts(step, checks)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function stepParts(step: LessonStep, checks: readonly CheckResult[]): string[] {
  return [
    `## ${step.title}`,
    step.task,
    ...(step.predict === undefined ? [] : [l10n.t('First predict: {0}', step.predict.question)]),
    l10n.t(
      'Do it with this extension, kubectl or anything else, then run "Check Step" above the lessons; "Do the Step for Me" shows it.',
    ),
    ...(checks.length === 0 ? [] : [checks.map(({ text, passed }) => `- ${passed ? '✓' : '✗'} ${text}`).join('\n')]),
  ];
}

function reportLines(report: LessonReport): string {
  return report.steps
    .map((item) => {
      const how = item.shown ? l10n.t('shown') : l10n.t('done by yourself');
      const predicted =
        item.predicted === undefined
          ? ''
          : `, ${item.predictedRight === true ? l10n.t('predicted right') : l10n.t('predicted wrong')}`;
      return `- ${item.passed ? '✓' : '✗'} ${item.title}: ${how}${predicted}, ${l10n.t('{0} checks', item.tries)}`;
    })
    .join('\n');
}
