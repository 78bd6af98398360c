import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import { isJsonObject, type JsonObject } from '../../src/codec/json.ts';
import { parsePath, type Path } from '../../src/codec/path.ts';
import { ownersAt, ownersOf } from '../../src/core/ownership.ts';
import { setLabel } from '../../src/write/readyEdits.ts';
import { releaseField } from '../../src/write/releaseField.ts';
import { identityOf, type Target } from '../../src/write/target.ts';
import { RealServer, serverKinds } from './realServer.ts';

for (const on of serverKinds) {
  describe(`a claim is released on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;
    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    const path = (text: string): Path => {
      const parsed = parsePath(text);
      assert.ok('path' in parsed);
      return parsed.path;
    };
    const labels = (object: JsonObject): unknown =>
      isJsonObject(object['metadata']) ? object['metadata']['labels'] : undefined;
    const owners = (object: JsonObject, at: Path): string[] => {
      const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
      const fields = Array.isArray(metadata['managedFields']) ? metadata['managedFields'] : [];
      return ownersAt(ownersOf(fields), at).map(({ manager }) => manager);
    };
    async function labelled(name: string): Promise<{ target: Target & { uid: string }; before: JsonObject }> {
      const target = real.configMap(name);
      await real.create(target, { data: { a: '1' } });
      await real.modify(target, setLabel('tier', 'front').intent, { strategy: 'apply' });
      await real.modify(target, setLabel('zone', 'z1').intent, { strategy: 'apply' });
      const before = await real.read(target);
      return { target: { ...target, uid: identityOf(before).uid }, before };
    }

    it('the value stays, the other claims stay, and nobody owns the field', async () => {
      const tier = path('.metadata.labels.tier');
      const { target, before } = await labelled('released');
      assert.deepEqual(owners(before, tier), ['object-versions']);
      const report = await releaseField(real.cluster, target, tier, { clock: systemClock });
      assert.equal(report.outcome, 'written');
      const after = await real.read(target);
      assert.deepEqual(labels(after), { tier: 'front', zone: 'z1' });
      assert.deepEqual(owners(after, tier), []);
      assert.deepEqual(owners(after, path('.metadata.labels.zone')), ['object-versions']);
      assert.deepEqual(owners(after, path('.data.a')), ['b']);
      const again = await releaseField(real.cluster, target, tier, { clock: systemClock });
      assert.equal(again.outcome, 'unchanged');
    });

    it('another can then apply the field without a conflict', async () => {
      const { target } = await labelled('handed-over');
      await releaseField(real.cluster, target, path('.metadata.labels'), { clock: systemClock });
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target.name, labels: { tier: 'back' } } };
      const applied = await real.send('PATCH', `/api/v1/namespaces/${real.namespace}/configmaps/${target.name}`, body, {
        query: { fieldManager: 'other' },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
      assert.deepEqual(labels(applied), { tier: 'back', zone: 'z1' });
    });

    it('another incarnation is left alone', async () => {
      const { target } = await labelled('meant');
      const other = { ...target, uid: '00000000-0000-4000-8000-000000000000' };
      const report = await releaseField(real.cluster, other, path('.metadata.labels'), { clock: systemClock });
      assert.equal(report.outcome, 'recreated');
      assert.deepEqual(owners(await real.read(target), path('.metadata.labels.tier')), ['object-versions']);
    });
  });
}
