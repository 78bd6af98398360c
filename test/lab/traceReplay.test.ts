import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { discover, type Discovery } from '../../src/kube/discovery.ts';
import { replayTrace } from '../../src/lab/traceReplay.ts';
import { labServers, namesLeft, type LabServer } from './labCluster.ts';
import { recordingIn } from './recording.ts';

for (const [on, start] of Object.entries(labServers))
  describe(`the replay of a recording, on ${on}`, () => {
    let server: LabServer;
    let cluster: Cluster;
    let resources: Discovery;
    before(async function () {
      server = await start(this);
      ({ cluster } = server);
      resources = await discover(cluster, new AbortController().signal);
    });
    after(() => server?.stop());
    const recording = recordingIn('replayed');
    const run = (events: TraceEvent[], namespace?: string) =>
      replayTrace(events, {
        server: cluster,
        resources,
        ...(namespace === undefined ? {} : { namespace }),
        clock: systemClock,
        signal: new AbortController().signal,
      });
    const send = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
      cluster.send(
        {
          method,
          path,
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        AbortSignal.timeout(5000),
      );
    /** The recording without its deletion, so that something is there to be cleaned up. */
    const kept = (namespace: string): TraceEvent[] => recordingIn(namespace).slice(0, 5);

    it('repeats its writes with tokens and UIDs mapped by equality, and gets the same answers', async () => {
      const result = await run(recording);
      assert.deepEqual(
        result.steps.filter((step) => !step.holds),
        [],
      );
      assert.deepEqual(
        result.steps.map((step) => step.expected['status']),
        [200, 409, 200, 409, 200],
      );
      assert.equal(result.leftOut, 1);
    });

    it('stops at the first answer that differs', async () => {
      const wrong = recordingIn('replayed-wrong').map(
        (event) => (event.seq === 3 ? { ...event, code: 200 } : event) as TraceEvent,
      );
      const result = await run(wrong);
      assert.equal(result.holds, false);
      assert.deepEqual(
        result.steps.map((step) => [step.id, step.holds]),
        [
          ['event-2', true],
          ['event-3', false],
        ],
      );
      assert.deepEqual(result.steps[1]?.observed, { status: 409, reason: 'Conflict' });
    });

    it('in a namespace of one’s choice stands for every one of the recording, and leaves nothing there', async () => {
      const result = await run(kept('elsewhere'), server.namespace);
      assert.equal(result.holds, true, JSON.stringify(result.steps));
      assert.equal((await send('GET', '/api/v1/namespaces/elsewhere')).status, 404);
      assert.deepEqual(await namesLeft(server), []);
    });

    it('removes the namespaces that it made, and what is in them', async () => {
      const result = await run(kept('made-for-replay'));
      assert.equal(result.holds, true, JSON.stringify(result.steps));
      assert.equal((await send('GET', '/api/v1/namespaces/made-for-replay/configmaps/demo')).status, 404);
      const left = await send('GET', '/api/v1/namespaces/made-for-replay');
      assert.ok(left.status === 404 || left.body.includes('"Terminating"'), left.body);
    });

    it('does not begin where an object stands at a name that the recording writes to, and leaves it alone', async () => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'demo' }, data: { mine: 'yes' } };
      const collection = `/api/v1/namespaces/${server.namespace}/configmaps`;
      assert.equal((await send('POST', collection, body)).status, 201);
      await assert.rejects(run(recording, server.namespace), { code: 'usage' });
      assert.match((await send('GET', `${collection}/demo`)).body, /"mine":"yes"/);
      await send('DELETE', `${collection}/demo`);
    });

    it('is refused where two of its objects would be one', async () => {
      await assert.rejects(run([...kept('one'), ...kept('two')], server.namespace), { code: 'usage' });
    });

    it('does not delete a whole collection that is not its own', async () => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'others' } };
      const collection = `/api/v1/namespaces/${server.namespace}/configmaps`;
      await send('POST', collection, body);
      const events = kept('x').flatMap((event): TraceEvent[] =>
        event.type === 'write' && event.seq === 2
          ? [event, { ...event, seq: 9, verb: 'deletecollection', name: { ...event.name, name: '' } }]
          : [event],
      );
      const result = await run(events, server.namespace);
      assert.equal(result.leftOut, 1);
      assert.deepEqual(await namesLeft(server), ['others']);
      await send('DELETE', `${collection}/others`);
    });
  });
