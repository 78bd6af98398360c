import { inEnglish } from '../write/outcome.ts';
import type { JsonObject } from '../codec/json.ts';
import { observedFrom } from '../core/observe.ts';
import { hideSecrets, isSecretResource } from '../core/secrets.ts';
import type { NewTraceEvent, ObjectName, WriteEvent } from '../core/traceEvent.ts';
import { classifyReply, type RequestFacts } from '../write/classify.ts';
import { withoutValues } from '../write/exchange.ts';
import { traceOutcome } from '../write/writeLog.ts';
import { textOf, tokenOf, uidOf, type Exchange } from './labClient.ts';
import { metadataOf } from '../write/target.ts';

/** What the events of a lab's exchanges need besides the exchange. */
export interface ExchangeContext {
  /** The cluster's id in the log. */
  readonly cluster: string;
  /** The key of the hashes that stand for a Secret's values. */
  readonly secretKey: string;
}

const verbs: Record<string, WriteEvent['verb']> = { POST: 'create', PUT: 'replace', PATCH: 'patch', DELETE: 'delete' };

/**
 * A lab's exchange as events of the log, so that a lab on any cluster shows on the timeline as a person's own writes do.
 * Bodies are kept: a lab's objects are its own. A Secret's values never are.
 */
export function exchangeEvents(exchange: Exchange, context: ExchangeContext): NewTraceEvent[] {
  const place = placeOf(exchange);
  if (place === undefined) return [];
  const { request } = exchange;
  return request.method === 'GET' ? readEvents(exchange, place, context) : writeEvents(exchange, place, context);
}

interface Place {
  readonly name: ObjectName;
  readonly subresource?: string;
}

const pattern = /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** What a request's path names; the name of a created object comes from its answer or its body. */
function placeOf({ request, answer, sent }: Exchange): Place | undefined {
  const found = pattern.exec(request.path);
  if (found === null) return undefined;
  const [, group = '', namespace = '', resource = '', name, subresource] = found.map((part) =>
    part === undefined ? undefined : decodeURIComponent(part),
  );
  const named = name ?? (textOf(metadataOf(answer)['name']) || nameIn(sent));
  return { name: { group, resource, namespace, name: named }, ...(subresource === undefined ? {} : { subresource }) };
}

function nameIn(sent: Exchange['sent']): string {
  return typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? textOf(metadataOf(sent)['name']) : '';
}

function readEvents(exchange: Exchange, place: Place, context: ExchangeContext): NewTraceEvent[] {
  const { answer, actor, endedAt, reply } = exchange;
  const base = { at: endedAt, via: 'get', cluster: context.cluster } as const;
  const { namespace, name } = place.name;
  const scope = { ...place.name, ...(place.subresource === undefined ? {} : { subresource: place.subresource }) };
  if (reply.status !== 200) {
    const read: NewTraceEvent = {
      ...base,
      type: 'read',
      actor,
      verb: 'get',
      scope,
      given: [],
      cacheAllowed: false,
      code: reply.status,
    };
    return reply.status === 404 ? [read, { ...base, type: 'absent', name: place.name, how: '404' }] : [read];
  }
  const given = [{ namespace, name, uid: uidOf(answer), token: tokenOf(answer) }];
  return [
    { ...base, type: 'read', actor, verb: 'get', scope, given, cacheAllowed: false },
    ...observed(exchange, place, context, 'get'),
  ];
}

function writeEvents(exchange: Exchange, place: Place, context: ExchangeContext): NewTraceEvent[] {
  const { request, actor, startedAt, endedAt, reply, answer, sent } = exchange;
  const apply = request.headers?.['content-type']?.startsWith('application/apply-patch') === true;
  const verb = apply ? 'apply' : (verbs[request.method] ?? 'replace');
  const dryRun = request.query?.['dryRun'] === 'All';
  const facts: RequestFacts = {
    verb: verb === 'deletecollection' ? 'delete' : verb,
    resource: place.name.resource,
    terminating: false,
  };
  const classified = withoutValues(classifyReply(reply, facts), isSecretResource(place.name));
  const accepted = reply.status < 300;
  const token = tokenOf(answer);
  const write: NewTraceEvent = {
    at: endedAt,
    via: 'write',
    cluster: context.cluster,
    type: 'write',
    actor,
    verb,
    ...patchTypeOf(request.headers?.['content-type']),
    name: place.name,
    ...(place.subresource === undefined ? {} : { subresource: place.subresource }),
    ...(request.query?.['force'] === 'true' ? { force: true } : {}),
    ...(dryRun ? { dryRun } : {}),
    ...preconditionsOf(sent, request.method),
    ...(sent === undefined ? {} : { body: isSecretResource(place.name) ? hideSecrets(sent, context.secretKey) : sent }),
    startedAt,
    outcome: accepted ? 'accepted' : traceOutcome(classified.outcome),
    code: reply.status,
    ...(classified.reason === undefined ? {} : { reason: classified.reason }),
    ...(classified.message === undefined ? {} : { message: String(classified.message) }),
    ...(classified.causes === undefined ? {} : { causes: inEnglish(classified.causes) }),
    ...(accepted && token !== '' ? { result: { uid: uidOf(answer), token } } : {}),
  };
  if (!accepted) return [write];
  if (request.method !== 'DELETE') return [write, ...observed(exchange, place, context, 'write', dryRun)];
  return [write];
}

function observed(
  exchange: Exchange,
  place: Place,
  context: ExchangeContext,
  via: 'get' | 'write',
  notStored = false,
): NewTraceEvent[] {
  if (place.subresource === 'scale') return [];
  const event = observedFrom(exchange.answer, {
    cluster: context.cluster,
    via,
    at: exchange.endedAt,
    resource: place.name,
    keepBody: true,
    secretKey: context.secretKey,
    ...(notStored ? { notStored } : {}),
  });
  return event === undefined ? [] : [event];
}

function patchTypeOf(contentType: string | undefined): Pick<WriteEvent, 'patchType'> {
  if (contentType?.startsWith('application/apply-patch') === true) return { patchType: 'apply' };
  if (contentType?.startsWith('application/json-patch') === true) return { patchType: 'json-patch' };
  if (contentType?.startsWith('application/merge-patch') === true) return { patchType: 'merge-patch' };
  return contentType?.startsWith('application/strategic') === true ? { patchType: 'strategic' } : {};
}

/** The UID and token that a request itself carried. */
function preconditionsOf(sent: Exchange['sent'], method: string): Pick<WriteEvent, 'preconditions'> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return {};
  const source: JsonObject = method === 'DELETE' ? preconditionsMember(sent) : metadataOf(sent);
  const uid = textOf(source['uid']);
  const token = textOf(source['resourceVersion']);
  return uid === '' && token === ''
    ? {}
    : { preconditions: { ...(uid === '' ? {} : { uid }), ...(token === '' ? {} : { token }) } };
}

function preconditionsMember(options: JsonObject): JsonObject {
  const member = options['preconditions'];
  return typeof member === 'object' && member !== null && !Array.isArray(member) ? member : {};
}
