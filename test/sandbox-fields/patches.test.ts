import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { jsonPatch } from '../../src/sandbox/fields/jsonPatch.ts';
import { mergePatch } from '../../src/sandbox/fields/mergePatch.ts';
import { strategicMerge } from '../../src/sandbox/fields/strategicMerge.ts';
import { StatusError } from '../../src/sandbox/status.ts';
import { deployment, kindOf } from './builders.ts';

const deployments = kindOf('Deployment');
const document: JsonObject = { list: [1, 2, 3], map: { a: 'x' } };

function json(...operations: JsonObject[]): Json {
  return jsonPatch(document, JSON.stringify(operations)).value;
}

function failing(act: () => unknown): { code: number; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

function containers(object: Json): unknown[] {
  return (object as unknown as { spec: { template: { spec: { containers: unknown[] } } } }).spec.template.spec
    .containers;
}

function strategic(patch: JsonObject, ...before: JsonObject[]): unknown[] {
  const text = JSON.stringify({ spec: { template: { spec: patch } } });
  return containers(strategicMerge(deployments, deployment(before), text).value);
}

describe('JSON Patch as the API server has it', () => {
  it('replace of a missing key adds it, of a missing position is refused', () => {
    assert.deepEqual(json({ op: 'replace', path: '/map/b', value: 1 }), { list: [1, 2, 3], map: { a: 'x', b: 1 } });
    assert.equal(failing(() => json({ op: 'replace', path: '/list/3', value: 1 })).code, 422);
  });

  it('a dash appends, negative positions count from the end', () => {
    assert.deepEqual(json({ op: 'add', path: '/list/-', value: 4 }, { op: 'remove', path: '/list/-2' }), {
      list: [1, 2, 4],
      map: { a: 'x' },
    });
  });

  it('test of an absent path against null passes; add without value adds null', () => {
    assert.deepEqual(json({ op: 'test', path: '/none', value: null }, { op: 'add', path: '/n' }), {
      ...document,
      n: null,
    });
  });

  it('any failing operation is one 422 that does not say why, and changes nothing', () => {
    const refused = failing(() =>
      json({ op: 'add', path: '/map/b', value: 1 }, { op: 'test', path: '/map/a', value: 'y' }),
    );
    assert.deepEqual(refused, { code: 422, message: 'the server rejected our request due to an error in our request' });
    assert.deepEqual(document, { list: [1, 2, 3], map: { a: 'x' } });
  });

  it('text that is no list of operations is 400', () => {
    assert.match(
      failing(() => jsonPatch(document, '{}')).message,
      /cannot unmarshal object into Go value of type \[\]handlers\.jsonPatchOp/,
    );
    assert.match(failing(() => jsonPatch(document, '[{')).message, /unexpected end of JSON input/);
  });
});

describe('merge patch', () => {
  it('null deletes, objects merge, lists are replaced', () => {
    const patch = '{"list":[9],"map":{"a":null,"b":{"c":null,"d":1}}}';
    assert.deepEqual(mergePatch(document, patch).value, { list: [9], map: { b: { d: 1 } } });
  });

  it('doubled keys are warned of, the last wins', () => {
    const { value, warnings } = mergePatch(document, '{"map":{"a":"1","a":"2"}}');
    assert.deepEqual(warnings, ['duplicate field "map.a"']);
    assert.deepEqual((value as JsonObject)['map'], { a: '2' });
  });
});

describe('strategic merge patch', () => {
  it('items merge by key, and new ones come first', () => {
    const merged = strategic(
      {
        containers: [
          { name: 'n', image: 'n' },
          { name: 'b', image: '2' },
        ],
      },
      { name: 'a', image: '1' },
      { name: 'b', image: '1' },
    );
    assert.deepEqual(merged, [
      { name: 'n', image: 'n' },
      { name: 'a', image: '1' },
      { name: 'b', image: '2' },
    ]);
  });

  it('directives delete an item, replace the list, and order it', () => {
    const two: [JsonObject, JsonObject] = [
      { name: 'a', image: '1' },
      { name: 'b', image: '1' },
    ];
    assert.deepEqual(strategic({ containers: [{ name: 'a', $patch: 'delete' }] }, ...two), [two[1]]);
    assert.deepEqual(strategic({ containers: [{ $patch: 'replace' }, { name: 'c', image: '3' }] }, ...two), [
      { name: 'c', image: '3' },
    ]);
    assert.deepEqual(strategic({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }, ...two), [
      two[1],
      two[0],
    ]);
  });

  it('retainKeys clears what a union may not keep', () => {
    const live = deployment([], { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } });
    const { value } = strategicMerge(
      deployments,
      live,
      '{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}',
    );
    assert.deepEqual((value as unknown as { spec: { strategy: unknown } }).spec.strategy, { type: 'Recreate' });
  });

  it('an item without its key, and a directive that is none, are bare errors', () => {
    const one: JsonObject = { name: 'a', image: '1' };
    assert.equal(
      failing(() => strategic({ containers: [{ image: 'x' }] }, one)).message,
      'map: map[image:x] does not contain declared merge key: name',
    );
    assert.match(
      failing(() => strategic({ containers: [{ name: 'a', $patch: 'explode' }] }, one)).message,
      /^unknown patch type: explode in map: map\[/,
    );
  });
});
