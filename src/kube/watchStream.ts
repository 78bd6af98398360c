import { message, type Words } from '../base/message.ts';
import { AppError, isAppError } from '../base/appError.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { Token } from '../core/traceEvent.ts';
import { appErrorOf, errorOf, errorOfStatus, retryAfterMs, statusOf, type StatusAnswer } from './answers.ts';
import type { Cluster } from './cluster.ts';
import { after } from './limits.ts';
import { LineSplitter } from './lineSplitter.ts';
import { selectionRequest, type Bodies, type Selection } from './selection.ts';

/** What a watch delivers, in the server's order. */
export type WatchMessage =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: JsonObject; readonly token: Token }
  | { readonly type: 'BOOKMARK'; readonly token: Token; readonly isInitialEnd: boolean };

/** How a watch ended. `expired`: the server no longer knows the token. `garbled`: a line that makes no sense. */
export type WatchEnd =
  | { readonly kind: 'closed' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'expired'; readonly error: AppError }
  | { readonly kind: 'garbled'; readonly error: AppError }
  | { readonly kind: 'refused' | 'error' | 'lost'; readonly error: AppError; readonly retryAfterMs?: number };

/** One watch request. Without a token, the server first sends all that is there (a streaming list). */
export interface WatchRequest {
  readonly cluster: Cluster;
  readonly selection: Selection;
  readonly bodies: Bodies;
  readonly token: Token | undefined;
  /** The server is asked to end the watch after this time. */
  readonly timeoutSeconds: number;
  /** Without a byte for this long, the connection is given up. */
  readonly idleMs: number;
}

/** Who listens to a watch. `heard` is called for every chunk of bytes, `opened` when the server has accepted the watch. */
export interface WatchListener {
  opened(): void;
  heard(): void;
  message(message: WatchMessage): Promise<void> | void;
}

const GONE = 410;
const INITIAL_END = 'k8s.io/initial-events-end';

/**
 * Runs one watch to its end. Rejects only on abort (AppError `cancelled`) or if the listener throws.
 * Source: Kubernetes API concepts, "Efficient detection of changes" and "Streaming lists".
 */
export async function runWatch(request: WatchRequest, listener: WatchListener, signal: AbortSignal): Promise<WatchEnd> {
  const { cluster, idleMs } = request;
  const inner = new AbortController();
  const onAbort = (): void => inner.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  let isIdle = false;
  let heardAt = cluster.clock.now();
  const check = (): void => {
    const left = heardAt + idleMs - cluster.clock.now();
    if (left <= 0) {
      isIdle = true;
      inner.abort();
    } else timer = after(cluster.clock, left, check);
  };
  let timer = after(cluster.clock, idleMs, check);
  const heard = (): void => {
    heardAt = cluster.clock.now();
    listener.heard();
  };
  try {
    return await readWatch(
      request,
      { opened: () => listener.opened(), heard, message: (message) => listener.message(message) },
      inner.signal,
    );
  } catch (error) {
    if (isIdle && !signal.aborted) return { kind: 'idle' };
    throw error;
  } finally {
    timer.dispose();
    signal.removeEventListener('abort', onAbort);
    inner.abort();
  }
}

async function readWatch(request: WatchRequest, listener: WatchListener, signal: AbortSignal): Promise<WatchEnd> {
  const { cluster, selection, bodies, token } = request;
  const base = selectionRequest(selection, bodies, 'watch');
  const start =
    token === undefined
      ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion: token };
  const query = {
    ...base.query,
    watch: '1',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(request.timeoutSeconds),
    ...start,
  };
  let reply: Awaited<ReturnType<Cluster['open']>>;
  try {
    reply = await cluster.open({ ...base, method: 'GET', query }, signal);
  } catch (error) {
    return lost(error);
  }
  if (reply.status !== 200) return refusal(cluster, reply, signal);
  listener.heard();
  listener.opened();
  const splitter = new LineSplitter();
  try {
    for await (const chunk of reply.body) {
      listener.heard();
      for (const line of splitter.push(chunk)) {
        const end = await readLine(line, listener);
        if (end !== undefined) return end;
      }
    }
  } catch (error) {
    if (!isAppError(error) || error.code === 'internal') throw error;
    return error.code === 'bad-answer' ? { kind: 'garbled', error } : lost(error);
  }
  const rest = splitter.rest();
  if (rest === '') return { kind: 'closed' };
  // A server that does not end its last line has sent it whole; one that was cut off has not.
  return jsonOrUndefined(rest) === undefined
    ? { kind: 'closed' }
    : ((await readLine(rest, listener)) ?? { kind: 'closed' });
}

function lost(error: unknown): WatchEnd {
  const shown = appErrorOf(error);
  if (shown.code === 'cancelled') throw shown;
  return { kind: 'lost', error: shown };
}

async function refusal(
  cluster: Cluster,
  reply: Awaited<ReturnType<Cluster['open']>>,
  signal: AbortSignal,
): Promise<WatchEnd> {
  let body = '';
  const limit = new AbortController();
  const timer = after(cluster.clock, 10_000, () => limit.abort());
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of reply.body) {
      chunks.push(chunk);
      if (limit.signal.aborted) break;
    }
    body = Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw error;
    return lost(error);
  } finally {
    timer.dispose();
  }
  const status = statusOf(jsonOrUndefined(body));
  const error = errorOf({ ...reply, body }, cluster.clock.now());
  if (reply.status === GONE) return { kind: 'expired', error };
  return withRetry('refused', error, retryAfterMs(reply, status, cluster.clock.now()));
}

async function readLine(line: string, listener: WatchListener): Promise<WatchEnd | undefined> {
  const value = jsonOrUndefined(line);
  if (!isJsonObject(value) || !isJsonObject(value['object']))
    return { kind: 'garbled', error: garbled(message`a line that is not a watch event`) };
  const { type, object } = value;
  if (type === 'ERROR') return endOf(statusOf(object));
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const token = metadata['resourceVersion'];
  if (typeof token !== 'string' || token === '')
    return { kind: 'garbled', error: garbled(message`a watch event without a version`) };
  if (type === 'BOOKMARK') {
    const annotations = isJsonObject(metadata['annotations']) ? metadata['annotations'] : {};
    await listener.message({ type, token, isInitialEnd: annotations[INITIAL_END] === 'true' });
    return undefined;
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED')
    return { kind: 'garbled', error: garbled(message`a watch event of an unknown type`) };
  await listener.message({ type, object, token });
  return undefined;
}

/** An ERROR event ends its watch; only 410 says that the token is too old. */
function endOf(status: StatusAnswer | undefined): WatchEnd {
  if (status === undefined) return { kind: 'garbled', error: garbled(message`an ERROR event without a Status`) };
  const error = errorOfStatus(status);
  if (status.code === GONE || status.reason === 'Expired' || status.reason === 'Gone')
    return { kind: 'expired', error };
  return withRetry('error', error, retryAfterMs({ status: status.code, headers: {} }, status, undefined));
}

function withRetry(kind: 'refused' | 'error', error: AppError, wait: number | undefined): WatchEnd {
  return { kind, error, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}

function garbled(what: Words): AppError {
  return new AppError('bad-answer', message`The API server sent ${what}.`, {
    advice: message`It is read anew; if this repeats, look at proxies between here and the API server.`,
  });
}

function jsonOrUndefined(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
