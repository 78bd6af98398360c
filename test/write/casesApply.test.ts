import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import type { ListSchema } from '../../src/core/listSchema.ts';
import { setImage, setLabel } from '../../src/write/readyEdits.ts';
import { previewWrite } from '../../src/write/preview.ts';
import type { Target } from '../../src/write/target.ts';
import { at, changes, RealServer, serverKinds, textAt } from './realServer.ts';

for (const on of serverKinds) {
  describe(`cases G on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;
    let schemas: { configMap: ListSchema; deployment: ListSchema; service: ListSchema };

    before(async function () {
      real = await RealServer.start(this, on);
      schemas = {
        configMap: await real.schema(real.configMap('x')),
        deployment: await real.schema(deploymentOf('x')),
        service: await real.schema(serviceOf('x')),
      };
    });
    after(async () => real?.stop());

    const deploymentOf = (name: string): Target => real.target('apps', 'v1', 'deployments', 'Deployment', name);
    const serviceOf = (name: string): Target => real.target('', 'v1', 'services', 'Service', name);
    const deployment = (more: JsonObject): JsonObject => ({
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
        ...more,
      },
    });

    it('G1: an apply has what this manager applied before plus the change, and nothing else', async () => {
      const target = deploymentOf('g1');
      await real.create(target, deployment({ replicas: 2 }));
      const options = { strategy: 'apply', schema: schemas.deployment, subresources: ['status', 'scale'] } as const;
      const first = await real.modify(target, setLabel('tier', 'front').intent, options);
      assert.equal(first.report.outcome, 'written');
      const read = JSON.parse(first.seen[0]?.reply.body ?? '') as JsonObject;
      const identity = (object: JsonObject): JsonObject => ({
        name: 'g1',
        namespace: real.namespace,
        uid: textAt(object, 'metadata', 'uid'),
        resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
      });
      assert.deepEqual(first.writes[0]?.body, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { ...identity(read), labels: { tier: 'front' } },
      });
      const between = await real.read(target);
      const second = await real.modify(target, setLabel('team', 'blue').intent, options);
      assert.deepEqual(at(second.writes[0]?.body, 'metadata'), {
        ...identity(between),
        labels: { tier: 'front', team: 'blue' },
      });
      assert.deepEqual(at(await real.read(target), 'metadata', 'labels'), { tier: 'front', team: 'blue' });
    });

    it('G1: what was applied in keyed lists and sets is sent again', async () => {
      const target = deploymentOf('g1-lists');
      await real.create(target, deployment({ replicas: 2 }));
      const options = {
        strategy: 'apply',
        schema: schemas.deployment,
        subresources: ['status', 'scale'],
        fieldManager: 'a',
      } as const;
      await real.apply(
        target,
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'g1-lists', finalizers: ['a.test/x'] },
          spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'A', value: '1' }] }] } } },
        },
        'a',
      );
      const { report, writes } = await real.modify(target, setLabel('tier', 'front').intent, options);
      assert.equal(report.outcome, 'written');
      assert.deepEqual(at(writes[0]?.body, 'spec', 'template', 'spec', 'containers'), [
        { name: 'web', env: [{ name: 'A', value: '1' }] },
      ]);
      assert.deepEqual(at(writes[0]?.body, 'metadata', 'finalizers'), ['a.test/x']);
    });

    it('G2: a field conflict is shown with its owner and never asked again by itself', async () => {
      const target = deploymentOf('g2');
      await real.create(target, deployment({ replicas: 3 }), 'kubectl-edit');
      const options = { strategy: 'apply', schema: schemas.deployment, fieldManager: 'op' } as const;
      const intent = changes({ 'spec/replicas': 1, 'spec/paused': false });
      const { report, writes } = await real.modify(target, intent, options);
      assert.equal(report.outcome, 'field-conflict');
      assert.equal(writes.length, 1);
      assert.deepEqual(
        report.fieldConflicts?.map(({ path, manager, operation, apiVersion }) => ({
          path,
          manager,
          operation,
          apiVersion,
        })),
        [{ path: '.spec.replicas', manager: 'kubectl-edit', operation: 'Update', apiVersion: 'apps/v1' }],
      );
      assert.match(report.fieldConflicts?.[0]?.time ?? '', /^20\d\d-/);
      assert.equal(report.token, textAt(await real.read(target), 'metadata', 'resourceVersion'));
    });

    it('G2: giving the field up leaves it out', async () => {
      const target = deploymentOf('g2-give-up');
      await real.create(target, deployment({ replicas: 3 }), 'kubectl-edit');
      const resolve = { token: '', choices: [{ path: '.spec.replicas', choice: 'give-up' }] } as const;
      const options = { strategy: 'apply', schema: schemas.deployment, fieldManager: 'op', resolve } as const;
      const { report, writes } = await real.modify(
        target,
        changes({ 'spec/replicas': 1, 'spec/progressDeadlineSeconds': 60 }),
        {
          ...options,
          resolve: {
            ...resolve,
            choices: [...resolve.choices, { path: '.spec.progressDeadlineSeconds', choice: 'give-up' }],
          },
        },
      );
      assert.ok(['written', 'unchanged'].includes(report.outcome));
      assert.equal(at(writes[0]?.body, 'spec', 'replicas'), undefined);
      assert.equal(at(await real.read(target), 'spec', 'replicas'), 3);
    });

    it('G2: co-owning takes their value', async () => {
      const target = deploymentOf('g2-co-own');
      await real.create(target, deployment({ replicas: 3 }), 'kubectl-edit');
      const resolve = { token: '', choices: [{ path: '.spec.replicas', choice: 'co-own' }] } as const;
      const options = { strategy: 'apply', schema: schemas.deployment, fieldManager: 'op', resolve } as const;
      const { report, writes } = await real.modify(target, changes({ 'spec/replicas': 1 }), options);
      assert.equal(report.outcome, 'written');
      assert.equal(at(writes[0]?.body, 'spec', 'replicas'), 3);
      assert.equal(writes[0]?.request.query?.['force'], undefined);
    });

    it('G2: taking over is one forced request with all of ours, pinned to the version that was shown', async () => {
      const target = deploymentOf('g2-take');
      await real.create(target, deployment({ replicas: 3 }), 'kubectl-edit');
      const options = { strategy: 'apply', schema: schemas.deployment, fieldManager: 'op' } as const;
      const intent = changes({ 'spec/replicas': 1, 'spec/minReadySeconds': 5 });
      const asked = await real.modify(target, intent, options);
      const resolve = {
        token: asked.report.token ?? '',
        choices: [{ path: '.spec.replicas', choice: 'take-over' }],
      } as const;
      const { report, writes } = await real.modify(target, intent, { ...options, resolve });
      assert.equal(report.outcome, 'written');
      assert.equal(writes.length, 1);
      assert.equal(writes[0]?.request.query?.['force'], 'true');
      assert.equal(at(writes[0]?.body, 'metadata', 'resourceVersion'), resolve.token);
      assert.equal(at(writes[0]?.body, 'spec', 'minReadySeconds'), 5);
      const live = await real.read(target);
      assert.deepEqual([at(live, 'spec', 'replicas'), at(live, 'spec', 'minReadySeconds')], [1, 5]);
    });

    it('G2: at any other version nothing is forced and the question comes back', async () => {
      const target = deploymentOf('g2-moved');
      await real.create(target, deployment({ replicas: 3 }), 'kubectl-edit');
      const options = { strategy: 'apply', schema: schemas.deployment, fieldManager: 'op' } as const;
      const asked = await real.modify(target, changes({ 'spec/replicas': 1 }), options);
      await real.patch(target, { spec: { replicas: 7 } }, 'autoscaler');
      const resolve = {
        token: asked.report.token ?? '',
        choices: [{ path: '.spec.replicas', choice: 'take-over' }],
      } as const;
      const { report, writes } = await real.modify(target, changes({ 'spec/replicas': 1 }), { ...options, resolve });
      assert.equal(report.outcome, 'field-conflict');
      assert.deepEqual(
        report.fieldConflicts?.map(({ manager }) => manager),
        ['autoscaler'],
      );
      assert.ok(writes.every(({ request }) => request.query?.['force'] === undefined));
    });

    it('G2: taking one field over does not take another', async () => {
      const target = deploymentOf('g2-two');
      await real.create(target, deployment({ replicas: 3, minReadySeconds: 9 }), 'kubectl-edit');
      const options = { strategy: 'apply', schema: schemas.deployment, fieldManager: 'op' } as const;
      const intent = changes({ 'spec/replicas': 1, 'spec/minReadySeconds': 1 });
      const asked = await real.modify(target, intent, options);
      assert.equal(asked.report.fieldConflicts?.length, 2);
      const resolve = {
        token: asked.report.token ?? '',
        choices: [{ path: '.spec.replicas', choice: 'take-over' }],
      } as const;
      const { report } = await real.modify(target, intent, { ...options, resolve });
      assert.equal(report.outcome, 'field-conflict');
      assert.equal(at(await real.read(target), 'spec', 'replicas'), 3);
    });

    it('G2: an owner through the scale endpoint is told apart', async () => {
      const target = deploymentOf('g2-scale');
      await real.create(target, deployment({ replicas: 3 }));
      await real.patch(target, { spec: { replicas: 4 } }, 'kube-controller-manager', 'scale');
      const { report } = await real.modify(target, changes({ 'spec/replicas': 1 }), {
        strategy: 'apply',
        schema: schemas.deployment,
      });
      assert.equal(report.outcome, 'field-conflict');
      assert.deepEqual(
        report.fieldConflicts?.map(({ manager, subresource }) => ({ manager, subresource })),
        [{ manager: 'kube-controller-manager', subresource: 'scale' }],
      );
    });

    it('G3: every write names our field manager, and says first whose fields it takes', async () => {
      for (const strategy of ['replace', 'apply', 'json-patch', 'merge-patch', 'strategic'] as const) {
        const target = deploymentOf(`g3-${strategy}`);
        await real.create(target, deployment({ replicas: 2 }), 'helm');
        const told: string[] = [];
        const { report, writes } = await real.modify(target, changes({ 'spec/replicas': 4 }), {
          strategy,
          schema: schemas.deployment,
          onOwned: (owned) => {
            told.push(...owned.map(({ path, manager }) => `${path}: ${manager}`));
            return true;
          },
        });
        assert.equal(report.outcome, strategy === 'apply' ? 'field-conflict' : 'written');
        assert.deepEqual(told, ['.spec.replicas: helm']);
        assert.ok(writes.every(({ request }) => request.query?.['fieldManager'] === 'object-versions'));
        const fields = at(await real.read(target), 'metadata', 'managedFields') as JsonObject[];
        assert.ok(fields.every(({ manager }) => manager === 'helm' || manager === 'object-versions'));
      }
    });

    it('G4: a removed field that another owns is reported as kept, and a replace removes it', async () => {
      const target = real.configMap('g4');
      await real.create(target, { data: { keep: '1', legacy: '1' } }, 'm-old');
      await real.apply(
        target,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'g4' }, data: { keep: '1', legacy: '1' } },
        'me',
      );
      const options = { schema: schemas.configMap, fieldManager: 'me' } as const;
      const { report } = await real.modify(target, changes({}, ['data/legacy']), { ...options, strategy: 'apply' });
      assert.deepEqual(report.storedOtherwise, [
        { path: '.data.legacy', stored: '1', was: '1', keptBy: ['m-old (Update)'] },
      ]);
      const replaced = await real.modify(target, changes({}, ['data/legacy']), options);
      assert.equal(replaced.report.outcome, 'written');
      assert.deepEqual(at(await real.read(target), 'data'), { keep: '1' });
    });

    for (const strategy of ['apply', 'strategic', 'replace', 'json-patch', 'merge-patch'] as const) {
      it(`G5 ${strategy}: a changed key field replaces the item instead of adding one`, async () => {
        const target = serviceOf(`g5-${strategy}`);
        await real.create(
          target,
          { spec: { ports: [{ name: 'web', port: 80, protocol: 'TCP', targetPort: 8080 }] } },
          'm1',
        );
        const { report, writes } = await real.modify(
          target,
          {
            kind: 'function',
            compute: (current) => {
              const spec = current['spec'] as JsonObject;
              const [port] = spec['ports'] as JsonObject[];
              return { ...current, spec: { ...spec, ports: [{ ...port, port: 81 }] } };
            },
          },
          { strategy, schema: schemas.service },
        );
        assert.equal(report.outcome, 'written');
        const ports = at(await real.read(target), 'spec', 'ports') as JsonObject[];
        assert.deepEqual(
          ports.map(({ port }) => port),
          [81],
        );
        if (strategy === 'apply' || strategy === 'strategic') {
          assert.equal(report.strategy, 'replace');
          assert.match(String(report.message), /another key/);
          assert.equal(writes[0]?.request.method, 'PUT');
        }
      });
    }

    it('G8: a preview shows the default that a removed line becomes, and asks for it by itself', async () => {
      const target = deploymentOf('g8');
      const before = await real.create(target, deployment({ replicas: 100 }));
      const options = { clock: systemClock, schema: schemas.deployment };
      const preview = await previewWrite(real.cluster, target, changes({}, ['spec/replicas']), options);
      assert.deepEqual(preview.resets, [{ path: '.spec.replicas', before: 100, after: 1 }]);
      assert.deepEqual(preview.changes, [{ path: '.spec.replicas', before: 100, after: 1 }]);
      assert.equal(
        at(await real.read(target), 'metadata', 'resourceVersion'),
        at(before, 'metadata', 'resourceVersion'),
      );
      await real.modify(target, {
        kind: 'changes',
        set: [[[{ field: 'metadata' }, { field: 'annotations' }, { field: 'x' }], '1']],
        remove: [],
      });
      const plain = await previewWrite(real.cluster, target, changes({}, ['metadata/annotations/x']), options);
      assert.deepEqual(plain.resets, []);
      assert.equal(plain.report.outcome, 'written');
    });

    it('every strategy changes one image of one container and nothing else', async () => {
      for (const strategy of ['replace', 'json-patch', 'merge-patch', 'strategic', 'apply'] as const) {
        const target = deploymentOf(`image-${strategy}`);
        const containers = ['web', 'side'].map((name) => ({
          name,
          image: `${name}:1`,
          args: ['a', 'b'],
          ports: [{ containerPort: 80 }, { containerPort: 81 }],
        }));
        const made = await real.create(
          target,
          deployment({ template: { metadata: { labels: { app: 'web' } }, spec: { containers } } }),
        );
        const edit = setImage(made, 'side', 'side:2');
        assert.ok(edit !== undefined);
        const { report } = await real.modify(target, edit.intent, {
          strategy,
          schema: schemas.deployment,
          ...(strategy === 'apply'
            ? {
                resolve: {
                  token: textAt(made, 'metadata', 'resourceVersion'),
                  choices: [{ path: '.spec.template.spec.containers[name="side"].image', choice: 'take-over' }],
                },
              }
            : {}),
        });
        assert.equal(report.outcome, 'written', `${strategy} ${String(report.message)}`);
        assert.equal(report.storedOtherwise, undefined, strategy);
        const [web, side] = at(await real.read(target), 'spec', 'template', 'spec', 'containers') as JsonObject[];
        const [webBefore, sideBefore] = at(made, 'spec', 'template', 'spec', 'containers') as JsonObject[];
        assert.deepEqual(web, webBefore);
        assert.deepEqual(side, { ...sideBefore, image: 'side:2' });
      }
    });

    it('every strategy removes, adds and changes items of lists as asked', async () => {
      for (const strategy of ['replace', 'json-patch', 'merge-patch', 'strategic'] as const) {
        const target = deploymentOf(`lists-${strategy}`);
        const env = ['A', 'B', 'C'].map((name) => ({ name, value: '1' }));
        const containers = [
          {
            name: 'web',
            image: 'web:1',
            env,
            args: ['a', 'b', 'c'],
            ports: [{ containerPort: 80 }, { containerPort: 81 }],
          },
        ];
        await real.create(
          target,
          deployment({ template: { metadata: { labels: { app: 'web' } }, spec: { containers } } }),
        );
        const { report } = await real.modify(
          target,
          {
            kind: 'function',
            compute: (current) => {
              const container = at(current, 'spec', 'template', 'spec', 'containers', '0') as JsonObject;
              container['env'] = [
                { name: 'C', value: '2' },
                { name: 'A', value: '1' },
                { name: 'D', value: '4' },
              ];
              container['args'] = ['b', 'x'];
              const [, second] = container['ports'] as JsonObject[];
              container['ports'] = [{ ...second, name: 'two' }];
              return current;
            },
          },
          { strategy, schema: schemas.deployment },
        );
        assert.equal(report.outcome, 'written', `${strategy} ${String(report.message)}`);
        const live = at(await real.read(target), 'spec', 'template', 'spec', 'containers', '0') as JsonObject;
        assert.deepEqual(
          live['env'],
          [
            { name: 'C', value: '2' },
            { name: 'A', value: '1' },
            { name: 'D', value: '4' },
          ],
          strategy,
        );
        assert.deepEqual(live['args'], ['b', 'x'], strategy);
        assert.deepEqual(live['ports'], [{ containerPort: 81, protocol: 'TCP', name: 'two' }], strategy);
        assert.equal(report.storedOtherwise, undefined, `${strategy}: ${JSON.stringify(report.storedOtherwise)}`);
      }
    });
  });
}
