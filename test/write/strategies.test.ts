import assert from 'node:assert/strict';
import fc from 'fast-check';
import { equalJson, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { diffObjects } from '../../src/core/diff.ts';
import { noListSchema, type ListSchema } from '../../src/core/listSchema.ts';
import { draftApply } from '../../src/write/strategies/apply.ts';
import { draftJsonPatch } from '../../src/write/strategies/jsonPatch.ts';
import { draftMergePatch } from '../../src/write/strategies/mergePatch.ts';
import { draftReplace } from '../../src/write/strategies/replace.ts';
import { draftStrategicPatch } from '../../src/write/strategies/strategicPatch.ts';
import type { Draft, Drafted } from '../../src/write/strategies/strategy.ts';
import { jsonPatch, mergePatch } from './fakeServer.ts';

const identity = { name: 'demo', uid: 'u1', resourceVersion: 't1' };

function draftOf(before: JsonObject, after: JsonObject, more: Partial<Draft> = {}): Draft {
  const current = { apiVersion: 'v1', kind: 'ConfigMap', metadata: identity, ...before };
  const desired = { apiVersion: 'v1', kind: 'ConfigMap', metadata: identity, ...after };
  const schema = more.schema ?? noListSchema;
  return {
    target: {
      group: '',
      version: 'v1',
      resource: 'configmaps',
      kind: 'ConfigMap',
      namespaced: true,
      namespace: 'lab',
      name: 'demo',
    },
    subresource: undefined,
    current,
    desired,
    changes: diffObjects(current, desired, schema),
    schema,
    manager: 'm',
    token: 't1',
    uid: 'u1',
    resolve: undefined,
    hasStatusEndpoint: false,
    ...more,
  };
}

function bodyOf(drafted: Drafted): Json {
  assert.equal(drafted.kind, 'request');
  return parseJson(drafted.kind === 'request' ? drafted.body : '');
}

const leaf = fc.oneof(
  fc.boolean(),
  fc.integer({ min: 0, max: 3 }),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 60n + 2n }),
  fc.constantFrom('a', 'b', ''),
);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b~c', 'd/e', 'f'), tie('json'), { maxKeys: 4 }),
  ),
}));
const specs = fc.record({
  spec: fc.dictionary(fc.constantFrom('a', 'b', 'list', 'x/y'), json, { maxKeys: 4 }),
}) as fc.Arbitrary<{ spec: JsonObject }>;
/** Lists that differ by insertions, removals and changes, which is what a list usually goes through. */
const lists = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 4 }),
    fc.record({ name: fc.constantFrom('a', 'b'), v: fc.integer({ min: 0, max: 2 }) }),
  ),
  { maxLength: 7 },
);

const pairs: fc.Arbitrary<[JsonObject, JsonObject]> = fc.oneof(
  fc.tuple(specs, specs),
  fc
    .tuple(lists, lists)
    .map(([before, after]): [JsonObject, JsonObject] => [{ spec: { list: before } }, { spec: { list: after } }]),
);

