import { randomBytes } from 'node:crypto';

import { toDisposable, type Disposable } from '../base/disposable.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';
import { releases } from '../core/endingWrite.ts';
import { deletedFrom, observedFrom } from '../core/observe.ts';
import { withoutSecretWords } from '../core/secretRefusal.ts';
import { hideSecrets, isSecretResource } from '../core/secrets.ts';
import type { Actor, NewTraceEvent, WriteEvent } from '../core/traceEvent.ts';
import { answerText, mediaTypeOf, type ApiAnswer, type ApiRequest } from './apiRequest.ts';
import { bodyText } from './bodies.ts';
import type { StreamLine } from './eventStream.ts';
import { outcomeOf } from './feedOutcome.ts';
import { managerOf } from './queryOptions.ts';
import { metaString, type ApiState } from './state.ts';
import type { Change } from './store.ts';

/** Takes the events of one request or commit. */
export type FeedListener = (events: readonly NewTraceEvent[]) => void;

/** What came of a request besides its answer. */
export interface Aftermath {
  readonly startedAt: number;
  /** Whether anything was stored while it ran. */
  readonly stored: boolean;
  /** The answer was not sent: the connection was closed instead. */
  readonly lost: boolean;
}

const STREAM = 'sandbox';
const VERBS: Readonly<Record<string, 'create' | 'replace' | 'patch' | 'delete' | 'deletecollection'>> = {
  create: 'create',
  update: 'replace',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deletecollection',
};
const PATCH_TYPES: ReadonlyMap<string, 'json-patch' | 'merge-patch' | 'strategic' | 'apply'> = new Map(
  Object.entries({
    'application/json-patch+json': 'json-patch',
    'application/merge-patch+json': 'merge-patch',
    'application/strategic-merge-patch+json': 'strategic',
    'application/apply-patch+yaml': 'apply',
  }),
);

/**
 * The sandbox's own log: every request with its answer, refused ones included, and every commit, as events of the trace
 * format. Nothing is made while nobody listens. Values of Secrets are never in it.
 */
export class Feed {
  private readonly listeners = new Set<FeedListener>();
  private readonly state: ApiState;
  private readonly cluster: () => string;
  private readonly secretKey = randomBytes(16).toString('hex');
  private subscription: Disposable | undefined;

  constructor(state: ApiState, cluster: () => string) {
    this.state = state;
    this.cluster = cluster;
  }

  /** Whether anybody listens. */
  get active(): boolean {
    return this.listeners.size > 0;
  }

  /** Calls the listener with all events from now on. */
  listen(listener: FeedListener): Disposable {
    this.listeners.add(listener);
    this.subscription ??= this.state.store.subscribeAll((change) => this.committed(change));
    return toDisposable(() => {
      this.listeners.delete(listener);
      if (this.active) return;
      this.subscription?.dispose();
      this.subscription = undefined;
    });
  }

  /** What is stored now, as events; a listener that comes later begins with them. */
  current(): NewTraceEvent[] {
    const events: NewTraceEvent[] = [];
    for (const kind of this.state.registry.all()) {
      if (kind.storage.group !== kind.group || kind.storage.resource !== kind.plural) continue;
      for (const { object } of this.state.store.list(`${kind.group}/${kind.plural}`, '')) {
        const event = observedFrom(object, {
          ...this.context({ group: kind.group, resource: kind.plural }),
          change: 'ADDED',
        });
        if (event !== undefined) events.push(event);
      }
    }
    return events;
  }

  /** A request was answered. */
  answered(request: ApiRequest, answer: ApiAnswer, aftermath: Aftermath): void {
    if (!this.active || !request.info.isResource) return;
    const verb = VERBS[request.info.verb];
    this.emit([
      verb === undefined ? this.readEvent(request, answer) : this.writeEvent(request, answer, aftermath, verb),
    ]);
  }

  /** A watch gave its client an event. */
  delivered(request: ApiRequest, line: StreamLine): void {
    if (!this.active) return;
    const event = parseJson(line.text);
    const object = isJsonObject(event) && isJsonObject(event['object']) ? event['object'] : {};
    const type = isJsonObject(event) ? event['type'] : '';
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
    const given = givenOf(object);
    if (given === undefined) return;
    this.emit([
      {
        type: 'read',
        ...this.base(),
        actor: actorOf(request),
        verb: 'watch',
        scope: this.scopeOf(request),
        given: [{ ...given, ...(type === 'DELETED' ? { deleted: true } : {}) }],
        cacheAllowed: true,
      },
    ]);
  }

