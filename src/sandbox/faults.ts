import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { mergePatch } from './fields/mergePatch.ts';
import type { RequestInfo } from './requestInfo.ts';
import { badRequest, failure, type StatusError } from './status.ts';

/** Which requests a fault meets; what is left out matches all. */
export interface FaultMatch {
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** The User-Agent up to the first slash. */
  readonly agent?: string;
}

/** A disturbance of matching requests. */
export type Fault = FaultKind & {
  readonly match?: FaultMatch;
  /** How many requests it meets before it goes; for good if left out. */
  readonly times?: number;
};

/** The kinds of disturbance. */
export type FaultKind =
  /** The request waits before it is looked at. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** 429 with Retry-After; the request is not executed. */
  | { readonly kind: 'throttle'; readonly retryAfterSeconds: number }
  /** A 5xx; the request is not executed. */
  | { readonly kind: 'error'; readonly code: 500 | 502 | 503 | 504; readonly retryAfterSeconds?: number }
  /** The request is executed, and the connection is closed instead of an answer. */
  | { readonly kind: 'lost-answer' }
  /** A mutating webhook: merges this into what was sent. */
  | { readonly kind: 'mutate'; readonly patch: JsonObject };

const KINDS = ['latency', 'throttle', 'error', 'lost-answer', 'mutate'];

interface Active {
  readonly id: string;
  readonly fault: Fault;
  left: number;
}

/** The request as faults see it. */
export interface FaultSubject {
  readonly info: RequestInfo;
  readonly user: string;
  readonly agent: string;
}

/** The disturbances in force. */
export class Faults {
  private readonly active: Active[] = [];
  private nextId = 1;

  /** Puts a fault in force; its id takes it out again. */
  add(fault: Fault): string {
    const id = `f${this.nextId}`;
    this.nextId += 1;
    this.active.push({ id, fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    return id;
  }

  /** Whether there was one with this id. */
  remove(id: string): boolean {
    const index = this.active.findIndex((entry) => entry.id === id);
    if (index >= 0) this.active.splice(index, 1);
    return index >= 0;
  }

  /** Ends all faults. */
  clear(): void {
    this.active.length = 0;
  }

  /** Those in force, with how often each will still act. */
  list(): { id: string; fault: Fault; left?: number }[] {
    return this.active.map(({ id, fault, left }) => ({ id, fault, ...(Number.isFinite(left) ? { left } : {}) }));
  }

  /** Takes those of a kind that meet a request, counting them down. */
  take<K extends FaultKind['kind']>(kind: K, subject: FaultSubject): Extract<Fault, { kind: K }>[] {
    if (this.active.length === 0) return [];
    const met = this.active.filter((entry) => entry.fault.kind === kind && meets(entry.fault.match ?? {}, subject));
    for (const entry of met) {
      entry.left -= 1;
      if (entry.left <= 0) this.remove(entry.id);
    }
    return met.map((entry) => entry.fault as Extract<Fault, { kind: K }>);
  }
}

/** Whether a request is one of those that a match names. */
export function meets(match: FaultMatch, { info, user, agent }: FaultSubject): boolean {
  const same = (wanted: string | undefined, actual: string): boolean => wanted === undefined || wanted === actual;
  return (
    (info.isResource || Object.keys(match).length === 0) &&
    same(match.verb, info.verb) &&
    same(match.group, info.group) &&
    same(match.resource, info.resource) &&
    same(match.namespace, info.namespace) &&
    same(match.name, info.name) &&
    same(match.user, user) &&
    same(match.agent, agent)
  );
}

/** The refusal that a throttle or error fault answers with. */
export function faultStatus(fault: Extract<Fault, { kind: 'throttle' | 'error' }>): StatusError {
  const details = fault.retryAfterSeconds === undefined ? undefined : { retryAfterSeconds: fault.retryAfterSeconds };
  if (fault.kind === 'throttle')
    return failure(429, 'TooManyRequests', 'Too many requests, please try again later.', details);
  const [reason, message] = SERVER_ERRORS[fault.code];
  return failure(fault.code, reason, message, details ?? {});
}

const SERVER_ERRORS = {
  500: ['InternalError', 'Internal error occurred: a fault of the sandbox'],
  502: [undefined, 'a fault of the sandbox: bad gateway'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'Timeout: request did not complete within the allotted time'],
} as const;

/** Merges a webhook's patch into an object in place. */
export function mutateObject(object: JsonObject, patch: JsonObject): void {
  const { value } = mergePatch(object, stringifyJson(patch));
  if (!isJsonObject(value)) return;
  for (const field of Object.keys(object)) if (!(field in value)) delete object[field];
  Object.assign(object, value);
}

/** Reads a fault sent to the control endpoint. Throws 400. */
export function readFault(value: Json): Fault {
  if (!isJsonObject(value) || typeof value['kind'] !== 'string' || !KINDS.includes(value['kind'])) {
    throw badRequest(`kind must be one of ${KINDS.join(', ')}`);
  }
  const { kind, times } = value;
  if (times !== undefined && (typeof times !== 'number' || !Number.isInteger(times) || times < 1))
    throw badRequest('times must be a positive integer');
  if (kind === 'latency') wantNumber(value, 'ms');
  if (kind === 'throttle') wantNumber(value, 'retryAfterSeconds');
  if (kind === 'error' && ![500, 502, 503, 504].includes(Number(value['code'])))
    throw badRequest('code must be 500, 502, 503 or 504');
  if (kind === 'mutate' && !isJsonObject(value['patch'])) throw badRequest('patch must be an object');
  if (value['match'] !== undefined) readMatch(value['match']);
  return value as unknown as Fault;
}

function wantNumber(value: JsonObject, field: string): void {
  const number = value[field];
  if (typeof number !== 'number' || number < 0) throw badRequest(`${field} must be a number, not negative`);
}

const MATCHED = ['verb', 'group', 'resource', 'namespace', 'name', 'user', 'agent'];

/** Reads a match sent to the control endpoint. Throws 400. */
export function readMatch(value: Json | undefined): FaultMatch {
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw badRequest('match must be an object');
  for (const [field, item] of Object.entries(value)) {
    if (!MATCHED.includes(field) || typeof item !== 'string')
      throw badRequest(`match: ${field} is not one of ${MATCHED.join(', ')}, as text`);
  }
  return value;
}
