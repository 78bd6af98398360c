import { tokenBadge } from '../../core/tokenBadge.ts';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import { textOf, tokenOf, uidOf, type Exchange } from '../../lab/labClient.ts';
import type { LabBadge, LabExchange } from '../../protocol/labStates.ts';

const UID_SHOWN = 8;

/** Turns the requests of a lab into what its page shows: no body, and of tokens only which are equal. */
export class LabExchanges {
  private readonly tokens = new Map<string, Set<string>>();

  /** One request and its answer. */
  shown(exchange: Exchange): LabExchange {
    const { actor, request, reply, answer, sent } = exchange;
    const uid = uidOf(answer);
    const body = sent ?? null;
    const sentObject: JsonObject = isJsonObject(body) ? body : {};
    const sentToken = tokenOf(sentObject);
    const ownUid = uidOf(sentObject);
    const sentUid = ownUid === '' ? preconditionUid(sentObject) : ownUid;
    const reason = textOf(answer['reason']);
    const token = tokenOf(answer);
    return {
      who: actor.manager ?? '',
      method: methodOf(exchange),
      status: reply.status,
      ...(reply.status >= 400 && reason !== '' ? { reason } : {}),
      ...(uid === '' && sentUid === '' ? {} : { uid: (uid === '' ? sentUid : uid).slice(0, UID_SHOWN) }),
      ...(sentToken === '' || request.method === 'DELETE' ? {} : { sent: this.badge(sentUid, sentToken) }),
      ...(token === '' || reply.status >= 400 ? {} : { answered: this.badge(uid, token) }),
    };
  }

  private badge(uid: string, token: string): LabBadge {
    const known = this.tokens.get(uid) ?? new Set<string>();
    known.add(token);
    this.tokens.set(uid, known);
    const { code, colour } = tokenBadge(uid, token, known);
    return { code, colour };
  }
}

function methodOf({ request }: Exchange): string {
  if (request.headers?.['content-type']?.startsWith('application/apply-patch') !== true) return request.method;
  const dry = request.query?.['dryRun'] === undefined ? '' : ' (dry run)';
  return `apply${request.query?.['force'] === 'true' ? ' --force' : ''}${dry}`;
}

function preconditionUid(options: JsonObject): string {
  const { preconditions } = options;
  return isJsonObject(preconditions) ? textOf(preconditions['uid']) : '';
}
