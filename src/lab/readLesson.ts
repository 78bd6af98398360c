import { message, type Words } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';
import { parsePath, type Path } from '../codec/path.ts';
import type {
  Action,
  Check,
  Condition,
  Lesson,
  LessonStep,
  LessonTexts,
  ObjectRef,
  Setting,
  StepTexts,
  ValueOf,
} from './lesson.ts';

/**
 * Reads a lesson from YAML.
 * @throws AppError `invalid-yaml` with the place of the first thing that is wrong
 */
export function readLesson(text: string, source: string): Lesson {
  const { value, problems } = parseYaml(text);
  const [first] = problems;
  if (first !== undefined)
    throw new AppError('invalid-yaml', message`${`${source}:${first.line}:${first.column}`}: ${first.message}`);
  return new LessonReader(source).lesson(value);
}

const ofLesson = ['lesson', 'version', 'id', 'title', 'about', 'sandbox', 'setup', 'steps', 'translations'];
const ofSteps = ['id', 'title', 'task', 'before', 'predict', 'commands', 'solution', 'check', 'lesson'];

/** What every action may have besides what it is called by. */
const ofActions = ['as', 'remember', 'expect', 'afterMs'];

/** What each action may have besides. */
const ofAction: Readonly<Record<string, readonly string[]>> = {
  read: [],
  create: [],
  replace: ['from', 'set', 'remove', 'tokenOf', 'subresource'],
  apply: ['force', 'dryRun'],
  patch: ['type', 'body', 'tokenOf'],
  delete: ['uidOf'],
  modify: ['set', 'remove'],
  observe: [],
  wait: ['until', 'timeoutMs'],
  labels: [],
};

/** Reads the parts of a lesson; `place` says where in the file something is, for the sentence of a failure. */
class LessonReader {
  private readonly source: string;
  private readonly remembered = new Set<string>();
  /** The labels that are asked for, and where. */
  private readonly asked: { label: string; place: string }[] = [];

  constructor(source: string) {
    this.source = source;
  }

  lesson(value: Json | undefined): Lesson {
    const root = this.object(value, 'the lesson');
    if (root['lesson'] !== 'object-versions' || root['version'] !== 1)
      this.fail(message`the lesson`, message`must begin with "lesson: object-versions" and "version: 1"`);
    this.only(root, 'the lesson', ofLesson);
    const texts = {
      id: this.text(root, 'id', 'the lesson'),
      title: this.text(root, 'title', 'the lesson'),
      about: this.text(root, 'about', 'the lesson'),
    };
    const steps = this.list(root['steps'], 'steps').map((step, index) => this.step(step, `steps[${index}]`));
    const again = steps.findIndex(({ id }, index) => steps.findIndex((step) => step.id === id) < index);
    if (again >= 0) this.fail(`steps[${again}].id`, message`is the id of an earlier step`);
    const sandbox = root['sandbox'] ?? 'bare';
    const setup = this.actions(root['setup'], 'setup');
    for (const { label, place } of this.asked)
      if (!this.remembered.has(label)) this.fail(place, message`names "${label}", which nothing remembers`);
    return {
      ...texts,
      sandbox:
        sandbox === 'bare' || sandbox === 'quiet' ? sandbox : this.fail('sandbox', message`must be bare or quiet`),
      setup,
      steps,
      translations: this.byKey(root['translations'], 'translations', (texts, place) =>
        this.translation(texts, steps, place),
      ),
    };
  }

  /** A translation must be whole: a step that is left out, or one too many, is a mistake. */
  private translation(value: Json, steps: readonly LessonStep[], place: string): LessonTexts {
    const texts = this.only(this.object(value, place), place, ['title', 'about', 'steps']);
    const at = `${place}.steps`;
    const translated = this.byKey(texts['steps'], at, (step, where, id) => {
      const original = steps.find((item) => item.id === id);
      return original === undefined
        ? this.fail(where, message`is no step of the lesson`)
        : this.stepTexts(step, original, where);
    });
    for (const { id } of steps) if (!translated.has(id)) this.fail(`${at}.${id}`, message`is missing`);
    return { title: this.text(texts, 'title', place), about: this.text(texts, 'about', place), steps: translated };
  }

