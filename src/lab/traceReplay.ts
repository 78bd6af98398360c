import { inGroup } from '../core/inGroup.ts';
import { message } from '../base/message.ts';
import { AppError, isAppError } from '../base/appError.ts';
import { throwIfAborted } from '../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { isSecretResource } from '../core/secrets.ts';
import type { ObjectName, ObservedEvent, TraceEvent, WriteEvent } from '../core/traceEvent.ts';
import { metadataOf } from '../write/target.ts';
import { storableObject } from './hiddenValues.ts';
import { LabClient, textOf, tokenOf, uidOf, uninterrupted, type Exchange, type LabClientOptions } from './labClient.ts';
import type { Resources } from './lessonRun.ts';
import { MadeObjects, mustBeFree } from './removal.ts';
import type { StepResult } from './replay.ts';
import { replayRequest, type Equals } from './replayRequest.ts';

/** Where a recording is replayed. */
export interface TraceReplayOptions extends LabClientOptions {
  readonly resources: Resources;
  /** Stands for every namespace of the recording; left out: the recording's own, created where they are missing. */
  readonly namespace?: string;
}

/**
 * What a replayed trace did. `leftOut`: writes whose body the trace does not hold, those to a subresource that the server
 * does not have, and deletions of whole collections where the namespace is not the replay's own.
 */
export interface TraceReplayResult {
  readonly steps: readonly StepResult[];
  readonly holds: boolean;
  readonly leftOut: number;
}

/**
 * Repeats a recording's writes on another server, in the order of the recording, with UIDs and tokens mapped by equality:
 * where the recording's write carried the token of an earlier answer, the replayed one carries the token of that answer's
 * counterpart. Versions that no recorded write explains are written by `observer` first. It stops at the first answer that
 * differs in status or reason, and removes what it made, also when it is interrupted.
 * @throws AppError `usage` where an object stands at a name that the recording writes to, or where two of its objects would
 *   be one in the namespace chosen; `cancelled` when the signal aborts, after the clean-up
 */
export async function replayTrace(
  events: readonly TraceEvent[],
  options: TraceReplayOptions,
): Promise<TraceReplayResult> {
  return new TraceReplay(events, options).run();
}

class TraceReplay {
  private readonly events: readonly TraceEvent[];
  private readonly options: TraceReplayOptions;
  private readonly client: LabClient;
  private readonly equals: Equals = { uids: new Map(), tokens: new Map() };
  private readonly written: ReadonlySet<string>;
  /** What a write stored that was answered without the object, such as a pod's binding. */
  private readonly stored: ReadonlyMap<WriteEvent, ObservedEvent>;
  private readonly namespaces = new Set<string>();
  private readonly ownNamespaces = new Set<string>();
  private readonly made = new MadeObjects();
  private readonly steps: StepResult[] = [];
  private leftOut = 0;

  constructor(events: readonly TraceEvent[], options: TraceReplayOptions) {
    this.events = events;
    this.options = options;
    this.client = new LabClient(options);
    this.stored = storedBySubresources(events);
    this.written = new Set(
      [
        ...events.flatMap((event) => (event.type === 'write' && event.result !== undefined ? [event.result] : [])),
        ...this.stored.values(),
      ].map(versionKey),
    );
  }

  async run(): Promise<TraceReplayResult> {
    await mustBeFree(this.client, this.pathsWritten());
    try {
      for (const event of this.events) {
        if (event.type === 'observed') await this.observe(event);
        if (event.type !== 'write') continue;
        const result = await this.repeat(event);
        if (result === undefined) continue;
        this.steps.push(result);
        if (!result.holds) break;
      }
    } finally {
      await this.made.remove(this.client);
    }
    return { steps: this.steps, holds: this.steps.every((step) => step.holds), leftOut: this.leftOut };
  }

