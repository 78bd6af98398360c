import { metadataOf } from '../write/target.ts';
import type { Server, ServerReply, ServerRequest } from '../base/server.ts';
import type { Clock } from '../base/clock.ts';
import { orAppError } from '../kube/answers.ts';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import type { Actor } from '../core/traceEvent.ts';
import type { ModifyOptions } from '../write/options.ts';

/** One request of a lab and what the server really answered. */
export interface Exchange {
  readonly actor: Actor;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly request: ServerRequest;
  readonly reply: ServerReply;
  /** The body sent, where there was one. */
  readonly sent?: Json;
  /** The body answered; empty where it was no JSON object. */
  readonly answer: JsonObject;
}

/** How long requests may take that an interruption must not cut off: creating, and removing what was created. In ms. */
const uninterruptedMs = 10_000;

/**
 * A signal for the requests that create and remove a lab's objects. A creation that was cut off may have been stored all
 * the same, with nobody to remove it; so these are always waited for.
 */
export function uninterrupted(): AbortSignal {
  return AbortSignal.timeout(uninterruptedMs);
}

/** Where a lab's safe writes are logged: they send requests of their own, which `onExchange` does not see. */
export type SafeWriteLog = Pick<ModifyOptions, 'onEvent' | 'cluster' | 'agent' | 'keepBodies' | 'secretKey'>;

/** Where a lab's requests go and who watches them. */
export interface LabClientOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called for every exchange, in order. */
  readonly onExchange?: (exchange: Exchange) => void;
}

/** The media types of the patches that labs send. */
export const patchTypes = {
  apply: 'application/apply-patch+yaml',
  'merge-patch': 'application/merge-patch+json',
} as const;

/**
 * Sends a lab's requests exactly as written: nothing is retried, nothing is added but the field manager. A lab shows the
 * wrong ways too, which the safe write refuses.
 */
export class LabClient {
  private readonly options: LabClientOptions;

  constructor(options: LabClientOptions) {
    this.options = options;
  }

  /** One exchange as an actor, who is the request's field manager. @throws AppError `cancelled`, or of the connection */
  async send(
    manager: string,
    method: ServerRequest['method'],
    path: string,
    extra: { body?: Json; query?: Record<string, string>; contentType?: string; signal?: AbortSignal } = {},
  ): Promise<Exchange> {
    const { clock, server } = this.options;
    const startedAt = clock.now();
    const writes = method === 'POST' || method === 'PUT' || method === 'PATCH';
    const request: ServerRequest = {
      method,
      path,
      query: { ...(writes ? { fieldManager: manager } : {}), ...extra.query },
      headers: {
        accept: 'application/json',
        ...(extra.body === undefined ? {} : { 'content-type': extra.contentType ?? 'application/json' }),
      },
      ...(extra.body === undefined ? {} : { body: stringifyJson(extra.body) }),
    };
    const reply = await orAppError(server.send(request, extra.signal ?? this.options.signal));
    const exchange: Exchange = {
      actor: { manager },
      startedAt,
      endedAt: clock.now(),
      request,
      reply,
      ...(extra.body === undefined ? {} : { sent: extra.body }),
      answer: readObject(reply.body),
    };
    this.options.onExchange?.(exchange);
    return exchange;
  }
}

function readObject(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The UID of an object, '' where it has none. */
export function uidOf(object: JsonObject): string {
  return textOf(metadataOf(object)['uid']);
}

/** The token of an object, '' where it has none. */
export function tokenOf(object: JsonObject): string {
  return textOf(metadataOf(object)['resourceVersion']);
}

/** A member of `data`, '' where it is absent. */
export function dataOf(object: JsonObject, key: string): string {
  const data = object['data'];
  return isJsonObject(data) ? textOf(data[key]) : '';
}

/** A string member, '' for anything else. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The same ConfigMap with members of `data` changed. */
export function withData(object: JsonObject, changes: Record<string, string>): JsonObject {
  const data = object['data'];
  return { ...object, data: { ...(isJsonObject(data) ? data : {}), ...changes } };
}

/** The same object carrying another token: the wrong way out of a conflict, which labs show. */
export function withToken(object: JsonObject, token: string): JsonObject {
  return { ...object, metadata: { ...metadataOf(object), resourceVersion: token } };
}