  private stepTexts(value: Json, { predict }: LessonStep, place: string): StepTexts {
    const texts = this.only(this.object(value, place), place, ['title', 'task', 'lesson', 'question', 'choices']);
    const told = {
      title: this.text(texts, 'title', place),
      task: this.text(texts, 'task', place),
      lesson: this.text(texts, 'lesson', place),
    };
    if (predict === undefined) return told;
    const choices = this.words(texts['choices'], `${place}.choices`);
    if (choices.length !== predict.choices.length)
      this.fail(`${place}.choices`, message`must hold ${predict.choices.length} choices, in the order of the step`);
    return { ...told, question: this.text(texts, 'question', place), choices };
  }

  private byKey<T>(
    value: Json | undefined,
    place: string,
    read: (item: Json, place: string, key: string) => T,
  ): Map<string, T> {
    const entries = value === undefined ? [] : Object.entries(this.object(value, place));
    return new Map(entries.map(([key, item]) => [key, read(item, `${place}.${key}`, key)]));
  }

  private step(value: Json, place: string): LessonStep {
    const step = this.only(this.object(value, place), place, ofSteps);
    const predict = step['predict'];
    return {
      id: this.text(step, 'id', place),
      title: this.text(step, 'title', place),
      task: this.text(step, 'task', place),
      before: this.actions(step['before'], `${place}.before`),
      ...(predict === undefined
        ? {}
        : { predict: this.prediction(this.object(predict, `${place}.predict`), `${place}.predict`) }),
      commands: step['commands'] === undefined ? [] : this.words(step['commands'], `${place}.commands`),
      solution: this.actions(step['solution'], `${place}.solution`),
      checks: this.filledList(step['check'], `${place}.check`).map((check, index) =>
        this.check(check, `${place}.check[${index}]`),
      ),
      lesson: this.text(step, 'lesson', place),
    };
  }

