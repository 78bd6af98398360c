import { isJsonObject, parseJson, type JsonObject } from '../codec/json.ts';
import { printTraceLine, traceHeader } from '../core/trace.ts';
import type { NewTraceEvent, TraceEvent } from '../core/traceEvent.ts';
import type { ApiAnswer, ApiRequest } from './apiRequest.ts';
import { authorize } from './auth.ts';
import { readFault, readMatch } from './faults.ts';
import type { Exchange } from './http.ts';
import { printJson } from './negotiate.ts';
import { refusal } from './router.ts';
import { badRequest, methodNotAllowed, noSuchResource, StatusError } from './status.ts';

/** What the control endpoint can do; the sandbox is it. */
export interface Controls {
  addFault(fault: ReturnType<typeof readFault>): string;
  removeFault(id: string): boolean;
  clearFaults(): void;
  listFaults(): unknown[];
  cutWatches(match: ReturnType<typeof readMatch>): number;
  expireWatches(match: ReturnType<typeof readMatch>): number;
  compact(): void;
  snapshot(): string;
  restore(id: string): boolean;
  openLaggingAddress(lagMs: number): Promise<string>;
  /** Lets the actors act `steps` times; answers what each did. */
  step(steps: number): Promise<unknown[]>;
  listenFeed(listener: (events: readonly NewTraceEvent[]) => void): { dispose(): void };
  feedSoFar(): readonly NewTraceEvent[];
  readonly cluster: string;
  readonly url: string;
  now(): number;
}

/** Whether a path belongs to the control endpoint. */
export function isControlPath(path: string): boolean {
  return path === '/sandbox' || path.startsWith('/sandbox/');
}

/** Answers a request to `/sandbox/…`; only `system:masters` may. Documented in docs/sandbox.md. */
export async function control(exchange: Exchange, controls: Controls): Promise<void> {
  const { request } = exchange;
  try {
    authorize(request.user, request.info);
    if (request.info.path === '/sandbox/feed') {
      streamFeed(exchange, controls);
      return;
    }
    exchange.answer(await answer(request, controls));
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    exchange.answer(refusal(request, error, []));
  }
}

async function answer(request: ApiRequest, controls: Controls): Promise<ApiAnswer> {
  const path = request.info.path.slice('/sandbox'.length).replace(/\/$/, '');
  if (path === '/faults') return faultsAnswer(request, controls);
  if (path.startsWith('/faults/')) {
    if (request.method !== 'DELETE') throw methodNotAllowed();
    if (!controls.removeFault(path.slice('/faults/'.length))) throw noSuchResource();
    return json(200, {});
  }
  if (request.method !== 'POST') throw methodNotAllowed();
  const body = bodyOf(request);
  switch (path) {
    case '/cut-watches':
      return json(200, { cut: controls.cutWatches(readMatch(body['match'])) });
    case '/expire-watches':
      return json(200, { expired: controls.expireWatches(readMatch(body['match'])) });
    case '/compact':
      controls.compact();
      return json(200, {});
    case '/snapshot':
      return json(200, { snapshot: controls.snapshot() });
    case '/restore':
      if (!controls.restore(String(body['snapshot'] ?? ''))) throw badRequest('snapshot is not one that was taken');
      return json(200, {});
    case '/lagging-address':
      return json(200, { url: await controls.openLaggingAddress(positive(body, 'lagMs', 5000)) });
    case '/step':
      return json(200, { acted: (await controls.step(positive(body, 'steps', 1))) as JsonObject[] });
    default:
      throw noSuchResource();
  }
}

function faultsAnswer(request: ApiRequest, controls: Controls): ApiAnswer {
  switch (request.method) {
    case 'GET':
      return json(200, { faults: controls.listFaults() as JsonObject[] });
    case 'POST':
      return json(201, { id: controls.addFault(readFault(bodyOf(request))) });
    case 'DELETE':
      controls.clearFaults();
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
function streamFeed({ response }: Exchange, controls: Controls): void {
  response.writeHead(200, { 'content-type': 'application/jsonl', 'cache-control': 'no-cache, private' });
  const header = traceHeader('object-versions/sandbox', { [controls.cluster]: { label: 'sandbox', server: controls.url } }, controls.now());
  response.write(printTraceLine(header));
  let seq = 0;
  const send = (events: readonly NewTraceEvent[]): void => {
    for (const event of events) {
      seq += 1;
      response.write(printTraceLine({ ...event, seq } as TraceEvent));
    }
  };
  send(controls.feedSoFar());
  const subscription = controls.listenFeed(send);
  response.on('close', () => subscription.dispose());
}
