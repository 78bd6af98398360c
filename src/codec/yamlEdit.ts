import { message } from '../base/message.ts';
import { isAlias, isMap, isSeq } from 'yaml';
import { AppError } from '../base/appError.ts';
import type { Path, PathStep } from './path.ts';
import { formatPath, hasKey } from './path.ts';
import type { Json, JsonObject } from './json.ts';
import { cloneJson, equalJson, isJsonObject, setOwn } from './json.ts';
import { parseYaml } from './yaml.ts';
import { findPlace } from './yamlPlaces.ts';
import type { Splice } from './yamlSplice.ts';
import { Splicer } from './yamlSplice.ts';
import type { YamlStep, YamlText } from './yamlText.ts';

/** A change of the value that a text holds: a value set, with what leads to it, or one removed. */
export type YamlEdit = { readonly path: Path; readonly value: Json } | { readonly path: Path; readonly remove: true };

/**
 * Makes changes in a YAML text, one after another, and leaves every other byte as it is: comments, order, quotes, blank
 * lines, line ends, a missing final line break. The result is read back and compared, so that the text means exactly what
 * was asked.
 * @throws AppError `invalid-yaml` where the text is not readable, or where a change cannot be made without another one
 * (inside of what an alias or a merge key stands for).
 */
export function editYaml(text: string, edits: readonly YamlEdit[]): string {
  const reading = parseYaml(text);
  const [problem] = reading.problems;
  if (problem !== undefined) {
    throw new AppError('invalid-yaml', message`Line ${problem.line}: ${problem.message}`, {
      details: { line: problem.line },
    });
  }
  let value = cloneJson(reading.value ?? null);
  let current = text;
  let document = reading.document;
  let batch = new Batch(document);
  const flush = (): void => {
    current = batch.apply(current);
    document = parseYaml(current).document;
    batch = new Batch(document);
  };
  for (const edit of edits) {
    for (const step of expand(value, edit)) {
      if (!batch.add(step)) {
        flush();
        if (!batch.add(step)) throw refused(edit.path);
      }
      value = applyStep(value, step, 0);
      if (step.moves) flush();
    }
  }
  current = batch.apply(current);
  const result = parseYaml(current);
  if (result.problems.length > 0 || !equalJson(result.value, value)) throw refused(edits[0]?.path ?? []);
  return current;
}

function refused(path: Path): AppError {
  return new AppError(
    'invalid-yaml',
    message`${formatPath(path) || message`The document`} cannot be changed in this text without changing something else.`,
    {
      advice: message`Change it by hand: an alias or a merge key stands there, or the layout is unusual.`,
    },
  );
}

/** An edit by the keys and positions of one value. `moves`: positions in a list change with it. */
interface Step {
  readonly path: readonly YamlStep[];
  /** Undefined: removed. */
  readonly value: Json | undefined;
  readonly moves: boolean;
}

/** Edits that were planned on one parse and do not touch each other. */
class Batch {
  private readonly document: YamlText;
  private readonly splicer: Splicer;
  private readonly splices: (Splice & { readonly holder: string })[] = [];
  private readonly paths: (readonly YamlStep[])[] = [];
  private readonly emptied = new Set<string>();

  constructor(document: YamlText) {
    this.document = document;
    this.splicer = new Splicer(document.text);
  }

  /** Whether the edit could be planned beside those that are planned already. */
  add(step: Step): boolean {
    if (this.paths.some((path) => isPrefix(path, step.path) || isPrefix(step.path, path))) return false;
    const holder = JSON.stringify(step.path.slice(0, -1));
    if (step.value === undefined && this.emptied.has(holder)) return false;
    const splice = this.plan(step);
    if (splice === undefined) return false;
    const apart = this.splices.every((other) => {
      if (splice.end < other.start || other.end < splice.start) return true;
      return other.holder === holder && isInsertionBeside(splice, other);
    });
    if (!apart) return false;
    this.splices.push({ ...splice, holder });
    this.paths.push(step.path);
    if (step.value === undefined) this.emptied.add(holder);
    return true;
  }

  private plan(step: Step): Splice | undefined {
    const { place, depth } = findPlace(this.document, step.path);
    if (step.value === undefined) {
      if (depth < step.path.length) return undefined;
      return this.splicer.remove(place, findPlace(this.document, step.path.slice(0, -1)).place);
    }
    if (depth === step.path.length) return this.splicer.replace(place, step.value);
    const [next, ...rest] = step.path.slice(depth);
    const value = nest(rest, step.value);
    if (next === undefined || value === undefined) return undefined;
    if (isAlias(place.node)) return undefined;
    if (isMap(place.node)) return this.splicer.addPair(place, place.node, String(next), value);
    if (isSeq(place.node))
      return next === place.node.items.length ? this.splicer.addItem(place, place.node, value) : undefined;
    const whole = nest([next], value);
    return whole === undefined ? undefined : this.splicer.replace(place, whole);
  }

