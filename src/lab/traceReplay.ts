import { isAppError } from '../base/appError.ts';
import type { JsonObject } from '../codec/json.ts';
import { isSecretResource } from '../core/secrets.ts';
import type { ObjectName, ObservedEvent, TraceEvent, WriteEvent } from '../core/traceEvent.ts';
import { storableObject } from './hiddenValues.ts';
import { LabClient, textOf, tokenOf, uidOf, type Exchange } from './labClient.ts';
import { metadataOf } from '../write/target.ts';
import type { LessonOptions } from './lessonRun.ts';
import { replayRequest, type Equals } from './replayRequest.ts';
import type { StepResult } from './replay.ts';

/** What a replayed trace did. `leftOut`: writes whose body the trace does not hold. */
export interface TraceReplayResult {
  readonly steps: readonly StepResult[];
  readonly holds: boolean;
  readonly leftOut: number;
}

/**
 * Repeats a recording's writes on another server, in the order of the recording, with UIDs and tokens mapped by equality:
 * where the recording's write carried the token of an earlier answer, the replayed one carries the token of that answer's
 * counterpart. Versions that no recorded write explains are written by `observer` first. It stops at the first answer that
 * differs in status or reason.
 */
export async function replayTrace(events: readonly TraceEvent[], options: LessonOptions): Promise<TraceReplayResult> {
  return new TraceReplay(events, options).run();
}

class TraceReplay {
  private readonly events: readonly TraceEvent[];
  private readonly options: LessonOptions;
  private readonly client: LabClient;
  private readonly equals: Equals = { uids: new Map(), tokens: new Map() };
  private readonly written: ReadonlySet<string>;
  private readonly namespaces = new Set<string>();
  private readonly steps: StepResult[] = [];
  private leftOut = 0;

  constructor(events: readonly TraceEvent[], options: LessonOptions) {
    this.events = events;
    this.options = options;
    this.client = new LabClient(options);
    this.written = new Set(
      events.flatMap((event) =>
        event.type === 'write' && event.result !== undefined ? [versionKey(event.result)] : [],
      ),
    );
  }

  async run(): Promise<TraceReplayResult> {
    for (const event of this.events) {
      if (event.type === 'observed') await this.observe(event);
      if (event.type !== 'write') continue;
      const result = await this.repeat(event);
      if (result === undefined) continue;
      this.steps.push(result);
      if (!result.holds) break;
    }
    return { steps: this.steps, holds: this.steps.every((step) => step.holds), leftOut: this.leftOut };
  }

  /** Brings the server to a version that the recording saw and no recorded write made. */
  private async observe(event: ObservedEvent): Promise<void> {
    if (event.body === undefined || this.equals.tokens.has(event.token) || this.written.has(versionKey(event))) return;
    await this.ensureNamespace(event.name.namespace);
    const known = this.equals.uids.get(event.uid);
    const path = this.pathOf(event.name);
    const { body: seen } = event;
    const body = withIdentity(isSecretResource(event.name) ? storableObject(seen) : seen, known);
    const made =
      known === undefined
        ? await this.client.send('observer', 'POST', path.collection, { body })
        : await this.client.send('observer', 'PUT', path.object, { body });
    this.learn(event.uid, event.token, made.answer);
  }

  private async repeat(event: WriteEvent): Promise<StepResult | undefined> {
    const needsBody = event.verb !== 'delete' && event.verb !== 'deletecollection';
    if ((needsBody && event.body === undefined) || event.code === undefined || event.outcome === 'uncertain') {
      this.leftOut += 1;
      return undefined;
    }
    await this.ensureNamespace(event.name.namespace);
    const expected: JsonObject = {
      status: event.code,
      ...(event.code >= 400 && event.reason !== undefined ? { reason: event.reason } : {}),
    };
    const title = `${event.verb} ${event.name.resource} ${event.name.namespace}/${event.name.name}`;
    const step = (observed: JsonObject): StepResult => ({
      id: `event-${event.seq}`,
      title,
      expected,
      observed,
      holds: Object.keys(expected).every((key) => expected[key] === observed[key]),
      lesson: '',
    });
    try {
      const done = await this.send(event);
      if (event.result !== undefined) this.learn(event.result.uid, event.result.token, done.answer);
      const reason = textOf(done.answer['reason']);
      return step({ status: done.reply.status, ...(done.reply.status >= 400 && reason !== '' ? { reason } : {}) });
    } catch (error) {
      if (isAppError(error, 'unknown-resource')) return step({ problem: error.message });
      throw error;
    }
  }

  private send(event: WriteEvent): Promise<Exchange> {
    const manager = event.actor.manager ?? event.actor.client ?? event.actor.user ?? 'replay';
    const { method, path, query, body, contentType } = replayRequest(event, this.pathOf(event.name), this.equals);
    return this.client.send(manager, method, path, {
      query,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  private learn(uid: string, token: string, answer: JsonObject): void {
    if (uidOf(answer) === '') return;
    this.equals.uids.set(uid, uidOf(answer));
    this.equals.tokens.set(token, tokenOf(answer));
  }

  private pathOf(name: ObjectName): { collection: string; object: string } {
    const found = this.options.resources.find(name.group === '' ? name.resource : `${name.resource}.${name.group}`);
    const root = found.group === '' ? `/api/${found.version}` : `/apis/${found.group}/${found.version}`;
    const collection = found.namespaced
      ? `${root}/namespaces/${encodeURIComponent(name.namespace)}/${found.resource}`
      : `${root}/${found.resource}`;
    return { collection, object: `${collection}/${encodeURIComponent(name.name)}` };
  }

  private async ensureNamespace(name: string): Promise<void> {
    if (name === '' || this.namespaces.has(name)) return;
    this.namespaces.add(name);
    await this.client.send('observer', 'POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    });
  }
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