  /** Where the recording writes, each path once; no two of its objects may share one. */
  private pathsWritten(): string[] {
    const paths = new Map<string, string>();
    for (const event of this.events) {
      if (event.type !== 'write' || event.name.name === '') continue;
      const path = this.pathIfKnown(event.name);
      if (path === undefined) continue;
      const { namespace } = event.name;
      if ((paths.get(path) ?? namespace) !== namespace)
        throw new AppError('usage', message`Two objects of the recording would both be ${path}.`, {
          advice: message`Replay it without a namespace of your choice.`,
        });
      paths.set(path, namespace);
    }
    return [...paths.keys()];
  }

  /** Brings the server to a version that the recording saw and no recorded write made. */
  private async observe(event: ObservedEvent): Promise<void> {
    if (event.body === undefined || this.equals.tokens.has(event.token) || this.written.has(versionKey(event))) return;
    if (this.pathIfKnown(event.name) === undefined) return;
    await this.ensureNamespace(event.name.namespace);
    const known = this.equals.uids.get(event.uid);
    const path = this.pathOf(event.name);
    const { body: seen } = event;
    const stored = withIdentity(isSecretResource(event.name) ? storableObject(seen) : seen, known);
    const body = this.placed(stored, event.name.namespace);
    const made =
      known === undefined
        ? await this.create(path.object, 'observer', () =>
            this.client.send('observer', 'POST', path.collection, { body, signal: uninterrupted() }),
          )
        : await this.client.send('observer', 'PUT', path.object, { body });
    this.learn(event.uid, event.token, made.answer);
  }

  private async repeat(event: WriteEvent): Promise<StepResult | undefined> {
    const whole = event.verb === 'deletecollection';
    const needsBody = event.verb !== 'delete' && !whole;
    if ((needsBody && event.body === undefined) || event.code === undefined || event.outcome === 'uncertain') {
      this.leftOut += 1;
      return undefined;
    }
    const expected: JsonObject = {
      status: event.code,
      ...(event.code >= 400 && event.reason !== undefined ? { reason: event.reason } : {}),
    };
    const { resource, namespace, name } = event.name;
    const part = event.subresource === undefined ? '' : `/${event.subresource}`;
    const title = `${event.verb} ${resource}${part} ${namespace}/${name}`;
    const step = (observed: JsonObject): StepResult => ({
      id: `event-${event.seq}`,
      title,
      expected,
      observed,
      holds: Object.keys(expected).every((key) => expected[key] === observed[key]),
      lesson: '',
    });
    try {
      await this.ensureNamespace(event.name.namespace);
      const refused = whole && !this.ownNamespaces.has(this.namespaceFor(namespace));
      if (refused || this.lacks(event)) {
        this.leftOut += 1;
        return undefined;
      }
      const done = await this.send(event);
      if (event.result !== undefined) this.learn(event.result.uid, event.result.token, done.answer);
      const stored = this.stored.get(event);
      if (stored !== undefined) {
        const { answer } = await this.client.send('observer', 'GET', this.pathOf(event.name).object);
        this.learn(stored.uid, stored.token, answer);
      }
      const reason = textOf(done.answer['reason']);
      return step({ status: done.reply.status, ...(done.reply.status >= 400 && reason !== '' ? { reason } : {}) });
    } catch (error) {
      if (isAppError(error, 'unknown-resource')) return step({ problem: error.message });
      throw error;
    }
  }

  /** Whether this server has no such subresource of the resource. */
  private lacks({ name, subresource }: WriteEvent): boolean {
    if (subresource === undefined) return false;
    return this.resourceOf(name).subresources?.includes(subresource) === false;
  }

  private send(event: WriteEvent): Promise<Exchange> {
    const manager = event.actor.manager ?? event.actor.client ?? event.actor.user ?? 'replay';
    const place = this.pathOf(event.name);
    const { method, path, query, body, contentType } = replayRequest(event, place, this.equals);
    const creates = (event.verb === 'create' || event.verb === 'apply') && event.dryRun !== true;
    const send = (): Promise<Exchange> =>
      this.client.send(manager, method, path, {
        query,
        ...(body === undefined ? {} : { body: this.placed(body, event.name.namespace) }),
        ...(contentType === undefined ? {} : { contentType }),
        ...(creates ? { signal: uninterrupted() } : {}),
      });
    return creates ? this.create(place.object, manager, send) : send();
  }

