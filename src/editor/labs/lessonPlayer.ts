import { commands, l10n, window } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Lesson, LessonStep } from '../../lab/lesson.ts';
import type { CheckResult, LessonReport, LessonRun } from '../../lab/lessonRun.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { limited } from '../app/signal.ts';
import { sandboxKey } from '../clusters/clusters.ts';
import { otherUri } from '../documents/address.ts';
import { declaredDefinition } from '../watches/addWatch.ts';
import { lessonText } from './lessonText.ts';

const START_LIMIT_MS = 60_000;

/** Plays one lesson at a time on the sandbox: what passes a step is what the server holds, whoever did it and how. */
export class LessonPlayer {
  private readonly editor: Editor;
  private readonly changed: Emitter<void>;
  private readonly results = new Map<string, LessonReport>();
  private run: LessonRun | undefined;
  private controller = new AbortController();
  private checks: readonly CheckResult[] = [];
  private passed: LessonStep | undefined;

  constructor(editor: Editor) {
    this.editor = editor;
    this.changed = new Emitter((error) => editor.log.error(String(error)));
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  /** The lesson that runs, and the step that the learner is at. */
  get running():
    | { readonly lesson: Lesson; readonly step: LessonStep | undefined; readonly report: LessonReport }
    | undefined {
    return this.run === undefined
      ? undefined
      : { lesson: this.run.lesson, step: this.run.step, report: this.run.report() };
  }

  /** How a lesson went the last time. */
  lastReport(lesson: string): LessonReport | undefined {
    return this.results.get(lesson);
  }

  async start(lesson: Lesson): Promise<void> {
    await this.end();
    const { editor } = this;
    await commands.executeCommand(commandIds.startSandbox);
    const signal = limited(START_LIMIT_MS);
    const connected = await editor.clusters.connect(sandboxKey, signal);
    const resources = await connected.discovery(signal);
    const { namespace } = connected.cluster;
    this.controller = new AbortController();
    const { LessonRun } = await import('../../lab/lessonRun.ts');
    const run = new LessonRun(lesson, {
      server: connected.cluster,
      resources,
      namespace,
      clock: editor.clock,
      signal: this.controller.signal,
    });
    this.run = run;
    this.checks = [];
    this.passed = undefined;
    for (const resource of resourcesOf(lesson)) {
      await editor.watches.add(await declaredDefinition(connected, `${resource} in ${namespace}`, signal), false);
    }
    await run.start();
    await this.show();
  }

  /** Asks for the prediction of this step and says whether it is right. */
  async predict(): Promise<void> {
    const run = this.current();
    const { step } = run;
    const wantsLabels = step?.checks.some((check) => 'labels' in check) === true;
    if (wantsLabels) {
      const typed = await window.showInputBox({
        title: step?.title ?? '',
        prompt: l10n.t('The labels in order, with spaces between them'),
        ignoreFocusOut: true,
      });
      if (typed === undefined) throw cancelled();
      run.predictLabels(typed.split(/[\s,]+/).filter((word) => word !== ''));
    }
    if (step?.predict !== undefined) {
      const { question, choices, answer } = step.predict;
      const choice = await window.showQuickPick([...choices], {
        title: step.title,
        placeHolder: question,
        ignoreFocusOut: true,
      });
      if (choice === undefined) throw cancelled();
      const right = run.predict(choice);
      window.setStatusBarMessage(
        right ? l10n.t('That is what the contract says.') : l10n.t('The contract says: {0}.', answer),
        15_000,
      );
    } else if (!wantsLabels) throw new AppError('usage', l10n.t('This step asks for no prediction.'));
    this.changed.fire();
  }

  /** Reads the server and says what holds; when all does, the next step begins. */
  async check(): Promise<readonly CheckResult[]> {
    const run = this.current();
    const { step } = run;
    const results = await run.check();
    const isPassed = results.length > 0 && results.every(({ passed }) => passed);
    this.passed = isPassed ? step : undefined;
    this.checks = isPassed ? [] : results;
    await this.show();
    return results;
  }

  /** Does the step for the learner; the report says so. */
  async solve(): Promise<void> {
    await this.current().solve();
    await this.check();
  }

  /** Ends the lesson and removes what stands at its names. */
  async end(): Promise<void> {
    const { run } = this;
    this.run = undefined;
    this.controller.abort();
    if (run !== undefined) this.results.set(run.lesson.id, await run.end());
    this.changed.fire();
  }

  dispose(): void {
    void this.end().catch((error: unknown) => this.editor.log.error(String(error)));
    this.changed.dispose();
  }

  private current(): LessonRun {
    if (this.run === undefined)
      throw new AppError('usage', l10n.t('No lesson runs.'), { advice: l10n.t('Start one in the view "Lessons".') });
    return this.run;
  }

  private async show(): Promise<void> {
    const { run } = this;
    if (run === undefined) return;
    const report = run.report();
    if (run.step === undefined) this.results.set(run.lesson.id, report);
    const uri = otherUri('report', `lesson-${run.lesson.id}`, `${run.lesson.id}.md`);
    this.editor.shelf.put(
      uri,
      lessonText({ lesson: run.lesson, step: run.step, report, checks: this.checks, passed: this.passed }),
    );
    this.changed.fire();
    await commands.executeCommand('markdown.showPreview', uri);
  }
}

/** The resources that a lesson is about, so that the tree shows them. */
function resourcesOf(lesson: Lesson): string[] {
  const checks = lesson.steps.flatMap((step) => step.checks);
  const refs = checks.flatMap((check) =>
    'labels' in check ? [] : 'absent' in check ? [check.absent] : [check.object],
  );
  return [...new Set(refs.map((ref) => ref.resource))];
}
