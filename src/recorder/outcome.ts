import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { releases } from '../core/endingWrite.ts';
import type { WriteEvent, WriteOutcome } from '../core/traceEvent.ts';

/** What an answer says of a write. */
export interface Answer {
  readonly outcome: WriteOutcome;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: { reason?: string; message?: string; field?: string }[];
  readonly result?: { uid: string; token: string; generation?: number; released?: true };
}

const UID_TEXT = /Precondition failed: UID in precondition|the UID in the precondition|uid mismatch/i;
const VERSION_TEXT =
  /object has been modified|ResourceVersion in the precondition|Precondition failed: ResourceVersion/i;

/**
 * Classifies the answer to a write by status, reason and causes; the message only tells apart the meanings of a 409, which
 * share one reason. `body` is the parsed answer to a write by `verb`, if it could be read. Source: the API conventions' table of status codes.
 */
export function answerOf(verb: WriteEvent['verb'], code: number, body: Json | undefined): Answer {
  const object = isJsonObject(body) ? body : undefined;
  const isStatus = object?.['kind'] === 'Status' && object['metadata'] !== undefined && !hasUid(object);
  const result = object === undefined ? undefined : resultOf(object, isStatus);
  if (code >= 200 && code < 300) {
    const released = result !== undefined && releases(verb, object) ? { released: true as const } : {};
    return { outcome: 'accepted', code, ...(result === undefined ? {} : { result: { ...result, ...released } }) };
  }
  const reason = text(object?.['reason']);
  const message = text(object?.['message']);
  const causes = causesOf(object);
  return {
    outcome: refusal(code, reason, message, causes),
    code,
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message: message.slice(0, 2_000) }),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

function refusal(
  code: number,
  reason: string,
  message: string,
  causes: readonly { reason?: string; field?: string }[],
): WriteOutcome {
  switch (code) {
    case 400:
      return 'invalid';
    case 401:
      return 'unauthenticated';
    case 403:
      return causes.some((cause) => cause.reason === 'NamespaceTerminating') ? 'terminating' : 'forbidden';
    case 404:
      return 'not-found';
    case 405:
    case 406:
    case 415:
      return 'unsupported';
    case 409:
      return conflict(reason, message, causes);
    case 413:
      return 'too-large';
    case 422:
      return causes.some((cause) => cause.field === 'metadata.uid') ? 'uid-mismatch' : 'invalid';
    case 429:
      return 'throttled';
    case 503:
      return 'unavailable';
    case 504:
      // A client that stopped waiting itself got no answer; only the server's own log has this one.
      return message.endsWith('context canceled') ? 'cancelled' : 'uncertain';
    default:
      return code >= 500 && (reason === 'InternalError' || reason === 'ServerTimeout' || code === 502)
        ? 'uncertain'
        : 'failed';
  }
}

function conflict(reason: string, message: string, causes: readonly { reason?: string }[]): WriteOutcome {
  if (causes.some((cause) => cause.reason === 'FieldManagerConflict')) return 'field-conflict';
  if (/object is being deleted/.test(message)) return 'terminating';
  if (reason === 'AlreadyExists') return 'already-exists';
  if (UID_TEXT.test(message)) return 'uid-mismatch';
  return VERSION_TEXT.test(message) || message === '' ? 'version-conflict' : 'failed';
}

function hasUid(object: JsonObject): boolean {
  return isJsonObject(object['metadata']) && typeof object['metadata']['uid'] === 'string';
}

function resultOf(object: JsonObject, isStatus: boolean): Answer['result'] {
  if (isStatus) {
    const details = object['details'];
    const uid = isJsonObject(details) ? details['uid'] : undefined;
    return typeof uid === 'string' ? { uid, token: '' } : undefined;
  }
  const metadata = object['metadata'];
  if (!isJsonObject(metadata) || typeof metadata['uid'] !== 'string') return undefined;
  const generation = metadata['generation'];
  return {
    uid: metadata['uid'],
    token: text(metadata['resourceVersion']),
    ...(typeof generation === 'number' ? { generation } : {}),
  };
}

function causesOf(object: JsonObject | undefined): { reason?: string; message?: string; field?: string }[] {
  const details = object?.['details'];
  const causes = isJsonObject(details) ? details['causes'] : undefined;
  if (!Array.isArray(causes)) return [];
  return causes
    .filter(isJsonObject)
    .slice(0, 50)
    .map((cause) => {
      const { reason, message, field } = cause;
      return {
        ...(typeof reason === 'string' ? { reason } : {}),
        ...(typeof message === 'string' ? { message: message.slice(0, 500) } : {}),
        ...(typeof field === 'string' ? { field } : {}),
      };
    });
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