  /** Notes what a request creates, so that it is removed. Not begun once the signal has aborted. */
  private async create(path: string, manager: string, request: () => Promise<Exchange>): Promise<Exchange> {
    throwIfAborted(this.options.signal);
    return this.made.create(path, manager, request);
  }

  private learn(uid: string, token: string, answer: JsonObject): void {
    if (uidOf(answer) === '') return;
    this.equals.uids.set(uid, uidOf(answer));
    this.equals.tokens.set(token, tokenOf(answer));
  }

  private namespaceFor(recorded: string): string {
    return recorded === '' ? '' : (this.options.namespace ?? recorded);
  }

  /** The body in the namespace that stands for the recording's. */
  private placed(body: Json, recorded: string): Json {
    if (!isJsonObject(body) || metadataOf(body)['namespace'] === undefined) return body;
    return { ...body, metadata: { ...metadataOf(body), namespace: this.namespaceFor(recorded) } };
  }

  private pathIfKnown(name: ObjectName): string | undefined {
    try {
      return this.pathOf(name).object;
    } catch (error) {
      if (isAppError(error, 'unknown-resource')) return undefined;
      throw error;
    }
  }

  private pathOf(name: ObjectName): { collection: string; object: string } {
    const found = this.resourceOf(name);
    const root = found.group === '' ? `/api/${found.version}` : `/apis/${found.group}/${found.version}`;
    const collection = found.namespaced
      ? `${root}/namespaces/${encodeURIComponent(this.namespaceFor(name.namespace))}/${found.resource}`
      : `${root}/${found.resource}`;
    return { collection, object: `${collection}/${encodeURIComponent(name.name)}` };
  }

  private resourceOf({ group, resource }: ObjectName): ReturnType<Resources['find']> {
    return this.options.resources.find(inGroup(resource, group));
  }

  private async ensureNamespace(recorded: string): Promise<void> {
    const name = this.namespaceFor(recorded);
    if (name === '' || this.namespaces.has(name)) return;
    this.namespaces.add(name);
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { reply } = await this.create(`/api/v1/namespaces/${encodeURIComponent(name)}`, 'observer', () =>
      this.client.send('observer', 'POST', '/api/v1/namespaces', { body, signal: uninterrupted() }),
    );
    if (reply.status === 201) this.ownNamespaces.add(name);
  }
}

/**
 * The versions that accepted creates of subresources stored, whose answers do not hold the object: each the version of it
 * that was seen last, unless that is the first one of its incarnation.
 */
function storedBySubresources(events: readonly TraceEvent[]): Map<WriteEvent, ObservedEvent> {
  const seen = new Map<string, ObservedEvent[]>();
  const stored = new Map<WriteEvent, ObservedEvent>();
  for (const event of events) {
    if (event.type !== 'observed' && event.type !== 'write') continue;
    const { group, resource, namespace, name } = event.name;
    const key = [group, resource, namespace, name].join('\0');
    const before = seen.get(key) ?? [];
    if (event.type === 'observed') {
      seen.set(key, [...before.filter(({ uid }) => uid === event.uid).slice(-1), event]);
    } else if (event.verb === 'create' && event.subresource !== undefined && event.result === undefined) {
      const last = before.length > 1 ? before.at(-1) : undefined;
      if (event.outcome === 'accepted' && event.dryRun !== true && last !== undefined) stored.set(event, last);
    }
  }
  return stored;
}

function versionKey({ uid, token }: { uid: string; token: string }): string {
  return `${uid}\0${token}`;
}

/** A recorded object as something to be written: without what the server sets, with the UID of its counterpart. */
function withIdentity(object: JsonObject, uid: string | undefined): JsonObject {
  const kept: JsonObject = {};
  const serverSet = [
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'managedFields',
    'selfLink',
  ];
  for (const [key, value] of Object.entries(metadataOf(object))) if (!serverSet.includes(key)) kept[key] = value;
  if (uid !== undefined) kept['uid'] = uid;
  return { ...object, metadata: kept };
}
