import { cloneJson, equalJson, isJsonObject, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import type {
  Actor,
  NewTraceEvent,
  ObjectName,
  TraceEvent,
  WriteEvent,
  WriteOutcome,
} from '../../src/core/traceEvent.ts';
import { observedFrom } from '../../src/core/observe.ts';
import { auditEvents } from '../../src/recorder/auditEvents.ts';

/** How a play becomes a trace: whether the recorder's watch is before, after, or far behind the answers, or not there. */
export type Order = 'watch-first' | 'answer-first' | 'watch-late' | 'unfollowed';
export type Level = 'Metadata' | 'Request' | 'RequestResponse';

interface Step {
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
  readonly name: ObjectName;
  readonly subresource?: string;
  readonly patchType?: NonNullable<WriteEvent['patchType']>;
  readonly query?: string;
  readonly dryRun?: boolean;
  readonly request?: Json;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly outcome?: WriteOutcome;
  readonly preconditions?: { uid?: string; token?: string };
  /** What the answer showed. */
  readonly objects: readonly JsonObject[];
  /** What the recorder's own watch sees of it. */
  readonly commit?: { readonly object: JsonObject; readonly change: 'ADDED' | 'MODIFIED' | 'DELETED' };
  readonly cacheAllowed?: boolean;
  readonly deleted?: boolean;
}

export interface PutOptions {
  readonly rv?: string;
  readonly uid?: string;
  readonly sub?: string;
  readonly dryRun?: boolean;
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** A tiny API server with a cast: what its actors do becomes a trace, as a recorder would write it, or an audit log. */
export class Play {
  readonly steps: Step[] = [];
  at = Date.UTC(2026, 0, 1);
  private readonly objects = new Map<string, JsonObject>();
  private readonly watchers = new Map<string, Set<string>>();
  private readonly held = new Map<string, Step[]>();
  private tokens = 0;
  private uids = 0;

  wait(ms: number): this {
    this.at += ms;
    return this;
  }

  /** The stored object; its token by `tokenOf`. */
  stored(name: ObjectName): JsonObject | undefined {
    return this.objects.get(keyOf(name));
  }

  tokenOf(name: ObjectName): string {
    return text(this.stored(name), 'resourceVersion');
  }

  uidOf(name: ObjectName): string {
    return text(this.stored(name), 'uid');
  }

  get(actor: string, name: ObjectName, options: { cached?: boolean; shown?: JsonObject } = {}): JsonObject {
    const object = options.shown ?? this.stored(name);
    this.push({
      actor,
      verb: 'get',
      name,
      code: object === undefined ? 404 : 200,
      objects: object === undefined ? [] : [object],
      ...(options.cached === true ? { cacheAllowed: true, query: '?resourceVersion=0' } : {}),
    });
    return cloneJson<JsonObject>(object ?? {});
  }

  list(actor: string, of: ObjectName, options: { cached?: boolean; shown?: readonly JsonObject[] } = {}): void {
    const prefix = keyOf({ ...of, name: '' });
    const objects =
      options.shown ?? [...this.objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object);
    this.push({
      actor,
      verb: 'list',
      name: { ...of, name: '' },
      code: 200,
      objects,
      ...(options.cached === true ? { cacheAllowed: true, query: '?resourceVersion=0' } : {}),
    });
  }

  /** From now on the actor is given every change of the resource, at once or, while it is held, later. */
  watch(actor: string, of: ObjectName): void {
    const key = `${of.group}/${of.resource}`;
    this.watchers.set(key, (this.watchers.get(key) ?? new Set()).add(actor));
    this.push({ actor, verb: 'watch', name: { ...of, name: '' }, code: 200, objects: [] });
  }

  hold(actor: string): void {
    this.held.set(actor, []);
  }

  release(actor: string): void {
    const late = this.held.get(actor) ?? [];
    this.held.delete(actor);
    for (const step of late) this.push(step);
  }

  create(actor: string, name: ObjectName, content: JsonObject = {}): string {
    if (this.stored(name) !== undefined) {
      this.push({
        actor,
        verb: 'create',
        name,
        request: content,
        code: 409,
        outcome: 'already-exists',
        reason: 'AlreadyExists',
        message: 'already exists',
        objects: [],
      });
      return '';
    }
    this.uids += 1;
    const uid = `${String(this.uids).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const stored = this.store(name, content, uid, { creationTimestamp: new Date(this.at).toISOString() });
    this.push({
      actor,
      verb: 'create',
      name,
      request: bodyOf(content, name, {}),
      code: 201,
      objects: [stored],
      commit: { object: stored, change: 'ADDED' },
    });
    return uid;
  }

  /** A replacement; without `rv` it carries no token. Answers the outcome. */
  put(actor: string, name: ObjectName, content: JsonObject, options: PutOptions = {}): WriteOutcome {
    const current = this.stored(name);
    const request = bodyOf(content, name, options);
    return this.writeTo({ actor, verb: 'update', name, request, ...partsOf(options) }, options, () => {
      const kept = current ?? {};
      if (options.sub === 'status') return { ...kept, status: content['status'] ?? {} };
      if (!isJsonObject(kept['status']) || !hasStatus(name)) return content;
      return { ...content, status: kept['status'] };
    });
  }

  patch(
    actor: string,
    name: ObjectName,
    patch: Json,
    options: PutOptions & { type?: 'merge-patch' | 'strategic' | 'json-patch'; gives?: JsonObject } = {},
  ): WriteOutcome {
    const type = options.type ?? 'merge-patch';
    const request = options.rv !== undefined && isJsonObject(patch) ? bodyOf(patch, undefined, options) : patch;
    return this.writeTo(
      { actor, verb: 'patch', name, request, patchType: type, ...partsOf(options) },
      options,
      () => options.gives ?? (mergePatch(this.stored(name) ?? {}, patch) as JsonObject),
    );
  }

  remove(actor: string, name: ObjectName, options: PutOptions = {}): WriteOutcome {
    const current = this.stored(name);
    const request =
      options.uid === undefined && options.rv === undefined
        ? undefined
        : {
            preconditions: {
              ...(options.uid === undefined ? {} : { uid: options.uid }),
              ...(options.rv === undefined ? {} : { resourceVersion: options.rv }),
            },
          };
    const step = { actor, verb: 'delete', name, ...(request === undefined ? {} : { request }), ...partsOf(options) };
    const refused = this.refusal(current, options);
    if (refused !== undefined) {
      this.push({ ...step, ...refused, objects: [] });
      return refused.outcome;
    }
    if (current === undefined || options.dryRun === true) {
      this.push({ ...step, code: 200, objects: current === undefined ? [] : [current] });
      return 'accepted';
    }
    this.objects.delete(keyOf(name));
    this.tokens += 1;
    const last = cloneJson<JsonObject>(current);
    this.push({
      ...step,
      code: 200,
      objects: [
        {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Success',
          details: { name: name.name, uid: text(current, 'uid') },
        },
      ],
      commit: { object: last, change: 'DELETED' },
    });
    return 'accepted';
  }

  private writeTo(
    step: Omit<Step, 'at' | 'code' | 'objects'>,
    options: PutOptions,
    next: () => JsonObject,
  ): WriteOutcome {
    const { name } = step;
    const current = this.stored(name);
    const refused = this.refusal(current, options);
    if (refused !== undefined || current === undefined) {
      this.push({
        ...step,
        ...(refused ?? { code: 404, outcome: 'not-found' as const, reason: 'NotFound' }),
        objects: [],
      });
      return refused?.outcome ?? 'not-found';
    }
    const content = next();
    if (options.dryRun === true) {
      this.push({ ...step, query: '?dryRun=All', code: 200, objects: [withMeta(content, name, current)] });
      return 'accepted';
    }
    const kept = withMeta(content, name, current);
    if (equalJson(kept, current)) {
      this.push({ ...step, code: 200, outcome: 'unchanged', objects: [current] });
      return 'unchanged';
    }
    const stored = this.store(name, content, text(current, 'uid'), {
      creationTimestamp: text(current, 'creationTimestamp'),
    });
    this.push({ ...step, code: 200, objects: [stored], commit: { object: stored, change: 'MODIFIED' } });
    return 'accepted';
  }

  private refusal(
    current: JsonObject | undefined,
    options: PutOptions,
  ): { code: number; outcome: WriteOutcome; reason: string; message: string } | undefined {
    if (current === undefined) return { code: 404, outcome: 'not-found', reason: 'NotFound', message: 'not found' };
    if (options.uid !== undefined && options.uid !== text(current, 'uid'))
      return {
        code: 409,
        outcome: 'uid-mismatch',
        reason: 'Conflict',
        message: `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${text(current, 'uid')}`,
      };
    if (options.rv !== undefined && options.rv !== text(current, 'resourceVersion'))
      return { code: 409, outcome: 'version-conflict', reason: 'Conflict', message: MODIFIED };
    return undefined;
  }

  private store(name: ObjectName, content: JsonObject, uid: string, more: JsonObject): JsonObject {
    this.tokens += 1;
    const own = isJsonObject(content['metadata']) ? content['metadata'] : {};
    const object = cloneJson<JsonObject>({
      apiVersion: name.group === '' ? 'v1' : `${name.group}/v1`,
      kind: name.resource,
      ...content,
      metadata: {
        ...own,
        ...more,
        name: name.name,
        namespace: name.namespace,
        uid,
        resourceVersion: `r${this.tokens * 7}`,
      },
    });
    this.objects.set(keyOf(name), object);
    return object;
  }

  private push(step: Omit<Step, 'at'>): void {
    this.at += 50;
    this.steps.push({ ...step, at: this.at });
    if (step.commit === undefined) return;
    for (const actor of this.watchers.get(`${step.name.group}/${step.name.resource}`) ?? []) {
      const given = {
        actor,
        verb: 'given',
        name: step.name,
        code: 200,
        objects: [step.commit.object],
        cacheAllowed: true,
        deleted: step.commit.change === 'DELETED',
      };
      const held = this.held.get(actor);
      if (held === undefined) this.push(given);
      else held.push({ ...given, at: 0 });
    }
  }

  /** The play as the recorder would have written it. */
  trace(order: Order): TraceEvent[] {
    const events: NewTraceEvent[] = [];
    const known = new Set<string>();
    let late: NewTraceEvent[] = [];
    for (const step of this.steps) {
      if (order === 'watch-late' && late.length > 0 && step.verb !== 'given') {
        const due = late;
        late = [];
        events.push(...due.map((event) => ({ ...event, at: step.at - 1 })));
      }
      const answer = answerEvents(step, order, known);
      const commit = order === 'unfollowed' || step.commit === undefined ? [] : commitEvents(step, known);
      if (order === 'watch-first')
        events.push(...commit, ...(commit.length > 0 ? answer.filter((event) => event.type !== 'observed') : answer));
      else if (order === 'watch-late') {
        events.push(...answer);
        late.push(...commit);
      } else events.push(...answer, ...commit);
    }
    return [...events, ...late].map((event, index) => ({ ...event, seq: index + 1 }));
  }

  /** The play as the lines of an API server's audit log. */
  auditLog(level: Level): string {
    const steps = this.steps.filter((step) => step.verb !== 'given');
    return steps.map((step) => `${JSON.stringify(auditLine(step, level))}\n`).join('');
  }

  /** The play as an API server's audit log would tell it, read back. */
  audit(level: Level): TraceEvent[] {
    const context = { cluster: 'audit', secretKey: 'k', actors: new Map<string, Actor>() };
    return this.steps
      .filter((step) => step.verb !== 'given')
      .flatMap((step) => auditEvents(auditLine(step, level), context)?.events ?? [])
      .map((event, index) => ({ ...event, seq: index + 1 }));
  }
}

function answerEvents(step: Step, order: Order, known: Set<string>): NewTraceEvent[] {
  if (step.actor === '') return [];
  const base = { at: step.at, via: 'recorder' as const, cluster: 'c1' };
  const actor: Actor = { client: step.actor };
  const shown = step.objects.filter((object) => object['kind'] !== 'Status');
  const { verb } = step;
  if (verb === 'get' || verb === 'list' || verb === 'watch' || verb === 'given') {
    if (verb === 'watch') return [];
    const stream = order === 'unfollowed' && verb === 'given' ? `client-${step.actor}` : undefined;
    const observed = step.deleted === true ? [] : shown.flatMap((object) => see(object, step, known, stream));
    return [
      ...observed,
      {
        type: 'read',
        ...base,
        actor,
        verb: verb === 'given' ? 'watch' : verb,
        scope: {
          group: step.name.group,
          resource: step.name.resource,
          namespace: step.name.namespace,
          ...(step.name.name === '' || verb === 'given' ? {} : { name: step.name.name }),
        },
        given: shown.map((object) => ({
          namespace: text(object, 'namespace'),
          name: text(object, 'name'),
          uid: text(object, 'uid'),
          token: text(object, 'resourceVersion'),
          ...(step.deleted === true ? { deleted: true } : {}),
          ...(text(object, 'deletionTimestamp') === '' ? {} : { terminating: true }),
        })),
        cacheAllowed: step.cacheAllowed === true,
        ...(step.code === 200 ? {} : { code: step.code }),
      },
    ];
  }
  const [answered] = shown;
  const accepted = step.code < 300 && step.dryRun !== true;
  const status = step.objects.find((object) => object['kind'] === 'Status');
  const details = isJsonObject(status?.['details']) ? status['details'] : {};
  const result = !accepted
    ? undefined
    : answered === undefined
      ? { uid: typeof details['uid'] === 'string' ? details['uid'] : '', token: '' }
      : { uid: text(answered, 'uid'), token: text(answered, 'resourceVersion') };
  const write: NewTraceEvent = {
    type: 'write',
    ...base,
    actor,
    verb: verb === 'update' ? 'replace' : (verb as WriteEvent['verb']),
    name: step.name,
    startedAt: step.at - 5,
    outcome: step.outcome ?? 'accepted',
    code: step.code,
    ...(step.patchType === undefined ? {} : { patchType: step.patchType }),
    ...(step.subresource === undefined ? {} : { subresource: step.subresource }),
    ...(step.dryRun === true ? { dryRun: true } : {}),
    ...(step.preconditions === undefined ? {} : { preconditions: step.preconditions }),
    ...(step.request === undefined ? {} : { body: step.request }),
    ...(step.reason === undefined ? {} : { reason: step.reason }),
    ...(result === undefined ? {} : { result }),
  };
  return [
    write,
    ...(accepted && verb !== 'delete' && answered !== undefined ? see(answered, step, known, undefined) : []),
  ];
}

function see(object: JsonObject, step: Step, known: Set<string>, stream: string | undefined): NewTraceEvent[] {
  const key = `${text(object, 'uid')} ${text(object, 'resourceVersion')}${stream ?? ''}`;
  if (known.has(key)) return [];
  known.add(key);
  const event = observedFrom(object, {
    cluster: 'c1',
    via: 'recorder',
    at: step.at,
    resource: { group: step.name.group, resource: step.name.resource, version: 'v1' },
    keepBody: true,
    secretKey: 'k',
    ...(stream === undefined ? {} : { stream, change: 'MODIFIED' as const }),
  });
  return event === undefined ? [] : [event];
}

function commitEvents(step: Step, known: Set<string>): NewTraceEvent[] {
  const { commit } = step;
  if (commit === undefined) return [];
  const stream = `own-${step.name.resource}`;
  if (commit.change === 'DELETED')
    return [
      {
        type: 'absent',
        at: step.at,
        via: 'watch',
        cluster: 'c1',
        name: step.name,
        uid: text(commit.object, 'uid'),
        how: 'event',
        stream,
      },
    ];
  known.add(`${text(commit.object, 'uid')} ${text(commit.object, 'resourceVersion')}`);
  const event = observedFrom(commit.object, {
    cluster: 'c1',
    via: 'watch',
    at: step.at,
    resource: { group: step.name.group, resource: step.name.resource, version: 'v1' },
    keepBody: true,
    secretKey: 'k',
    stream,
    change: commit.change,
  });
  return event === undefined ? [] : [event];
}

function auditLine(step: Step, level: Level): JsonObject {
  const time = new Date(step.at).toISOString().replace('Z', '000Z');
  const { group, resource, namespace, name } = step.name;
  const reads = step.verb === 'get' || step.verb === 'list';
  const sent = isJsonObject(step.request) && isJsonObject(step.request['metadata']) ? step.request['metadata'] : {};
  const response: Json | undefined =
    step.code >= 400
      ? {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          reason: step.reason ?? '',
          message: step.message ?? '',
          code: step.code,
        }
      : step.verb === 'list'
        ? { kind: 'List', apiVersion: 'v1', metadata: {}, items: [...step.objects] }
        : step.objects[0];
  return cloneJson<JsonObject>({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level,
    auditID: String(step.at),
    stage: step.verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete',
    requestURI: `${group === '' ? '/api/v1' : `/apis/${group}/v1`}/namespaces/${namespace}/${resource}${name === '' ? '' : `/${name}`}${step.query ?? ''}`,
    verb: step.verb,
    user: { username: step.actor === '' ? 'ghost' : step.actor },
    userAgent: 'agent/v1',
    objectRef: {
      resource,
      namespace,
      ...(name === '' ? {} : { name }),
      ...(step.verb === 'update' && typeof sent['uid'] === 'string' ? { uid: sent['uid'] } : {}),
      ...(group === '' ? {} : { apiGroup: group }),
      apiVersion: 'v1',
      ...(step.verb === 'update' && typeof sent['resourceVersion'] === 'string'
        ? { resourceVersion: sent['resourceVersion'] }
        : {}),
      ...(step.subresource === undefined ? {} : { subresource: step.subresource }),
    },
    responseStatus: {
      metadata: {},
      code: step.code,
      ...(step.code >= 400 ? { status: 'Failure', reason: step.reason ?? '', message: step.message ?? '' } : {}),
    },
    ...(level === 'Metadata' || step.request === undefined || reads ? {} : { requestObject: asPrinted(step.request) }),
    ...(level !== 'RequestResponse' || response === undefined || step.verb === 'watch'
      ? {}
      : { responseObject: asPrinted(response) }),
    requestReceivedTimestamp: time,
    stageTimestamp: time,
  });
}

/** An object in the order in which an API server prints it: its metadata come before its content. */
function asPrinted(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const { kind, apiVersion, metadata, ...content } = value;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(metadata === undefined ? {} : { metadata }),
    ...content,
  };
}

function partsOf(options: PutOptions): Partial<Step> {
  const pair = {
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.rv === undefined ? {} : { token: options.rv }),
  };
  return {
    ...(Object.keys(pair).length === 0 ? {} : { preconditions: pair }),
    ...(options.sub === undefined ? {} : { subresource: options.sub }),
    ...(options.dryRun === true ? { dryRun: true } : {}),
  };
}

function bodyOf(content: JsonObject, name: ObjectName | undefined, options: PutOptions): JsonObject {
  const own = isJsonObject(content['metadata']) ? content['metadata'] : {};
  const { resourceVersion: _token, uid: _uid, creationTimestamp: _time, ...rest } = own;
  return {
    ...content,
    metadata: {
      ...rest,
      ...(name === undefined ? {} : { name: name.name, namespace: name.namespace }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.rv === undefined ? {} : { resourceVersion: options.rv }),
    },
  };
}

function withMeta(content: JsonObject, name: ObjectName, current: JsonObject): JsonObject {
  const own = isJsonObject(content['metadata']) ? content['metadata'] : {};
  return {
    apiVersion: current['apiVersion'] ?? 'v1',
    kind: current['kind'] ?? '',
    ...content,
    metadata: {
      ...own,
      creationTimestamp: text(current, 'creationTimestamp'),
      name: name.name,
      namespace: name.namespace,
      uid: text(current, 'uid'),
      resourceVersion: text(current, 'resourceVersion'),
    },
  };
}

function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = mergePatch(result[field] ?? null, value);
  }
  return result;
}

function hasStatus(name: ObjectName): boolean {
  return name.group !== '' && name.resource !== 'leases';
}

function keyOf(name: ObjectName): string {
  return stringifyJson([name.group, name.resource, name.namespace]) + name.name;
}

function text(object: JsonObject | undefined, field: string): string {
  const metadata = object?.['metadata'];
  const value = isJsonObject(metadata) ? metadata[field] : undefined;
  return typeof value === 'string' ? value : '';
}