  private prediction(value: JsonObject, place: string): { question: string; choices: string[]; answer: string } {
    this.only(value, place, ['question', 'choices', 'answer']);
    const choices = this.words(value['choices'], `${place}.choices`);
    const answer = this.word(value['answer'], `${place}.answer`);
    if (!choices.includes(answer)) this.fail(place, message`the answer is not among the choices`);
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
    const verb = Object.keys(ofAction).find((name) => name in value);
    if (verb === undefined)
      return this.fail(
        place,
        message`names no action: read, create, replace, apply, patch, delete, modify, observe, wait or labels`,
      );
    this.only(value, place, [verb, ...ofActions, ...(ofAction[verb] ?? [])]);
    if (typeof value['remember'] === 'string') this.remembered.add(value['remember']);
    const base = {
      as: value['as'] === undefined ? 'learner' : this.text(value, 'as', place),
      ...this.optionalText(value, 'remember', place),
      ...this.optionalNumber(value, 'expect', place),
      ...this.optionalNumber(value, 'afterMs', place),
    };
    const object = (key: string): ObjectRef => this.ref(value[key], `${place}.${key}`);
    const tokenOf = this.optionalLabel(value, 'tokenOf', place);
    if ('read' in value) return { ...base, verb: 'read', object: object('read') };
    if ('create' in value) return { ...base, verb: 'create', body: this.object(value['create'], `${place}.create`) };
    if ('replace' in value) {
      const from = this.label(value, 'from', place);
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
      return { ...base, verb: 'delete', object: object('delete'), ...this.optionalLabel(value, 'uidOf', place) };
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
    return { ...base, verb: 'predict-labels', labels: this.words(value['labels'], `${place}.labels`) };
  }

  private patchType(value: JsonObject, place: string): 'json' | 'merge' | 'strategic' {
    const type = value['type'];
    return type === 'json' || type === 'merge' || type === 'strategic'
      ? type
      : this.fail(`${place}.type`, message`must be json, merge or strategic`);
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
    this.only(check, place, 'absent' in check ? ['absent'] : 'labels' in check ? ['labels'] : ['read', 'where']);
    if ('absent' in check) return { absent: this.ref(check['absent'], `${place}.absent`) };
    if ('labels' in check) {
      const labels = this.only(this.object(check['labels'], `${place}.labels`), `${place}.labels`, ['m', 'a', 'steps']);
      const steps = labels['steps'];
      return {
        labels: {
          m: this.word(labels['m'], place),
          a: this.word(labels['a'], place),
          steps: typeof steps === 'number' ? steps : this.fail(place, message`labels.steps must be a number`),
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
      const condition = this.only(this.object(item, at), at, ['path', 'equals', 'absent', 'sameAs', 'otherThan']);
      const path = this.path(this.text(condition, 'path', at), at);
      if ('equals' in condition) return { path, equals: condition['equals'] ?? null };
      if (condition['absent'] === true) return { path, absent: true };
      if ('sameAs' in condition) return { path, same: this.valueOf(condition['sameAs'], at) };
      if ('otherThan' in condition) return { path, other: this.valueOf(condition['otherThan'], at) };
      return this.fail(at, message`needs equals, absent, sameAs or otherThan`);
    });
  }

  private valueOf(value: Json | undefined, place: string): ValueOf {
    const source = this.only(this.object(value, place), place, ['label', 'read', 'path']);
    const path = this.path(this.text(source, 'path', place), place);
    return 'label' in source
      ? { label: this.label(source, 'label', place), path }
      : { object: this.ref(source['read'], place), path };
  }

  private ref(value: Json | undefined, place: string): ObjectRef {
    const [resource, name, ...rest] = typeof value === 'string' ? value.split('/') : [];
    return resource !== undefined && resource !== '' && name !== undefined && name !== '' && rest.length === 0
      ? { resource, name }
      : this.fail(place, message`must be RESOURCE/NAME`);
  }

  private path(text: string, place: string): Path {
    const read = parsePath(text);
    return 'path' in read ? read.path : this.fail(place, read.problem);
  }

  private object(value: Json | undefined, place: string): JsonObject {
    return isJsonObject(value) ? value : this.fail(place, message`must be a map`);
  }

  /** The same map, where it has no member but those: a misspelt one would do nothing, and nobody would know. */
  private only(value: JsonObject, place: string, members: readonly string[]): JsonObject {
    const other = Object.keys(value).find((key) => !members.includes(key));
    return other === undefined
      ? value
      : this.fail(place, message`has "${other}"; what it may have is ${members.join(', ')}`);
  }

  /** A label that something must remember. */
  private label(value: JsonObject, key: string, place: string): string {
    const label = this.text(value, key, place);
    this.asked.push({ label, place: `${place}.${key}` });
    return label;
  }

  private optionalLabel<K extends string>(value: JsonObject, key: K, place: string): Partial<Record<K, string>> {
    return value[key] === undefined ? {} : ({ [key]: this.label(value, key, place) } as Partial<Record<K, string>>);
  }

  private filledList(value: Json | undefined, place: string): Json[] {
    const list = this.list(value, place);
    return list.length > 0 ? list : this.fail(place, message`is empty, so that every step would pass`);
  }

  private list(value: Json | undefined, place: string): Json[] {
    return Array.isArray(value) ? value : this.fail(place, message`must be a list`);
  }

  private text(object: JsonObject, key: string, place: string): string {
    const value = object[key];
    return typeof value === 'string' && value !== '' ? value : this.fail(`${place}.${key}`, message`must be text`);
  }

  private words(value: Json | undefined, place: string): string[] {
    return this.list(value, place).map((item) => this.word(item, place));
  }

  /** Text or a number, as text. */
  private word(value: Json | undefined, place: string): string {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
      ? `${value}`
      : this.fail(place, message`must hold text or a number`);
  }

  private optionalText<K extends string>(object: JsonObject, key: K, place: string): Partial<Record<K, string>> {
    return object[key] === undefined ? {} : ({ [key]: this.text(object, key, place) } as Partial<Record<K, string>>);
  }

  private optionalNumber<K extends string>(object: JsonObject, key: K, place: string): Partial<Record<K, number>> {
    const value = object[key];
    if (value === undefined) return {};
    return typeof value === 'number'
      ? ({ [key]: value } as Partial<Record<K, number>>)
      : this.fail(`${place}.${key}`, message`must be a number`);
  }

  private fail(place: Words, what: Words): never {
    throw new AppError('invalid-yaml', message`${this.source}: ${place} ${what}.`, {
      advice: message`docs/lesson-format.md describes the format.`,
    });
  }
}
