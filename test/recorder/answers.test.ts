import assert from 'node:assert/strict';
import { answerOf } from '../../src/recorder/outcome.ts';

describe('what an answer says of a write', () => {
  it('a timeout of the server leaves a write uncertain; a client that went away cancelled it, as the audit log has it', () => {
    const timeout = (why: string): string =>
      answerOf('replace', 504, {
        kind: 'Status',
        metadata: {},
        reason: 'Timeout',
        message: `Timeout: request did not complete within requested timeout - ${why}`,
      }).outcome;
    assert.equal(timeout('context deadline exceeded'), 'uncertain');
    assert.equal(timeout('context canceled'), 'cancelled');
  });

  it('what is stored no more is the last content of an object without finalizers, not one in its grace period or deleted just now', () => {
    const released = (verb: 'patch' | 'delete', more: Record<string, string | number | string[]>): unknown =>
      answerOf(verb, 200, { metadata: { uid: 'U1', resourceVersion: 'v1', ...more } }).result?.released;
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    assert.equal(released('patch', { deletionTimestamp, deletionGracePeriodSeconds: 0 }), true);
    assert.equal(released('delete', { deletionTimestamp, deletionGracePeriodSeconds: 0 }), undefined);
    assert.equal(released('patch', { deletionTimestamp, deletionGracePeriodSeconds: 30 }), undefined);
    assert.equal(released('patch', { deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['a'] }), undefined);
    assert.equal(released('patch', {}), undefined);
  });
});
