import assert from 'node:assert/strict';
import type { Actor } from '../../src/core/traceEvent.ts';
import { auditEvents } from '../../src/recorder/auditEvents.ts';

describe('events of an audit log', () => {
  it('of a namespace have one name, though an API server says that a request for it was made in it', () => {
    const body = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n', uid: 'u', resourceVersion: '2' } };
    const reading = auditEvents(
      {
        kind: 'Event',
        level: 'RequestResponse',
        stage: 'ResponseComplete',
        requestURI: '/api/v1/namespaces/n',
        verb: 'update',
        user: { username: 'me' },
        objectRef: { resource: 'namespaces', namespace: 'n', name: 'n', apiVersion: 'v1' },
        responseStatus: { metadata: {}, code: 200 },
        requestObject: body,
        responseObject: body,
        requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
        stageTimestamp: '2026-01-01T00:00:00.001000Z',
      },
      { cluster: 'audit', secretKey: 'k', actors: new Map<string, Actor>() },
    );
    const names = reading?.events.map((event) => ('name' in event ? event.name : undefined));
    const name = { group: '', resource: 'namespaces', namespace: '', name: 'n' };
    assert.deepEqual(names, [name, name]);
  });
});
