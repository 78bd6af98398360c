import { message } from '../base/message.ts';
import { classifyReply, type Classified } from './classify.ts';
import type { WriteContext } from './context.ts';
import { isTooDeep, TOO_DEEP, type JsonObject } from '../codec/json.ts';
import { objectOf } from './statusObject.ts';
import { describeTarget, identityOf, targetPath, type Identity } from './target.ts';

/** What a read gave. `failed` with what the answer means; an answer that did not come is `unavailable` or `timed-out`. */
export type ReadResult =
  | { readonly kind: 'object'; readonly object: JsonObject; readonly identity: Identity }
  | { readonly kind: 'failed'; readonly answer: Partial<Classified> & Pick<Classified, 'outcome'> }
  | { readonly kind: 'cancelled' };

/** The endpoint that a subresource is read from: the object itself tells its status, only scale has a form of its own. */
function readEndpoint(subresource: string | undefined): string | undefined {
  return subresource === 'scale' ? 'scale' : undefined;
}

/**
 * Reads the object from the server itself: no `resourceVersion` in the query, so no cache may answer with an older version.
 * `tell` is given the event's cause before the caller sees the result.
 */
export async function readObject(context: WriteContext, subresource: string | undefined): Promise<ReadResult> {
  const { session, target } = context;
  const endpoint = readEndpoint(subresource);
  const sent = await session.send({
    method: 'GET',
    path: targetPath(target, endpoint),
    headers: { accept: 'application/json' },
  });
  if (sent.kind === 'cancelled') return { kind: 'cancelled' };
  if (sent.kind !== 'reply') {
    const late = sent.kind === 'lost' && sent.late;
    return { kind: 'failed', answer: { outcome: late ? 'timed-out' : 'unavailable', message: sent.message } };
  }
  const { reply } = sent;
  const answer = classifyReply(reply, { verb: 'get', resource: target.resource, terminating: false });
  if (answer.outcome !== 'written') return { kind: 'failed', answer };
  const object = objectOf(reply);
  if (object === undefined) {
    const said = message`The server answered the read of ${describeTarget(target)} with something that is no object.`;
    return { kind: 'failed', answer: { outcome: 'unavailable', code: reply.status, message: said } };
  }
  return { kind: 'object', object, identity: identityOf(object) };
}

/** As `readObject`, for what computes from the object: one that is nested too deeply is not computed with. */
export async function readForEdit(context: WriteContext, subresource: string | undefined): Promise<ReadResult> {
  const read = await readObject(context, subresource);
  if (read.kind !== 'object' || !isTooDeep(read.object)) return read;
  const said = message`${describeTarget(context.target)} cannot be edited: ${TOO_DEEP}.`;
  return { kind: 'failed', answer: { outcome: 'unsupported', message: said } };
}
