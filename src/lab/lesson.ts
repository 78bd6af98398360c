import { AppError } from '../base/appError.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';
import { parsePath, type Path } from '../codec/path.ts';

/** A lesson: what `docs/lesson-format.md` describes, read and checked. */
export interface Lesson {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** Run once, before the first step. */
  readonly setup: readonly Action[];
  readonly steps: readonly LessonStep[];
}

/** One step: something is said, something is predicted, the learner acts, and the server is read to see whether it is so. */
export interface LessonStep {
  readonly id: string;
  readonly title: string;
  readonly task: string;
  /** Run when the step is entered: what the other actors do. */
  readonly before: readonly Action[];
  readonly predict?: { readonly question: string; readonly choices: readonly string[]; readonly answer: string };
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

/**
 * Reads a lesson from YAML.
 * @throws AppError `invalid-yaml` with the place of the first thing that is wrong
 */
export function readLesson(text: string, source: string): Lesson {
  const { value, problems } = parseYaml(text);
  const [first] = problems;
  if (first !== undefined)
    throw new AppError('invalid-yaml', `${source}: ${first.message}`, {
      details: { line: first.line, column: first.column },
    });
  return new LessonReader(source).lesson(value);
}

/** Reads the parts of a lesson; `place` says where in the file something is, for the sentence of a failure. */
class LessonReader {
  private readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  lesson(value: Json | undefined): Lesson {
    const root = this.object(value, 'the lesson');
    if (root['lesson'] !== 'object-versions' || root['version'] !== 1)
      this.fail('the lesson', 'must begin with "lesson: object-versions" and "version: 1"');
    return {
      id: this.text(root, 'id', 'the lesson'),
      title: this.text(root, 'title', 'the lesson'),
      about: this.text(root, 'about', 'the lesson'),
      setup: this.actions(root['setup'], 'setup'),
      steps: this.list(root['steps'], 'steps').map((step, index) => this.step(step, `steps[${index}]`)),
    };
  }

  private step(value: Json, place: string): LessonStep {
    const step = this.object(value, place);
    const predict = step['predict'];
    return {
      id: this.text(step, 'id', place),
      title: this.text(step, 'title', place),
      task: this.text(step, 'task', place),
      before: this.actions(step['before'], `${place}.before`),
      ...(predict === undefined
        ? {}
        : { predict: this.prediction(this.object(predict, `${place}.predict`), `${place}.predict`) }),
      solution: this.actions(step['solution'], `${place}.solution`),
      checks: this.list(step['check'], `${place}.check`).map((check, index) =>
        this.check(check, `${place}.check[${index}]`),
      ),
      lesson: this.text(step, 'lesson', place),
    };
  }

  private prediction(value: JsonObject, place: string): { question: string; choices: string[]; answer: string } {
    const choices = this.list(value['choices'], `${place}.choices`).map((item) => this.word(item, place));
    const answer = this.text(value, 'answer', place);
    if (!choices.includes(answer)) this.fail(place, 'the answer is not among the choices');
    return { question: this.text(value, 'question', place), choices, answer };
  }

  private actions(value: Json | undefined, place: string): Action[] {
    return value === undefined
      ? []
      : this.list(value, place).map((action, index) =>
          this.action(this.object(action, `${place}[${index}]`), `${place}[${index}]`),
        );
  }

  private action(value: JsonObject, place: string): Action {
    const base = {
      as: value['as'] === undefined ? 'learner' : this.text(value, 'as', place),
      ...this.optionalText(value, 'remember', place),
      ...this.optionalNumber(value, 'expect', place),
      ...this.optionalNumber(value, 'afterMs', place),
    };
    const object = (key: string): ObjectRef => this.ref(value[key], `${place}.${key}`);
    const tokenOf = this.optionalText(value, 'tokenOf', place);
    if ('read' in value) return { ...base, verb: 'read', object: object('read') };
    if ('create' in value) return { ...base, verb: 'create', body: this.object(value['create'], `${place}.create`) };
    if ('replace' in value) {
      const from = this.text(value, 'from', place);
      return {
        ...base,
        verb: 'replace',
        object: object('replace'),
        from,
        set: this.settings(value, place),
        ...tokenOf,
        ...this.optionalText(value, 'subresource', place),
      };
    }
    if ('apply' in value) {
      return {
        ...base,
        verb: 'apply',
        body: this.object(value['apply'], `${place}.apply`),
        force: value['force'] === true,
        dryRun: value['dryRun'] === true,
      };
    }
    if ('patch' in value)
      return {
        ...base,
        verb: 'patch',
        object: object('patch'),
        type: this.patchType(value, place),
        patch: value['body'] ?? null,
        ...tokenOf,
      };
    if ('delete' in value)
      return { ...base, verb: 'delete', object: object('delete'), ...this.optionalText(value, 'uidOf', place) };
    if ('modify' in value)
      return { ...base, verb: 'modify', object: object('modify'), set: this.settings(value, place) };
    if ('observe' in value) return { ...base, verb: 'observe', object: object('observe') };
    if ('wait' in value) {
      const timeoutMs = this.optionalNumber(value, 'timeoutMs', place).timeoutMs ?? 10_000;
      return {
        ...base,
        verb: 'wait',
        object: object('wait'),
        until: this.conditions(value['until'], `${place}.until`),
        timeoutMs,
      };
    }
    if ('labels' in value)
      return {
        ...base,
        verb: 'predict-labels',
        labels: this.list(value['labels'], `${place}.labels`).map((item) => this.word(item, place)),
      };
    return this.fail(
      place,
      'names no action: read, create, replace, apply, patch, delete, modify, observe, wait or labels',
    );
  }

