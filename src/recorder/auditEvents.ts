import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { releases } from '../core/endingWrite.ts';
import { keepLast } from '../core/keepLast.ts';
import { observedFrom } from '../core/observe.ts';
import { hideSecrets, isSecretResource } from '../core/secrets.ts';
import { withoutSecretWords } from '../core/secretRefusal.ts';
import type { Actor, NewTraceEvent, WriteEvent } from '../core/traceEvent.ts';
import { givenObject, type GivenObject } from './given.ts';
import { answerOf } from './outcome.ts';
import { nameOf, requestInfo, type RequestInfo } from './requestInfo.ts';
import { writeRequest } from './writeRequest.ts';

/** What turning audit events into ours needs. */
export interface AuditContext {
  readonly cluster: string;
  readonly secretKey: string;
  /** Who was met, by all that is known of them: equal actors are one object, so that who looks for one finds it at once. */
  readonly actors: Map<string, Actor>;
}

/** What one audit event became; `level` says what it can tell. */
export interface AuditReading {
  readonly at: number;
  readonly level: string;
  readonly events: NewTraceEvent[];
}

const MAX_ACTORS = 1_000;
const NO_QUERY = new URLSearchParams();

const VERBS: ReadonlyMap<string, RequestInfo['verb']> = new Map(
  Object.entries({
    create: 'create',
    update: 'replace',
    patch: 'patch',
    delete: 'delete',
    deletecollection: 'deletecollection',
    get: 'get',
    list: 'list',
    watch: 'watch',
  }),
);

/**
 * Turns one event of an API server's audit log (`audit.k8s.io/v1`) into ours. Only the last stage of a request says what came
 * of it; the start of a watch says that its user reads what the log does not show. Undefined for anything else.
 */
export function auditEvents(value: Json, context: AuditContext): AuditReading | undefined {
  if (!isJsonObject(value)) return undefined;
  const { stage, verb, objectRef, requestURI } = value;
  const at = timeOf(value['stageTimestamp'] ?? value['requestReceivedTimestamp']);
  const level = typeof value['level'] === 'string' ? value['level'] : '';
  if (
    at === undefined ||
    (stage !== 'ResponseComplete' && stage !== 'Panic' && !(stage === 'ResponseStarted' && verb === 'watch'))
  )
    return undefined;
  const info = infoOf(
    typeof verb === 'string' ? verb : '',
    objectRef,
    typeof requestURI === 'string' ? requestURI : '',
  );
  if (info === undefined || info.verb === 'other' || info.resource.endsWith('reviews')) return undefined;
  const reader = new AuditRequest(value, info, at, context);
  const reads = info.verb === 'get' || info.verb === 'list' || info.verb === 'watch';
  return { at, level, events: reads ? reader.read() : reader.write() };
}

function infoOf(verb: string, objectRef: Json | undefined, uri: string): RequestInfo | undefined {
  const known = VERBS.get(verb);
  if (known === undefined) return undefined;
  const question = uri.indexOf('?');
  const query = question < 0 ? NO_QUERY : new URLSearchParams(uri.slice(question + 1));
  if (!isJsonObject(objectRef)) {
    const parsed = requestInfo('GET', uri);
    return parsed === undefined ? undefined : { ...parsed, verb: known };
  }
  const text = (field: string): string => (typeof objectRef[field] === 'string' ? objectRef[field] : '');
  if (text('resource') === '') return undefined;
  const subresource = text('subresource');
  const [group, resource] = [text('apiGroup'), text('resource')];
  return {
    group,
    version: text('apiVersion'),
    resource,
    // A request for a namespace is said to be made in it; the namespace itself is in none.
    namespace: group === '' && resource === 'namespaces' ? '' : text('namespace'),
    name: text('name'),
    subresource: subresource === '' ? undefined : subresource,
    verb: known,
    query,
  };
}

/** One request of an audit log. */
class AuditRequest {
  private readonly value: JsonObject;
  private readonly info: RequestInfo;
  private readonly at: number;
  private readonly context: AuditContext;

