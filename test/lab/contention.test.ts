import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { runContention, type ContentionOptions } from '../../src/lab/contention.ts';
import { exchangeEvents } from '../../src/lab/exchangeEvents.ts';
import { seededRandom } from '../../src/lab/seededRandom.ts';
import { labServers, type LabServer } from './labCluster.ts';

for (const [on, start] of Object.entries(labServers))
  describe(`the contention lab, on ${on}`, () => {
    let server: LabServer;
    let cluster: Cluster;
    let namespace: string;
    before(async function () {
      server = await start(this);
      ({ cluster, namespace } = server);
    });
    after(() => server?.stop());

    const options = (
      strategy: ContentionOptions['strategy'],
      more: Partial<ContentionOptions> = {},
    ): ContentionOptions => ({
      server: cluster,
      clock: systemClock,
      signal: new AbortController().signal,
      namespace,
      suffix: strategy,
      strategy,
      actors: 4,
      updates: 8,
      thinkMs: 5,
      seed: 1,
      maxAttempts: 50,
      ...more,
    });
    const stands = async (suffix: string): Promise<number> =>
      (
        await cluster.send(
          { method: 'GET', path: `/api/v1/namespaces/${namespace}/configmaps/versions-contention-${suffix}` },
          new AbortController().signal,
        )
      ).status;

    for (const strategy of ['naive', 'token-swap'] as const) {
      it(`loses updates with the strategy ${strategy}`, async () => {
        const result = await runContention(options(strategy));
        assert.equal(result.accepted, 32);
        assert.ok(result.lost > 0, `lost ${result.lost}`);
        assert.equal(await stands(strategy), 404);
      });
    }

    for (const strategy of ['read-modify-write', 'apply'] as const) {
      it(`loses nothing with the strategy ${strategy}`, async () => {
        const result = await runContention(options(strategy));
        assert.equal(result.lost, 0);
        assert.equal(result.accepted + result.gaveUp, 32);
        assert.equal(result.gaveUp, 0);
        assert.ok(result.attempts >= result.accepted);
        assert.equal(await stands(strategy), 404);
      });
    }

    it('shows its writes on a log: what was refused, and what was stored', async () => {
      const log = new EventLog();
      const result = await runContention(
        options('token-swap', {
          suffix: 'log',
          onExchange: (exchange) =>
            exchangeEvents(exchange, { cluster: 'c', secretKey: '0'.repeat(32) }).forEach((event) => log.append(event)),
        }),
      );
      const [name] = [...log.history.names.values()];
      assert.equal(name?.writes.filter((write) => write.outcome === 'version-conflict').length, result.refused);
      assert.equal(
        name?.writes.filter((write) => write.outcome === 'accepted' && write.verb === 'replace').length,
        result.accepted,
      );
    });

    it('cleans up when it is interrupted', async () => {
      const interrupted = new AbortController();
      const run = runContention(
        options('read-modify-write', {
          suffix: 'interrupted',
          signal: interrupted.signal,
          onProgress: () => interrupted.abort(),
        }),
      );
      await assert.rejects(run, { code: 'cancelled' });
      assert.equal(await stands('interrupted'), 404);
    });

    it('draws the same think times from the same seed', () => {
      const [first, second, other] = [seededRandom(7), seededRandom(7), seededRandom(8)].map((random) =>
        Array.from({ length: 5 }, random),
      );
      assert.deepEqual(first, second);
      assert.notDeepEqual(first, other);
    });
  });
