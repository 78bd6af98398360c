import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { deleteObject } from '../../src/write/deleteObject.ts';
import { strategies } from '../../src/write/outcome.ts';
import { removeFinalizer } from '../../src/write/readyEdits.ts';
import { releaseField } from '../../src/write/releaseField.ts';
import type { Target } from '../../src/write/target.ts';
import { at, changes, RealServer, serverKinds, textAt } from './realServer.ts';

for (const on of serverKinds) {
  describe(`the writer and an object of the same name, on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;
    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    const uidOf = (object: JsonObject): string => textAt(object, 'metadata', 'uid');

    /** An object that was deleted behind a finalizer and created again, as it was last seen, and as it lives. */
    async function recreated(name: string): Promise<{ target: Target; old: JsonObject; live: JsonObject }> {
      const target = real.configMap(name);
      const finalizers = ['write.example/volumes'];
      await real.create(target, { metadata: { finalizers }, data: { volume: 'v-1' } });
      await real.delete(target);
      const old = await real.read(target);
      await real.patch(target, { metadata: { finalizers: null } });
      return { target, old, live: await real.create(target, { metadata: { finalizers }, data: { volume: 'v-1' } }) };
    }

    it('D1: what the death of the old object asked for is not done to the new one: no edit, no release, no delete', async () => {
      const { target, old, live } = await recreated('demo-d1');
      assert.notEqual(at(old, 'metadata', 'deletionTimestamp'), undefined);
      const meant = { ...target, uid: uidOf(old) };
      for (const strategy of strategies) {
        const { intent } = removeFinalizer('write.example/volumes');
        const { report, writes } = await real.modify(meant, intent, { strategy });
        assert.deepEqual([report.outcome, report.holder, writes.length], ['recreated', uidOf(live), 0], strategy);
      }
      const options = { clock: systemClock };
      const release = await releaseField(real.cluster, meant, [{ field: 'data' }], { ...options, fieldManager: 'b' });
      assert.deepEqual([release.outcome, release.holder], ['recreated', uidOf(live)]);
      const { server, seen } = real.watched();
      const removal = await deleteObject(server, meant, options);
      assert.deepEqual([removal.outcome, removal.holder, seen.length], ['recreated', uidOf(live), 1]);
      assert.deepEqual(await real.read(target), live);
    });

    it('D1: edits made of the old object, whose end was not seen, are not carried over to the new one', async () => {
      const { target, old, live } = await recreated('demo-d1e');
      const desired = { ...old, data: { volume: 'none' } };
      const { report, writes } = await real.modify(target, { kind: 'edits', base: old, desired });
      assert.deepEqual([report.outcome, report.holder, writes.length], ['recreated', uidOf(live), 0]);
    });

    it('D1: another life that begins between read and write is told as such, whatever the server refuses first', async () => {
      for (const strategy of strategies) {
        const target = real.configMap(`demo-d1-${strategy}`);
        const old = await real.create(target, { data: { volume: 'v-1' } });
        let live: JsonObject | undefined;
        const { report } = await real.modify(
          target,
          changes({ 'data/mine': 'x' }),
          { strategy },
          async ({ method }) => {
            if (method === 'GET' || live !== undefined) return undefined;
            await real.delete(target);
            live = await real.create(target, { data: { volume: 'v-2', mine: 'theirs' } });
            return undefined;
          },
        );
        assert.ok(live !== undefined);
        assert.deepEqual([report.outcome, report.uid, report.holder], ['recreated', uidOf(old), uidOf(live)], strategy);
        assert.deepEqual(await real.read(target), live);
      }
    });

    it('D5: a dead UID that is written is named at its path, and one write puts it right and changes nothing else', async () => {
      const { target: name, old, live } = await recreated('demo-d5');
      const registry = real.configMap('lb-registry');
      await real.create(registry, { data: { 'lb-0': 'service-uid=other' } });
      const detector = createDetector();
      let seq = 0;
      const onEvent = (event: Omit<TraceEvent, 'seq'>): void => {
        seq += 1;
        detector.add({ ...event, seq } as TraceEvent);
      };
      const { group, resource, namespace } = name;
      for (const [object, token] of [
        [old, 'a'],
        [live, 'b'],
      ] as const) {
        const seen = { group, resource, namespace, name: name.name };
        const event = { type: 'observed', at: Date.now(), via: 'list', cluster: 'c', name: seen, token } as const;
        onEvent({ ...event, uid: uidOf(object), stream: token, body: object } as Omit<TraceEvent, 'seq'>);
      }
      const log = { onEvent, cluster: 'c', keepBodies: true };
      await real.modify(registry, changes({ 'data/lb-1': `service-uid=${uidOf(old)}` }), log);
      const references = (): string[] =>
        detector
          .findings()
          .filter(({ id }) => id === 'stale-reference')
          .flatMap(({ fields, details }) => [...fields, String(details?.['dead']), String(details?.['live'])]);
      assert.deepEqual(references(), ['.data.lb-1', uidOf(old), uidOf(live)]);
      const before = await real.read(registry);
      const fixed = await real.modify(registry, changes({ 'data/lb-1': `service-uid=${uidOf(live)}` }), log);
      assert.equal(fixed.report.outcome, 'written');
      const sent = fixed.writes[0]?.body ?? null;
      assert.equal(textAt(sent, 'metadata', 'resourceVersion'), textAt(before, 'metadata', 'resourceVersion'));
      assert.deepEqual(at(sent, 'data'), { 'lb-0': 'service-uid=other', 'lb-1': `service-uid=${uidOf(live)}` });
      assert.equal(references().length, 3, 'the living UID is no finding');
    });
  });
}