  constructor(value: JsonObject, info: RequestInfo, at: number, context: AuditContext) {
    this.value = value;
    this.info = info;
    this.at = at;
    this.context = context;
  }

  read(): NewTraceEvent[] {
    const { info, at, context } = this;
    const code = this.code();
    if (info.verb !== 'get' && info.verb !== 'list' && info.verb !== 'watch') return [];
    const objects = code === 200 && info.subresource !== 'scale' ? this.given() : [];
    const version = info.query.get('resourceVersion') ?? '';
    return [
      ...objects.flatMap((item) => this.observed(item.object, item.whole) ?? []),
      {
        type: 'read',
        at,
        via: 'audit',
        cluster: context.cluster,
        actor: this.actor(),
        verb: info.verb,
        scope: {
          group: info.group,
          resource: info.resource,
          ...(info.namespace === '' ? {} : { namespace: info.namespace }),
          ...(info.name === '' ? {} : { name: info.name }),
        },
        given: objects.map((item) => item.given),
        cacheAllowed: info.verb === 'watch' || (version !== '' && info.query.get('resourceVersionMatch') !== 'Exact'),
        ...(code === 200 ? {} : { code }),
      },
    ];
  }

  write(): NewTraceEvent[] {
    const { info, at, context, value } = this;
    const sent = value['requestObject'];
    const answer = value['responseObject'];
    const patchType = info.verb === 'patch' ? patchTypeOf(sent, answer, info) : undefined;
    const request = writeRequest(info, patchType, sent);
    if (
      request === undefined ||
      (request.verb === 'create' && info.subresource !== undefined && info.subresource !== 'status')
    )
      return [];
    const code = this.code();
    const read = answerOf(request.verb, code, isJsonObject(answer) ? answer : this.status());
    const said =
      value['stage'] === 'Panic'
        ? { outcome: 'uncertain' as const, code }
        : isSecretResource(info)
          ? withoutSecretWords(read)
          : read;
    const dryRun = request.dryRun === true;
    const stored = said.outcome === 'accepted' && !dryRun;
    const { manager, ...rest } = request;
    const preconditions = request.preconditions ?? this.refPreconditions(request.verb);
    const result = dryRun || !('result' in said) ? undefined : said.result;
    const { result: _result, ...answered } = { result: undefined, ...said };
    const body =
      sent === undefined ? {} : { body: isSecretResource(info) ? hideSecrets(sent, context.secretKey) : sent };
    const event: NewTraceEvent = {
      type: 'write',
      at,
      via: 'audit',
      cluster: context.cluster,
      actor: this.actor(manager),
      name: this.name(answer, sent),
      ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
      ...rest,
      ...(preconditions === undefined ? {} : { preconditions }),
      ...body,
      ...this.started(),
      ...answered,
      ...(result === undefined ? {} : { result }),
    };
    const shown =
      stored &&
      isJsonObject(answer) &&
      request.verb !== 'delete' &&
      request.verb !== 'deletecollection' &&
      (info.subresource === undefined || info.subresource === 'status')
        ? this.observed(answer, true, releases(request.verb, answer))
        : undefined;
    return shown === undefined ? [event] : [event, shown];
  }

  private given(): GivenObject[] {
    const answer = this.value['responseObject'];
    if (!isJsonObject(answer)) return [];
    const items = answer['items'] ?? answer['rows'];
    const list = Array.isArray(items) ? items : [answer];
    return list.flatMap((item) => givenObject(item) ?? []);
  }

  private observed(object: JsonObject, whole: boolean, notStored = false): NewTraceEvent | undefined {
    if (!whole) return undefined;
    const { info, at, context } = this;
    return observedFrom(
      object,
      {
        cluster: context.cluster,
        via: 'audit',
        at,
        resource: { group: info.group, resource: info.resource, version: info.version },
        keepBody: true,
        secretKey: context.secretKey,
        ...(notStored ? { notStored } : {}),
      },
      false,
    );
  }

  private code(): number {
    const status = this.value['responseStatus'];
    const code = isJsonObject(status) ? status['code'] : undefined;
    return typeof code === 'number' ? code : 200;
  }

