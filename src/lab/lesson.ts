import type { Json, JsonObject } from '../codec/json.ts';
import type { Path } from '../codec/path.ts';

/** A lesson: what `docs/lesson-format.md` describes, read and checked. */
export interface Lesson {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** Which sandbox it is played on where it has one of its own: without controllers, or with those of a cluster. */
  readonly sandbox: 'bare' | 'quiet';
  /** Run once, before the first step. */
  readonly setup: readonly Action[];
  readonly steps: readonly LessonStep[];
  /** Its texts in other languages, by language tag such as `de`. */
  readonly translations: ReadonlyMap<string, LessonTexts>;
}

/** A lesson's texts in one language; `steps` by the steps' ids. */
export interface LessonTexts {
  readonly title: string;
  readonly about: string;
  readonly steps: ReadonlyMap<string, StepTexts>;
}

/** A step's texts in one language; `question` and `choices`, in their order, where the step asks for a prediction. */
export interface StepTexts {
  readonly title: string;
  readonly task: string;
  readonly lesson: string;
  readonly question?: string;
  readonly choices?: readonly string[];
}

/** One step: something is said, something is predicted, the learner acts, and the server is read to see whether it is so. */
export interface LessonStep {
  readonly id: string;
  readonly title: string;
  readonly task: string;
  /** Run when the step is entered: what the other actors do. */
  readonly before: readonly Action[];
  readonly predict?: { readonly question: string; readonly choices: readonly string[]; readonly answer: string };
  /** What a learner at a shell can type: one script, in which kubectl means the lesson's server and namespace. */
  readonly commands: readonly string[];
  /** What solves the step; the learner does it by hand, or has it done. */
  readonly solution: readonly Action[];
  readonly checks: readonly Check[];
  readonly lesson: string;
}

/** Where an object is: the resource as kubectl names it, and its name. */
export interface ObjectRef {
  readonly resource: string;
  readonly name: string;
}

interface ActionBase {
  /** The field manager. */
  readonly as: string;
  /** Keeps the answer under this label. */
  readonly remember?: string;
  /** The HTTP status that the contract promises; another one fails the action. Absent: any success. */
  readonly expect?: number;
  /** Runs this much later, without being waited for, in ms. */
  readonly afterMs?: number;
}

/** One thing an actor does. */
export type Action = ActionBase &
  (
    | { readonly verb: 'read'; readonly object: ObjectRef }
    | { readonly verb: 'create'; readonly body: JsonObject }
    /** Replaces with what was remembered under `from`, fields set and removed, carrying the token remembered under `tokenOf`. */
    | {
        readonly verb: 'replace';
        readonly object: ObjectRef;
        readonly from: string;
        readonly set: readonly Setting[];
        readonly tokenOf?: string;
        readonly subresource?: string;
      }
    | { readonly verb: 'apply'; readonly body: JsonObject; readonly force: boolean; readonly dryRun: boolean }
    | {
        readonly verb: 'patch';
        readonly object: ObjectRef;
        readonly type: 'json' | 'merge' | 'strategic';
        readonly patch: Json;
        readonly tokenOf?: string;
      }
    | { readonly verb: 'delete'; readonly object: ObjectRef; readonly uidOf?: string }
    /** The safe write: read, set, write; computed anew after every conflict. */
    | { readonly verb: 'modify'; readonly object: ObjectRef; readonly set: readonly Setting[] }
    /** Reports the generation as observed, as a controller does. */
    | { readonly verb: 'observe'; readonly object: ObjectRef }
    | {
        readonly verb: 'wait';
        readonly object: ObjectRef;
        readonly until: readonly Condition[];
        readonly timeoutMs: number;
      }
    /** Modular labels, predicted by the learner. */
    | { readonly verb: 'predict-labels'; readonly labels: readonly string[] }
  );

/** A field and the value it is given; without a value it is removed. `same`: the value remembered there. */
export interface Setting {
  readonly path: Path;
  readonly value?: Json;
  readonly same?: ValueOf;
}

/** A value elsewhere: of a remembered answer, or of an object as the server holds it now. */
export type ValueOf =
  | { readonly label: string; readonly path: Path }
  | { readonly object: ObjectRef; readonly path: Path };

/** A condition on one field of an object as the server holds it. */
export interface Condition {
  readonly path: Path;
  readonly equals?: Json;
  readonly absent?: boolean;
  readonly same?: ValueOf;
  readonly other?: ValueOf;
}

/** What must be so on the server for a step to pass. */
export type Check =
  | { readonly object: ObjectRef; readonly where: readonly Condition[] }
  | { readonly absent: ObjectRef }
  | { readonly labels: { readonly m: string; readonly a: string; readonly steps: number } };

/** The lesson in a language: `de` serves `de-AT` too; what it is not translated into is shown as it was written. */
export function inLanguage(lesson: Lesson, language: string): Lesson {
  const texts = lesson.translations.get(language) ?? lesson.translations.get(language.split('-', 1)[0] ?? '');
  if (texts === undefined) return lesson;
  const { title, about } = texts;
  return { ...lesson, title, about, steps: lesson.steps.map((step) => stepWith(step, texts.steps.get(step.id))) };
}

function stepWith(step: LessonStep, texts: StepTexts | undefined): LessonStep {
  if (texts === undefined) return step;
  const { title, task, lesson } = texts;
  const { predict } = step;
  const choices = texts.choices ?? predict?.choices ?? [];
  const told = { ...step, title, task, lesson };
  if (predict === undefined) return told;
  const answer = choices[predict.choices.indexOf(predict.answer)] ?? predict.answer;
  return { ...told, predict: { question: texts.question ?? predict.question, choices, answer } };
}
