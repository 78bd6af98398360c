import { message, type Words } from '../base/message.ts';
import type { ServerReply } from '../base/server.ts';
import type { AttemptOutcome, Cause, FieldConflict } from './outcome.ts';
import { fieldConflictsOf } from './fieldConflicts.ts';
import { retryAfterMs, statusOf, type StatusFacts } from './statusObject.ts';

/** What a request was, as far as it decides the meaning of its answer. */
export interface RequestFacts {
  readonly verb: 'get' | 'create' | 'replace' | 'patch' | 'apply' | 'delete';
  /** The plural that was asked for. */
  readonly resource: string;
  /** Whether the version that the request was based on was already being deleted. */
  readonly terminating: boolean;
  /** Whether a JSON Patch carried `test` operations, which fail without naming a cause. */
  readonly tests?: boolean;
}

/** What an answer means. */
export interface Classified {
  /** `written` stands for any success; whether it changed something is for the caller to see. */
  readonly outcome: AttemptOutcome;
  readonly code: number;
  readonly reason?: string;
  readonly message?: Words;
  readonly causes?: readonly Cause[];
  readonly fieldConflicts?: readonly FieldConflict[];
  /** Media types that the server takes. */
  readonly accepted?: readonly string[];
  /** What the server asks to wait, for throttling and unavailability only. */
  readonly retryAfterMs?: number;
  /** The UID that holds the name, where the answer tells. */
  readonly holder?: string;
}

/**
 * The meaning of an answer, by status code, reason, details and causes; a text is read only to tell apart answers that have
 * all of these in common. Total: any reply has a meaning. The table is in `docs/safe-write.md`.
 */
export function classifyReply(reply: ServerReply, request: RequestFacts): Classified {
  const status = statusOf(reply);
  const meaning = meaningOf(reply, status, request);
  const wait = retryAfterMs(reply, status);
  return {
    code: reply.status,
    ...(status.reason === '' ? {} : { reason: status.reason }),
    ...messageOf(reply.status, status),
    ...(status.causes.length === 0 ? {} : { causes: status.causes }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...meaning,
  };
}

/** An API server redirects nobody: what does stands before it, such as a login page. */
function isRedirect(code: number): boolean {
  return code >= 300 && code < 400;
}

function messageOf(code: number, status: StatusFacts): { message?: Words } {
  if (code < 300) return {};
  if (isRedirect(code) && !status.isStatus)
    return {
      message: message`The server answered with a redirection (${code}); a login page or a proxy may stand before it.`,
    };
  return status.message === '' ? {} : { message: status.message };
}

type Meaning = Pick<Classified, 'outcome' | 'fieldConflicts' | 'accepted' | 'holder'>;

function meaningOf(reply: ServerReply, status: StatusFacts, request: RequestFacts): Meaning {
  const code = reply.status;
  if (code >= 200 && code < 300) return { outcome: 'written' };
  switch (code) {
    case 400:
      return { outcome: 'invalid' };
    case 401:
      return { outcome: 'unauthenticated' };
    case 403:
      return { outcome: hasCause(status, 'NamespaceTerminating') ? 'terminating' : 'forbidden' };
    case 404:
      return { outcome: status.isStatus && status.name !== '' ? 'gone' : 'unsupported' };
    case 405:
    case 406:
      return { outcome: 'unsupported' };
    case 409:
      return conflictOf(status, request);
    case 410:
      return { outcome: 'unavailable' };
    case 413:
      return { outcome: 'too-large' };
    case 415:
      return { outcome: 'unsupported', ...acceptedTypes(status) };
    case 422:
      return { outcome: invalidOf(status, request) };
    case 429:
      return { outcome: 'throttled' };
    case 503:
      // Without a Status it is a proxy's, which may have passed the request on before it lost the server.
      return { outcome: status.isStatus || request.verb === 'get' ? 'unavailable' : 'uncertain' };
    default:
      return { outcome: otherOf(code, status, request) };
  }
}

/** The meanings of a 409. */
function conflictOf(status: StatusFacts, request: RequestFacts): Meaning {
  const fieldConflicts = fieldConflictsOf(status.causes);
  if (fieldConflicts.length > 0) return { outcome: 'field-conflict', fieldConflicts };
  if (status.reason === 'AlreadyExists') {
    return { outcome: status.message.startsWith('object is being deleted') ? 'terminating' : 'already-exists' };
  }
  // A quota's 409 names the quota: admission lost a race of its own, and nothing is wrong with the object.
  if (status.kind === 'resourcequotas' && request.resource !== 'resourcequotas') return { outcome: 'unavailable' };
  const precondition = /Precondition failed: UID in precondition: .*, UID in object meta: ?(.*)$/.exec(status.message);
  if (precondition !== null) return mismatch(precondition[1] ?? '');
  const onDelete = /the UID in the precondition \(.*\) does not match the UID in record \((.*)\)/.exec(status.message);
  if (onDelete !== null) return mismatch(onDelete[1] ?? '');
  if (/^uid mismatch: .*no existing object was found/.test(status.message)) return { outcome: 'gone' };
  return { outcome: 'version-conflict' };
}

/** A UID was sent, and another holds the name, or nothing does. */
function mismatch(holder: string): Meaning {
  return holder === '' ? { outcome: 'gone' } : { outcome: 'uid-mismatch', holder };
}

function invalidOf(status: StatusFacts, request: RequestFacts): AttemptOutcome {
  const isPatch = request.verb === 'patch' || request.verb === 'apply';
  if (isPatch && status.causes.some((cause) => cause.field === 'metadata.uid')) return 'uid-mismatch';
  // A failed `test` names no cause: the object is not what it was when the patch was computed.
  if (request.tests === true && status.causes.length === 0) return 'version-conflict';
  const addsFinalizer = status.causes.some(
    (cause) => cause.field === 'metadata.finalizers' && cause.reason === 'FieldValueForbidden',
  );
  return addsFinalizer && request.terminating ? 'terminating' : 'invalid';
}

/** 3xx and 5xx: a read can be asked again; of a write it is not known whether it was stored. */
function otherOf(code: number, status: StatusFacts, request: RequestFacts): AttemptOutcome {
  if (code < 500 && !isRedirect(code)) return 'unsupported';
  if (request.verb === 'get') return 'unavailable';
  // The server's typed merge refuses a body that its schema cannot type with a 500 that has no reason and no details.
  const untyped =
    code === 500 &&
    status.isStatus &&
    status.reason === '' &&
    status.message.startsWith('failed to create typed patch object');
  return untyped && request.verb === 'apply' ? 'invalid' : 'uncertain';
}

function hasCause(status: StatusFacts, reason: string): boolean {
  return status.causes.some((cause) => cause.reason === reason);
}

function acceptedTypes(status: StatusFacts): Pick<Classified, 'accepted'> {
  const list = /accepted media types include: (.*)$/.exec(status.message)?.[1];
  return list === undefined ? {} : { accepted: list.split(',').map((type) => type.trim()) };
}
