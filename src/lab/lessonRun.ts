import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import { throwIfAborted } from '../base/clock.ts';
import { equalJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { formatPath, valueAt } from '../codec/path.ts';
import { english, type Translate } from '../core/timeline/translate.ts';
import { LabClient, type LabClientOptions, type SafeWriteLog } from './labClient.ts';
import type { Check, Condition, Lesson, LessonStep, ValueOf } from './lesson.ts';
import { LessonActions } from './lessonActions.ts';
import { resetModular, runModular } from './modular.ts';
import { mustBeFree, removeAll } from './removal.ts';

/** Finds what a lesson calls `configmaps`; kube's discovery fits it. */
export interface Resources {
  find(text: string): {
    group: string;
    version: string;
    resource: string;
    kind: string;
    namespaced: boolean;
    /** Which it has; unknown where it is left out. */
    subresources?: readonly string[];
  };
}

/** Where a lesson runs. */
export interface LessonOptions extends LabClientOptions {
  readonly resources: Resources;
  readonly namespace: string;
  /** Where the lesson's safe writes are logged. */
  readonly safeWriteLog?: SafeWriteLog;
  /** The reader's words for what a check found; English where it is left out. */
  readonly translate?: Translate;
}

/** One condition, in words, and whether the server holds it. */
export interface CheckResult {
  readonly text: string;
  readonly passed: boolean;
}

/** What happened in a step. */
export interface StepReport {
  readonly id: string;
  readonly title: string;
  predicted?: string;
  predictedRight?: boolean;
  passed: boolean;
  /** Checks that were asked for, the last one included. */
  tries: number;
  /** Whether the lesson did it for the learner. */
  shown: boolean;
  checks: readonly CheckResult[];
}

/** A learner's report: what can be handed in. Times in milliseconds since the epoch. */
export interface LessonReport {
  readonly lesson: string;
  readonly title: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly passed: boolean;
  readonly steps: readonly StepReport[];
}

/**
 * One run of a lesson on any server. A step passes only on what the server holds, read when `check` is called; who did it,
 * and by which tool, does not matter. `end` removes what stands at the lesson's names.
 */
export class LessonRun {
  readonly lesson: Lesson;
  private readonly options: LessonOptions;
  private readonly client: LabClient;
  private readonly actions: LessonActions;
  private readonly reports: StepReport[];
  private readonly paths: readonly string[];
  private readonly translate: Translate;
  private readonly startedAt: number;
  private at = -1;
  private begun = false;

  constructor(lesson: Lesson, options: LessonOptions) {
    this.lesson = lesson;
    this.options = options;
    this.client = new LabClient(options);
    this.actions = new LessonActions(this.client, options);
    this.reports = lesson.steps.map(({ id, title }) => ({
      id,
      title,
      passed: false,
      tries: 0,
      shown: false,
      checks: [],
    }));
    this.paths = this.actions.refsOf(lesson).map((ref) => this.actions.pathOf(ref));
    this.translate = options.translate ?? english;
    this.startedAt = options.clock.now();
  }

  /** The step the learner is at, undefined before the start and after the last. */
  get step(): LessonStep | undefined {
    return this.lesson.steps[this.at];
  }

  /**
   * Sets the lesson up and enters its first step.
   * @throws AppError `usage` where one of the lesson's names is taken: a lesson never touches what it did not make
   */
  async start(): Promise<void> {
    await mustBeFree(this.client, this.paths);
    this.begun = true;
    await this.actions.run(this.lesson.setup);
    await this.enter(0);
  }

  /** Records what the learner predicts for this step, and says whether it is right. Only the first prediction counts. */
  predict(choice: string): boolean {
    const report = this.reportNow();
    if (report.predicted !== undefined) return report.predictedRight === true;
    const right = this.step?.predict?.answer === choice;
    report.predicted = choice;
    report.predictedRight = right;
    return right;
  }

  /** Records the modular labels that the learner predicted. */
  predictLabels(labels: readonly string[]): void {
    this.actions.labels = [...labels];
  }

  /** Does this step for the learner; the report says so. */
  async solve(): Promise<void> {
    this.reportNow().shown = true;
    await this.actions.run(this.step?.solution ?? []);
  }

  /** Reads the server and says what holds. When all does, the next step is entered. */
  async check(): Promise<readonly CheckResult[]> {
    const { step } = this;
    const report = this.reportNow();
    const results: CheckResult[] = [];
    for (const check of step?.checks ?? []) results.push(...(await this.checkOne(check)));
    report.tries += 1;
    report.checks = results;
    report.passed = results.length > 0 && results.every((result) => result.passed);
    if (report.passed) await this.enter(this.at + 1);
    return results;
  }

  /**
   * Removes what stands at the lesson's names, whoever put it there during the lesson: they were free when it began.
   * @throws AppError naming what could not be removed; the report can be had all the same
   */
  async end(): Promise<LessonReport> {
    await this.actions.stop();
    if (this.begun) {
      this.begun = false;
      await removeAll(
        this.client,
        [...this.paths].reverse().map((path) => ({ path })),
      );
    }
    return this.report();
  }

  /** The report as of now. */
  report(): LessonReport {
    const { id, title } = this.lesson;
    const passed = this.reports.every((step) => step.passed);
    return {
      lesson: id,
      title,
      startedAt: this.startedAt,
      endedAt: this.options.clock.now(),
      passed,
      steps: this.reports,
    };
  }

  private reportNow(): StepReport {
    const report = this.reports[this.at];
    if (report === undefined) throw new AppError('usage', message`The lesson has not begun, or is over.`);
    return report;
  }

  private async enter(index: number): Promise<void> {
    throwIfAborted(this.options.signal);
    this.at = index;
    await this.actions.run(this.step?.before ?? []);
  }

  private async checkOne(check: Check): Promise<CheckResult[]> {
    if ('labels' in check) return [this.checkLabels(check.labels)];
    const ref = 'absent' in check ? check.absent : check.object;
    const { reply, answer } = await this.client.send('versions-lab', 'GET', this.actions.pathOf(ref));
    const name = `${ref.resource}/${ref.name}`;
    if ('absent' in check) return [{ text: this.translate('{0} is gone', name), passed: reply.status === 404 }];
    if (reply.status !== 200) return [{ text: this.translate('{0} is there', name), passed: false }];
    const results: CheckResult[] = [];
    for (const condition of check.where)
      results.push({ text: describe(name, condition, this.translate), passed: await this.holds(condition, answer) });
    return results;
  }

  private checkLabels({ m, a, steps }: { m: string; a: string; steps: number }): CheckResult {
    const made = resetModular(m, a);
    const expected = 'lab' in made ? runModular(made.lab, steps).slice(1).map(String) : [];
    return {
      text: this.translate('each of the {0} labels was predicted', steps),
      passed: equalJson(this.actions.labels, expected),
    };
  }

  private async holds(condition: Condition, object: JsonObject): Promise<boolean> {
    const value = valueAt(object, condition.path);
    if (condition.absent === true) return value === undefined;
    if (condition.same !== undefined)
      return value !== undefined && equalJson(value, await this.valueOf(condition.same));
    if (condition.other !== undefined)
      return value !== undefined && !equalJson(value, await this.valueOf(condition.other));
    return equalJson(value, condition.equals);
  }

  private valueOf(source: ValueOf): Promise<Json | undefined> {
    return this.actions.valueOf(source);
  }
}

function describe(name: string, { path, absent, same, other, equals }: Condition, translate: Translate): string {
  const field = formatPath(path);
  if (absent === true) return translate('{0} has no {1}', name, field);
  if (same !== undefined) return translate('{0} has as {1} {2}', name, field, sourceOf(same, translate));
  if (other !== undefined) return translate('{0} has another {1} than {2}', name, field, sourceOf(other, translate));
  return translate('{0} has {1} {2}', name, field, stringifyJson(equals ?? null));
}

function sourceOf(source: ValueOf, translate: Translate): string {
  const field = formatPath(source.path);
  return 'label' in source
    ? translate('the {0} remembered as "{1}"', field, source.label)
    : translate('the {0} of {1}', field, `${source.object.resource}/${source.object.name}`);
}