  private patchType(value: JsonObject, place: string): 'json' | 'merge' | 'strategic' {
    const type = value['type'];
    return type === 'json' || type === 'merge' || type === 'strategic'
      ? type
      : this.fail(`${place}.type`, 'must be json, merge or strategic');
  }

  private settings(value: JsonObject, place: string): Setting[] {
    const set = value['set'] === undefined ? {} : this.object(value['set'], `${place}.set`);
    const removed = value['remove'] === undefined ? [] : this.list(value['remove'], `${place}.remove`);
    return [
      ...Object.entries(set).map(([path, item]): Setting => {
        const same = isJsonObject(item) && 'sameAs' in item ? this.valueOf(item['sameAs'], `${place}.set`) : undefined;
        return same === undefined
          ? { path: this.path(path, place), value: item }
          : { path: this.path(path, place), same };
      }),
      ...removed.map((path) => ({ path: this.path(this.word(path, place), place) })),
    ];
  }

  private check(value: Json, place: string): Check {
    const check = this.object(value, place);
    if ('absent' in check) return { absent: this.ref(check['absent'], `${place}.absent`) };
    if ('labels' in check) {
      const labels = this.object(check['labels'], `${place}.labels`);
      const steps = labels['steps'];
      return {
        labels: {
          m: this.word(labels['m'], place),
          a: this.word(labels['a'], place),
          steps: typeof steps === 'number' ? steps : this.fail(place, 'labels.steps must be a number'),
        },
      };
    }
    return {
      object: this.ref(check['read'], `${place}.read`),
      where: this.conditions(check['where'], `${place}.where`),
    };
  }

  private conditions(value: Json | undefined, place: string): Condition[] {
    return this.list(value, place).map((item, index) => {
      const at = `${place}[${index}]`;
      const condition = this.object(item, at);
      const path = this.path(this.text(condition, 'path', at), at);
      if ('equals' in condition) return { path, equals: condition['equals'] ?? null };
      if (condition['absent'] === true) return { path, absent: true };
      if ('sameAs' in condition) return { path, same: this.valueOf(condition['sameAs'], at) };
      if ('otherThan' in condition) return { path, other: this.valueOf(condition['otherThan'], at) };
      return this.fail(at, 'needs equals, absent, sameAs or otherThan');
    });
  }

  private valueOf(value: Json | undefined, place: string): ValueOf {
    const source = this.object(value, place);
    const path = this.path(this.text(source, 'path', place), place);
    return 'label' in source
      ? { label: this.text(source, 'label', place), path }
      : { object: this.ref(source['read'], place), path };
  }

  private ref(value: Json | undefined, place: string): ObjectRef {
    const [resource, name, ...rest] = typeof value === 'string' ? value.split('/') : [];
    return resource !== undefined && resource !== '' && name !== undefined && name !== '' && rest.length === 0
      ? { resource, name }
      : this.fail(place, 'must be RESOURCE/NAME');
  }

  private path(text: string, place: string): Path {
    const read = parsePath(text);
    return 'path' in read ? read.path : this.fail(place, read.problem);
  }

  private object(value: Json | undefined, place: string): JsonObject {
    return isJsonObject(value) ? value : this.fail(place, 'must be a map');
  }

  private list(value: Json | undefined, place: string): Json[] {
    return Array.isArray(value) ? value : this.fail(place, 'must be a list');
  }

  private text(object: JsonObject, key: string, place: string): string {
    const value = object[key];
    return typeof value === 'string' && value !== '' ? value : this.fail(`${place}.${key}`, 'must be text');
  }

  /** Text or a number, as text. */
  private word(value: Json | undefined, place: string): string {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
      ? `${value}`
      : this.fail(place, 'must hold text or a number');
  }

  private optionalText<K extends string>(object: JsonObject, key: K, place: string): Partial<Record<K, string>> {
    return object[key] === undefined ? {} : ({ [key]: this.text(object, key, place) } as Partial<Record<K, string>>);
  }

  private optionalNumber<K extends string>(object: JsonObject, key: K, place: string): Partial<Record<K, number>> {
    const value = object[key];
    if (value === undefined) return {};
    return typeof value === 'number'
      ? ({ [key]: value } as Partial<Record<K, number>>)
      : this.fail(`${place}.${key}`, 'must be a number');
  }

  private fail(place: string, what: string): never {
    throw new AppError('invalid-yaml', `${this.source}: ${place} ${what}.`, {
      advice: 'docs/lesson-format.md describes the format.',
    });
  }
}
