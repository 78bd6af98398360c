import { isJsonObject, parseJson, type JsonObject } from '../codec/json.ts';
import { printTraceLine, traceHeader } from '../core/trace.ts';
import type { NewTraceEvent } from '../core/traceEvent.ts';
import { textOf } from './goText.ts';
import type { ApiAnswer, ApiRequest } from './apiRequest.ts';
import { authorize } from './auth.ts';
import { readFault, readMatch } from './faults.ts';
import type { Exchange } from './http.ts';
import { printJson } from './negotiate.ts';
import { refusal } from './router.ts';
import type { Sandbox } from './server.ts';
import { badRequest, methodNotAllowed, noSuchResource, StatusError } from './status.ts';

/** What the control endpoint acts on: a running sandbox. */
export type Controlled = Pick<
  Sandbox,
  | 'faults'
  | 'store'
  | 'cutWatches'
  | 'expireWatches'
  | 'snapshot'
  | 'restore'
  | 'openLaggingAddress'
  | 'onStep'
  | 'onFeed'
  | 'feedSoFar'
  | 'cluster'
  | 'url'
>;

/** Whether a path belongs to the control endpoint. */
export function isControlPath(path: string): boolean {
  return path === '/sandbox' || path.startsWith('/sandbox/');
}

/** Answers a request to `/sandbox/…`; only `system:masters` may. Documented in docs/sandbox.md. */
export async function control(exchange: Exchange, sandbox: Controlled): Promise<void> {
  const { request } = exchange;
  try {
    authorize(request.user, request.info);
    if (request.info.path === '/sandbox/feed') {
      streamFeed(exchange, sandbox);
      return;
    }
    exchange.answer(await answer(exchange, sandbox));
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    exchange.answer(refusal(request, error, []));
  }
}

async function answer(exchange: Exchange, sandbox: Controlled): Promise<ApiAnswer> {
  const { request } = exchange;
  const path = request.info.path.slice('/sandbox'.length).replace(/\/$/, '');
  if (path === '/faults') return faultsAnswer(request, sandbox);
  if (path.startsWith('/faults/')) {
    if (request.method !== 'DELETE') throw methodNotAllowed();
    if (!sandbox.faults.remove(path.slice('/faults/'.length))) throw noSuchResource();
    return json(200, {});
  }
  if (request.method !== 'POST') throw methodNotAllowed();
  const body = bodyOf(request);
  switch (path) {
    case '/cut-watches':
      return json(200, { cut: sandbox.cutWatches(readMatch(body['match'])) });
    case '/expire-watches':
      return json(200, { expired: sandbox.expireWatches(readMatch(body['match'])) });
    case '/compact':
      sandbox.store.compact();
      return json(200, {});
    case '/snapshot':
      return json(200, { snapshot: sandbox.snapshot() });
    case '/restore':
      if (!sandbox.restore(textOf(body['snapshot']))) throw badRequest('snapshot is not one that was taken');
      return json(200, {});
    case '/lagging-address':
      return json(200, { url: await sandbox.openLaggingAddress(positive(body, 'lagMs', 5000)) });
    case '/step':
      return json(200, { acted: await acted(exchange, positive(body, 'steps', 1), sandbox) });
    default:
      throw noSuchResource();
  }
}

const MAX_STEPS = 10_000;

/** Lets the actors act so many times, as long as the client is there. */
async function acted({ response }: Exchange, steps: number, sandbox: Controlled): Promise<JsonObject[]> {
  if (!Number.isInteger(steps) || steps > MAX_STEPS)
    throw badRequest(`steps must be a whole number of at most ${MAX_STEPS}`);
  const left = new AbortController();
  response.once('close', () => left.abort());
  return ((await sandbox.onStep?.(steps, left.signal)) ?? []) as JsonObject[];
}

function faultsAnswer(request: ApiRequest, sandbox: Controlled): ApiAnswer {
  switch (request.method) {
    case 'GET':
      return json(200, { faults: sandbox.faults.list() as unknown as JsonObject[] });
    case 'POST':
      return json(201, { id: sandbox.faults.add(readFault(bodyOf(request))) });
    case 'DELETE':
      sandbox.faults.clear();
      return json(200, {});
    default:
      throw methodNotAllowed();
  }
}

function positive(body: JsonObject, field: string, otherwise: number): number {
  const value = body[field];
  if (value === undefined) return otherwise;
  if (typeof value !== 'number' || !(value > 0)) throw badRequest(`${field} must be a positive number`);
  return value;
}

function bodyOf(request: ApiRequest): JsonObject {
  if (request.body.length === 0) return {};
  try {
    const value = parseJson(request.body.toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch {
    throw badRequest('the body is not JSON');
  }
  throw badRequest('the body must be an object');
}

function json(status: number, body: JsonObject): ApiAnswer {
  return { status, contentType: 'application/json', body: printJson(body), warnings: [] };
}

/** The feed as a trace: a header, what is stored now, then every event as it happens, until the client leaves. */
function streamFeed({ response }: Exchange, sandbox: Controlled): void {
  response.writeHead(200, { 'content-type': 'application/jsonl', 'cache-control': 'no-cache, private' });
  const header = traceHeader(
    'object-versions/sandbox',
    { [sandbox.cluster]: { label: 'sandbox', server: sandbox.url } },
    sandbox.store.now(),
  );
  response.write(printTraceLine(header));
  let seq = 0;
  const send = (events: readonly NewTraceEvent[]): void => {
    for (const event of events) {
      seq += 1;
      response.write(printTraceLine({ ...event, seq }));
    }
  };
  send(sandbox.feedSoFar());
  const subscription = sandbox.onFeed(send);
  response.on('close', () => subscription.dispose());
}
