import assert from 'node:assert/strict';
import { SendFailure, type ServerReply, type ServerRequest } from '../../src/base/server.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import { createObject } from '../../src/write/createObject.ts';
import { deleteObject } from '../../src/write/deleteObject.ts';
import { releaseField } from '../../src/write/releaseField.ts';
import type { Intent } from '../../src/write/intent.ts';
import { status } from './fakeServer.ts';
import { at, changes, RealServer, serverKinds, textAt } from './realServer.ts';

const lostError = (): Error => new SendFailure('The connection was cut.', 'maybe');

for (const on of serverKinds) {
  describe(`a write whose answer is lost, on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;

    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    const increment: Intent = {
      kind: 'function',
      compute: (current) => {
        const data = current['data'] as JsonObject;
        return { ...current, data: { ...data, n: String(Number(data['n']) + 1) } };
      },
    };

    /** Cuts the first write, before or after the server acted on it; `meanwhile` is what others do then. */
    const cut = (when: 'before' | 'after', meanwhile?: () => Promise<unknown>) => {
      let done = false;
      return async (request: ServerRequest): Promise<ServerReply | undefined> => {
        if (done || request.method === 'GET') return undefined;
        done = true;
        if (when === 'after') await real.cluster.send(request, AbortSignal.timeout(10_000));
        await meanwhile?.();
        throw lostError();
      };
    };

    for (const strategy of ['replace', 'merge-patch', 'json-patch', 'strategic', 'apply'] as const) {
      it(`${strategy}: edits that were stored are recognised, and sent once`, async () => {
        const target = real.configMap(`after-${strategy}`);
        await real.create(target, { data: { n: '0' } });
        const { report, writes } = await real.modify(target, changes({ 'data/x': '1' }), { strategy }, cut('after'));
        assert.equal(report.outcome, 'written');
        assert.equal(writes.length, 0);
        assert.deepEqual(
          report.attempts.map(({ outcome, settled }) => `${outcome} ${settled}`),
          ['uncertain stored'],
        );
        const live = await real.read(target);
        assert.equal(report.token, textAt(live, 'metadata', 'resourceVersion'));
        assert.deepEqual(at(live, 'data'), { n: '0', x: '1' });
      });

      it(`${strategy}: edits that were not stored are sent again`, async () => {
        const target = real.configMap(`before-${strategy}`);
        await real.create(target, { data: { n: '0' } });
        const { report } = await real.modify(target, changes({ 'data/x': '1' }), { strategy }, cut('before'));
        assert.equal(report.outcome, 'written');
        assert.deepEqual(
          report.attempts.map(({ outcome, settled }) => `${outcome} ${settled}`),
          ['uncertain not-stored', 'written undefined'],
        );
      });
    }

    it('edits that were stored and then built upon are recognised by the version that came next', async () => {
      const target = real.configMap('built-upon');
      await real.create(target, { data: { n: '0' } });
      const { report } = await real.modify(
        target,
        changes({ 'data/x': '1' }),
        {},
        cut('after', async () => real.patch(target, { data: { x: '9' } })),
      );
      assert.equal(report.outcome, 'written');
      assert.equal(at(await real.read(target), 'data', 'x'), '9');
      assert.equal(at(report.object, 'data', 'x'), '1');
    });

    it('an increment is never done twice; whether it was this process’s own is unknown under a shared manager', async () => {
      const target = real.configMap('counter-shared');
      await real.create(target, { data: { n: '0' } });
      const { report, writes } = await real.modify(target, increment, {}, cut('after'));
      assert.equal(report.outcome, 'unknown');
      assert.equal(writes.length, 0);
      assert.equal(at(await real.read(target), 'data', 'n'), '1');
    });

    it('an increment under a manager of its own is told to be stored', async () => {
      const target = real.configMap('counter-own');
      await real.create(target, { data: { n: '0' } });
      const { report } = await real.modify(
        target,
        increment,
        { fieldManager: 'only-me', soleManager: true },
        cut('after'),
      );
      assert.equal(report.outcome, 'written');
      assert.equal(at(await real.read(target), 'data', 'n'), '1');
    });

    it('an increment that another manager’s equal one overtook is done again', async () => {
      const target = real.configMap('counter-other');
      await real.create(target, { data: { n: '0' } });
      const { report } = await real.modify(
        target,
        increment,
        {},
        cut('before', async () => real.patch(target, { data: { n: '1' } }, 'other')),
      );
      assert.equal(report.outcome, 'written');
      assert.equal(at(await real.read(target), 'data', 'n'), '2');
    });

    it('an increment that another process of ours overtook with the same is unknown, and not claimed', async () => {
      const target = real.configMap('counter-twin');
      await real.create(target, { data: { n: '0' } });
      const twin = async (): Promise<unknown> => real.patch(target, { data: { n: '1' } }, 'object-versions');
      const { report } = await real.modify(target, increment, {}, cut('before', twin));
      assert.equal(report.outcome, 'unknown');
      assert.equal(at(await real.read(target), 'data', 'n'), '1');
    });

    it('without the right to watch, an increment is told by its manager’s own entry, and by nothing less', async () => {
      const options = { fieldManager: 'only-me', soleManager: true };
      const blindly =
        (cutting: ReturnType<typeof cut>) =>
        async (request: ServerRequest): Promise<ServerReply | undefined> =>
          request.query?.['watch'] === 'true' ? status(403, 'Forbidden', 'no watch', {}) : cutting(request);
      const mine = real.configMap('blind-own');
      await real.create(mine, { data: { n: '0' } });
      const stored = await real.modify(mine, increment, options, blindly(cut('after')));
      assert.equal(stored.report.outcome, 'written');
      const theirs = real.configMap('blind-other');
      await real.create(theirs, { data: { n: '0' } });
      const other = async (): Promise<unknown> => real.patch(theirs, { data: { n: '1' } }, 'other');
      const unknown = await real.modify(theirs, increment, options, blindly(cut('before', other)));
      assert.equal(unknown.report.outcome, 'unknown');
      assert.equal(at(await real.read(theirs), 'data', 'n'), '1');
    });

    it('an increment that was lost on the way is done once', async () => {
      const target = real.configMap('counter-before');
      await real.create(target, { data: { n: '0' } });
      const { report } = await real.modify(target, increment, {}, cut('before'));
      assert.equal(report.outcome, 'written');
      assert.equal(at(await real.read(target), 'data', 'n'), '1');
    });

    it('a 409 against oneself is recognised: the lost write arrives while the next one is on its way', async () => {
      const target = real.configMap('self');
      await real.create(target, { data: { n: '0' } });
      let held: ServerRequest | undefined;
      const { report, writes } = await real.modify(
        target,
        increment,
        { fieldManager: 'self', soleManager: true },
        async (request) => {
          if (request.method === 'GET') return undefined;
          if (held === undefined) {
            held = request;
            throw lostError();
          }
          await real.cluster.send(held, AbortSignal.timeout(10_000));
          return undefined;
        },
      );
      assert.equal(report.outcome, 'written');
      assert.deepEqual(
        writes.map(({ reply }) => reply.status),
        [409],
      );
      assert.equal(at(await real.read(target), 'data', 'n'), '1');
      assert.deepEqual(
        report.attempts.map(({ outcome, settled }) => `${outcome} ${settled}`),
        ['uncertain stored', 'version-conflict undefined'],
      );
    });

    it('an unconditional write is never sent again: unknown where reading does not show it', async () => {
      const target = real.configMap('unconditional');
      await real.create(target, { data: { n: '0' } });
      const options = { unconditional: 'may-lose-updates' } as const;
      const gone = await real.modify(target, changes({ 'data/x': '1' }), options, cut('before'));
      assert.equal(gone.report.outcome, 'unknown');
      assert.equal(gone.writes.length, 0);
      const stored = await real.modify(target, changes({ 'data/y': '1' }), options, cut('after'));
      assert.equal(stored.report.outcome, 'written');
    });

    it('a lost write to an object that was then replaced is not looked for in its successor', async () => {
      const target = real.configMap('replaced');
      await real.create(target, { data: { n: '0' } });
      const { report } = await real.modify(
        target,
        changes({ 'data/x': '1' }),
        {},
        cut('after', async () => {
          await real.delete(target);
          await real.create(target, { data: { x: '1' } });
        }),
      );
      assert.equal(report.outcome, 'recreated');
    });

    it('a lost write is unknown where no read tells, and where it may still be on its way at the bound', async () => {
      const target = real.configMap('blind');
      await real.create(target, { data: { n: '0' } });
      let lost = false;
      const blind = await real.modify(target, changes({ 'data/x': '1' }), { maxAttempts: 3 }, async (request) => {
        if (request.method !== 'GET') {
          lost = true;
          throw lostError();
        }
        return lost ? status(503, 'ServiceUnavailable', 'not now', undefined) : undefined;
      });
      assert.equal(blind.report.outcome, 'unknown');
      const never = await real.modify(target, changes({ 'data/x': '1' }), { maxAttempts: 2 }, async (request) => {
        if (request.method !== 'GET') throw lostError();
        return undefined;
      });
      assert.equal(never.report.outcome, 'unknown');
    });

    it('a 500 that the server answered is unavailable when the object is still as it was', async () => {
      const target = real.configMap('failing');
      await real.create(target, { data: { n: '0' } });
      const { report } = await real.modify(target, changes({ 'data/x': '1' }), { maxAttempts: 2 }, async (request) =>
        request.method === 'GET' ? undefined : status(500, 'InternalError', 'it broke', undefined),
      );
      assert.equal(report.outcome, 'unavailable');
      assert.deepEqual(
        report.attempts.map(({ outcome, code }) => `${outcome} ${code}`),
        ['uncertain 500', 'uncertain 500'],
      );
    });

    it('an error that is not the API server’s own leaves it unknown: a proxy may still deliver the write', async () => {
      const target = real.configMap('proxied');
      await real.create(target, { data: { n: '0' } });
      const page = { headers: { 'content-type': 'text/html' }, body: '<html>sorry</html>' };
      for (const code of [200, 500, 502, 503, 504]) {
        let held: ServerRequest | undefined;
        const { report } = await real.modify(
          target,
          changes({ 'data/x': String(code) }),
          { maxAttempts: 2 },
          async (request) => {
            if (request.method === 'GET') return undefined;
            held = request;
            return { status: code, ...page };
          },
        );
        assert.equal(report.outcome, 'unknown', String(code));
        assert.match(String(report.message), /may still be on its way/);
        assert.ok(held !== undefined);
        assert.equal((await real.cluster.send(held, new AbortController().signal)).status, 200, 'and so it was');
      }
    });

    it('a dry run whose answer is lost is simply asked again', async () => {
      const target = real.configMap('dry');
      const before = await real.create(target, { data: { n: '0' } });
      const { report, writes } = await real.modify(target, increment, { dryRun: true }, cut('after'));
      assert.equal(report.outcome, 'written');
      assert.equal(report.dryRun, true);
      assert.ok(writes.every(({ request }) => request.query?.['dryRun'] === 'All'));
      assert.equal(
        textAt(await real.read(target), 'metadata', 'resourceVersion'),
        textAt(before, 'metadata', 'resourceVersion'),
      );
    });

    it('a create by name is settled by reading; by generateName it is never repeated', async () => {
      const options = { clock: systemClock, backoff: { baseMs: 1, capMs: 5 } };
      const named = real.configMap('made');
      const after = real.watched(cut('after'));
      const made = await createObject(after.server, named, { metadata: { name: 'made' }, data: { a: '1' } }, options);
      assert.equal(made.outcome, 'written');
      const before = real.watched(cut('before'));
      const again = await createObject(
        before.server,
        real.configMap('made-2'),
        { metadata: { name: 'made-2' } },
        options,
      );
      assert.equal(again.outcome, 'written');
      const taken = await createObject(real.cluster, named, { metadata: { name: 'made' } }, options);
      assert.equal(taken.outcome, 'already-exists');
      const generated = real.watched(cut('after'));
      const one = await createObject(
        generated.server,
        real.configMap(''),
        { metadata: { generateName: 'many-' } },
        options,
      );
      assert.equal(one.outcome, 'unknown');
      assert.equal(generated.seen.length, 0);
      const list = await real.send('GET', `/api/v1/namespaces/${real.namespace}/configmaps`);
      const names = (list['items'] as JsonObject[]).map((item) => textAt(item, 'metadata', 'name'));
      assert.equal(names.filter((name) => name.startsWith('many-')).length, 1);
    });

    it('a release of a claim whose answer is lost is settled by the claim itself, and takes nothing twice', async () => {
      for (const when of ['before', 'after'] as const) {
        const target = real.configMap(`released-${when}`);
        const first = await real.create(target, { data: { a: '1', b: '1' } }, 'object-versions');
        const uid = textAt(first, 'metadata', 'uid');
        const { server, seen } = real.watched(cut(when, () => real.patch(target, { data: { b: '2' } })));
        const path = [{ field: 'data' }, { field: 'a' }];
        const options = { clock: systemClock, backoff: { baseMs: 1, capMs: 5 } };
        const report = await releaseField(server, { ...target, uid }, path, options);
        assert.equal(report.outcome, 'written', when);
        assert.equal(seen.filter(({ request }) => request.method === 'PATCH').length, when === 'after' ? 0 : 1);
        const live = await real.read(target);
        assert.deepEqual(at(live, 'data'), { a: '1', b: '2' });
        const claims = JSON.stringify(at(live, 'metadata', 'managedFields'));
        assert.ok(!claims.includes('f:a') && claims.includes('f:b'), claims);
      }
      const target = real.configMap('released-never');
      const uid = textAt(await real.create(target, { data: { a: '1' } }, 'object-versions'), 'metadata', 'uid');
      const { server } = real.watched(async (request) => {
        if (request.method !== 'GET') throw lostError();
      });
      const options = { clock: systemClock, backoff: { baseMs: 1, capMs: 5 } };
      const report = await releaseField(server, { ...target, uid }, [{ field: 'data' }], options);
      assert.deepEqual([report.outcome, report.attempts.length], ['unknown', 5]);
    });

    it('a delete whose answer is lost is asked again, and can only hit its incarnation', async () => {
      for (const when of ['before', 'after'] as const) {
        const target = real.configMap(`deleted-${when}`);
        const uid = textAt(await real.create(target, {}), 'metadata', 'uid');
        const { server } = real.watched(cut(when));
        const report = await deleteObject(
          server,
          { ...target, uid },
          { clock: systemClock, backoff: { baseMs: 1, capMs: 5 } },
        );
        assert.equal(report.outcome, 'written', when);
        await assert.rejects(real.read(target), /404/);
      }
    });
  });
}
