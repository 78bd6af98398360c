import type { Translate } from '../core/timeline/translate.ts';
import type { LessonReport, StepReport } from './lessonRun.ts';

/** A learner's report as Markdown: to read, to print, or to hand in. Times are UTC. */
export function lessonReportText(report: LessonReport, translate: Translate): string {
  const passed = report.steps.filter((step) => step.passed).length;
  const own = report.steps.filter((step) => step.passed && !step.shown).length;
  const lines = [
    `# ${report.title}`,
    report.passed ? translate('Passed.') : translate('Not passed.'),
    translate('{0} of {1} steps passed, {2} of them by yourself.', passed, report.steps.length, own),
    translate('From {0} to {1}.', time(report.startedAt), time(report.endedAt)),
    ...report.steps.flatMap((step, index) => stepLines(step, index + 1, translate)),
  ];
  return `${lines.join('\n\n')}\n`;
}

function stepLines(step: StepReport, number: number, translate: Translate): string[] {
  const predicted =
    step.predicted === undefined
      ? []
      : [
          step.predictedRight === true
            ? translate('Predicted right: {0}.', step.predicted)
            : translate('Predicted wrong: {0}.', step.predicted),
        ];
  const how = step.shown ? [translate('It was shown.')] : [];
  return [
    `## ${number}. ${step.title}`,
    [
      step.passed ? translate('Passed.') : translate('Not passed.'),
      ...how,
      ...predicted,
      translate('Checks: {0}.', step.tries),
    ].join(' '),
    ...(step.checks.length === 0
      ? []
      : [step.checks.map((check) => `- [${check.passed ? 'x' : ' '}] ${check.text}`).join('\n')]),
  ];
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
