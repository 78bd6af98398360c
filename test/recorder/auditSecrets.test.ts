import assert from 'node:assert/strict';
import { auditEvents } from '../../src/recorder/auditEvents.ts';

describe('audit events of a Secret', () => {
  const refused = (resource: string): string =>
    JSON.stringify(
      auditEvents(
        {
          kind: 'Event',
          level: 'Request',
          stage: 'ResponseComplete',
          requestURI: `/api/v1/namespaces/lab/${resource}/s`,
          verb: 'update',
          user: { username: 'ada' },
          objectRef: { resource, namespace: 'lab', name: 's', apiVersion: 'v1' },
          responseStatus: { metadata: {}, code: 422, reason: 'Invalid', message: 'Invalid value: "ZEBRA"' },
          requestObject: { metadata: { name: 's' }, data: {} },
          stageTimestamp: '2026-01-01T00:00:00.000000Z',
        },
        { cluster: 'c', secretKey: '0'.repeat(32), actors: new Map() },
      )?.events,
    );

  it('have none of what a refusal repeats', () => {
    assert.match(refused('configmaps'), /ZEBRA/);
    assert.match(refused('secrets'), /"outcome":"invalid","code":422/);
    assert.doesNotMatch(refused('secrets'), /ZEBRA/);
  });
});
