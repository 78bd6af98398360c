import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import { addFinalizer, removeFinalizer, scaleTo } from '../../src/write/readyEdits.ts';
import { waitObserved } from '../../src/write/waitObserved.ts';
import type { Target } from '../../src/write/target.ts';
import { status as statusReply } from './fakeServer.ts';
import { at, changes, RealServer, serverKinds, textAt } from './realServer.ts';

const group = 'parts.write.example';

for (const on of serverKinds) {
  describe(`cases E and F on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;

    before(async function () {
      real = await RealServer.start(this, on);
      const status: JsonObject = {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: {
          conditions: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['type'],
            items: {
              type: 'object',
              'x-kubernetes-preserve-unknown-fields': true,
              required: ['type'],
              properties: { type: { type: 'string' }, status: { type: 'string' } },
            },
          },
        },
      };
      const spec: JsonObject = {
        type: 'object',
        properties: { size: { type: 'integer' }, replicas: { type: 'integer' } },
      };
      await real.define('toys', 'Toy', group, { spec, status }, { subresources: { status: {} } });
      await real.define('plains', 'Plain', group, { spec, status });
    });
    after(async () => real?.stop());

    const toy = (name: string): Target => real.target(group, 'v1', 'toys', 'Toy', name);
    const offers = { subresources: ['status'] };

    const newToy = async (name: string): Promise<Target> => {
      const target = toy(name);
      await real.create(target, { spec: { size: 1 } });
      await real.patch(target, { status: { phase: 'New' } }, 'b', 'status');
      return target;
    };

    it('E1: an edit of spec and status is two writes, the second on the answer of the first', async () => {
      const target = await newToy('both');
      const { report, seen, writes } = await real.modify(
        target,
        changes({ 'spec/size': 2, 'status/phase': 'Ready' }),
        offers,
      );
      assert.equal(report.outcome, 'written');
      assert.deepEqual(
        seen.map(({ request }) => `${request.method} ${request.path.split('/').at(-1)}`),
        ['GET both', 'PUT both', 'PUT status'],
      );
      const [main, status] = writes;
      assert.equal(
        at(status?.body, 'metadata', 'resourceVersion'),
        at(JSON.parse(main?.reply.body ?? '') as JsonObject, 'metadata', 'resourceVersion'),
      );
      const live = await real.read(target);
      assert.deepEqual([at(live, 'spec', 'size'), at(live, 'status', 'phase')], [2, 'Ready']);
      assert.equal(report.token, at(live, 'metadata', 'resourceVersion'));
      assert.deepEqual(
        report.attempts.map(({ part, outcome }) => `${part} ${outcome}`),
        ['main written', 'status written'],
      );
      assert.equal(report.storedOtherwise, undefined);
      assert.equal(report.desiredStateChanged, true);
    });

    for (const strategy of ['apply', 'merge-patch', 'json-patch'] as const) {
      it(`E1 ${strategy}: goes to both endpoints as well`, async () => {
        const target = await newToy(`both-${strategy}`);
        const schema = await real.schema(target);
        const intent = changes({ 'spec/size': 2, 'status/message': 'up' });
        const { report } = await real.modify(target, intent, {
          ...offers,
          strategy,
          schema,
          fieldManager: `m-${strategy}`,
        });
        if (strategy === 'apply') {
          assert.equal(report.outcome, 'field-conflict');
          assert.deepEqual(
            report.fieldConflicts?.map(({ path, manager }) => [path, manager]),
            [['.spec.size', 'b']],
          );
          return;
        }
        assert.equal(report.outcome, 'written');
        const live = await real.read(target);
        assert.deepEqual([at(live, 'spec', 'size'), at(live, 'status', 'message')], [2, 'up']);
      });
    }

    it('E1: where the second write fails it says that the first is saved', async () => {
      const target = await newToy('half');
      const { report } = await real.modify(
        target,
        changes({ 'spec/size': 2, 'status/phase': 'Ready' }),
        offers,
        async (request) => {
          if (!request.path.endsWith('/status')) return undefined;
          return statusReply(403, 'Forbidden', 'toys "half" is forbidden', { name: 'half', kind: 'toys' });
        },
      );
      assert.equal(report.outcome, 'partly-written');
      assert.match(String(report.message), /All but status is saved, status is not: it ended forbidden/);
      const live = await real.read(target);
      assert.deepEqual([at(live, 'spec', 'size'), at(live, 'status', 'phase')], [2, 'New']);
    });

    it('E1: the status that was meant survives another’s status write between the two', async () => {
      const target = await newToy('between');
      let done = false;
      const { report } = await real.modify(
        target,
        changes({ 'spec/size': 2, 'status/phase': 'Ready' }),
        offers,
        async (request) => {
          if (done || !request.path.endsWith('/status')) return;
          done = true;
          await real.patch(target, { status: { other: 'kept' } }, 'c', 'status');
        },
      );
      assert.equal(report.outcome, 'written');
      const live = await real.read(target);
      assert.deepEqual(at(live, 'status'), { phase: 'Ready', other: 'kept' });
      assert.equal(at(live, 'spec', 'size'), 2);
    });

    it('E1: a change of status alone goes to the status endpoint and changes nothing else', async () => {
      const target = await newToy('status-only');
      const { report, writes } = await real.modify(target, changes({ 'status/phase': 'Ready' }), offers);
      assert.equal(report.outcome, 'written');
      assert.deepEqual(
        writes.map(({ request }) => request.path.split('/').at(-1)),
        ['status'],
      );
      assert.equal(report.desiredStateChanged, false);
      assert.equal(at(await real.read(target), 'status', 'phase'), 'Ready');
    });

    it('E1: what the status endpoint ignores is refused before anything is sent', async () => {
      const target = await newToy('ignored');
      const { report, writes } = await real.modify(
        { ...target, subresource: 'status' },
        changes({ 'spec/size': 9, 'status/phase': 'X' }),
        offers,
      );
      assert.equal(report.outcome, 'invalid');
      assert.match(String(report.message), /ignores all but status/);
      assert.equal(writes.length, 0);
    });

    it('E1: a kind without a status endpoint has status written with the rest, and no such endpoint used', async () => {
      const target = real.target(group, 'v1', 'plains', 'Plain', 'plain');
      await real.create(target, { spec: { size: 1 } });
      const { report, writes } = await real.modify(target, changes({ 'spec/size': 2, 'status/phase': 'Ready' }), {
        subresources: [],
      });
      assert.equal(report.outcome, 'written');
      assert.equal(writes.length, 1);
      assert.equal(at(await real.read(target), 'status', 'phase'), 'Ready');
      const refused = await real.modify({ ...target, subresource: 'status' }, changes({ 'status/phase': 'X' }), {
        subresources: [],
      });
      assert.equal(refused.report.outcome, 'unsupported');
      assert.equal(refused.seen.length, 0);
    });

    it('E2: conditions of two writers are merged by their type', async () => {
      const target = await newToy('conditions');
      const base = await real.patch(
        target,
        { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
        'b',
        'status',
      );
      const desired = {
        ...base,
        status: { ...(base['status'] as JsonObject), conditions: [{ type: 'Ready', status: 'False' }] },
      };
      await real.patch(
        target,
        {
          status: {
            conditions: [
              { type: 'Ready', status: 'True' },
              { type: 'Backup', status: 'True' },
            ],
          },
        },
        'c',
        'status',
      );
      const schema = await real.schema(target);
      const { report } = await real.modify(
        { ...target, subresource: 'status' },
        { kind: 'edits', base, desired },
        { ...offers, schema },
      );
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'status', 'conditions'), [
        { type: 'Ready', status: 'False' },
        { type: 'Backup', status: 'True' },
      ]);
    });

    it('E3: waiting ends when this write’s generation was observed and its conditions were computed for it', async () => {
      const target = await newToy('observed');
      const { report } = await real.modify(target, changes({ 'spec/size': 2 }), offers);
      const waiting = waitObserved(
        real.cluster,
        target,
        {
          uid: report.uid ?? '',
          token: report.token ?? '',
          ...(report.generation === undefined ? {} : { generation: report.generation }),
          conditions: [{ type: 'Ready', status: 'True' }],
        },
        { clock: systemClock, timeoutMs: 20_000 },
      );
      const condition = (observedGeneration: number): JsonObject => ({
        type: 'Ready',
        status: 'True',
        observedGeneration,
      });
      await real.patch(target, { status: { observedGeneration: 1, conditions: [condition(1)] } }, 'c', 'status');
      await real.patch(target, { status: { observedGeneration: 2, conditions: [condition(1)] } }, 'c', 'status');
      const last = await real.patch(
        target,
        { status: { observedGeneration: 2, conditions: [condition(2)] } },
        'c',
        'status',
      );
      const seen = await waiting;
      assert.equal(seen.outcome, 'observed');
      assert.equal(seen.token, textAt(last, 'metadata', 'resourceVersion'));
      assert.equal(seen.state?.verdict, 'current');
    });

    it('E3: waiting tells of a deletion, of a time limit and of a kind with nothing to wait for', async () => {
      const target = await newToy('waiting');
      const live = await real.read(target);
      const goal = {
        uid: textAt(live, 'metadata', 'uid'),
        token: textAt(live, 'metadata', 'resourceVersion'),
        conditions: [],
      };
      const late = await waitObserved(
        real.cluster,
        target,
        { ...goal, generation: 9 },
        { clock: systemClock, timeoutMs: 200 },
      );
      assert.equal(late.outcome, 'timed-out');
      const waiting = waitObserved(
        real.cluster,
        target,
        { ...goal, generation: 9 },
        { clock: systemClock, timeoutMs: 20_000 },
      );
      await real.delete(target);
      assert.equal((await waiting).outcome, 'gone');
      assert.equal(
        (await waitObserved(real.cluster, target, goal, { clock: systemClock, timeoutMs: 200 })).outcome,
        'unsupported',
      );
    });

    it('scale goes to its own endpoint, checked like any write', async () => {
      const target = real.target('apps', 'v1', 'deployments', 'Deployment', 'web');
      await real.create(target, deployment(1));
      const { intent, subresource } = scaleTo(4, ['scale', 'status']);
      assert.ok(subresource !== undefined);
      let raced = false;
      const { report, writes } = await real.modify(
        { ...target, subresource },
        intent,
        { subresources: ['scale', 'status'] },
        async (request) => {
          if (raced || request.method === 'GET') return;
          raced = true;
          await real.patch(target, { metadata: { labels: { raced: 'yes' } } });
        },
      );
      assert.equal(report.outcome, 'written');
      assert.deepEqual(
        writes.map(({ request, reply }) => `${request.path.split('/').at(-1)} ${reply.status}`),
        ['scale 409', 'scale 200'],
      );
      const live = await real.read(target);
      assert.equal(at(live, 'spec', 'replicas'), 4);
      assert.equal(at(live, 'metadata', 'labels', 'raced'), 'yes');
    });

    it('F1: strategic merge is never sent to a custom resource', async () => {
      const target = await newToy('strategic');
      const { report, writes } = await real.modify(target, changes({ 'spec/size': 2 }), {
        ...offers,
        strategy: 'strategic',
      });
      assert.equal(report.outcome, 'unsupported');
      assert.deepEqual(report.accepted, [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/apply-patch+yaml',
      ]);
      assert.equal(writes.length, 0);
    });

    it('F1: a 415 is not asked again, and says what is taken instead', async () => {
      const target = await newToy('media');
      const { report, writes } = await real.modify(
        target,
        changes({ 'spec/size': 2 }),
        { ...offers, strategy: 'merge-patch' },
        async (request) => {
          if (request.method !== 'PATCH') return undefined;
          const headers = { ...request.headers, 'content-type': 'application/json' };
          return real.cluster.send({ ...request, headers }, AbortSignal.timeout(10_000));
        },
      );
      assert.equal(report.outcome, 'unsupported');
      assert.equal(report.attempts[0]?.code, 415);
      assert.deepEqual(report.accepted, [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/apply-patch+yaml',
      ]);
      assert.equal(writes.length, 1);
    });

    for (const strategy of ['replace', 'json-patch', 'merge-patch', 'strategic', 'apply'] as const) {
      it(`F2 ${strategy}: adding and removing one finalizer touches no other`, async () => {
        const target = real.configMap(`finalizers-${strategy}`);
        await real.create(target, { metadata: { finalizers: ['a.test/x'] } });
        const schema = await real.schema(target);
        let raced = false;
        const added = await real.modify(
          target,
          addFinalizer('c.test/z').intent,
          { strategy, schema },
          async (request) => {
            if (raced || request.method === 'GET') return;
            raced = true;
            await real.patch(target, { metadata: { finalizers: ['a.test/x', 'b.test/y'] } });
          },
        );
        assert.equal(added.report.outcome, 'written');
        const sorted = async (): Promise<unknown> =>
          (at(await real.read(target), 'metadata', 'finalizers') as string[]).toSorted();
        assert.deepEqual(await sorted(), ['a.test/x', 'b.test/y', 'c.test/z']);
        const removed = await real.modify(target, removeFinalizer('c.test/z').intent, { strategy, schema });
        assert.equal(removed.report.outcome, 'written');
        assert.deepEqual(await sorted(), ['a.test/x', 'b.test/y']);
      });
    }

    it('F2: a finalizer added to an object that is being deleted is refused for that reason, once', async () => {
      const target = real.configMap('finalizing');
      await real.create(target, { metadata: { finalizers: ['a.test/x'] } });
      await real.delete(target);
      const { report, writes } = await real.modify(target, addFinalizer('c.test/z').intent);
      assert.equal(report.outcome, 'terminating');
      assert.equal(writes.length, 1);
      const { report: released } = await real.modify(target, removeFinalizer('a.test/x').intent);
      assert.equal(released.outcome, 'written');
    });

    it('F3: a JSON Patch never removes the neighbour of what was meant', async () => {
      const target = real.configMap('neighbours');
      await real.create(target, { metadata: { finalizers: ['a.test/a', 'b.test/b'] } });
      const schema = await real.schema(target);
      let raced = false;
      const { report, writes } = await real.modify(
        target,
        removeFinalizer('b.test/b').intent,
        { strategy: 'json-patch', schema },
        async (request) => {
          if (raced || request.method === 'GET') return;
          raced = true;
          await real.patch(target, { metadata: { finalizers: ['b.test/b', 'c.test/c'] } });
        },
      );
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'metadata', 'finalizers'), ['c.test/c']);
      const operations = writes[0]?.body as JsonObject[];
      const index = operations.findIndex(({ op }) => op === 'remove');
      assert.deepEqual(operations[index - 1], { op: 'test', path: '/metadata/finalizers/1', value: 'b.test/b' });
      assert.deepEqual(operations[index], { op: 'remove', path: '/metadata/finalizers/1' });
      assert.equal(report.attempts[0]?.outcome, 'version-conflict');
    });

    function deployment(replicas: number): JsonObject {
      const labels = { app: 'web' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
      return { spec: { replicas, selector: { matchLabels: labels }, template } };
    }
  });
}
