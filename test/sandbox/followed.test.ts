import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { ConnectedCluster } from '../../src/editor/clusters/clusters.ts';
import { followSandboxFeed } from '../../src/editor/sandbox/sandboxFeed.ts';
import type { Session } from '../../src/editor/session/session.ts';

describe('a cluster that may be a sandbox', () => {
  const seen = async (gitVersion: string): Promise<number> => {
    const closing = new AbortController();
    let times = 0;
    const cluster = { send: () => Promise.resolve({ status: 200, body: JSON.stringify({ gitVersion }), headers: {} }) };
    await followSandboxFeed({ key: 'a', cluster, closing: closing.signal } as unknown as ConnectedCluster, {
      session: {} as Session,
      clock: systemClock,
      userAgent: 'test',
      settled: () => Promise.resolve(closing.abort()),
      onSandbox: () => {
        times += 1;
      },
    });
    return times;
  };

  it('is told as one by its own version, whoever started it, and no other is', async () => {
    assert.equal(await seen('v1.36.3+sandbox'), 1);
    assert.equal(await seen('v1.36.3'), 0);
  });
});
