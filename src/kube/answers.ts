import { message, type Message, type Words } from '../base/message.ts';
import { AppError, isAppError, wordsOf, type ErrorCode } from '../base/appError.ts';
import { SendFailure, type Server, type ServerReply, type ServerRequest } from '../base/server.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { BytesReply, Cluster } from './cluster.ts';

/** What a `Status` object of the API server says. Source: Kubernetes API reference, `Status`. */
export interface StatusAnswer {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly causes: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
}

type Head = Pick<ServerReply, 'status' | 'headers'>;

/** Reads a `Status` object; undefined for anything else. */
export function statusOf(value: Json | undefined): StatusAnswer | undefined {
  if (!isJsonObject(value) || (value['kind'] !== undefined && value['kind'] !== 'Status')) return undefined;
  if (typeof value['code'] !== 'number' && typeof value['message'] !== 'string') return undefined;
  const details = isJsonObject(value['details']) ? value['details'] : {};
  const retry = details['retryAfterSeconds'];
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isJsonObject) : [];
  return {
    code: typeof value['code'] === 'number' ? value['code'] : 0,
    reason: textOf(value['reason']),
    message: textOf(value['message']),
    ...(typeof retry === 'number' && retry > 0 ? { retryAfterSeconds: retry } : {}),
    causes: causes.map((cause) => ({
      ...(typeof cause['reason'] === 'string' ? { reason: cause['reason'] } : {}),
      ...(typeof cause['message'] === 'string' ? { message: cause['message'] } : {}),
      ...(typeof cause['field'] === 'string' ? { field: cause['field'] } : {}),
    })),
  };
}

/**
 * The AppError of an answer that is no success. Classified by status and reason, never by text. `details.retryAfterMs` says
 * how long the server asks to wait; a Retry-After that is a date counts only where `now` is given.
 */
export function errorOf(reply: ServerReply, now?: number): AppError {
  return refusal(reply, statusOf(parsedOrUndefined(reply.body)), reply.body, now);
}

/** The AppError of a `Status` that came inside a stream (an ERROR event of a watch). */
export function errorOfStatus(status: StatusAnswer): AppError {
  return refusal({ status: status.code, headers: {} }, status, '', undefined);
}

/** Milliseconds that the server asks to wait: the longer of the Retry-After header (seconds or date) and the body's. */
export function retryAfterMs(
  head: Head,
  status: StatusAnswer | undefined,
  now: number | undefined,
): number | undefined {
  const header = head.headers['retry-after'];
  const text = Array.isArray(header) ? header[0] : header;
  const waits: number[] = [];
  if (status?.retryAfterSeconds !== undefined) waits.push(status.retryAfterSeconds * 1000);
  if (text !== undefined && /^\s*\d+\s*$/.test(text)) waits.push(Number(text) * 1000);
  else if (text !== undefined && now !== undefined && !Number.isNaN(Date.parse(text)))
    waits.push(Math.max(0, Date.parse(text) - now));
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * Reads one JSON document.
 * @throws AppError of the refusal, of the connection, or `bad-answer` where a success holds no JSON object
 */
export async function readJson(
  server: Server,
  request: Omit<ServerRequest, 'method'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  return objectOf(await readReply(server, request, signal));
}

/** As `readJson`, with the answer itself; a refusal does not throw. */
export function readReply(
  server: Server,
  request: Omit<ServerRequest, 'method'>,
  signal: AbortSignal,
): Promise<ServerReply> {
  return orAppError(server.send({ ...request, method: 'GET' }, signal));
}

/** As `readReply`, with the body's bytes; `onBeginning` is given the first of them while the rest is still on its way. */
export function readEarly(
  cluster: Cluster,
  request: Omit<ServerRequest, 'method'>,
  signal: AbortSignal,
  onBeginning: (bytes: Buffer) => void,
): Promise<BytesReply> {
  return orAppError(cluster.sendEarly({ ...request, method: 'GET' }, signal, onBeginning));
}

/** What was promised, or the AppError to show for whatever its request threw. */
export async function orAppError<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw appErrorOf(error);
  }
}