  private emit(events: readonly NewTraceEvent[]): void {
    for (const listener of Array.from(this.listeners)) listener(events);
  }

  private base(): { at: number; via: 'sandbox'; cluster: string } {
    return { at: this.state.clock.now(), via: 'sandbox', cluster: this.cluster() };
  }

  private context(resource: { group: string; resource: string }): Parameters<typeof observedFrom>[1] {
    return { ...this.base(), resource, stream: STREAM, keepBody: true, secretKey: this.secretKey };
  }

  private committed(change: Change): void {
    const slash = change.bucket.indexOf('/');
    const context = this.context({ group: change.bucket.slice(0, slash), resource: change.bucket.slice(slash + 1) });
    const token = this.state.store.tokens.print(change.revision);
    const event =
      change.after === undefined
        ? { ...deletedFrom(change.before?.object ?? {}, context), token }
        : observedFrom(change.after.object, { ...context, change: change.before === undefined ? 'ADDED' : 'MODIFIED' });
    if (event !== undefined && 'name' in event) this.emit([event as NewTraceEvent]);
  }

  private scopeOf({ info }: ApiRequest): {
    group: string;
    resource: string;
    namespace?: string;
    name?: string;
    subresource?: string;
  } {
    return {
      group: info.group,
      resource: info.resource,
      ...(info.namespace === '' ? {} : { namespace: info.namespace }),
      ...(info.name === '' ? {} : { name: info.name }),
      ...(info.subresource === '' ? {} : { subresource: info.subresource }),
    };
  }

  private readEvent(request: ApiRequest, answer: ApiAnswer): NewTraceEvent {
    const verb = request.info.verb === 'list' || request.info.verb === 'watch' ? request.info.verb : 'get';
    const body =
      answer.status === 200 && answer.contentType.startsWith('application/json') ? parseJson(answerText(answer)) : null;
    const objects = isJsonObject(body) ? (Array.isArray(body['items']) ? body['items'] : [body]) : [];
    const asked = request.query.get('resourceVersion');
    return {
      type: 'read',
      ...this.base(),
      actor: actorOf(request),
      verb,
      scope: this.scopeOf(request),
      given: objects.map(givenOf).filter((given) => given !== undefined),
      cacheAllowed: asked !== null && asked !== '' && request.query.get('resourceVersionMatch') !== 'Exact',
      ...(answer.status === 200 ? {} : { code: answer.status }),
    };
  }

  private writeEvent(
    request: ApiRequest,
    answer: ApiAnswer,
    aftermath: Aftermath,
    verb: (typeof VERBS)[string],
  ): NewTraceEvent {
    const { info, query } = request;
    const patchType = verb === 'patch' ? PATCH_TYPES.get(mediaTypeOf(request.contentType)) : undefined;
    const asked = sentBody(request, patchType);
    const sent = isSecretResource(info) ? hiddenBody(asked, this.secretKey) : asked;
    const reply = answer.contentType.startsWith('application/json') ? parseJson(answerText(answer)) : null;
    const stored = isJsonObject(reply) ? reply : {};
    const carried = isJsonObject(asked) ? carriedBy(asked, verb ?? '') : {};
    const refused = answer.status >= 400;
    const dryRun = query.getAll('dryRun').length > 0;
    const outcome = aftermath.lost ? 'uncertain' : outcomeOf(answer.status, stored, aftermath.stored || dryRun);
    const given = refused ? undefined : givenOf(stored);
    const written = patchType === 'apply' ? 'apply' : (verb ?? 'patch');
    const result = refused || aftermath.lost ? undefined : resultOf(written, stored, given);
    const name = info.pathName !== '' ? info.pathName : (given?.name ?? nameIn(sent));
    return {
      type: 'write',
      ...this.base(),
      actor: actorOf(request),
      verb: written,
      ...(patchType === undefined ? {} : { patchType }),
      name: { group: info.group, resource: info.resource, namespace: info.namespace, name },
      ...(info.subresource === '' ? {} : { subresource: info.subresource }),
      ...(query.get('force') === 'true' ? { force: true } : {}),
      ...(dryRun ? { dryRun: true } : {}),
      ...(Object.keys(carried).length === 0 ? {} : { preconditions: carried }),
      ...(carried.uid !== undefined && carried.token !== undefined
        ? { basedOn: { uid: carried.uid, token: carried.token, known: 'token' as const } }
        : {}),
      ...(sent === undefined ? {} : { body: sent }),
      startedAt: aftermath.startedAt,
      outcome,
      ...(aftermath.lost ? {} : { code: answer.status }),
      ...(refused ? refusalOf(stored, answer.status, info) : {}),
      ...(result === undefined ? {} : { result }),
    };
  }
}

