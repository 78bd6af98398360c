import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { acceptCrd } from '../../src/sandbox/kinds/crd.ts';
import { findByJsonPath } from '../../src/sandbox/kinds/jsonPath.ts';
import type { WriteContext } from '../../src/sandbox/kinds/kind.ts';
import { createServiceAllocator } from '../../src/sandbox/kinds/serviceAllocator.ts';
import { inVersionOf } from '../../src/sandbox/kinds/versions.ts';
import { StatusError } from '../../src/sandbox/status.ts';
import { completeObject } from '../../src/sandbox/fields/complete.ts';
import { builtInKinds } from '../../src/sandbox/kinds/builtIn.ts';
import { kindOf, widgetKind } from './builders.ts';

function context(dryRun = false): WriteContext {
  return { nowMs: 0, dryRun, services: createServiceAllocator(), newUid: () => 'u' };
}

function service(spec: JsonObject): JsonObject {
  return completeObject(kindOf('Service'), { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], ...spec } })
    .object;
}

const specOf = (object: JsonObject): JsonObject => object['spec'] as JsonObject;

describe('Services', () => {
  it('get an IP that goes back when they are deleted', () => {
    const kind = kindOf('Service');
    const one = context();
    const first = service({});
    kind.prepareCreate(first, one);
    const ip = specOf(first)['clusterIP'];
    assert.deepEqual(specOf(first)['clusterIPs'], [ip ?? null]);
    const taken = service({ clusterIP: ip ?? '' });
    assert.throws(
      () => kind.prepareCreate(taken, one),
      (error) => error instanceof StatusError && /provided IP is already allocated/.test(error.message),
    );
    kind.released(first, one);
    kind.prepareCreate(service({ clusterIP: ip ?? '' }), one);
  });

  it('a dry run takes nothing', () => {
    const kind = kindOf('Service');
    const services = createServiceAllocator();
    const [dry, real] = [service({ clusterIP: '10.0.0.9' }), service({ clusterIP: '10.0.0.9' })];
    kind.prepareCreate(dry, { ...context(true), services });
    kind.prepareCreate(real, { ...context(), services });
    assert.equal(specOf(real)['clusterIP'], '10.0.0.9');
  });
});

describe('generations', () => {
  it('count the spec, of Deployments the annotations too, of ConfigMaps nothing', () => {
    const make = (spec: JsonObject, annotations: JsonObject = {}): JsonObject => ({
      metadata: { name: 'x', generation: 4, annotations },
      spec,
    });
    assert.equal(kindOf('Deployment').generationChanged(make({ replicas: 2 }), make({ replicas: 1 })), true);
    assert.equal(kindOf('Deployment').generationChanged(make({}, { a: 'b' }), make({})), true);
    assert.equal(kindOf('ReplicaSet').generationChanged(make({}, { a: 'b' }), make({})), false);
    assert.equal(kindOf('ConfigMap').generationChanged(make({ a: 1 }), make({})), 'none');
  });

  it('of custom resources count all but metadata and status', () => {
    const kind = widgetKind({ a: { type: 'integer' } });
    const live: JsonObject = { metadata: { name: 'w', generation: 1 }, spec: { a: 1 } };
    const labelled: JsonObject = { metadata: { name: 'w', labels: { a: 'b' } }, spec: { a: 1 } };
    kind.prepareUpdate(labelled, live, context(), '');
    assert.equal((labelled['metadata'] as JsonObject)['generation'], 1);
    const changed: JsonObject = { metadata: { name: 'w' }, spec: { a: 2 } };
    kind.prepareUpdate(changed, live, context(), '');
    assert.equal((changed['metadata'] as JsonObject)['generation'], 2);
  });
});

describe('custom resources', () => {
  it('an update may keep a value that the schema no longer allows', () => {
    const kind = widgetKind({ a: { type: 'integer', maximum: 5 }, b: { type: 'string' } });
    const live: JsonObject = { metadata: { name: 'w' }, spec: { a: 9, b: 'x' } };
    assert.deepEqual(kind.validateUpdate({ metadata: { name: 'w' }, spec: { a: 9, b: 'y' } }, live, ''), []);
    assert.equal(kind.validateUpdate({ metadata: { name: 'w' }, spec: { a: 8, b: 'x' } }, live, '').length, 1);
  });

  it('through /status only the status is written', () => {
    const kind = widgetKind({ a: { type: 'integer' } });
    const live: JsonObject = { metadata: { name: 'w', generation: 1 }, spec: { a: 1 } };
    const next: JsonObject = {
      metadata: { name: 'w', labels: { no: 'no' } },
      spec: { a: 2 },
      status: { phase: 'Ready' },
    };
    kind.prepareUpdate(next, live, context(), 'status');
    assert.deepEqual(next, { metadata: { name: 'w', generation: 1 }, spec: { a: 1 }, status: { phase: 'Ready' } });
  });

  it('names that another definition holds are not accepted', () => {
    const crd = (name: string, plural: string): JsonObject => ({
      metadata: { name },
      spec: { group: 'g.test', names: { plural, singular: plural, kind: plural, listKind: `${plural}List` } },
    });
    const first = { ...crd('a.g.test', 'a'), status: acceptCrd(crd('a.g.test', 'a'), [], 0) };
    const second = acceptCrd({ ...crd('b.g.test', 'a') }, [first], 0);
    const conditions = second['conditions'] as JsonObject[];
    assert.deepEqual(
      conditions.map((item) => [item['type'], item['status'], item['reason']]),
      [
        ['NamesAccepted', 'False', 'PluralConflict'],
        ['Established', 'False', 'NotAccepted'],
      ],
    );
  });

  it('printer columns find fields, positions and filtered items', () => {
    const object = {
      status: {
        conditions: [
          { type: 'A', status: 'x' },
          { type: 'Ready', status: 'True' },
        ],
        n: [1, 2],
      },
    };
    assert.deepEqual(findByJsonPath(object, '.status.conditions[?(@.type=="Ready")].status'), ['True']);
    assert.deepEqual(findByJsonPath(object, '.status.n[*]'), [1, 2]);
    assert.deepEqual(findByJsonPath(object, '.status.n[-1]'), [2]);
    assert.deepEqual(findByJsonPath(object, '.status.none.deep'), []);
  });
});

describe('versions of one stored object', () => {
  it('an autoscaler goes from one version to the other and back', () => {
    const [v2, v1] = builtInKinds().filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    assert.ok(v1 !== undefined && v2 !== undefined);
    const spec = {
      maxReplicas: 3,
      minReplicas: 1,
      targetCPUUtilizationPercentage: 50,
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
    };
    const old = completeObject(v1, { metadata: { name: 'x' }, spec }).object;
    assert.deepEqual(inVersionOf(inVersionOf(old, v2), v1), old);
  });
});
