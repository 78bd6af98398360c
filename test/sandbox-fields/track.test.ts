import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cloneJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { settleTimes } from '../../src/sandbox/fields/track.ts';
import { applied, configMap, created, deployment, kindOf, ownership, updated, widgetKind } from './builders.ts';

const maps = kindOf('ConfigMap');
const deployments = kindOf('Deployment');

function withEntries(object: JsonObject, managedFields: JsonObject[]): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields } };
}

describe('managedFields of updates', () => {
  it('a create owns what was sent, maps themselves included', () => {
    assert.deepEqual(ownership(created(maps, configMap({ k: 'v' }))), {
      'creator/Update': { 'f:data': { '.': {}, 'f:k': {} } },
    });
  });

  it('a key that comes later is added without the map', () => {
    const two = updated(maps, created(maps, configMap({ k: 'v' })), configMap({ k: 'v', l: 'w' }), 'other');
    assert.deepEqual(ownership(two), {
      'creator/Update': { 'f:data': { '.': {}, 'f:k': {} } },
      'other/Update': { 'f:data': { 'f:l': {} } },
    });
  });

  it('value structs of built-in kinds always exist and are not owned; pointers are', () => {
    const owned = ownership(created(deployments, deployment([{ name: 'c', image: 'i' }])))[
      'creator/Update'
    ] as unknown as { 'f:spec': Record<string, JsonObject> };
    assert.equal(owned['f:spec']['.'], undefined);
    assert.equal(owned['f:spec']['f:strategy']?.['.'], undefined);
    assert.deepEqual(owned['f:spec']['f:strategy']?.['f:rollingUpdate'], {
      '.': {},
      'f:maxSurge': {},
      'f:maxUnavailable': {},
    });
    assert.deepEqual(owned['f:spec']['f:selector'], {});
  });

  it('structs of custom resources are owned', () => {
    const widgets = widgetKind({ size: { type: 'integer' } });
    const made = created(widgets, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { size: 1 },
    });
    assert.deepEqual(ownership(made), { 'creator/Update': { 'f:spec': { '.': {}, 'f:size': {} } } });
  });

  it('a changed field moves to its updater, a removed one leaves everybody', () => {
    const two = updated(maps, applied(maps, undefined, configMap({ a: '1', b: '1' }), 'm'), configMap({ a: '2' }), 'u');
    assert.deepEqual(ownership(two), { 'u/Update': { 'f:data': { 'f:a': {} } } });
  });

  it('an update that changes nothing leaves no entry', () => {
    const live = created(maps, configMap({ k: 'v' }));
    assert.deepEqual(Object.keys(ownership(updated(maps, live, configMap({ k: 'v' }), 'other'))), ['creator/Update']);
  });

  it('fields that the endpoint resets are not owned', () => {
    const sent = created(deployments, { ...deployment([{ name: 'c', image: 'i' }]), status: { replicas: 3 } });
    assert.equal((ownership(sent)['creator/Update'] as JsonObject)['f:status'], undefined);
    const live = created(deployments, deployment([{ name: 'c', image: 'i' }]));
    const next = { ...deployment([{ name: 'c', image: 'other' }]), status: { replicas: 3 } };
    assert.deepEqual(ownership(updated(deployments, live, next, 'ctl', 'status'))['ctl/Update'], {
      'f:status': { 'f:replicas': {} },
    });
  });

  it('an empty list, or a list of one empty entry, clears the entries, and nothing is tracked then', () => {
    const live = created(maps, configMap({ k: 'v' }));
    for (const entries of [[], [{}]]) {
      const cleared = updated(maps, live, withEntries(configMap({ k: 'w' }), entries), 'u');
      assert.deepEqual(ownership(cleared), {});
      assert.deepEqual(ownership(updated(maps, cleared, configMap({ k: 'x' }), 'u')), {});
    }
  });

  it('entries that are left out or garbled are kept as stored', () => {
    const live = created(maps, configMap({ k: 'v' }));
    assert.deepEqual(ownership(updated(maps, live, configMap({ k: 'v' }), 'u')), ownership(live));
    const garbled = withEntries(configMap({ k: 'v' }), [{ manager: 'x', operation: 'Odd' }]);
    assert.deepEqual(ownership(updated(maps, live, garbled, 'u')), ownership(live));
  });

  it('beyond ten updaters the oldest are merged into ancient-changes', () => {
    let live = created(maps, configMap({ k0: 'v' }), 'm0');
    for (let index = 1; index < 13; index += 1) {
      const data = Object.fromEntries(Array.from({ length: index + 1 }, (_, at) => [`k${at}`, 'v']));
      live = updated(maps, live, configMap(data), `m${index}`);
    }
    const managers = Object.keys(ownership(live));
    assert.equal(managers.length, 10);
    assert.ok(managers.includes('ancient-changes/Update'));
  });

  it('a write that differs in times only is put back to the stored times', () => {
    const live = applied(maps, undefined, configMap({ k: 'v' }), 'm');
    const entries = (live['metadata'] as JsonObject)['managedFields'] as JsonObject[];
    const later = withEntries(
      live,
      entries.map((entry) => ({ ...entry, time: '2030-01-01T00:00:00Z' })),
    );
    settleTimes(later, live);
    assert.deepEqual(later, live);
  });

  it('what is remembered of a stored version is what its text says, and no write changes it', () => {
    const data = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'));
    const step = fc.record({ manager: fc.constantFrom('m', 'n', 'o'), data, apply: fc.boolean() });
    fc.assert(
      fc.property(data, fc.array(step, { minLength: 1, maxLength: 6 }), (first, steps) => {
        let live = created(maps, configMap(first));
        for (const { manager, data, apply } of steps) {
          const write = (from: JsonObject): JsonObject =>
            apply ? applied(maps, from, configMap(data), manager, true) : updated(maps, from, configMap(data), manager);
          const next = write(freeze(live));
          assert.deepEqual(next, write(cloneJson(live)));
          live = next;
        }
      }),
    );
  });

  it('what nobody may own leaves the entry of a writer who claimed it and changes it', () => {
    const live = created(maps, configMap({ k: 'v' }, { generation: 1 }));
    const entry = {
      manager: 'u',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:generation': {} }, 'f:data': { 'f:k': {} } },
    };
    const next = updated(maps, withEntries(live, [entry]), configMap({ k: 'w' }, { generation: 2 }), 'u');
    assert.deepEqual(ownership(next), { 'u/Update': { 'f:data': { 'f:k': {} } } });
  });
});

/** The same object, none of whose parts can be changed any more. */
function freeze<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}
