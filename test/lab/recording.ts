import type { JsonObject } from '../../src/codec/json.ts';
import type { ObjectName, TraceEvent, WriteEvent } from '../../src/core/traceEvent.ts';

const base = { cluster: 'c', at: 0 };

/**
 * A recording of one ConfigMap in a namespace: seen, replaced, refused with a stale token, replaced with the newest one,
 * refused by a foreign UID, deleted; and a write of which the body was not kept.
 */
export function recordingIn(namespace: string): TraceEvent[] {
  const name: ObjectName = { group: '', resource: 'configmaps', namespace, name: 'demo' };
  const body = (token: string, data: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'demo', namespace, uid: 'u1', resourceVersion: token },
    data,
  });
  const write = (seq: number, rest: Partial<WriteEvent>): TraceEvent => ({
    ...base,
    seq,
    type: 'write',
    via: 'recorder',
    actor: { client: 'a', manager: 'a' },
    verb: 'replace',
    name,
    outcome: 'accepted',
    code: 200,
    ...rest,
  });
  return [
    {
      ...base,
      seq: 1,
      type: 'observed',
      via: 'watch',
      name,
      uid: 'u1',
      token: 'tok-A',
      body: body('tok-A', { n: '1' }),
    },
    write(2, { body: body('tok-A', { n: '2' }), result: { uid: 'u1', token: 'tok-B' } }),
    write(3, { body: body('tok-A', { n: '3' }), outcome: 'version-conflict', code: 409, reason: 'Conflict' }),
    write(4, { body: body('tok-B', { n: '3' }), result: { uid: 'u1', token: 'tok-C' } }),
    write(5, { verb: 'delete', preconditions: { uid: 'u0' }, outcome: 'uid-mismatch', code: 409, reason: 'Conflict' }),
    write(6, { verb: 'delete', preconditions: { uid: 'u1', token: 'tok-C' } }),
    write(7, {}),
  ];
}
