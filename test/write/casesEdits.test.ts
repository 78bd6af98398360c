import assert from 'node:assert/strict';
import fc from 'fast-check';
import { equalJson, isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { setLabel } from '../../src/write/readyEdits.ts';
import { at, changes, RealServer, serverKinds, textAt } from './realServer.ts';
import { FakeServer } from './fakeServer.ts';
import { FakeClock } from './fakeClock.ts';
import { modify } from '../../src/write/modify.ts';

for (const on of serverKinds) {
  describe(`cases J on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;

    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    it('J1: edits made of an old read are carried to the newest object', async () => {
      const target = real.configMap('j1');
      const base = await real.create(target, { data: { image: 'a:1', replicas: '3' } });
      await real.patch(target, { data: { replicas: '5' } });
      const desired = { ...base, data: { image: 'a:2', replicas: '3' } };
      const { report } = await real.modify(target, { kind: 'edits', base, desired });
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'data'), { image: 'a:2', replicas: '5' });
    });

    it('J1: overlapping edits are a decision with all three values, and nothing is sent', async () => {
      const target = real.configMap('j1-overlap');
      const base = await real.create(target, { data: { image: 'a:1' } });
      await real.patch(target, { data: { image: 'a:3' } });
      const desired = { ...base, data: { image: 'a:2' } };
      const { report, writes } = await real.modify(target, { kind: 'edits', base, desired });
      assert.equal(report.outcome, 'needs-decision');
      assert.deepEqual(report.conflicts, [{ path: '.data.image', base: 'a:1', theirs: 'a:3', yours: 'a:2' }]);
      assert.equal(writes.length, 0);
      assert.equal(at(report.sides?.yours, 'data', 'image'), 'a:2');
      assert.equal(at(report.sides?.theirs, 'data', 'image'), 'a:3');
    });

    it('J1: what is there already is no write, and an edit of nothing is no request at all', async () => {
      const target = real.configMap('j1-same');
      const base = await real.create(target, { data: { image: 'a:1' } });
      const desired = { ...base, data: { image: 'a:2' } };
      await real.patch(target, { data: { image: 'a:2' } });
      const same = await real.modify(target, { kind: 'edits', base, desired });
      assert.equal(same.report.outcome, 'unchanged');
      assert.equal(same.writes.length, 0);
      const nothing = await real.modify(target, { kind: 'edits', base, desired: { ...base } });
      assert.equal(nothing.report.outcome, 'unchanged');
      assert.equal(nothing.seen.length, 0);
    });

    it('J1: an edit that loses its race is carried over, or becomes a decision', async () => {
      for (const [others, outcome] of [
        [{ b: '2' }, 'written'],
        [{ a: '3' }, 'needs-decision'],
        [{ a: '2' }, 'unchanged'],
      ] as const) {
        const target = real.configMap(`j1-race-${outcome}`);
        await real.create(target, { data: { a: '1' } });
        const { report } = await real.modify(target, changes({ 'data/a': '2' }), {}, async (_request, count) => {
          if (count === 2) await real.patch(target, { data: others });
        });
        assert.equal(report.outcome, outcome);
      }
    });

    it('J3: a taint is saved while somebody changes status every 50 ms, and no status is lost', async () => {
      const target = real.target('', 'v1', 'nodes', 'Node', `node-${real.namespace}`, false);
      const base = await real.create(target, { spec: {} });
      let beats = 0;
      const stop = new AbortController();
      const heart = (async () => {
        while (!stop.signal.aborted) {
          beats += 1;
          await real.patch(
            target,
            { status: { conditions: [{ type: 'Ready', status: 'True', reason: `beat-${beats}` }] } },
            'kubelet',
            'status',
          );
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const desired = { ...base, spec: { taints: [{ key: 'example.com/x', effect: 'NoSchedule' }] } };
      const { report } = await real.modify(target, { kind: 'edits', base, desired }, { subresources: ['status'] });
      stop.abort();
      await heart;
      assert.equal(report.outcome, 'written');
      assert.ok(report.attempts.length <= 5);
      const live = await real.read(target);
      assert.equal(at(live, 'spec', 'taints', '0', 'key'), 'example.com/x');
      assert.equal(at(live, 'status', 'conditions', '0', 'reason'), `beat-${beats}`);
      await real.delete(target);
    });

    it('J4: the answer of a save is the base of the next one', async () => {
      const target = real.configMap('j4');
      const base = await real.create(target, { data: { x: '1' } });
      const first = await real.modify(target, { kind: 'edits', base, desired: { ...base, data: { x: '2' } } });
      const stored = first.report.object;
      assert.ok(stored !== undefined);
      const second = await real.modify(target, {
        kind: 'edits',
        base: stored,
        desired: { ...stored, data: { x: '3' } },
      });
      assert.deepEqual([first.report.outcome, second.report.outcome], ['written', 'written']);
      assert.equal(first.writes.length + second.writes.length, 2);
      assert.equal(at(second.writes[0]?.body, 'metadata', 'resourceVersion'), first.report.token);
    });

    it('J4: a Secret shown without its values is not saved without them', async () => {
      const target = real.target('', 'v1', 'secrets', 'Secret', 'j4');
      const stored = await real.create(target, { data: { password: 'c2VjcmV0' } });
      const { data: _data, ...shown } = stored;
      const desired = { ...shown, metadata: { ...(shown['metadata'] as JsonObject), labels: { a: '1' } } };
      const { report } = await real.modify(target, { kind: 'edits', base: shown, desired });
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'data'), { password: 'c2VjcmV0' });
    });

    it('J9: times are the texts that the server sent, with all their digits', async () => {
      const target = real.target('coordination.k8s.io', 'v1', 'leases', 'Lease', 'j9');
      await real.create(target, { spec: { holderIdentity: 'a', renewTime: '2026-01-02T03:04:05.123456Z' } });
      const { report, writes } = await real.modify(target, setLabel('a', '1').intent);
      assert.equal(report.outcome, 'written');
      assert.equal(at(writes[0]?.body, 'spec', 'renewTime'), '2026-01-02T03:04:05.123456Z');
      assert.equal(at(await real.read(target), 'spec', 'renewTime'), '2026-01-02T03:04:05.123456Z');
    });

    it('J11: a key added to a Secret leaves every other byte as it was', async () => {
      const target = real.target('', 'v1', 'secrets', 'Secret', 'j11');
      const data = { bin: Buffer.from([0, 0xff, 0xfe, 0x30, 0x82]).toString('base64'), crlf: 'YQ0KYg==', pad: 'YQ==' };
      await real.create(target, { data });
      const { report, writes } = await real.modify(target, changes({ 'data/note': 'aGk=' }));
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(writes[0]?.body, 'data'), { ...data, note: 'aGk=' });
      assert.deepEqual(at(await real.read(target), 'data'), { ...data, note: 'aGk=' });
    });

    it('J11: text and binary data of a ConfigMap never change places, and blanks and line ends stay', async () => {
      const target = real.configMap('j11');
      const data = { t: 'x  \n', crlf: 'a\r\nb', last: 'no newline' };
      await real.create(target, { data, binaryData: { b: 'AAE=' } });
      const { report, writes } = await real.modify(target, changes({ 'data/t': 'y  \n' }));
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(writes[0]?.body, 'data'), { ...data, t: 'y  \n' });
      assert.deepEqual(at(await real.read(target), 'binaryData'), { b: 'AAE=' });
    });

    it('J11: a first key can be added where there was no data at all', async () => {
      const target = real.target('', 'v1', 'secrets', 'Secret', 'j11-empty');
      await real.create(target, {});
      const { report } = await real.modify(target, changes({ 'data/first': 'YQ==' }));
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'data'), { first: 'YQ==' });
    });

    it('a Secret’s values are in no report, not even where they conflict or are refused', async () => {
      const target = real.target('', 'v1', 'secrets', 'Secret', 'quiet');
      const base = await real.create(target, { data: { password: 'b2xk' } });
      await real.patch(target, { data: { password: 'dGhlaXJz' } });
      const conflicting = await real.modify(target, {
        kind: 'edits',
        base,
        desired: { ...base, data: { password: 'eW91cnM=' } },
      });
      assert.equal(conflicting.report.outcome, 'needs-decision');
      assert.deepEqual(conflicting.report.conflicts, [{ path: '.data.password' }]);
      for (const strategy of ['replace', 'merge-patch', 'json-patch'] as const) {
        const { report } = await real.modify(target, changes({ 'data/password': 'not base64, very secret' }), {
          strategy,
        });
        assert.equal(report.outcome, 'invalid');
        const { sides: _sides, object: _object, ...printed } = report;
        assert.ok(!JSON.stringify(printed).includes('very secret'), strategy);
      }
      const immutable = await real.modify(target, changes({ type: 'example.com/other' }));
      assert.equal(immutable.report.outcome, 'invalid');
      assert.ok(textAt(immutable.report.object, 'kind') === 'Secret');
    });
  });
}

describe('case J5', () => {
  const leaf = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }),
    fc.string(),
  );
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('json'), { maxKeys: 3 }),
    ),
  }));
  const anything = fc.dictionary(fc.string(), json, { maxKeys: 4 });

  it('J5: after an edit of one label the body is the object that was read, but for the label', async () => {
    await fc.assert(
      fc.asyncProperty(anything, anything, anything, async (spec, unknownMeta, top) => {
        const server = new FakeServer();
        server.create({
          ...top,
          spec: { futureField: { a: 1 }, ...spec },
          metadata: { unknownMeta, 'x-kubernetes-int-or-string': true },
        });
        const read = parseJson(stringifyJson(server.object ?? null)) as JsonObject;
        let sent: Json = null;
        const report = await modify(
          {
            send: async (request) => {
              if (request.body !== undefined) sent = parseJson(request.body);
              return server.answer(request);
            },
          },
          {
            group: '',
            version: 'v1',
            resource: 'configmaps',
            kind: 'ConfigMap',
            namespaced: true,
            namespace: 'lab',
            name: 'demo',
          },
          setLabel('tier', 'front').intent,
          { clock: new FakeClock() },
        );
        assert.equal(report.outcome, 'written');
        assert.ok(isJsonObject(sent));
        const expected = { ...read, metadata: { ...(read['metadata'] as JsonObject), labels: { tier: 'front' } } };
        assert.ok(equalJson(sent, expected), `${stringifyJson(sent)} is not ${stringifyJson(expected)}`);
      }),
      { numRuns: 200 },
    );
  });
});
