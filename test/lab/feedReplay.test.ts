import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { NewTraceEvent, TraceEvent } from '../../src/core/traceEvent.ts';
import { discover, type Discovery } from '../../src/kube/discovery.ts';
import { replayTrace } from '../../src/lab/traceReplay.ts';
import { startScenario } from '../../src/sandbox/scenario.ts';
import { labServers, type LabServer } from './labCluster.ts';

/** What a lively sandbox's own feed tells of its first steps: a scale that makes and binds pods, a Secret made anew. */
async function livelyFeed(steps: number): Promise<TraceEvent[]> {
  let now = Date.now();
  const running = await startScenario({
    scenario: 'lively',
    seed: 1,
    stepMs: 0,
    clock: { ...systemClock, now: () => now },
  });
  const events: TraceEvent[] = [];
  const take = (more: readonly NewTraceEvent[]): void => {
    for (const event of more) events.push({ ...event, seq: events.length + 1 });
  };
  running.sandbox.onFeed(take);
  take(running.sandbox.feedSoFar());
  try {
    for (let step = 0; step < steps; step += 1) {
      now += 1000;
      await running.step();
    }
  } finally {
    await running.stop();
  }
  return events;
}

for (const name of ['the sandbox', 'a sandbox whose tokens are in no order'])
  describe(`the replay of a sandbox’s own feed, on ${name}`, function () {
    this.timeout(60_000);
    let server: LabServer;
    let resources: Discovery;
    before(async function () {
      server = await (labServers[name] as (context: Mocha.Context) => Promise<LabServer>)(this);
      resources = await discover(server.cluster, AbortSignal.timeout(10_000));
    });
    after(() => server?.stop());
    const run = (events: readonly TraceEvent[], known: Pick<Discovery, 'find'> = resources) =>
      replayTrace(events, {
        server: server.cluster,
        resources: known,
        clock: systemClock,
        signal: AbortSignal.timeout(60_000),
      });

    it('gets the same answers, bindings and deletes of Secrets by UID included', async () => {
      const events = await livelyFeed(30);
      const writes = events.filter((event) => event.type === 'write');
      assert.ok(writes.some(({ subresource }) => subresource === 'binding'));
      assert.ok(writes.some(({ verb, name: { resource } }) => verb === 'delete' && resource === 'secrets'));
      const result = await run(events);
      assert.deepEqual(
        result.steps.filter(({ holds }) => !holds),
        [],
      );
      assert.equal(result.steps.length + result.leftOut, writes.length);
      assert.ok(result.steps.some(({ title }) => title.startsWith('create pods/binding shop/web-')));
    });

    it('leaves out what goes to a subresource that the server does not have', async () => {
      const write = {
        type: 'write',
        at: 0,
        via: 'recorder',
        cluster: 'c',
        actor: { client: 'a' },
        verb: 'create',
        name: { group: '', resource: 'serviceaccounts', namespace: 'default', name: 'default' },
        subresource: 'token',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
        outcome: 'accepted',
        code: 201,
        seq: 1,
      } satisfies TraceEvent;
      const without = { find: (text: string) => ({ ...resources.find(text), subresources: ['status'] }) };
      const { steps, leftOut } = await run([write], without);
      assert.deepEqual([steps, leftOut], [[], 1]);
    });
  });
