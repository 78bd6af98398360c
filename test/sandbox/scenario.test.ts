import assert from 'node:assert/strict';

import { systemClock } from '../../src/base/clock.ts';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import type { NewTraceEvent, TraceEvent } from '../../src/core/traceEvent.ts';
import { startScenario, type Deed, type ScenarioName } from '../../src/sandbox/scenario.ts';
import { at, Caller, configMap, CONFIG_MAPS, eventually } from './apiCalls.ts';

/** Plays a scenario, a second for each step, and tells what the detector finds in the feed from a step on. */
async function play(
  scenario: ScenarioName,
  { seed, steps, listenFrom }: { seed: number; steps: number; listenFrom: number },
): Promise<{ findings: Finding[]; history: TraceEvent[] }> {
  let now = Date.now();
  const running = await startScenario({ scenario, seed, stepMs: 0, clock: { ...systemClock, now: () => now } });
  const detector = createDetector();
  const history: TraceEvent[] = [];
  const take = (events: readonly NewTraceEvent[]): void => {
    for (const event of events) {
      const numbered: TraceEvent = { ...event, seq: history.length + 1 };
      history.push(numbered);
      detector.add(numbered);
    }
  };
  try {
    for (let step = 0; step < steps; step += 1) {
      if (step === listenFrom) {
        running.sandbox.onFeed(take);
        take(running.sandbox.feedSoFar());
      }
      now += 1000;
      await running.step();
    }
  } finally {
    await running.stop();
  }
  detector.end();
  return { findings: detector.findings(), history };
}

/** What findings of a severity above information there are. */
function alarms(findings: readonly Finding[]): string[] {
  return [...new Set(findings.filter((finding) => finding.severity !== 'info').map((finding) => finding.id))].sort();
}

describe('sandbox: scenarios', function () {
  this.timeout(60_000);

  it('lively shows a conflict with its winner, a recreation, a takeover and a generation lag within a minute, and nothing else is wrong', async () => {
    for (const seed of [1, 2, 3]) {
      const { findings, history } = await play('lively', { seed, steps: 60, listenFrom: 0 });
      const of = (id: string, resource: string): Finding[] =>
        findings.filter((finding) => finding.id === id && finding.object.resource === resource);
      assert.match(of('version-conflict', 'configmaps')[0]?.explanation ?? '', /made progress first/);
      assert.ok(of('recreated', 'secrets').length > 0, 'a recreation');
      assert.match(of('force-takeover', 'deployments')[0]?.explanation ?? '', /took \.spec\.replicas/);
      const lags = history.filter(
        (event) =>
          event.type === 'observed' &&
          event.name.resource === 'deployments' &&
          (event.observedGeneration ?? 0) > 0 &&
          (event.generation ?? 0) > (event.observedGeneration ?? 0),
      );
      assert.ok(lags.length > 0, 'a generation lag');
      assert.deepEqual(
        alarms(findings).filter((id) => id !== 'ownership-fight'),
        ['force-takeover'],
      );
      const refused = history.filter((event) => event.type === 'write' && event.outcome === 'invalid');
      assert.deepEqual(refused, []);
    }
  });

  it('who joins the feed later hears of nothing wrong either', async () => {
    for (const seed of [1, 2, 3]) {
      const { findings } = await play('lively', { seed, steps: 60, listenFrom: 8 });
      assert.deepEqual(
        alarms(findings).filter((id) => id !== 'ownership-fight'),
        ['force-takeover'],
      );
    }
  });

  it('the other scenarios alarm of what they are about, and of nothing else', async () => {
    const told: Partial<Record<ScenarioName, string[]>> = {
      quiet: [],
      recreation: [],
      ownership: ['force-takeover', 'ownership-fight'],
    };
    for (const [scenario, ids] of Object.entries(told)) {
      const { findings } = await play(scenario as ScenarioName, { seed: 1, steps: 60, listenFrom: 0 });
      assert.deepEqual(alarms(findings), ids, scenario);
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
