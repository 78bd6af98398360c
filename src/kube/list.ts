import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../codec/json.ts';
import { decodeKubernetesProtobuf, isKubernetesProtobuf } from '../codec/proto.ts';
import { continueTokenAt, MetadataListDecoder } from '../codec/protoMetadataList.ts';
import type { Token } from '../core/traceEvent.ts';
import { errorOf, objectOf, readEarly, readReply, statusOf } from './answers.ts';
import type { BytesReply, Cluster } from './cluster.ts';
import { selectionRequest, type Bodies, type Selection } from './selection.ts';

/** One page of a list. All pages of one list show the same state of the store, that of `token`. */
export interface ListPage {
  readonly items: readonly JsonObject[];
  readonly token: Token;
  /** From 0; a page 0 after others means that the list began anew and what came before it is void. */
  readonly page: number;
  /** How many objects are still to come, where the server says so. */
  readonly remaining?: number;
  readonly isLast: boolean;
}

/** Objects a page where nothing else is asked for: whole ones as kubectl has it, metadata in pages of about 4 MB. */
export const defaultPageSize: Readonly<Record<Bodies, number>> = { whole: 500, metadata: 5000 };

const RESTARTS = 2;
const OK = 200;
const GONE = 410;

/**
 * Lists in pages, newest state. Where the server no longer knows a continue token (410), the list begins again at page 1
 * without any token. Source: Kubernetes API concepts, "Retrieving large results sets in chunks".
 * @throws AppError of the connection or the refusal; `bad-answer` where the answer is no list or names no version
 */
export async function* listPages(
  cluster: Cluster,
  selection: Selection,
  bodies: Bodies,
  signal: AbortSignal,
  pageSize = defaultPageSize[bodies],
): AsyncGenerator<ListPage> {
  const request = selectionRequest(selection, bodies, 'list');
  const ended = new AbortController();
  const within = AbortSignal.any([signal, ended.signal]);
  const decoder = new MetadataListDecoder();
  let ahead = 0;
  // The server prepares the next page while this one is still on its way: its token stands before the objects.
  const ask = (next: string | undefined): Asked => {
    ahead += 1;
    let following: Following | undefined;
    const query = { ...request.query, limit: String(pageSize), continue: next };
    const reply = readEarly(cluster, { ...request, query }, within, (beginning) => {
      const token = ahead >= MAX_AHEAD ? undefined : continueTokenOf(beginning);
      if (token !== undefined) following = { token, page: ask(token) };
    });
    // It is awaited when the page before it was taken; until then a failure waits too.
    reply.catch(() => undefined);
    return { reply, following: () => following };
  };
  let restarts = 0;
  let next: string | undefined;
  let asked = ask(next);
  try {
    for (let page = 0; ;) {
      const reply = await asked.reply;
      ahead -= 1;
      if (reply.status === GONE && next !== undefined && restarts < RESTARTS) {
        restarts += 1;
        next = undefined;
        page = 0;
        asked = ask(next);
        continue;
      }
      const { items, token, more, remaining } = readList(
        reply.status === OK && isKubernetesProtobuf(reply.body)
          ? decoded(() => decoder.decode(reply.body))
          : objectOf({ ...reply, body: jsonOf(reply.body) }, cluster.clock.now()),
      );
      const following = asked.following();
      if (more !== undefined) asked = following?.token === more ? following.page : ask(more);
      yield { items, token, page, isLast: more === undefined, ...(remaining === undefined ? {} : { remaining }) };
      if (more === undefined) return;
      next = more;
      page += 1;
    }
  } finally {
    ended.abort();
  }
}

/** Pages that may be on their way at once. */
const MAX_AHEAD = 3;

/** A page that was asked for, and the one after it, once its token was seen. */
interface Asked {
  readonly reply: Promise<BytesReply>;
  following(): Following | undefined;
}

interface Following {
  readonly token: string;
  readonly page: Asked;
}

/** The continue token at the beginning of a list in JSON, in a form that needs no unescaping. */
const CONTINUE =
  /^\{(?:"kind":"\w+",|"apiVersion":"[\w./]+",)*"metadata":\{(?:"\w+":(?:"[\w.-]*"|\d+),)*"continue":"([\w.=-]+)"/;

/** An answer's body as JSON: a refusal comes in the format of what was asked for. */
function jsonOf(body: Buffer): string {
  if (!isKubernetesProtobuf(body)) return body.toString('utf8');
  return stringifyJson(decoded(() => decodeKubernetesProtobuf(body).object));
}

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new AppError('bad-answer', message`The server answered a list request with protobuf that cannot be read.`, {
      advice: message`Look at what stands between here and the API server; it may cut answers short.`,
      cause: error,
    });
  }
}

function continueTokenOf(beginning: Buffer): string | undefined {
  if (isKubernetesProtobuf(beginning)) return continueTokenAt(beginning);
  return CONTINUE.exec(beginning.toString('utf8'))?.[1];
}

interface ListAnswer {
  items: JsonObject[];
  token: Token;
  more: string | undefined;
  remaining: number | undefined;
}

function readList(answer: JsonObject): ListAnswer {
  const metadata = isJsonObject(answer['metadata']) ? answer['metadata'] : {};
  const { resourceVersion, continue: more, remainingItemCount } = metadata;
  const items = answer['items'];
  if (
    (items !== null && !Array.isArray(items)) ||
    typeof resourceVersion !== 'string' ||
    resourceVersion === '' ||
    resourceVersion === '0'
  ) {
    throw new AppError(
      'bad-answer',
      message`The server answered a list request with something that is not a list of a known version.`,
      {
        advice: message`Check that the address is an API server's; an aggregated API may not support watching.`,
      },
    );
  }
  return {
    items: (items ?? []).filter(isJsonObject),
    token: resourceVersion,
    more: typeof more === 'string' && more !== '' ? more : undefined,
    remaining: typeof remainingItemCount === 'number' ? remainingItemCount : undefined,
  };
}

/**
 * Reads one object whole; undefined if it is not there.
 * @throws AppError of the connection or of any other refusal
 */
export async function getObject(cluster: Cluster, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const reply = await readReply(cluster, { path }, signal);
  if (reply.status === 404) {
    // "No such object" is a Status with a name; "no such resource" is not, and is a failure.
    const status = statusOf(jsonOrUndefined(reply.body));
    if (status?.reason === 'NotFound' && namesObject(reply.body)) return undefined;
    throw errorOf(reply);
  }
  return objectOf(reply);
}

function namesObject(body: string): boolean {
  const status = jsonOrUndefined(body);
  const details = isJsonObject(status) ? status['details'] : undefined;
  return isJsonObject(details) && typeof details['name'] === 'string' && details['name'] !== '';
}

function jsonOrUndefined(text: string): ReturnType<typeof parseJson> | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
