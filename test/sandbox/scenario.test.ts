import assert from 'node:assert/strict';

import type { NewTraceEvent } from '../../src/core/traceEvent.ts';
import { startScenario, type Deed } from '../../src/sandbox/scenario.ts';
import { at, Caller, configMap, CONFIG_MAPS, eventually } from './apiCalls.ts';

describe('sandbox: scenarios', function () {
  this.timeout(60_000);

  it('lively shows a conflict, a recreation, a takeover and a generation lag within sixty steps', async () => {
    const running = await startScenario({ scenario: 'lively', stepMs: 0 });
    const events: NewTraceEvent[] = [];
    running.sandbox.onFeed((more) => events.push(...more));
    try {
      await running.step(60);
      const writes = events.filter((event) => event.type === 'write');
      assert.ok(
        writes.some((write) => write.outcome === 'version-conflict'),
        'a conflict',
      );
      assert.ok(
        writes.some((write) => write.force === true && write.outcome === 'accepted'),
        'a takeover',
      );
      const secrets = events.filter((event) => event.type === 'observed' && event.name.name === 'web-tls');
      assert.ok(new Set(secrets.map((event) => ('uid' in event ? event.uid : ''))).size >= 2, 'a recreation');
      const lagging = events.some(
        (event) =>
          event.type === 'observed' &&
          event.name.resource === 'deployments' &&
          (event.generation ?? 0) > (event.observedGeneration ?? 0),
      );
      assert.ok(lagging, 'a generation lag');
    } finally {
      await running.stop();
    }
  });

  it('the same seed gives the same story', async () => {
    const tell = async (): Promise<Deed[]> => {
      const running = await startScenario({ scenario: 'contention', stepMs: 0, seed: 7 });
      const deeds = await running.step(15);
      await running.stop();
      return deeds;
    };
    assert.deepEqual(await tell(), await tell());
  });

  it('quiet makes a Deployment real and then leaves it alone', async () => {
    const running = await startScenario({ scenario: 'quiet', stepMs: 0 });
    const caller = new Caller(running.sandbox);
    try {
      const path = '/apis/apps/v1/namespaces/default/deployments';
      const labels = { app: 'd' };
      await caller.send('POST', path, {
        metadata: { name: 'd' },
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
        },
      });
      await running.step(8);
      const { body } = await caller.send('GET', `${path}/d`);
      assert.deepEqual([at(body, 'status.readyReplicas'), at(body, 'status.observedGeneration')], [2, 1]);
      const before = running.sandbox.store.revision;
      await running.step(5);
      assert.equal(running.sandbox.store.revision, before);
      await caller.send('DELETE', `${path}/d`);
      await eventually(
        'its Pods go',
        async () =>
          (at((await caller.send('GET', '/api/v1/namespaces/default/pods')).body, 'items') as unknown[]).length === 0,
      );
    } finally {
      caller.close();
      await running.stop();
    }
  });

  it('every other scenario runs', async () => {
    for (const scenario of ['recreation', 'ownership'] as const) {
      const running = await startScenario({ scenario, stepMs: 0 });
      assert.ok((await running.step(12)).length > 0, scenario);
      await running.stop();
    }
  });

  it('bare has no life of its own', async () => {
    const running = await startScenario({ scenario: 'bare' });
    const caller = new Caller(running.sandbox);
    const { body } = await caller.send('POST', CONFIG_MAPS, configMap('owner'));
    await caller.send(
      'POST',
      CONFIG_MAPS,
      configMap('child', 'v', {
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: at(body, 'metadata.uid') }],
      }),
    );
    await caller.send('DELETE', `${CONFIG_MAPS}/owner`);
    assert.deepEqual(await running.step(3), []);
    assert.equal((await caller.send('GET', `${CONFIG_MAPS}/child`)).status, 200);
    caller.close();
    await running.stop();
  });
});
