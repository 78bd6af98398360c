import { AppError, isAppError } from '../../base/appError.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Lesson, LessonStep, ObjectRef } from '../../lab/lesson.ts';
import type { CheckResult, LessonReport, LessonRun } from '../../lab/lessonRun.ts';
import type { Handlers } from '../../protocol/channel.ts';
import { LESSON_REQUESTS } from '../../protocol/lab.ts';
import type { StateOf } from '../../protocol/labStates.ts';
import { reasonOf, type LabGround, type LabSession, type LabSessionParts } from './labPlaces.ts';

type State = StateOf<'lessons'>;

/** What the lessons need of the rest besides what every lab's session needs. */
export interface LessonsParts extends LabSessionParts {
  /** The lessons that come with the product. */
  builtIn(): Promise<readonly Lesson[]>;
  /** Lets the person choose a lesson file. @throws AppError `cancelled`, `invalid-yaml` */
  chooseFile(): Promise<Lesson>;
  /** Opens an object of the lesson for a safe edit. @throws AppError `not-found` */
  openObject(object: ObjectRef, signal: AbortSignal): Promise<void>;
  /** Opens a terminal in which kubectl means the server of the lesson. */
  openTerminal(): void;
  /** Tells the person what happened to a lesson without their asking. */
  tell(sentence: string): void;
  /** Saves a learner's report where the person wants it. */
  save(report: LessonReport, format: 'json' | 'markdown'): Promise<void>;
}

/**
 * The lessons behind their page and their view: one lesson at a time, on the sandbox or where the person chose. A step
 * passes on what the server holds, whoever did it and how.
 */
export class LessonsSession implements LabSession<'lessons', typeof LESSON_REQUESTS> {
  readonly page = 'lessons';
  readonly requests = LESSON_REQUESTS;
  readonly handlers: Handlers<typeof LESSON_REQUESTS> = {
    lessonStart: async ({ id }, signal) => done(this.startById(id, signal)),
    lessonPredict: async ({ choice }) => done(Promise.resolve(this.predict(choice))),
    lessonPredictLabels: async ({ labels }) => done(Promise.resolve(this.predictLabels(labels))),
    lessonCheck: async () => done(this.check()),
    lessonSolve: async () => done(this.solve()),
    lessonEnd: async () => done(this.end()),
    lessonExport: async ({ format }) => done(this.export(format)),
    lessonOpenObject: async ({ object }, signal) => done(this.openObject(object, signal)),
    lessonTerminal: async () => done(Promise.resolve(this.parts.openTerminal())),
    lessonOpenFile: async (_params, signal) => done(this.openFile(signal)),
  };
  private readonly parts: LessonsParts;
  private readonly changed: Emitter<void>;
  private readonly reports = new Map<string, LessonReport>();
  private lessons: readonly Lesson[] = [];
  private run: LessonRun | undefined;
  private ground: LabGround | undefined;
  private last: { readonly lesson: Lesson; readonly report: LessonReport; readonly problem?: string } | undefined;
  private starting: Lesson | undefined;
  private checks: readonly CheckResult[] = [];
  private controller = new AbortController();
  private work: Promise<unknown> = Promise.resolve();
  private busy = 0;