/**
 * The JSON object of a success.
 * @throws AppError of the refusal, or `bad-answer`
 */
export function objectOf(reply: ServerReply, now?: number): JsonObject {
  if (reply.status !== 200 && reply.status !== 201) throw errorOf(reply, now);
  const value = parsedOrUndefined(reply.body);
  if (isJsonObject(value)) return value;
  throw badAnswer(reply, isHtml(reply) ? message`a web page` : message`something that is not a JSON object`);
}

/** The AppError to show for whatever a request threw: a `SendFailure` stands for its cause. */
export function appErrorOf(error: unknown): AppError {
  const found = error instanceof SendFailure ? error.cause : error;
  if (isAppError(found)) return found;
  return new AppError('internal', message`An unexpected failure: ${wordsOf(error)}`, {
    advice: message`Please report it with the log.`,
    cause: error,
  });
}

/** Asking the same again is answered the same. */
const REFUSED_AS_IT_IS = [400, 405, 406, 415, 422];

const ADVICE: Partial<Record<ErrorCode, Message>> = {
  unauthenticated: message`Log in again, or check the user of this context in the kubeconfig.`,
  forbidden: message`Ask for the right to do this, or choose another namespace, context or user.`,
  'not-found': message`Check the name, the namespace and the context.`,
  'invalid-request': message`Correct what the server names.`,
  throttled: message`Wait a little and try again.`,
  unavailable: message`Wait a little and try again; the server may be starting or overloaded.`,
  'server-error': message`Look at the API server's log, and at its webhooks and aggregated APIs.`,
};

function refusal(head: Head, status: StatusAnswer | undefined, body: string, now: number | undefined): AppError {
  const http = head.status;
  if (status === undefined && (isHtml(head) || (http >= 300 && http < 400))) {
    return badAnswer(head, http >= 300 && http < 400 ? message`a redirection` : message`a web page`);
  }
  const code = codeFor(http, status?.reason ?? '');
  const said = oneLine(status?.message ?? body.trim().split('\n')[0] ?? '');
  const sentence = sentenceFor(code, http, said);
  const wait = retryAfterMs(head, status, now);
  return new AppError(code, sentence, {
    advice: ADVICE[code] ?? '',
    details: {
      status: http,
      ...(status === undefined ? {} : { reason: status.reason }),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    },
  });
}

function codeFor(http: number, reason: string): ErrorCode {
  if (http === 401) return 'unauthenticated';
  if (http === 403) return 'forbidden';
  if (http === 404) return 'not-found';
  if (http === 429) return 'throttled';
  if (http === 503 || (http === 504 && reason === 'Timeout')) return 'unavailable';
  if (REFUSED_AS_IT_IS.includes(http)) return 'invalid-request';
  return 'server-error';
}

function sentenceFor(code: ErrorCode, http: number, said: string): Message {
  const told = said === '' ? '' : `: ${said}`;
  if (code === 'unauthenticated') return message`The API server does not accept the credentials (401)${told}.`;
  if (code === 'forbidden') return message`The API server does not allow this${told}.`;
  if (code === 'not-found') return message`The API server has no such thing${told}.`;
  if (code === 'throttled') return message`The API server asks to slow down (429)${told}.`;
  if (code === 'unavailable') return message`The API server cannot answer at the moment (${http})${told}.`;
  if (code === 'invalid-request') return message`The API server does not accept the request (${http})${told}.`;
  return message`The API server answered with ${http}${told}.`;
}

const MAX_SAID = 500;

/** The server's own words, as the end of a sentence of ours. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\s.]+$/, '')
    .slice(0, MAX_SAID);
}

function badAnswer(head: Head, what: Words): AppError {
  return new AppError(
    'bad-answer',
    message`The server answered ${head.status} with ${what} where an API answer was expected.`,
    {
      advice: message`Check the address of this cluster in the kubeconfig; a login page or a proxy may stand before the API server.`,
      details: { status: head.status, contentType: String(head.headers['content-type'] ?? '') },
    },
  );
}

function isHtml(head: Head): boolean {
  return String(head.headers['content-type'] ?? '').includes('text/html');
}

function parsedOrUndefined(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
