import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { discover, type Discovery } from '../../src/kube/discovery.ts';
import { replayTrace } from '../../src/lab/traceReplay.ts';
import { labServers, type LabServer } from './labCluster.ts';

const name = { group: '', resource: 'configmaps', namespace: 'replayed', name: 'demo' };
const base = { cluster: 'c', at: 0 };
const body = (token: string, data: JsonObject, uid = 'u1'): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'demo', namespace: 'replayed', uid, resourceVersion: token },
  data,
});
const put = (
  seq: number,
  token: string,
  data: JsonObject,
  rest: Partial<Extract<TraceEvent, { type: 'write' }>>,
): TraceEvent => ({
  ...base,
  seq,
  type: 'write',
  via: 'recorder',
  actor: { client: 'a', manager: 'a' },
  verb: 'replace',
  name,
  body: body(token, data),
  outcome: 'accepted',
  code: 200,
  ...rest,
});

const recording: TraceEvent[] = [
  { ...base, seq: 1, type: 'observed', via: 'watch', name, uid: 'u1', token: 'tok-A', body: body('tok-A', { n: '1' }) },
  put(2, 'tok-A', { n: '2' }, { result: { uid: 'u1', token: 'tok-B' } }),
  put(3, 'tok-A', { n: '3' }, { outcome: 'version-conflict', code: 409, reason: 'Conflict' }),
  put(4, 'tok-B', { n: '3' }, { result: { uid: 'u1', token: 'tok-C' } }),
  {
    ...base,
    seq: 5,
    type: 'write',
    via: 'recorder',
    actor: { client: 'a' },
    verb: 'delete',
    name,
    preconditions: { uid: 'u0' },
    outcome: 'uid-mismatch',
    code: 409,
    reason: 'Conflict',
  },
  {
    ...base,
    seq: 6,
    type: 'write',
    via: 'recorder',
    actor: { client: 'a' },
    verb: 'delete',
    name,
    preconditions: { uid: 'u1', token: 'tok-C' },
    outcome: 'accepted',
    code: 200,
  },
  {
    ...base,
    seq: 7,
    type: 'write',
    via: 'recorder',
    actor: { client: 'b' },
    verb: 'replace',
    name,
    outcome: 'accepted',
    code: 200,
  },
];

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
    const run = (events: TraceEvent[]) =>
      replayTrace(events, {
        server: cluster,
        resources,
        namespace: 'replayed',
        clock: systemClock,
        signal: new AbortController().signal,
      });

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
      const wrong = recording.map((event) => (event.seq === 3 ? { ...event, code: 200 } : event) as TraceEvent);
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
  });
