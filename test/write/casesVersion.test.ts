import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { Server, ServerRequest } from '../../src/base/server.ts';
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../src/codec/json.ts';
import { deleteObject } from '../../src/write/deleteObject.ts';
import type { Intent } from '../../src/write/intent.ts';
import { modify } from '../../src/write/modify.ts';
import { releaseClaim } from '../../src/write/readyEdits.ts';
import { at, changes, RealServer, serverKinds, textAt } from './realServer.ts';

for (const on of serverKinds) {
  describe(`cases A to D on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;

    before(async function () {
      real = await RealServer.start(this, on);
      await real.define('toys', 'Toy', 'toys.write.example', {
        spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      });
    });
    after(async () => real?.stop());

    const toy = (name: string) => real.target('toys.write.example', 'v1', 'toys', 'Toy', name);

    it('A1: what another adds between read and write is there after the retry, content and token from one read', async () => {
      const target = real.configMap('demo-users');
      await real.create(target, { data: { ann: '1' } });
      const { report, writes } = await real.modify(
        target,
        changes({ 'data/cyd': '1' }),
        {},
        async (_request, count) => {
          if (count === 2) await real.patch(target, { data: { bob: '1' } });
        },
      );
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'data'), { ann: '1', bob: '1', cyd: '1' });
      assert.deepEqual(
        report.attempts.map(({ outcome }) => outcome),
        ['version-conflict', 'written'],
      );
      assert.deepEqual(
        report.attempts[0]?.wonBy?.map(({ manager, fields }) => ({ manager, fields })),
        [{ manager: 'b', fields: ['.data.bob'] }],
      );
      const [first, second] = writes;
      assert.deepEqual(at(first?.body, 'data'), { ann: '1', cyd: '1' });
      assert.deepEqual(at(second?.body, 'data'), { ann: '1', bob: '1', cyd: '1' });
      assert.notEqual(at(first?.body, 'metadata', 'resourceVersion'), at(second?.body, 'metadata', 'resourceVersion'));
    });

    it('A2: nothing is sent where the read gave no UID or no version', async () => {
      const target = real.configMap('demo-a');
      await real.create(target, { data: { x: '0' } });
      for (const lacking of [
        { uid: undefined },
        { resourceVersion: undefined },
        { resourceVersion: '' },
        { resourceVersion: '0' },
      ]) {
        const stripped: Server = {
          send: async (request, signal) => {
            const reply = await real.cluster.send(request, signal);
            assert.equal(request.method, 'GET');
            const object = parseJson(reply.body) as JsonObject;
            const metadata = { ...(object['metadata'] as JsonObject), ...lacking } as JsonObject;
            return { ...reply, body: stringifyJson({ ...object, metadata }) };
          },
        };
        const report = await modify(stripped, target, changes({ 'data/x': '1' }), { clock: systemClock });
        assert.equal(report.outcome, 'unsupported', JSON.stringify(lacking));
      }
    });

    it('A2: an unconditional write keeps the UID, and a kind that requires the version refuses it', async () => {
      const target = toy('demo-b');
      await real.create(target, { spec: { size: 1 } });
      const { report, writes } = await real.modify(target, changes({ 'spec/size': 2 }), {
        unconditional: 'may-lose-updates',
      });
      assert.equal(report.outcome, 'invalid');
      assert.deepEqual(
        report.causes?.map(({ field }) => field),
        ['metadata.resourceVersion'],
      );
      assert.equal(at(writes[0]?.body, 'metadata', 'uid'), report.uid);
      assert.equal(at(writes[0]?.body, 'metadata', 'resourceVersion'), undefined);
    });

    for (const strategy of ['replace', 'merge-patch', 'json-patch', 'strategic', 'apply'] as const) {
      it(`A2 ${strategy}: a write never lands on the object that took the name after the read`, async () => {
        const target = real.configMap(`demo-c-${strategy}`);
        const first = await real.create(target, { data: { x: '0' } });
        const { report } = await real.modify(target, changes({ 'data/y': '1' }), { strategy }, async (request) => {
          if (
            request.method === 'GET' ||
            at(await real.read(target), 'metadata', 'uid') !== at(first, 'metadata', 'uid')
          )
            return;
          await real.delete(target);
          await real.create(target, { data: { x: 'new' } });
        });
        assert.equal(report.outcome, 'recreated');
        const live = await real.read(target);
        assert.deepEqual(at(live, 'data'), { x: 'new' });
        assert.equal(report.holder, at(live, 'metadata', 'uid'));
        assert.equal(report.uid, at(first, 'metadata', 'uid'));
      });
    }

    it('B1: every attempt has a read of its own, none sends what was refused, and waits grow to the bound', async () => {
      const target = real.configMap('demo-job');
      await real.create(target, { data: { n: '0' } });
      const pauses: number[] = [];
      const clock = {
        ...systemClock,
        now: () => 1_700_000_000_000,
        random: () => 0.999,
        delay: async (ms: number, signal?: AbortSignal) => {
          if (signal === undefined) {
            pauses.push(ms);
            return;
          }
          await systemClock.delay(ms, signal);
        },
      };
      let wins = 0;
      const { report, seen } = await real.modify(
        target,
        changes({ 'data/mine': '1' }),
        { clock, backoff: { baseMs: 10, capMs: 1000 } },
        async (request) => {
          if (request.method === 'GET') return;
          wins += 1;
          await real.patch(target, { data: { n: `${wins}` } });
        },
      );
      assert.equal(report.outcome, 'contended');
      assert.equal(report.attempts.length, 5);
      assert.deepEqual(pauses, [10, 20, 40, 80]);
      assert.equal(new Set(report.attempts.map(({ basedOn }) => basedOn)).size, 5);
      assert.ok(report.attempts.every(({ wonBy }) => wonBy?.[0]?.manager === 'b'));
      const sent = seen.filter(({ request }) => request.method === 'PUT').map(({ request }) => request.body);
      assert.equal(new Set(sent).size, sent.length);
      assert.deepEqual(
        seen.map(({ request }) => request.method),
        ['GET', 'PUT', 'GET', 'PUT', 'GET', 'PUT', 'GET', 'PUT', 'GET', 'PUT', 'GET'],
      );
    });

    it('B1: a function, which is computed anew each time, has more attempts than edits, and its bound too', async () => {
      const target = real.configMap('demo-function');
      await real.create(target, { data: { n: '0' } });
      const increment: Intent = {
        kind: 'function',
        compute: (object) => ({ ...object, data: { n: `${Number(textAt(object, 'data', 'n')) + 1}` } }),
      };
      let wins = 0;
      const beaten = (times: number) => async (request: ServerRequest) => {
        if (request.method === 'GET' || wins >= times) return;
        wins += 1;
        await real.patch(target, { data: { n: `${wins * 100}` } });
      };
      const { report } = await real.modify(target, increment, {}, beaten(12));
      assert.deepEqual([report.outcome, report.attempts.length], ['written', 13]);
      assert.equal(textAt(await real.read(target), 'data', 'n'), '1201');
      const never = await real.modify(target, increment, {}, beaten(Infinity));
      assert.deepEqual([never.report.outcome, never.report.attempts.length], ['contended', 25]);
    });

    it('C1: no read of a write lets a cache answer', async () => {
      const target = real.configMap('demo-reads');
      await real.create(target, { data: { n: '0' } });
      const { seen } = await real.modify(target, changes({ 'data/mine': '1' }), {}, async (_request, count) => {
        if (count === 2) await real.patch(target, { data: { n: '1' } });
      });
      const reads = seen.filter(({ request }) => request.method === 'GET');
      assert.equal(reads.length, 2);
      for (const { request } of reads) assert.equal(request.query?.['resourceVersion'], undefined);
    });

    it('D4: a delete hits the incarnation that was meant, or nothing', async () => {
      const target = real.configMap('demo-d4');
      const first = await real.create(target, {});
      const uid = textAt(first, 'metadata', 'uid');
      const token = textAt(first, 'metadata', 'resourceVersion');
      await real.delete(target);
      const second = await real.create(target, {});
      const { server, seen } = real.watched();
      const report = await deleteObject(server, { ...target, uid }, { clock: systemClock, token });
      assert.equal(report.outcome, 'recreated');
      assert.equal(report.holder, at(second, 'metadata', 'uid'));
      assert.match(String(report.message), /has another UID now/);
      assert.equal(seen.length, 1);
      assert.deepEqual(at(seen[0]?.body, 'preconditions'), { uid, resourceVersion: token });
      assert.equal(at(await real.read(target), 'metadata', 'uid'), at(second, 'metadata', 'uid'));
    });

    it('D4: a delete of a version that was changed since says what changed, and deletes nothing more', async () => {
      const target = real.configMap('demo-d4v');
      const first = await real.create(target, { data: { a: '1' } });
      const uid = textAt(first, 'metadata', 'uid');
      await real.patch(target, { data: { a: '2' } });
      const { server, seen } = real.watched();
      const token = textAt(first, 'metadata', 'resourceVersion');
      const report = await deleteObject(server, { ...target, uid }, { clock: systemClock, token });
      assert.equal(report.outcome, 'needs-decision');
      assert.match(String(report.message), /changed/);
      assert.deepEqual(report.conflicts, [{ path: '.data.a', base: '1', theirs: '2' }]);
      assert.deepEqual(
        report.attempts.map(({ wonBy }) => wonBy?.map(({ manager, fields }) => [manager, fields])),
        [[['b', ['.data.a']]]],
      );
      assert.equal(report.token, textAt(await real.read(target), 'metadata', 'resourceVersion'));
      assert.deepEqual(
        seen.map(({ request }) => request.method),
        ['DELETE', 'GET', 'GET'],
      );
      assert.equal((await deleteObject(server, { ...target, uid }, { clock: systemClock })).outcome, 'written');
      assert.equal((await deleteObject(server, { ...target, uid }, { clock: systemClock })).outcome, 'gone');
    });

    it('D4: what changed since is not said where the past is not kept, of a Secret without values', async () => {
      const target = real.configMap('demo-d4p');
      const uid = textAt(await real.create(target, { data: { a: '1' } }), 'metadata', 'uid');
      const unknown = await deleteObject(real.cluster, { ...target, uid }, { clock: systemClock, token: '1' });
      assert.deepEqual([unknown.outcome, unknown.conflicts], ['needs-decision', undefined]);
      const secret = real.target('', 'v1', 'secrets', 'Secret', 'demo-d4s');
      const first = await real.create(secret, { data: { a: 'YQ==' } });
      await real.patch(secret, { data: { a: 'Yg==' } });
      const [own, token] = [textAt(first, 'metadata', 'uid'), textAt(first, 'metadata', 'resourceVersion')];
      const told = await deleteObject(real.cluster, { ...secret, uid: own }, { clock: systemClock, token });
      assert.deepEqual(told.conflicts, [{ path: '.data.a' }]);
    });

    it('D4: a delete that finalizers hold says which', async () => {
      const target = real.configMap('demo-d4f');
      const first = await real.create(target, { metadata: { finalizers: ['write.example/hold'] } });
      const uid = textAt(first, 'metadata', 'uid');
      const report = await deleteObject(real.cluster, { ...target, uid }, { clock: systemClock });
      assert.equal(report.outcome, 'written');
      assert.match(String(report.message), /write\.example\/hold/);
      const { report: released } = await real.modify(target, {
        kind: 'changes',
        set: [],
        remove: [[{ field: 'metadata' }, { field: 'finalizers' }]],
      });
      assert.equal(released.outcome, 'written');
      await assert.rejects(real.read(target), /404/);
    });

    it('D7: freeing a volume of its dead claim is one conditional write that changes nothing else', async () => {
      const target = real.target('', 'v1', 'persistentvolumes', 'PersistentVolume', `pv-${real.namespace}`, false);
      const volume = await real.create(target, {
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          hostPath: { path: '/tmp/pv' },
          claimRef: {
            kind: 'PersistentVolumeClaim',
            namespace: 'lab',
            name: 'demo',
            uid: '11111111-1111-1111-1111-111111111111',
            resourceVersion: '3',
          },
        },
      });
      const edit = releaseClaim(volume);
      assert.ok(edit !== undefined);
      const { report, seen } = await real.modify(target, edit.intent);
      assert.equal(report.outcome, 'written');
      const [read, write] = seen;
      const before = parseJson(read?.reply.body ?? '') as JsonObject;
      const spec = before['spec'] as JsonObject;
      const { uid: _uid, resourceVersion: _token, ...claimRef } = spec['claimRef'] as JsonObject;
      assert.deepEqual(write?.body, { ...before, spec: { ...spec, claimRef } });
      assert.equal(releaseClaim(await real.read(target)), undefined);
      await real.delete(target);
    });

    it('D3: an edit made of another life is not written, whatever the name holds', async () => {
      const target = real.configMap('demo-d3');
      const first = await real.create(target, { data: { a: '1' } });
      await real.delete(target);
      await real.create(target, { data: { a: '1' } });
      const desired = { ...first, data: { a: '2' } };
      const { report, writes } = await real.modify(target, { kind: 'edits', base: first, desired });
      assert.equal(report.outcome, 'recreated');
      assert.equal(writes.length, 0);
      assert.ok(isJsonObject(report.object ?? {}));
    });
  });
}
