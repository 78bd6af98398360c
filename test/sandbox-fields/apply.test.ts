import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { StatusError } from '../../src/sandbox/status.ts';
import { applied, configMap, created, deployment, kindOf, ownership, updated, widgetKind } from './builders.ts';

const maps = kindOf('ConfigMap');
const deployments = kindOf('Deployment');

function refusal(act: () => unknown): StatusError {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

function containersOf(object: JsonObject): unknown {
  const names = (object as unknown as { spec: { template: { spec: { containers: { name: string }[] } } } }).spec
    .template.spec.containers;
  return names.map(({ name }) => name);
}

describe('server-side apply', () => {
  it('an apply owns exactly the leaves that it sends', () => {
    assert.deepEqual(ownership(applied(maps, undefined, configMap({ k: 'v' }), 'm')), {
      'm/Apply': { 'f:data': { 'f:k': {} } },
    });
  });

  it('an applier owns items of keyed lists with the fields it sends in them', () => {
    const owned = ownership(applied(deployments, undefined, deployment([{ name: 'c', image: 'i' }]), 'm'));
    const spec = (owned['m/Apply'] as unknown as { 'f:spec': { 'f:template': { 'f:spec': unknown } } })['f:spec'];
    assert.deepEqual(spec['f:template']['f:spec'], {
      'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } },
    });
  });

  it('two appliers of one value own it together, and it goes only when both let go', () => {
    const both = applied(maps, applied(maps, undefined, configMap({ k: 'v' }), 'one'), configMap({ k: 'v' }), 'two');
    assert.deepEqual(Object.keys(ownership(both)), ['two/Apply', 'one/Apply']);
    const oneLess = applied(maps, both, configMap({}), 'one');
    assert.deepEqual(oneLess['data'], { k: 'v' });
    assert.equal(applied(maps, oneLess, configMap({}), 'two')['data'], undefined);
  });

  it('an applier that changes nothing has no time', () => {
    const both = applied(maps, applied(maps, undefined, configMap({ k: 'v' }), 'one'), configMap({ k: 'v' }), 'two');
    const entries = (both as unknown as { metadata: { managedFields: { manager: string; time?: string }[] } }).metadata
      .managedFields;
    assert.equal(entries.find(({ manager }) => manager === 'two')?.time, undefined);
    assert.equal(entries.find(({ manager }) => manager === 'one')?.time, '2026-01-02T03:04:05Z');
  });

  it('another value of an owned field conflicts, with the owner and the path', () => {
    const error = refusal(() => applied(maps, created(maps, configMap({ k: '1' })), configMap({ k: '2' }), 'm'));
    assert.equal(error.code, 409);
    assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "creator" using v1: .data.k');
  });

  it('several conflicts are listed by owner', () => {
    const live = updated(
      maps,
      applied(maps, undefined, configMap({ a: '1', b: '1' }), 'm1'),
      configMap({ a: '1', b: '2' }),
      'u',
    );
    const error = refusal(() => applied(maps, live, configMap({ a: '9', b: '9' }), 'm2'));
    assert.equal(
      error.message,
      'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.a\nconflicts with "u" using v1:\n- .data.b',
    );
  });

  it('one name is two managers: its applies conflict with its updates', () => {
    const error = refusal(() => applied(maps, created(maps, configMap({ k: '1' }), 'm'), configMap({ k: '2' }), 'm'));
    assert.match(error.message, /conflict with "m" using v1/);
  });

  it('force takes the fields from their owners', () => {
    const forced = applied(maps, created(maps, configMap({ k: '1', other: '1' })), configMap({ k: '2' }), 'm', true);
    assert.deepEqual(forced['data'], { k: '2', other: '1' });
    assert.deepEqual(ownership(forced), {
      'm/Apply': { 'f:data': { 'f:k': {} } },
      'creator/Update': { 'f:data': { '.': {}, 'f:other': {} } },
    });
  });

  it('what an applier leaves out goes, with the item that it empties', () => {
    const live = applied(
      deployments,
      undefined,
      deployment([
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i' },
      ]),
      'm',
    );
    assert.deepEqual(containersOf(applied(deployments, live, deployment([{ name: 'a', image: 'i' }]), 'm')), ['a']);
  });

  it('an item that another manager also owns stays', () => {
    const one = applied(
      deployments,
      undefined,
      deployment([
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i' },
      ]),
      'm',
    );
    const two = applied(deployments, one, deployment([{ name: 'b', args: ['x'] }]), 'n');
    assert.deepEqual(containersOf(applied(deployments, two, deployment([{ name: 'a', image: 'i' }]), 'm')), ['a', 'b']);
  });

  it('the first apply to an object that nobody tracked meets an owner for all that was there', () => {
    const { metadata: _, ...rest } = created(maps, configMap({ k: '1' }));
    const untracked: JsonObject = { ...rest, metadata: { name: 'a', uid: 'u' } };
    const error = refusal(() => applied(maps, untracked, configMap({ k: '2' }), 'm'));
    assert.match(error.message, /conflict with "before-first-apply" using v1: \.data\.k/);
  });

  it('kubectl may take what its own annotation says it applied on the client side', () => {
    const annotation = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { k: '1' },
    });
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': annotation };
    const live = created(maps, configMap({ k: '1' }, { annotations }), 'kubectl-client-side-apply');
    assert.deepEqual(applied(maps, live, configMap({ k: '2' }), 'kubectl')['data'], { k: '2' });
    assert.equal(refusal(() => applied(maps, live, configMap({ k: '2' }), 'somebody')).code, 409);
  });

  it('undeclared fields, doubled items and items without keys cannot be applied', () => {
    const items: JsonObject = { type: 'object', properties: { id: { type: 'string' }, v: { type: 'string' } } };
    const keyed = widgetKind({
      items: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'], items },
    });
    const messages = [
      refusal(() => applied(maps, undefined, { ...configMap({}), bogus: 1 }, 'm')),
      refusal(() => applied(deployments, undefined, deployment([{ name: 'a' }, { name: 'a' }]), 'm')),
      refusal(() =>
        applied(
          keyed,
          undefined,
          { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { items: [{ v: 'x' }] } },
          'm',
        ),
      ),
    ].map(({ message }) => message);
    assert.match(messages[0] ?? '', /\(\/a; \/v1, Kind=ConfigMap\): \.bogus: field not declared in schema/);
    assert.match(messages[1] ?? '', /duplicate entries for key \[name="a"\]/);
    assert.match(
      messages[2] ?? '',
      /element 0: associative list with keys has an element that omits all key fields \["id"\]/,
    );
  });

  it('lists of custom resources merge as declared, and have one owner where nothing is declared', () => {
    const list = (items: JsonObject, type?: string): JsonObject => ({
      type: 'array',
      items,
      ...(type === undefined ? {} : { 'x-kubernetes-list-type': type }),
    });
    const widgets = widgetKind({ set: list({ type: 'string' }, 'set'), plain: list({ type: 'string' }) });
    const widget = (spec: JsonObject): JsonObject => ({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec,
    });
    const one = applied(widgets, undefined, widget({ set: ['x', 'y'], plain: ['a'] }), 'm1');
    const two = applied(widgets, one, widget({ set: ['y', 'z'] }), 'm2');
    assert.deepEqual(two['spec'], { set: ['x', 'y', 'z'], plain: ['a'] });
    assert.match(
      refusal(() => applied(widgets, two, widget({ plain: ['b'] }), 'm2')).message,
      /conflict with "m1": \.spec\.plain$/,
    );
  });
});