  /** The outcome as a Status, where the log holds no answer. */
  private status(): JsonObject | undefined {
    const status = this.value['responseStatus'];
    return isJsonObject(status) ? { kind: 'Status', ...status, metadata: {} } : undefined;
  }

  private actor(manager?: string): Actor {
    const { user, impersonatedUser, userAgent } = this.value;
    const name = (item: Json | undefined): string | undefined =>
      isJsonObject(item) && typeof item['username'] === 'string' ? item['username'] : undefined;
    const username = name(impersonatedUser) ?? name(user);
    const agent = typeof userAgent === 'string' ? userAgent : undefined;
    const { actors } = this.context;
    const key = `${username?.length} ${agent?.length} ${manager?.length} ${username}${agent}${manager}`;
    const known = actors.get(key);
    if (known !== undefined) return known;
    const actor = {
      ...(username === undefined ? {} : { user: username }),
      ...(agent === undefined ? {} : { agent }),
      ...(manager === undefined ? {} : { manager }),
    };
    keepLast(actors, key, actor, MAX_ACTORS);
    return actor;
  }

  /** At the Metadata level the reference still names UID and version of the object that was sent. */
  private refPreconditions(verb: WriteEvent['verb']): WriteEvent['preconditions'] {
    const ref = this.value['objectRef'];
    if (!isJsonObject(ref) || verb !== 'replace' || this.value['requestObject'] !== undefined) return undefined;
    const { uid, resourceVersion } = ref;
    const found = {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { token: resourceVersion } : {}),
    };
    return Object.keys(found).length === 0 ? undefined : found;
  }

  private started(): { startedAt?: number } {
    const startedAt = timeOf(this.value['requestReceivedTimestamp']);
    return startedAt === undefined ? {} : { startedAt };
  }

  private name(answer: Json | undefined, sent: Json | undefined): WriteEvent['name'] {
    const own = nameOf(this.info);
    if (own.name !== '') return own;
    for (const value of [answer, sent]) {
      const metadata = isJsonObject(value) && value['kind'] !== 'Status' ? value['metadata'] : undefined;
      if (isJsonObject(metadata) && typeof metadata['name'] === 'string') return { ...own, name: metadata['name'] };
    }
    return own;
  }
}

/**
 * An audit log does not name the patch type. A list of operations is a JSON Patch; an apply names its type, and the answer's
 * managed fields have an Apply entry of its manager; strategic directives tell themselves, as does a list that holds more in
 * the answer than was sent; the rest merges.
 */
function patchTypeOf(sent: Json | undefined, answer: Json | undefined, info: RequestInfo): WriteEvent['patchType'] {
  if (sent === undefined) return info.query.has('force') ? 'apply' : undefined;
  if (Array.isArray(sent)) return 'json-patch';
  if (!isJsonObject(sent)) return undefined;
  const named =
    typeof sent['apiVersion'] === 'string' && typeof sent['kind'] === 'string' && info.query.has('fieldManager');
  if (info.query.has('force') || (named && (appliedBy(answer, info.query.get('fieldManager') ?? '') ?? true)))
    return 'apply';
  return stringifyJson(sent).includes('"$') || hasMergedLists(sent, answer) ? 'strategic' : 'merge-patch';
}

/** Whether a list is longer than it was sent: a merge patch would have replaced it. */
function hasMergedLists(sent: Json | undefined, answer: Json | undefined): boolean {
  if (Array.isArray(sent)) return Array.isArray(answer) && answer.length > sent.length;
  if (!isJsonObject(sent) || !isJsonObject(answer)) return false;
  return Object.entries(sent).some(([field, value]) => hasMergedLists(value, answer[field]));
}

function appliedBy(answer: Json | undefined, manager: string): boolean | undefined {
  const metadata = isJsonObject(answer) ? answer['metadata'] : undefined;
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(entries)) return undefined;
  return entries.some((entry) => isJsonObject(entry) && entry['manager'] === manager && entry['operation'] === 'Apply');
}

function timeOf(value: Json | undefined): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