function sentBody(request: ApiRequest, patchType: string | undefined): Json | undefined {
  if (request.body.length === 0) return undefined;
  try {
    const text = bodyText(request);
    const yaml = patchType === 'apply' || mediaTypeOf(request.contentType) === 'application/yaml';
    return yaml ? parseYaml(text).value : parseJson(text);
  } catch {
    return undefined;
  }
}

function hiddenBody(body: Json | undefined, key: string): Json | undefined {
  return isJsonObject(body) ? hideSecrets(body, key) : undefined;
}

function actorOf(request: ApiRequest): Actor {
  const agent = request.userAgent;
  const manager = managerOf({ fieldManager: request.query.get('fieldManager') ?? '' }, agent);
  return { user: request.user.name, ...(agent === '' ? {} : { agent }), ...(manager === '' ? {} : { manager }) };
}

function givenOf(
  object: Json,
): { namespace: string; name: string; uid: string; token: string; terminating?: boolean } | undefined {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return undefined;
  const [namespace, name, uid, token] = ['namespace', 'name', 'uid', 'resourceVersion'].map((field) =>
    metaString(object, field),
  );
  if (name === undefined || name === '' || uid === undefined || uid === '') return undefined;
  return {
    namespace: namespace ?? '',
    name,
    uid,
    token: token ?? '',
    ...(metaString(object, 'deletionTimestamp') === '' ? {} : { terminating: true }),
  };
}

/** What an answer says is stored now; a bare success names what is gone. */
function resultOf(
  verb: WriteEvent['verb'],
  stored: JsonObject,
  given: ReturnType<typeof givenOf>,
): WriteEvent['result'] | undefined {
  if (given === undefined) {
    const details = stored['details'];
    const uid = isJsonObject(details) ? details['uid'] : undefined;
    return typeof uid === 'string' ? { uid, token: '' } : undefined;
  }
  const generation = isJsonObject(stored['metadata']) ? stored['metadata']['generation'] : undefined;
  return {
    uid: given.uid,
    token: given.token,
    ...(typeof generation === 'number' ? { generation } : {}),
    ...(releases(verb, stored) ? { released: true } : {}),
  };
}

/** The uid and token that a body demands: its own metadata, or a DELETE's preconditions. */
function carriedBy(sent: JsonObject, verb: string): { uid?: string; token?: string } {
  const of = verb === 'delete' || verb === 'deletecollection' ? sent['preconditions'] : sent['metadata'];
  if (!isJsonObject(of)) return {};
  const { uid, resourceVersion } = of;
  return {
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' && resourceVersion !== '' && resourceVersion !== '0'
      ? { token: resourceVersion }
      : {}),
  };
}

function nameIn(sent: Json | undefined): string {
  return isJsonObject(sent) && isJsonObject(sent['metadata']) ? metaString(sent, 'name') : '';
}

interface Refusal {
  reason?: string;
  message?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
}

function refusalOf(status: JsonObject, code: number, resource: { group: string; resource: string }): Refusal {
  const { reason, message, details } = status;
  const causes =
    isJsonObject(details) && Array.isArray(details['causes'])
      ? (details['causes'] as { reason?: string; message?: string; field?: string }[])
      : undefined;
  const words: Refusal = {
    ...(typeof message === 'string' ? { message } : {}),
    ...(causes === undefined ? {} : { causes }),
  };
  const open = isSecretResource(resource) ? withoutSecretWords({ ...words, code }) : words;
  return {
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(open.message === undefined ? {} : { message: open.message }),
    ...(open.causes === undefined ? {} : { causes: open.causes }),
  };
}
