import assert from 'node:assert/strict';
import { exchangeEvents } from '../../src/lab/exchangeEvents.ts';
import type { Exchange } from '../../src/lab/labClient.ts';

describe('a lab’s exchange on the log', () => {
  const refused = (resource: string): string => {
    const answer = { kind: 'Status', metadata: {}, message: 'not base64: "ZEBRA"', reason: 'Invalid' };
    const exchange: Exchange = {
      actor: { user: 'ada' },
      request: { method: 'PUT', path: `/api/v1/namespaces/lab/${resource}/s` },
      reply: { status: 422, headers: {}, body: JSON.stringify(answer) },
      answer,
      startedAt: 1,
      endedAt: 2,
    };
    return JSON.stringify(exchangeEvents(exchange, { cluster: 'c', secretKey: '0'.repeat(32) }));
  };

  it('has what the server said of a refusal, but of a Secret’s nothing that may repeat it', () => {
    assert.match(refused('configmaps'), /ZEBRA/);
    assert.match(refused('secrets'), /"outcome":"invalid","code":422/);
    assert.doesNotMatch(refused('secrets'), /ZEBRA/);
  });
});