  constructor(parts: LessonsParts) {
    this.parts = parts;
    this.changed = new Emitter(parts.onError);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  /** The lesson that runs, and the step that the learner is at. */
  get running():
    | { readonly lesson: Lesson; readonly step: LessonStep | undefined; readonly report: LessonReport }
    | undefined {
    const { run } = this;
    return run === undefined ? undefined : { lesson: run.lesson, step: run.step, report: run.report() };
  }

  /** How a lesson went the last time. */
  lastReport(lesson: string): LessonReport | undefined {
    return this.reports.get(lesson);
  }

  /** All lessons: those of the product, and files that were opened. */
  async all(): Promise<readonly Lesson[]> {
    if (this.lessons.length === 0) {
      this.lessons = await this.parts.builtIn();
      this.changed.fire();
    }
    return this.lessons;
  }

  /** Ends the lesson that runs and begins another one. Rejects as `LessonRun.start` and `LabPlaces.open` do. */
  start(lesson: Lesson, signal: AbortSignal): Promise<void> {
    return this.working(async () => {
      await this.endNow();
      this.starting = lesson;
      this.last = undefined;
      this.checks = [];
      this.changed.fire();
      try {
        await this.begin(lesson, signal);
      } finally {
        this.starting = undefined;
      }
    });
  }

  /** Records the prediction for this step and says whether it is right. @throws AppError `usage` */
  predict(choice: string): boolean {
    const run = this.current();
    const prediction = run.step?.predict;
    if (prediction === undefined)
      throw new AppError('usage', this.parts.translate('This step asks for no prediction.'));
    if (!prediction.choices.includes(choice))
      throw new AppError('usage', this.parts.translate('First predict: choose one of the answers.'));
    const right = run.predict(choice);
    this.changed.fire();
    return right;
  }

  /** Records the predicted labels of the modular lab. */
  predictLabels(labels: readonly string[]): void {
    this.current().predictLabels(labels.map((label) => label.trim()));
    this.changed.fire();
  }

  /** Reads the server and says what holds; when all does, the next step begins. */
  check(): Promise<readonly CheckResult[]> {
    return this.working(async () => {
      const run = this.current();
      const { step } = run;
      const results = await run.check();
      this.checks = run.step === step ? results : [];
      if (run.step === undefined) await this.endNow();
      return results;
    });
  }

  /** Does the step for the learner and checks it; the report says so. */
  solve(): Promise<readonly CheckResult[]> {
    return this.working(async () => {
      const run = this.current();
      const { step } = run;
      await run.solve();
      const results = await run.check();
      this.checks = run.step === step ? results : [];
      if (run.step === undefined) await this.endNow();
      return results;
    });
  }

  /** Ends the lesson and removes what stands at its names. */
  end(): Promise<void> {
    return this.working(() => this.endNow());
  }

  /** The report of the lesson that is open. @throws AppError `usage` where none is */
  report(): LessonReport {
    const report = this.run?.report() ?? this.last?.report;
    if (report === undefined) throw this.nothingRuns();
    return report;
  }

  /** Saves the report where the person wants it. */
  export(format: 'json' | 'markdown'): Promise<void> {
    return this.parts.save(this.report(), format);
  }

  /** Begins a lesson from a file that the person chooses. */
  async openFile(signal: AbortSignal): Promise<void> {
    await this.openLesson(await this.parts.chooseFile(), signal);
  }

  /** Begins a lesson that was read from a file; it stays in the list. */
  async openLesson(lesson: Lesson, signal: AbortSignal): Promise<void> {
    this.lessons = [...(await this.all()).filter((other) => other.id !== lesson.id), lesson];
    await this.start(lesson, signal);
  }

  state(): State {
    if (this.lessons.length === 0) void this.all().catch(this.parts.onError);
    const open = this.open();
    return {
      page: 'lessons',
      place: this.parts.places.current(),
      lessons: this.lessons.map(({ id, title, about, steps }) => {
        const report = this.reports.get(id);
        const runs = this.run?.lesson.id === id;
        const ended = report === undefined ? 'new' : report.passed ? 'passed' : 'not-passed';
        return { id, title, about, steps: steps.length, state: runs ? 'running' : ended };
      }),
      ...(open === undefined ? {} : { open }),
    };
  }

  dispose(): void {
    this.controller.abort();
    this.work = this.work.then(() => this.endNow()).catch(this.parts.onError);
    this.changed.dispose();
  }

  async ended(): Promise<void> {
    await this.work;
  }

  private async openObject(named: string, signal: AbortSignal): Promise<void> {
    const object = objectsOf(this.current().step).find((ref) => nameOf(ref) === named);
    if (object !== undefined) await this.parts.openObject(object, signal);
  }

  private async startById(id: string, signal: AbortSignal): Promise<void> {
    const lesson = (await this.all()).find((item) => item.id === id);
    if (lesson === undefined) throw new AppError('usage', this.parts.translate('There is no lesson "{0}".', id));
    await this.start(lesson, signal);
  }

  private async begin(lesson: Lesson, signal: AbortSignal): Promise<void> {
    const ground = await this.parts.places.open(signal, lesson.sandbox);
    const resources = await ground.resources(signal);
    const about = new Set(lesson.steps.flatMap(objectsOf).map((ref) => ref.resource));
    await this.parts.watch([...about], ground.namespace, signal);
    this.controller = new AbortController();
    const { LessonRun } = await import('../../lab/lessonRun.ts');
    const run = new LessonRun(lesson, {
      server: ground.server,
      namespace: ground.namespace,
      safeWriteLog: ground.safeWriteLog,
      resources,
      clock: this.parts.clock,
      signal: this.controller.signal,
      translate: this.parts.translate,
      onExchange: (exchange) => ground.onExchange(exchange),
    });
    try {
      await run.start();
    } catch (error) {
      await run.end();
      throw error;
    }
    this.run = run;
    this.ground = ground;
    ground.closing.addEventListener('abort', () => this.lose(run), { once: true });
    if (ground.closing.aborted) this.lose(run);
  }

  /** Ends a lesson whose server went away. */
  private lose(run: LessonRun): void {
    if (this.run !== run) return;
    this.controller.abort();
    this.working(async () => {
      if (this.run !== run) return;
      await this.endNow();
      const { title } = run.lesson;
      this.parts.tell(
        this.parts.translate('The lesson "{0}" has ended: its server was stopped, or the connection given up.', title),
      );
    }).catch(this.parts.onError);
  }

  private async endNow(): Promise<void> {
    const { run, ground } = this;
    if (run === undefined || ground === undefined) return;
    this.run = undefined;
    this.controller.abort();
    let problem: string | undefined;
    try {
      await run.end();
    } catch (error) {
      problem = reasonOf(error, ground, this.parts.translate);
      this.parts.onError(error);
    }
    const report = run.report();
    this.last = { lesson: run.lesson, report, ...(problem === undefined ? {} : { problem }) };
    if (report.passed || this.reports.get(run.lesson.id)?.passed !== true) this.reports.set(run.lesson.id, report);
  }

  private current(): LessonRun {
    if (this.run === undefined) throw this.nothingRuns();
    return this.run;
  }

  private nothingRuns(): AppError {
    const { translate } = this.parts;
    return new AppError('usage', translate('No lesson runs.'), {
      advice: translate('Start one in the view "Lessons".'),
    });
  }

  /** One thing after another: a check never overlaps the end of the lesson that it checks. */
  private working<T>(task: () => Promise<T>): Promise<T> {
    const before = this.work;
    const run = async (): Promise<T> => {
      await before.catch((error: unknown) => {
        if (!isAppError(error)) this.parts.onError(error);
      });
      this.busy += 1;
      this.changed.fire();
      try {
        return await task();
      } finally {
        this.busy -= 1;
        this.changed.fire();
      }
    };
    const result = run();
    this.work = result.catch(() => undefined);
    return result;
  }

  private open(): State['open'] {
    const { run, last, starting } = this;
    const lesson = starting ?? run?.lesson ?? last?.lesson;
    if (lesson === undefined) return undefined;
    const report = starting === undefined ? (run?.report() ?? last?.report) : undefined;
    const step = starting === undefined ? run?.step : undefined;
    return {
      id: lesson.id,
      title: lesson.title,
      about: lesson.about,
      phase: starting !== undefined ? 'starting' : step === undefined ? 'over' : 'working',
      busy: this.busy > 0,
      passed: report?.passed ?? false,
      ...(run !== undefined || starting !== undefined || last?.problem === undefined ? {} : { problem: last.problem }),
      ...(step === undefined || report === undefined ? {} : { step: this.stepState(lesson, step, report) }),
      steps: lesson.steps.map((item) => {
        const one = report?.steps.find(({ id }) => id === item.id);
        return {
          id: item.id,
          title: item.title,
          passed: one?.passed ?? false,
          shown: one?.shown ?? false,
          tries: one?.tries ?? 0,
          checks: one?.checks ?? [],
          ...(one?.predicted === undefined ? {} : { predicted: one.predicted }),
          ...(one?.predictedRight === undefined ? {} : { predictedRight: one.predictedRight }),
          ...(one?.passed === true ? { lesson: item.lesson } : {}),
        };
      }),
    };
  }

  private stepState(
    lesson: Lesson,
    step: LessonStep,
    report: LessonReport,
  ): NonNullable<NonNullable<State['open']>['step']> {
    const own = report.steps.find(({ id }) => id === step.id);
    const labels = step.checks.flatMap((check) => ('labels' in check ? [check.labels] : []))[0];
    const { predict } = step;
    return {
      id: step.id,
      index: lesson.steps.indexOf(step) + 1,
      title: step.title,
      task: step.task,
      choices: predict?.choices ?? [],
      objects: objectsOf(step).map(nameOf),
      commands: step.commands,
      checks: this.checks,
      ...(predict === undefined ? {} : { question: predict.question }),
      ...(own?.predicted === undefined || predict === undefined
        ? {}
        : { predicted: own.predicted, predictedRight: own.predictedRight === true, answer: predict.answer }),
      ...(labels === undefined ? {} : { labels }),
    };
  }
}

async function done(work: Promise<unknown>): Promise<null> {
  await work;
  return null;
}

/** The objects that the checks of a step read. */
export function objectsOf(step: LessonStep | undefined): ObjectRef[] {
  const refs = (step?.checks ?? []).flatMap((check) =>
    'labels' in check ? [] : 'absent' in check ? [check.absent] : [check.object],
  );
  return refs.filter((ref, index) => refs.findIndex((other) => nameOf(other) === nameOf(ref)) === index);
}

function nameOf({ resource, name }: ObjectRef): string {
  return `${resource}/${name}`;
}