  apply(text: string): string {
    const inOrder = this.splices
      .map((splice, index) => ({ ...splice, index }))
      .sort((a, b) => a.start - b.start || a.index - b.index);
    let result = '';
    let at = 0;
    for (const { start, end, text: piece } of inOrder) {
      result += text.slice(at, start) + piece;
      at = end;
    }
    return result + text.slice(at);
  }
}

/** Two insertions at one place, of the same form: they stand one behind the other. */
function isInsertionBeside(a: Splice, b: Splice): boolean {
  const isPure = a.start === a.end && b.start === b.end && a.start === b.start;
  return isPure && /^\r?\n/.test(a.text) === /^\r?\n/.test(b.text);
}

function isPrefix(a: readonly YamlStep[], b: readonly YamlStep[]): boolean {
  return a.length <= b.length && a.every((step, index) => step === b[index]);
}

function nest(steps: readonly YamlStep[], value: Json): Json | undefined {
  let nested = value;
  for (const step of steps.toReversed()) {
    if (typeof step === 'number') {
      if (step !== 0) return undefined;
      nested = [nested];
    } else {
      const map: JsonObject = {};
      setOwn(map, step, nested);
      nested = map;
    }
  }
  return nested;
}

/** The smallest edits that make an edit: maps key by key, lists item by item where no position moves. */
function expand(root: Json, edit: YamlEdit): Step[] {
  const found = locate(root, edit.path);
  if ('remove' in edit)
    return found.value === undefined ? [] : [{ path: found.path, value: undefined, moves: found.inList }];
  return difference(found.path, found.value, edit.value, found.inList);
}

function difference(path: readonly YamlStep[], before: Json | undefined, after: Json, inList: boolean): Step[] {
  if (before === undefined) return [{ path, value: after, moves: inList }];
  if (equalJson(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after) && Object.keys(before).length > 0 && Object.keys(after).length > 0) {
    const steps: Step[] = [];
    for (const [key, item] of Object.entries(after)) {
      steps.push(...difference([...path, key], Object.hasOwn(before, key) ? before[key] : undefined, item, false));
    }
    for (const key of Object.keys(before))
      if (!Object.hasOwn(after, key)) steps.push({ path: [...path, key], value: undefined, moves: false });
    return steps;
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length > 0 && before.length <= after.length) {
    const grows = before.length < after.length;
    if (!grows || before.every((item, index) => equalJson(item, after[index]))) {
      return after.flatMap((item, index) => difference([...path, index], before[index], item, grows));
    }
  }
  return [{ path, value: after, moves: false }];
}

/** The keys and positions of a path in a value, and the value there. A keyed step that finds nothing is a new item. */
function locate(root: Json, path: Path): { path: YamlStep[]; value: Json | undefined; inList: boolean } {
  const steps: YamlStep[] = [];
  let value: Json | undefined = root;
  let inList = false;
  for (const step of path) {
    const next: YamlStep = stepIn(value, step);
    steps.push(next);
    inList = Array.isArray(value);
    if (Array.isArray(value)) value = typeof next === 'number' ? value[next] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, next) ? value[String(next)] : undefined;
  }
  return { path: steps, value, inList };
}

function stepIn(value: Json | undefined, step: PathStep): YamlStep {
  if ('field' in step) return step.field;
  const list = Array.isArray(value) ? value : [];
  if ('index' in step)
    return Array.isArray(value) || value === undefined || value === null ? step.index : String(step.index);
  const index = list.findIndex((item) => ('key' in step ? hasKey(item, step.key) : equalJson(item, step.value)));
  return index < 0 ? list.length : index;
}

/** The value after a step. */
function applyStep(value: Json | undefined, step: Step, depth: number): Json {
  const next = step.path[depth];
  if (next === undefined) return step.value ?? null;
  const last = depth === step.path.length - 1;
  if (typeof next === 'number' && !isJsonObject(value)) {
    const list = Array.isArray(value) ? [...value] : [];
    if (last && step.value === undefined) list.splice(next, 1);
    else list[next] = applyStep(list[next], step, depth + 1);
    return list;
  }
  const map: JsonObject = isJsonObject(value) ? { ...value } : {};
  if (last && step.value === undefined) delete map[next];
  else setOwn(map, String(next), applyStep(Object.hasOwn(map, next) ? map[next] : undefined, step, depth + 1));
  return map;
}
