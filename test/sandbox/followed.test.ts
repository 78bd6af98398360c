import assert from 'node:assert/strict';
import { AppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SendFailure } from '../../src/base/server.ts';
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

  it('is followed on after its server was gone', async () => {
    const closing = new AbortController();
    let opened = 0;
    const reply = { status: 200, body: '{"gitVersion":"v1.36.3+sandbox"}', headers: {} };
    const cluster = {
      send: () => Promise.resolve(reply),
      open: () => {
        opened += 1;
        if (opened === 3) closing.abort();
        return Promise.reject(new SendFailure('Gone.', 'no', new AppError('unreachable', 'Gone.')));
      },
    };
    await followSandboxFeed({ key: 'a', cluster, closing: closing.signal } as unknown as ConnectedCluster, {
      session: {} as Session,
      clock: { ...systemClock, now: () => 0, delay: () => Promise.resolve() },
      userAgent: 'test',
      settled: () => Promise.resolve(),
      onSandbox: () => undefined,
    });
    assert.equal(opened, 3);
  });
});
