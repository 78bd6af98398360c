import { isJsonObject, type JsonObject } from '../codec/json.ts';
import type { WriteOutcome } from '../core/traceEvent.ts';
import { textOf } from './goText.ts';

/** What came of a write, from its answer. `changed`: something was stored, or a dry run would have. */
export function outcomeOf(status: number, body: JsonObject, changed: boolean): WriteOutcome {
  if (status < 400) return changed ? 'accepted' : 'unchanged';
  const causes = causeReasons(body);
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return causes.includes('NamespaceTerminating') ? 'terminating' : 'forbidden';
    case 404:
      return 'not-found';
    case 409:
      return conflictOutcome(body, causes);
    case 400:
    case 422:
      return 'invalid';
    case 405:
    case 406:
    case 415:
      return 'unsupported';
    case 413:
      return 'too-large';
    case 429:
      return 'throttled';
    case 503:
      return 'unavailable';
    default:
      return 'failed';
  }
}

/** A 409 has several meanings, told apart by reason, causes and, last, the words that only the uid checks use. */
function conflictOutcome(body: JsonObject, causes: readonly string[]): WriteOutcome {
  const message = typeof body['message'] === 'string' ? body['message'] : '';
  if (body['reason'] === 'AlreadyExists')
    return message.startsWith('object is being deleted') ? 'terminating' : 'already-exists';
  if (causes.includes('FieldManagerConflict')) return 'field-conflict';
  if (/uid in (the )?precondition|uid mismatch/i.test(message)) return 'uid-mismatch';
  return 'version-conflict';
}

function causeReasons(body: JsonObject): string[] {
  const details = body['details'];
  const causes = isJsonObject(details) && Array.isArray(details['causes']) ? details['causes'] : [];
  return causes.filter(isJsonObject).map((cause) => textOf(cause['reason']));
}
