import assert from 'node:assert/strict';
import { systemClock } from '../../../src/base/clock.ts';
import { guardedCluster } from '../../../src/editor/clusters/guardedCluster.ts';
import type { Cluster } from '../../../src/kube/cluster.ts';

describe('what every request to a cluster goes through', () => {
  const { signal } = new AbortController();
  const sent: { method: string; at: number }[] = [];
  const take = (method: string): void => void sent.push({ method, at: performance.now() });
  const cluster: Cluster = {
    label: 'c',
    context: 'c',
    namespace: 'n',
    url: 'https://127.0.0.1:1',
    clock: systemClock,
    id: async () => 'id',
    caPem: async () => undefined,
    dispose: () => undefined,
    send: async ({ method }) => {
      take(method);
      return { status: 200, headers: {}, body: '{}' };
    },
    sendEarly: async ({ method }) => {
      take(method);
      return { status: 200, headers: {}, body: Buffer.from('{}') };
    },
    open: () => Promise.reject(new Error('not opened here')),
  };

  beforeEach(() => void sent.splice(0));

  it('nothing but reading passes while it is read only, and the switch works at once', async () => {
    let isReadOnly = true;
    const guarded = guardedCluster(cluster, { perSecond: 1000, burst: 1000, clock: systemClock }, () => isReadOnly);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      await assert.rejects(guarded.send({ method, path: '/' }, signal), { code: 'forbidden' });
      await assert.rejects(guarded.sendEarly({ method, path: '/' }, signal), { code: 'forbidden' });
    }
    await guarded.send({ method: 'GET', path: '/' }, signal);
    isReadOnly = false;
    await guarded.send({ method: 'PUT', path: '/' }, signal);
    assert.deepEqual(
      sent.map(({ method }) => method),
      ['GET', 'PUT'],
    );
  });

  it('requests beyond the budget wait for their turn', async () => {
    const guarded = guardedCluster(cluster, { perSecond: 20, burst: 2, clock: systemClock }, () => false);
    await Promise.all(Array.from({ length: 6 }, () => guarded.send({ method: 'GET', path: '/' }, signal)));
    assert.equal(sent.length, 6);
    const lasted = (sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0);
    assert.ok(lasted >= 150, `${lasted} ms for four that had to wait 50 ms each`);
  });
});
