import { message } from '../base/message.ts';
import { AppError, messageOf } from '../base/appError.ts';
import { throwIfAborted } from '../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { equalJson } from '../codec/json.ts';
import { valueAt, type Path } from '../codec/path.ts';
import { errorOf } from '../kube/answers.ts';
import { modify } from '../write/modify.ts';
import { editPaths } from '../write/pathEdit.ts';
import {
  patchTypes,
  textOf,
  tokenOf,
  uidOf,
  uninterrupted,
  withToken,
  type Exchange,
  type LabClient,
} from './labClient.ts';
import { metadataOf } from '../write/target.ts';
import { endedOtherwise } from './endedOtherwise.ts';
import type { Action, Check, Condition, Lesson, ObjectRef, Setting, ValueOf } from './lesson.ts';
import type { LessonOptions } from './lessonRun.ts';

/** How often a `wait` reads again, in milliseconds. */
const pollMs = 100;

const mediaTypes = {
  json: 'application/json-patch+json',
  merge: patchTypes['merge-patch'],
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** Runs a lesson's actions and keeps what they remember. */
export class LessonActions {
  /** The modular labels that the learner predicted. */
  labels: string[] = [];
  private readonly client: LabClient;
  private readonly options: LessonOptions;
  private readonly remembered = new Map<string, JsonObject>();
  private readonly background = new AbortController();
  private readonly pending = new Set<Promise<void>>();

  constructor(client: LabClient, options: LessonOptions) {
    this.client = client;
    this.options = options;
  }

  /**
   * Runs actions in order; those with `afterMs` are started and not waited for.
   * @throws AppError `bad-answer` where the server answers otherwise than the action expects
   */
  async run(actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      throwIfAborted(this.options.signal);
      if (action.afterMs === undefined) await this.one(action);
      else this.later(action, action.afterMs);
    }
  }

  /** Ends what still waits to be done, and waits for what is being done. */
  async stop(): Promise<void> {
    this.background.abort();
    await Promise.all(this.pending);
  }

  /** The URL path of an object. */
  pathOf(ref: ObjectRef): string {
    return `${this.collectionOf(ref.resource)}/${encodeURIComponent(ref.name)}`;
  }

  /** Every object that a lesson names. */
  refsOf(lesson: Lesson): ObjectRef[] {
    const actions = [...lesson.setup, ...lesson.steps.flatMap((step) => [...step.before, ...step.solution])];
    const checks = lesson.steps.flatMap((step) => step.checks);
    const refs = [...actions.flatMap((action) => this.refOf(action)), ...checks.flatMap(refOfCheck)].map((ref) => ({
      ...ref,
      resource: this.options.resources.find(ref.resource).resource,
    }));
    return refs.filter(
      (ref, index) => refs.findIndex((other) => other.resource === ref.resource && other.name === ref.name) === index,
    );
  }

  /** A value of something remembered, or of an object as the server holds it now. */
  async valueOf(source: ValueOf): Promise<Json | undefined> {
    if ('label' in source) return valueAt(this.recall(source.label), source.path);
    const { answer } = await this.client.send('versions-lab', 'GET', this.pathOf(source.object));
    return valueAt(answer, source.path);
  }

  private collectionOf(resource: string): string {
    const found = this.options.resources.find(resource);
    const root = found.group === '' ? `/api/${found.version}` : `/apis/${found.group}/${found.version}`;
    return found.namespaced
      ? `${root}/namespaces/${encodeURIComponent(this.options.namespace)}/${found.resource}`
      : `${root}/${found.resource}`;
  }

  private refOf(action: Action): ObjectRef[] {
    if (action.verb === 'predict-labels') return [];
    if (action.verb !== 'create' && action.verb !== 'apply') return [action.object];
    return [{ resource: textOf(action.body['kind']), name: textOf(metadataOf(action.body)['name']) }];
  }

  private recall(label: string): JsonObject {
    const object = this.remembered.get(label);
    if (object === undefined) throw new AppError('usage', message`The lesson remembers nothing as "${label}".`);
    return object;
  }

  private later(action: Action, afterMs: number): void {
    const task = this.options.clock
      .delay(afterMs, this.background.signal)
      .then(() => this.one(action))
      // What happens late has nobody to tell: the step's check reads the server and finds what is missing.
      .catch((error: unknown) => void messageOf(error))
      .finally(() => this.pending.delete(task));
    this.pending.add(task);
  }

  private async one(action: Action): Promise<void> {
    const exchange = await this.perform(action);
    if (exchange === undefined) return;
    const { status } = exchange.reply;
    const asExpected = action.expect === undefined ? status < 300 : status === action.expect;
    if (!asExpected) {
      if (status === 401 || status === 403) throw errorOf(exchange.reply);
      throw new AppError(
        'bad-answer',
        message`The server answered ${status} to "${action.verb}" of the lesson, which expects ${action.expect ?? 'success'}: ${textOf(exchange.answer['message'])}`,
      );
    }
    if (action.remember !== undefined) this.remembered.set(action.remember, exchange.answer);
  }

  private async perform(action: Action): Promise<Exchange | undefined> {
    const { client } = this;
    switch (action.verb) {
      case 'read':
        return client.send(action.as, 'GET', this.pathOf(action.object));
      case 'create':
        return client.send(action.as, 'POST', this.collectionOf(textOf(action.body['kind'])), {
          body: action.body,
          signal: uninterrupted(),
        });
      case 'replace': {
        const path = this.pathOf(action.object);
        const desired = await this.changed(this.recall(action.from), action.set);
        const body = action.tokenOf === undefined ? desired : withToken(desired, tokenOf(this.recall(action.tokenOf)));
        return client.send(
          action.as,
          'PUT',
          action.subresource === undefined ? path : `${path}/${action.subresource}`,
          { body },
        );
      }
      case 'apply': {
        const ref = { resource: textOf(action.body['kind']), name: textOf(metadataOf(action.body)['name']) };
        const query = { ...(action.force ? { force: 'true' } : {}), ...(action.dryRun ? { dryRun: 'All' } : {}) };
        return client.send(action.as, 'PATCH', this.pathOf(ref), {
          body: action.body,
          query,
          contentType: patchTypes.apply,
          signal: uninterrupted(),
        });
      }
      case 'patch': {
        const token = action.tokenOf === undefined ? undefined : tokenOf(this.recall(action.tokenOf));
        return client.send(action.as, 'PATCH', this.pathOf(action.object), {
          body: withPatchToken(action.patch, token),
          contentType: mediaTypes[action.type],
        });
      }
      case 'delete': {
        const preconditions =
          action.uidOf === undefined ? {} : { preconditions: { uid: uidOf(this.recall(action.uidOf)) } };
        return client.send(action.as, 'DELETE', this.pathOf(action.object), {
          body: { apiVersion: 'v1', kind: 'DeleteOptions', ...preconditions },
        });
      }
      case 'observe': {
        const read = await client.send(action.as, 'GET', this.pathOf(action.object));
        const status = read.answer['status'];
        const observed = {
          ...(isJsonObject(status) ? status : {}),
          observedGeneration: metadataOf(read.answer)['generation'] ?? null,
        };
        return client.send(action.as, 'PUT', `${this.pathOf(action.object)}/status`, {
          body: { ...read.answer, status: observed },
        });
      }
      case 'modify':
        return this.modify(action.as, action.object, action.set);
      case 'wait':
        return this.wait(action.object, action.until, action.timeoutMs);
      case 'predict-labels':
        this.labels = [...action.labels];
        return undefined;
    }
  }

  private async changed(object: JsonObject, settings: readonly Setting[]): Promise<JsonObject> {
    const set: [Path, Json][] = [];
    for (const { path, value, same } of settings) {
      const wanted = same === undefined ? value : await this.valueOf(same);
      if (wanted !== undefined) set.push([path, wanted]);
    }
    const remove = settings
      .filter(({ value, same }) => value === undefined && same === undefined)
      .map(({ path }) => path);
    const edited = editPaths(object, set, remove);
    if ('problem' in edited) throw new AppError('invalid-path', edited.problem);
    return isJsonObject(edited.value) ? edited.value : {};
  }

  private async modify(manager: string, ref: ObjectRef, set: readonly Setting[]): Promise<undefined> {
    const { server, clock, signal, namespace, resources, safeWriteLog } = this.options;
    const target = { ...resources.find(ref.resource), namespace, name: ref.name };
    const intent = { kind: 'function', compute: (current: JsonObject) => this.changed(current, set) } as const;
    const report = await modify(server, target, intent, { clock, signal, fieldManager: manager, ...safeWriteLog });
    if (report.outcome === 'written' || report.outcome === 'unchanged') return undefined;
    throw endedOtherwise(report);
  }

  private async wait(ref: ObjectRef, until: readonly Condition[], timeoutMs: number): Promise<Exchange> {
    const { clock, signal } = this.options;
    const deadline = clock.now() + timeoutMs;
    for (;;) {
      const read = await this.client.send('versions-lab', 'GET', this.pathOf(ref));
      const met = await Promise.all(
        until.map(async ({ path, equals, same }) =>
          equalJson(valueAt(read.answer, path), same === undefined ? equals : await this.valueOf(same)),
        ),
      );
      if (met.every(Boolean)) return read;
      if (clock.now() >= deadline)
        throw new AppError(
          'timed-out',
          message`${ref.resource}/${ref.name} did not come to what the lesson waits for.`,
        );
      await clock.delay(pollMs, signal);
    }
  }
}

function refOfCheck(check: Check): ObjectRef[] {
  if ('labels' in check) return [];
  return ['absent' in check ? check.absent : check.object];
}

/** A patch that carries a token, so that the server checks it. */
function withPatchToken(patch: Json, token: string | undefined): Json {
  if (token === undefined) return patch;
  if (Array.isArray(patch)) return [{ op: 'replace', path: '/metadata/resourceVersion', value: token }, ...patch];
  return isJsonObject(patch) ? { ...patch, metadata: { ...metadataOf(patch), resourceVersion: token } } : patch;
}
