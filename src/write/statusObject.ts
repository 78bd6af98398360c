import type { ServerReply } from '../base/server.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { Cause } from './outcome.ts';

/** What a Status object says, as far as it was understood. Source: Status and StatusDetails in the Kubernetes API reference. */
export interface StatusFacts {
  readonly reason: string;
  readonly message: string;
  /** The plural or kind of what the Status is about; '' where it names nothing. */
  readonly kind: string;
  readonly name: string;
  readonly causes: readonly Cause[];
  readonly retryAfterSeconds?: number;
  /** Whether the body was a Status object at all. */
  readonly isStatus: boolean;
}

/** The JSON object in a reply's body, or undefined where there is none. */
export function objectOf(reply: ServerReply): JsonObject | undefined {
  try {
    const body = parseJson(reply.body);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the Status of a reply. What is not a Status gives empty facts, with the beginning of the body as the message. */
export function statusOf(reply: ServerReply): StatusFacts {
  const body = objectOf(reply);
  if (body?.['kind'] !== 'Status') {
    return { reason: '', message: reply.body.trim().slice(0, 200), kind: '', name: '', causes: [], isStatus: false };
  }
  const details = isJsonObject(body['details']) ? body['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  const retryAfter = details['retryAfterSeconds'];
  return {
    reason: text(body['reason']),
    message: text(body['message']),
    kind: text(details['kind']),
    name: text(details['name']),
    causes: distinct(causes.filter(isJsonObject).map(causeOf)),
    ...(typeof retryAfter === 'number' ? { retryAfterSeconds: retryAfter } : {}),
    isStatus: true,
  };
}

function causeOf(cause: JsonObject): Cause {
  return {
    ...(typeof cause['reason'] === 'string' ? { reason: cause['reason'] } : {}),
    ...(typeof cause['message'] === 'string' ? { message: cause['message'] } : {}),
    ...(typeof cause['field'] === 'string' ? { field: cause['field'] } : {}),
  };
}

/** The server validates metadata in two layers and then repeats a cause. */
function distinct(causes: readonly Cause[]): Cause[] {
  const seen = new Map(causes.map((cause) => [JSON.stringify(cause), cause]));
  return [...seen.values()];
}

/** The wait a reply asks for, in ms: the header's whole seconds, else the Status's; undefined where it asks for none. */
export function retryAfterMs(reply: ServerReply, status: StatusFacts): number | undefined {
  const header = reply.headers['retry-after'];
  const value = Array.isArray(header) ? header[0] : header;
  if (value !== undefined && /^\d+$/.test(value.trim())) return Number(value) * 1000;
  return status.retryAfterSeconds === undefined ? undefined : status.retryAfterSeconds * 1000;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
