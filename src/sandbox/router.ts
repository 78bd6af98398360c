import { trackUpdate } from './fields/track.ts';
import { goDurationError } from './goDuration.ts';
import { textOf } from './goText.ts';
import type { ApiAnswer, ApiRequest } from './apiRequest.ts';
import { authorize } from './auth.ts';
import { checkBodySize, checkBodyType, readObjectBody } from './bodies.ts';
import { isKnownGroup, isServed, servedVerbs } from './discovery.ts';
import type { Kind } from './kinds/kind.ts';
import { checkAcceptable, formatText, mediaType, negotiate, printJson, type Output } from './negotiate.ts';
import { readPatchType } from './patching.ts';
import { managerOf, readListOptions, readWriteOptions } from './queryOptions.ts';
import { listText, objectText, readIncludeObject, wholeList } from './render.ts';
import { readObject, readPage, type View } from './reading.ts';
import { reviewKind, reviews, type Review } from './reviews.ts';
import { scaleKind, scaleOf } from './scale.ts';
import { readFilter } from './selectors.ts';
import { notFoundPage, staticAnswer } from './staticRoutes.ts';
import { resourceOf, type ApiState, type Call } from './state.ts';
import { badRequest, failure, methodNotAllowed, noSuchResource, notFound, StatusError } from './status.ts';
import { watchStart, type WatchRequest } from './watch.ts';
import {
  callOf,
  patch,
  plainBody,
  post,
  postSubresource,
  put,
  remove,
  removeCollection,
  type WriteAnswer,
} from './writing.ts';

/** A watch that is checked and may begin. */
export interface WatchAnswer {
  readonly watch: WatchRequest;
  readonly from: number;
  readonly contentType: string;
}

/** What a request is answered with. */
export type Answer = ApiAnswer | WatchAnswer;

/** Whether an answer is a stream. */
export function isWatch(answer: Answer): answer is WatchAnswer {
  return 'watch' in answer;
}

/** Where and how an address answers. */
export interface Address {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly view: View;
  readonly lagMs: number;
}

/** Answers any authenticated request; refusals become Status answers. */
export async function route(state: ApiState, request: ApiRequest, address: Address): Promise<Answer> {
  const warnings: string[] = [];
  try {
    checkDeadline(request);
    authorize(request.user, request.info);
    if (!request.info.isResource) return staticAnswer(state, request, address.host);
    return await resourceAnswer(state, request, address, warnings);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return refusal(request, error, warnings);
  }
}

/** Requests that may take long have no deadline. */
const isLongRunning = ({ verb, subresource }: ApiRequest['info']): boolean =>
  verb === 'watch' || CONTAINER_STREAMS.includes(subresource);