describe('what strategies send', () => {
  it('a JSON Patch makes the desired object of the one that was read, and conditions come first', () => {
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        const draft = draftOf(before, after);
        const operations = bodyOf(draftJsonPatch(draft)) as JsonObject[];
        assert.deepEqual(operations.slice(0, 2), [
          { op: 'replace', path: '/metadata/uid', value: 'u1' },
          { op: 'replace', path: '/metadata/resourceVersion', value: 't1' },
        ]);
        const result = jsonPatch(draft.current, operations);
        assert.ok(result !== undefined && equalJson(result, draft.desired), stringifyJson(operations));
      }),
      { numRuns: 500 },
    );
  });

  it('a JSON Patch tests whatever stands at a position before it touches it', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const operations = bodyOf(draftJsonPatch(draftOf({ spec: { list: before } }, { spec: { list: after } }))) as {
          op: string;
          path: string;
        }[];
        for (const [index, { op, path }] of operations.entries()) {
          const item = /^\/spec\/list\/\d+/.exec(path)?.[0];
          if (item === undefined || op === 'test' || (op === 'add' && path === item)) continue;
          const tested = operations.slice(0, index).findLast((one) => one.op === 'test');
          assert.equal(tested?.path, item);
        }
      }),
    );
  });

  it('a very long list is replaced as a whole', () => {
    const long = Array.from({ length: 3000 }, (_, index) => index);
    const operations = bodyOf(draftJsonPatch(draftOf({ list: long }, { list: [...long, 1] }))) as JsonObject[];
    assert.equal(operations.length, 3);
  });

  it('a merge patch makes the desired object of the one that was read, or says that it cannot store null', () => {
    fc.assert(
      fc.property(specs, specs, (before, after) => {
        const draft = draftOf(before, after);
        const patch = bodyOf(draftMergePatch(draft)) as JsonObject;
        assert.deepEqual(patch['metadata'], { uid: 'u1', resourceVersion: 't1' });
        assert.ok(equalJson(mergePatch(draft.current, patch), draft.desired));
      }),
    );
    for (const after of [{ a: null }, { a: { b: null } }]) {
      assert.equal(draftMergePatch(draftOf({}, after)).kind, 'refused');
      assert.equal(draftStrategicPatch(draftOf({}, after)).kind, 'refused');
    }
  });

  it('a replace is the desired object with the condition, and nothing else', () => {
    fc.assert(
      fc.property(specs, specs, (before, after) => {
        const draft = draftOf(before, after);
        assert.ok(equalJson(bodyOf(draftReplace(draft)), draft.desired));
        const open = bodyOf(draftReplace({ ...draft, token: undefined })) as JsonObject;
        assert.deepEqual(open['metadata'], { name: 'demo', uid: 'u1' });
      }),
    );
  });

  const keyed: ListSchema = {
    listTypeAt: (path) => {
      const last = path.at(-1);
      if (last === undefined || !('field' in last)) return undefined;
      if (last.field === 'env') return { type: 'map', keys: ['name'] };
      return last.field === 'finalizers' ? { type: 'set' } : undefined;
    },
    isAtomicMapAt: (path) => path.some((step) => 'field' in step && step.field === 'selector'),
  };

  it('a strategic patch names items by key, and takes from sets what is gone', () => {
    const before = {
      spec: {
        env: [
          { name: 'a', v: 1 },
          { name: 'b', v: 1 },
        ],
        finalizers: ['x', 'y'],
        other: [{ z: 1 }],
        selector: { a: '1' },
      },
    };
    const after = {
      spec: { env: [{ name: 'a', v: 2 }], finalizers: ['y', 'z'], other: [{ z: 2 }], selector: { b: '1' } },
    };
    const patch = bodyOf(draftStrategicPatch(draftOf(before, after, { schema: keyed }))) as JsonObject;
    assert.deepEqual(patch['spec'], {
      '$setElementOrder/env': [{ name: 'a' }],
      env: [
        { name: 'a', v: 2 },
        { $patch: 'delete', name: 'b' },
      ],
      '$deleteFromPrimitiveList/finalizers': ['x'],
      '$setElementOrder/finalizers': ['y', 'z'],
      finalizers: ['z'],
      other: [{ $patch: 'replace' }, { z: 2 }],
      selector: { $patch: 'replace', b: '1' },
    });
  });

  it('a changed key is not for apply or strategic merge', () => {
    const draft = draftOf(
      { spec: { env: [{ name: 'a', v: 1 }] } },
      { spec: { env: [{ name: 'b', v: 1 }] } },
      { schema: keyed },
    );
    for (const drafted of [draftApply(draft), draftStrategicPatch(draft)]) {
      assert.equal(drafted.kind, 'use');
      assert.equal(drafted.kind === 'use' ? drafted.strategy : '', 'replace');
    }
  });

  it('an apply sends lists of which nothing is declared as a whole, and items of keyed lists with their keys', () => {
    const before = { spec: { list: [1, 2], env: [{ name: 'a', v: 1 }] } };
    const after = { spec: { list: [1, 3], env: [{ name: 'a', v: 2 }] } };
    const body = bodyOf(draftApply(draftOf(before, after, { schema: keyed }))) as JsonObject;
    assert.deepEqual(body['spec'], { list: [1, 3], env: [{ name: 'a', v: 2 }] });
    assert.deepEqual(body['metadata'], { name: 'demo', namespace: 'lab', uid: 'u1', resourceVersion: 't1' });
  });

  it('a status that has an endpoint of its own is in no apply of the rest', () => {
    const managedFields = [
      { manager: 'm', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} }, 'f:status': { 'f:s': {} } } },
    ];
    const before = { metadata: { ...identity, managedFields }, data: { a: '1' }, status: { s: 1 } };
    const draft = draftOf(before, { ...before, data: { a: '1', b: '2' } }, { hasStatusEndpoint: true });
    const body = bodyOf(draftApply(draft)) as JsonObject;
    assert.deepEqual([body['data'], body['status']], [{ a: '1', b: '2' }, undefined]);
  });
});
