import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { Server } from '../../src/base/server.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { runReplay } from '../../src/lab/replay.ts';
import { replaySteps } from '../../src/lab/replaySteps.ts';
import { labServers, type LabServer } from './labCluster.ts';

for (const [on, start] of Object.entries(labServers))
  describe(`the equality-token replay, on ${on}`, () => {
    let server: LabServer;
    let cluster: Cluster;
    let namespace: string;
    before(async function () {
      server = await start(this);
      ({ cluster, namespace } = server);
    });
    after(() => server?.stop());

    const options = (server: Server, suffix: string, signal = new AbortController().signal) => ({
      server,
      namespace,
      clock: systemClock,
      signal,
      suffix,
    });
    const left = async (suffix: string): Promise<number> =>
      (
        await cluster.send(
          { method: 'GET', path: `/api/v1/namespaces/${namespace}/configmaps/versions-replay-${suffix}` },
          new AbortController().signal,
        )
      ).status;

    it('holds step by step, and leaves nothing behind', async () => {
      const result = await runReplay(options(cluster, 'a'));
      assert.deepEqual(
        result.steps.filter((step) => !step.holds),
        [],
      );
      assert.equal(result.steps.length, replaySteps.length);
      assert.equal(result.holds, true);
      assert.equal(await left('a'), 404);
    });

    it('does not hold on a server that takes stale tokens', async () => {
      const careless: Server = {
        send: (request, signal) =>
          cluster.send(
            request.method === 'PUT' && request.body !== undefined
              ? { ...request, body: request.body.replace(/"resourceVersion":"[^"]*"/, '"resourceVersion":""') }
              : request,
            signal,
          ),
      };
      const result = await runReplay(options(careless, 'b'));
      assert.equal(result.holds, false);
      assert.deepEqual(
        result.steps.filter((step) => !step.holds).map((step) => step.id),
        ['ada-refused', 'ada-refetches', 'ada-recomputes', 'swap-refused', 'swap-loses'],
      );
      assert.equal(await left('b'), 404);
    });

    it('cleans up when it is interrupted in the middle', async () => {
      const interrupted = new AbortController();
      const run = runReplay({
        ...options(cluster, 'c', interrupted.signal),
        onStep: (step) => step.id === 'ben-writes' && interrupted.abort(),
      });
      await assert.rejects(run, { code: 'cancelled' });
      assert.equal(await left('c'), 404);
    });

    it('asks for a prediction before each step and has an answer among its choices', async () => {
      const asked: string[] = [];
      const predict = (step: { id: string }): Promise<string> => {
        asked.push(step.id);
        return Promise.resolve('anything');
      };
      const seen: (string | undefined)[] = [];
      await runReplay({
        ...options(cluster, 'd'),
        predict,
        onStep: (_result, _step, prediction) => void seen.push(prediction),
      });
      assert.deepEqual(
        asked,
        replaySteps.map((step) => step.id),
      );
      assert.ok(seen.every((prediction) => prediction === 'anything'));
      assert.ok(replaySteps.every((step) => step.choices.includes(step.answer)));
    });
  });