/** Every other request may name how long it may take, which this server never needs. Throws 400. */
function checkDeadline({ info, query }: ApiRequest): void {
  const timeout = query.get('timeout') ?? '';
  if (timeout === '' || isLongRunning(info)) return;
  const problem = goDurationError(timeout);
  if (problem !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${problem}`);
}

/** A refusal in the form that the client accepts, JSON if it accepts none. */
export function refusal(
  request: Pick<ApiRequest, 'accept' | 'query' | 'userAgent'>,
  error: StatusError,
  warnings: readonly string[],
): ApiAnswer {
  let output: Output;
  try {
    output = negotiate(request.accept, { transforms: false, query: request.query, agent: request.userAgent });
  } catch (notAcceptable) {
    if (!(notAcceptable instanceof StatusError)) throw notAcceptable;
    output = { format: 'json', as: undefined, metaVersion: 'v1', pretty: false };
  }
  const seconds = retryAfter(error);
  const body = formatText(printJson(error.status), output);
  return {
    status: error.code,
    contentType: mediaType(output),
    body,
    warnings,
    ...(seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } }),
  };
}

function retryAfter(error: StatusError): number | undefined {
  const details = error.status['details'];
  const seconds =
    typeof details === 'object' && details !== null && !Array.isArray(details)
      ? details['retryAfterSeconds']
      : undefined;
  return typeof seconds === 'number' ? seconds : undefined;
}

async function resourceAnswer(
  state: ApiState,
  request: ApiRequest,
  address: Address,
  warnings: string[],
): Promise<Answer> {
  const { info } = request;
  const kind = state.registry.find(info.group, info.version, info.resource);
  const review = reviews.find(
    (entry) => entry.group === info.group && entry.version === info.version && entry.resource === info.resource,
  );
  if (review !== undefined) return reviewAnswer(state, request, review);
  if (info.group === '' && info.resource === 'bindings') return bindingAnswer(state, request, warnings);
  if (kind === undefined) return unknownResource(state, request);
  if (kind.origin === 'custom' && !isCustomPath(request, kind)) return notFoundPage();
  checkRoute(state, request, kind);
  if (kind.deprecation !== undefined) warnings.push(kind.deprecation);
  if (info.verb === 'list') return listAnswer(state, request, kind, address, warnings);
  if (info.verb === 'watch') return watchAnswer(state, request, kind, address, warnings);
  if (info.verb === 'get') return getAnswer(state, request, kind, address, warnings);
  if (info.verb === 'deletecollection') {
    const { items, meta } = await removeCollection(state, request, kind, warnings);
    return render(request, warnings, 200, (output) =>
      listText(kind, items, meta, output, readIncludeObject(request.query, output), state.clock.now()),
    );
  }
  const written = write(state, request, kind, warnings);
  const shownKind = info.subresource === 'scale' ? scaleKind(kind) : kind;
  return render(request, warnings, written.status, (output) =>
    objectText(shownKind, written.object, output, readIncludeObject(request.query, output), state.clock.now()),
  );
}

function write(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  switch (request.info.verb) {
    case 'create':
      return request.info.subresource === ''
        ? post(state, request, kind, warnings)
        : postSubresource(state, request, kind, warnings);
    case 'update':
      return put(state, request, kind, warnings);
    case 'patch':
      return patch(state, request, kind, warnings);
    case 'delete':
      return remove(state, request, kind, warnings);
    default:
      throw methodNotAllowed();
  }
}

function unknownResource(state: ApiState, request: ApiRequest): ApiAnswer {
  const { group, version } = request.info;
  if (group !== '' && !state.registry.isBuiltInGroup(group) && !isBuiltInPath(state, group, version))
    return notFoundPage();
  throw noSuchResource();
}

/** Groups that only answer reviews are built in, too. */
function isBuiltInPath(state: ApiState, group: string, version: string): boolean {
  return (
    isKnownGroup(state.registry, group) &&
    isServed(state.registry, group, version) &&
    reviews.some((review) => review.group === group)
  );
}

const VERB_OF_METHOD: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The route must exist (404), take the method (405), and produce what is accepted (406). */
function checkRoute(state: ApiState, request: ApiRequest, kind: Kind): void {
  const { info, method } = request;
  const own = kind.group === '' && kind.plural === 'namespaces' ? info.pathName : '';
  const wrongScope = kind.namespaced ? info.namespace === '' && info.pathName !== '' : info.namespace !== own;
  if (kind.origin === 'custom') {
    checkCustomRoute(request, kind);
    return;
  }
  if (wrongScope) throw noSuchResource();
  if (kind.group === '' && kind.plural === 'pods' && CONTAINER_STREAMS.includes(info.subresource)) return;
  const verbs = servedVerbs(
    state.registry,
    kind,
    info.subresource === '' ? kind.plural : `${kind.plural}/${info.subresource}`,
  );
  if (verbs === undefined || (info.subresource !== '' && info.rest.length > 0)) throw noSuchResource();
  const verb = VERB_OF_METHOD[method];
  const allowed = verb !== undefined && info.verb !== '' && allows(verbs, info, verb, kind);
  if (!allowed || method === 'HEAD') throw methodNotAllowed();
  if (info.verb === 'patch') readPatchType(request, kind);
  checkAcceptable(request.accept, info.verb === 'list' || info.verb === 'watch');
}

function allows(verbs: readonly string[], info: ApiRequest['info'], verb: string, kind: Kind): boolean {
  if (info.watchPrefix) return verb === 'get' && verbs.includes('watch');
  if (info.pathName !== '')
    return verb === 'create' ? info.subresource !== '' && verbs.includes('create') : verbs.includes(verb);
  if (kind.namespaced && info.namespace === '' && verb !== 'get') return false;
  if (verb === 'get') return verbs.includes('list');
  if (verb === 'delete') return verbs.includes('deletecollection');
  return verb === 'create' && verbs.includes('create');
}

/** Custom resources are mounted by scope: elsewhere the mux finds nothing. */
function isCustomPath({ info }: ApiRequest, kind: Kind): boolean {
  return kind.namespaced ? info.namespace !== '' || ['list', 'watch'].includes(info.verb) : info.namespace === '';
}

function checkCustomRoute(request: ApiRequest, kind: Kind): void {
  const { info, method } = request;
  const resource = resourceOf(kind);
  const { subresource } = info;
  const unsupported = (): StatusError =>
    failure(
      405,
      'MethodNotAllowed',
      `${info.verb} is not supported on resources of kind "${kind.plural}.${kind.group}"`,
      { group: kind.group, kind: kind.plural },
    );
  if (subresource !== '') {
    const served =
      (subresource === 'status' && kind.subresources.status) ||
      (subresource === 'scale' && kind.subresources.scale !== undefined);
    if (!served) throw notFound(resource, info.pathName);
    if (!['get', 'update', 'patch'].includes(info.verb)) throw unsupported();
    return;
  }
  if (VERB_OF_METHOD[method] === undefined && method !== 'HEAD') throw unsupported();
  if (info.pathName === '' && ['update', 'patch', 'delete'].includes(info.verb))
    throw badRequest('name must be provided');
}

function render(request: ApiRequest, warnings: string[], status: number, text: (output: Output) => string): ApiAnswer {
  const output = negotiate(request.accept, { transforms: true, query: request.query, agent: request.userAgent });
  return { status, contentType: mediaType(output), body: formatText(text(output), output), warnings };
}

/** What only a node could answer. */
const CONTAINER_STREAMS = ['log', 'exec', 'attach', 'portforward', 'proxy'];

const READ_OPTIONS = { fieldManager: '', dryRun: false };

const isTrue = (text: string | null): boolean => text !== null && text !== 'false' && text !== '0';

async function getAnswer(
  state: ApiState,
  request: ApiRequest,
  kind: Kind,
  address: Address,
  warnings: string[],
): Promise<ApiAnswer> {
  negotiate(request.accept, { transforms: true });
  if (isTrue(request.query.get('export')))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  const call: Call = callOf(request, kind, READ_OPTIONS, warnings);
  const object = await readObject(state, address.view, call, request.query.get('resourceVersion') ?? '');
  const { subresource } = request.info;
  if (CONTAINER_STREAMS.includes(subresource))
    throw badRequest(`pod ${call.name} has no containers: this server is a sandbox`);
  const isScale = subresource === 'scale';
  const shown = isScale ? scaleOf(kind, object) : object;
  return render(request, warnings, 200, (output) =>
    objectText(
      isScale ? scaleKind(kind) : kind,
      shown,
      output,
      readIncludeObject(request.query, output),
      state.clock.now(),
    ),
  );
}

async function listAnswer(
  state: ApiState,
  request: ApiRequest,
  kind: Kind,
  address: Address,
  warnings: string[],
): Promise<ApiAnswer> {
  negotiate(request.accept, { transforms: true });
  const options = readListOptions(request.query, false);
  const filter = readFilter(kind, options.labelSelector, options.fieldSelector);
  const call = callOf(request, kind, READ_OPTIONS, warnings);
  const page = await readPage(state, address.view, call, options, filter);
  const output = negotiate(request.accept, { transforms: true, query: request.query, agent: request.userAgent });
  if (output.format === 'json' && output.as === undefined && !output.pretty && page.continueToken === undefined) {
    const body = wholeList(kind, page.items, state.store.tokens.print(page.revision));
    return { status: 200, contentType: 'application/json', body, warnings };
  }
  const meta = {
    resourceVersion: state.store.tokens.print(page.revision),
    continueToken: page.continueToken,
    remaining: page.remaining,
  };
  return render(request, warnings, 200, (output) =>
    listText(kind, page.items, meta, output, readIncludeObject(request.query, output), state.clock.now()),
  );
}

async function watchAnswer(
  state: ApiState,
  request: ApiRequest,
  kind: Kind,
  address: Address,
  warnings: string[],
): Promise<WatchAnswer> {
  const output = negotiate(request.accept, { transforms: true });
  if (output.format === 'yaml') {
    throw failure(
      406,
      'NotAcceptable',
      'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    );
  }
  const options = readListOptions(request.query, true);
  const named = request.info.pathName === '' ? options.fieldSelector : `metadata.name=${request.info.pathName}`;
  const filter = readFilter(kind, options.labelSelector, named);
  const from = watchStart(state, options);
  const call = callOf(request, kind, READ_OPTIONS, warnings);
  const watch: WatchRequest = {
    call: { ...call, name: '' },
    options,
    filter,
    output,
    includeObject: readIncludeObject(request.query, output),
    lagMs: address.lagMs,
  };
  return { watch, from, contentType: 'application/json' };
}

function reviewAnswer(state: ApiState, request: ApiRequest, review: Review): ApiAnswer {
  if (request.info.pathName !== '') throw noSuchResource();
  if (request.method !== 'POST') throw methodNotAllowed();
  const output = negotiate(request.accept, { transforms: false, query: request.query, agent: request.userAgent });
  checkBodyType(request);
  checkBodySize(request);
  const options = readWriteOptions('CreateOptions', request.query);
  const base = state.registry.find('', 'v1', 'configmaps');
  if (base === undefined) throw noSuchResource();
  const kind = reviewKind(review, base);
  const warnings: string[] = [];
  const object = readObjectBody(request, kind, options.fieldValidation, warnings);
  const nowMs = state.clock.now();
  const manager = managerOf(options, request.userAgent);
  const next = trackUpdate({ kind, live: undefined, next: object, manager, subresource: '', nowMs });
  const answer = review.answer(request.user, next, { nowMs });
  return { status: 201, contentType: mediaType(output), body: formatText(printJson(answer), output), warnings };
}

/** POST on /bindings names the Pod in its body. */
function bindingAnswer(state: ApiState, request: ApiRequest, warnings: string[]): ApiAnswer {
  const pods = state.registry.find('', 'v1', 'pods');
  if (pods === undefined || request.info.pathName !== '' || request.info.namespace === '') throw noSuchResource();
  if (request.method !== 'POST') throw methodNotAllowed();
  const metadata = plainBody(request)['metadata'];
  const name =
    typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? textOf(metadata['name']) : '';
  const info = { ...request.info, resource: 'pods', subresource: 'binding', pathName: name, name };
  const written = postSubresource(state, { ...request, info }, pods, warnings);
  return render(request, warnings, written.status, () => printJson(written.object));
}
