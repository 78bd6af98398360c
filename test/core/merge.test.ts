import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { equalJson, parseJson, stringifyJson } from '../../src/codec/json.ts';
import { noListSchema, type ListSchema, type ListType } from '../../src/core/listSchema.ts';
import { merge3, sameBesidesServerSet, withServerSet } from '../../src/core/merge.ts';
import { formatPath } from '../../src/codec/path.ts';

/** A schema that declares lists by the names of the fields on the way to them. */
function schemaOf(lists: Record<string, ListType>, atomicMaps: readonly string[] = []): ListSchema {
  const fields = (path: Parameters<ListSchema['listTypeAt']>[0]): string =>
    path.flatMap((step) => ('field' in step ? [step.field] : [])).join('.');
  return { listTypeAt: (path) => lists[fields(path)], isAtomicMapAt: (path) => atomicMaps.includes(fields(path)) };
}

const schema = schemaOf(
  {
    'spec.containers': { type: 'map', keys: ['name'] },
    'spec.containers.env': { type: 'map', keys: ['name'] },
    'spec.ports': { type: 'map', keys: ['port', 'protocol'], defaults: { protocol: 'TCP' } },
    'status.conditions': { type: 'map', keys: ['type'] },
    'metadata.finalizers': { type: 'set' },
    'spec.args': { type: 'atomic' },
  },
  ['spec.selector'],
);

interface Expected {
  merged?: JsonObject;
  conflicts?: string[];
}

/** Merges three specs and compares; conflicts as `path (reason)`. */
function check(
  base: JsonObject,
  theirs: JsonObject,
  yours: JsonObject,
  expected: Expected,
  by: ListSchema = schema,
): void {
  const merge = merge3(base, theirs, yours, by);
  assert.deepEqual(
    merge.conflicts.map(({ path, reason }) => `${formatPath(path)} (${reason})`),
    expected.conflicts ?? [],
  );
  if (expected.merged !== undefined) assert.deepEqual(merge.merged, expected.merged);
}

const spec = (value: JsonObject): JsonObject => ({ spec: value });

describe('merge3', () => {
  it('J1: carries disjoint changes over', () => {
    const base = spec({ image: 'a:1', replicas: 3 });
    check(base, spec({ image: 'a:1', replicas: 5 }), spec({ image: 'a:2', replicas: 3 }), {
      merged: spec({ image: 'a:2', replicas: 5 }),
    });
  });

  it('J1: the same change on both sides is no conflict', () => {
    const same = spec({ image: 'a:2' });
    check(spec({ image: 'a:1' }), same, same, { merged: same });
  });

  it('J1: different changes of one field conflict, with all three values', () => {
    const merge = merge3(spec({ image: 'a:1' }), spec({ image: 'a:3' }), spec({ image: 'a:2' }), schema);
    assert.deepEqual(merge.conflicts, [
      {
        path: [{ field: 'spec' }, { field: 'image' }],
        reason: 'both-changed',
        base: 'a:1',
        theirs: 'a:3',
        yours: 'a:2',
      },
    ]);
    assert.deepEqual(merge.merged, spec({ image: 'a:3' }));
  });

  it('J1: a removal against a change conflicts, whoever removed', () => {
    const labels = (value: JsonObject): JsonObject => ({ metadata: { labels: value } });
    const base = labels({ x: '1', y: '1' });
    check(base, labels({ x: '2', y: '1' }), labels({ y: '1' }), {
      conflicts: ['.metadata.labels.x (removed-and-changed)'],
    });
    check(base, labels({ y: '1' }), labels({ x: '2', y: '1' }), {
      conflicts: ['.metadata.labels.x (removed-and-changed)'],
    });
  });

  it('J1: both adding one key with different values conflicts, and with different keys does not', () => {
    check(spec({}), spec({ a: 1 }), spec({ a: 2 }), { conflicts: ['.spec.a (both-added)'] });
    check(spec({}), spec({ a: 1 }), spec({ b: 2 }), { merged: spec({ a: 1, b: 2 }) });
  });

  it('J1: a map added on both sides is merged by its keys', () => {
    check(spec({}), spec({ m: { a: 1 } }), spec({ m: { b: 2 } }), { merged: spec({ m: { a: 1, b: 2 } }) });
  });

  it('J1: items added to a keyed list on both sides are both there', () => {
    const env = (...names: string[]): JsonObject =>
      spec({ containers: [{ name: 'web', env: names.map((name) => ({ name, value: '1' })) }] });
    check(env('A'), env('A', 'C'), env('A', 'B'), { merged: env('A', 'B', 'C') });
  });

  it('E2: conditions merge by type, and one type changed twice conflicts', () => {
    const status = (conditions: Json[]): JsonObject => ({ status: { conditions } });
    const ready = (value: string): JsonObject => ({ type: 'Ready', status: value });
    const backup = { type: 'Backup', status: 'True' };
    check(status([ready('True')]), status([ready('True'), backup]), status([ready('False')]), {
      merged: status([ready('False'), backup]),
    });
    check(status([ready('True')]), status([ready('Unknown')]), status([ready('False')]), {
      conflicts: ['.status.conditions[type="Ready"].status (both-changed)'],
    });
  });

  it('G5: a new key of an item that the other side changed conflicts on the item', () => {
    const ports = (port: number, targetPort: number): JsonObject =>
      spec({ ports: [{ name: 'web', port, targetPort }] });
    check(ports(80, 8080), ports(80, 9090), ports(81, 8080), {
      conflicts: ['.spec.ports[port=80,protocol="TCP"] (removed-and-changed)'],
    });
  });

  it('G5: a new key of an item that the other side left alone replaces the item', () => {
    const ports = (port: number, extra: JsonObject = {}): JsonObject =>
      spec({ ports: [{ name: 'web', port }], ...extra });
    check(ports(80), ports(80, { type: 'NodePort' }), ports(81), { merged: ports(81, { type: 'NodePort' }) });
  });

  it('G5: two different new keys for one item conflict instead of making two items', () => {
    const ports = (port: number): JsonObject => spec({ ports: [{ name: 'web', port }] });
    check(ports(80), ports(82), ports(81), {
      conflicts: ['.spec.ports[port=80,protocol="TCP"] (key-changed)'],
      merged: ports(82),
    });
  });

  it('a declared default of a key field is the same key as the field left out', () => {
    const base = spec({ ports: [{ port: 53 }] });
    check(
      base,
      spec({ ports: [{ port: 53, protocol: 'TCP', name: 'dns' }] }),
      spec({ ports: [{ port: 53, nodePort: 3 }] }),
      {
        merged: spec({ ports: [{ port: 53, protocol: 'TCP', name: 'dns', nodePort: 3 }] }),
      },
    );
  });

  it('F2: sets keep what others added and lose only what was removed', () => {
    const finalizers = (...names: string[]): JsonObject => ({ metadata: { finalizers: names } });
    check(finalizers('a/x'), finalizers('a/x', 'b/y'), finalizers('a/x', 'c/z'), {
      merged: finalizers('a/x', 'c/z', 'b/y'),
    });
    check(finalizers('a/x', 'b/y'), finalizers('b/y'), finalizers('a/x'), { merged: finalizers() });
  });

  it('atomic lists and maps are one value', () => {
    check(spec({ args: ['a', 'b'] }), spec({ args: ['a', 'b', 'c'] }), spec({ args: ['z', 'a', 'b'] }), {
      conflicts: ['.spec.args (both-changed)'],
    });
    check(
      spec({ selector: { a: '1' } }),
      spec({ selector: { a: '1', b: '2' } }),
      spec({ selector: { a: '1', c: '3' } }),
      {
        conflicts: ['.spec.selector (both-changed)'],
      },
    );
  });

  it('an undeclared list merges where unchanged neighbours tell the items apart', () => {
    const list = (...items: Json[]): JsonObject => spec({ list: items });
    check(list('a', 'b', 'c'), list('a2', 'b', 'c'), list('a', 'b', 'c2'), { merged: list('a2', 'b', 'c2') });
    check(list('a', 'b', 'c'), list('b', 'c'), list('a', 'b', 'c', 'd'), { merged: list('b', 'c', 'd') });
  });

  it('an undeclared list is a decision where positions do not tell what is meant', () => {
    const list = (...items: Json[]): JsonObject => spec({ list: items });
    const undecided = { conflicts: ['.spec.list (no-identity)'] };
    check(list('a'), list('a', 'b'), list('a', 'c'), undecided);
    check(list('a', 'b'), list('a2', 'b'), list('a', 'b2'), undecided);
    check(list('a', 'a', 'b'), list('a', 'b'), list('a', 'a', 'c'), undecided);
    check(list('a', 'b', 'c'), list('c', 'a', 'b'), list('a', 'b', 'd'), undecided);
  });

  it('an undeclared list that one side changed is that side’s', () => {
    const list = (...items: Json[]): JsonObject => spec({ list: items });
    check(list('a', 'a'), list('a', 'a'), list('b', 'a', 'a'), { merged: list('b', 'a', 'a') });
  });

  it('a keyed list whose items have no keys, or the same ones, is a decision', () => {
    const containers = (...items: JsonObject[]): JsonObject => spec({ containers: items });
    check(containers({ image: 'a' }), containers({ image: 'b' }), containers({ image: 'c' }), {
      conflicts: ['.spec.containers (no-identity)'],
    });
    check(containers({ name: 'a' }), containers({ name: 'a' }, { name: 'a' }), containers({ name: 'b' }), {
      conflicts: ['.spec.containers (no-identity)'],
    });
  });

  it('one side’s order of a keyed list is kept, with the other side’s changes', () => {
    const containers = (...items: [string, string][]): JsonObject =>
      spec({ containers: items.map(([name, image]) => ({ name, image })) });
    check(
      containers(['a', '1'], ['b', '1']),
      containers(['a', '2'], ['b', '1'], ['c', '1']),
      containers(['b', '1'], ['a', '1']),
      {
        merged: containers(['b', '1'], ['c', '1'], ['a', '2']),
      },
    );
  });

  it('two different orders of a keyed list are a decision', () => {
    const containers = (...names: string[]): JsonObject => spec({ containers: names.map((name) => ({ name })) });
    check(containers('a', 'b', 'c'), containers('b', 'a', 'c'), containers('a', 'c', 'b'), {
      conflicts: ['.spec.containers (order)'],
    });
  });

  it('a removed item that the other side changed is a decision, and an unchanged one goes', () => {
    const containers = (...items: [string, string][]): JsonObject =>
      spec({ containers: items.map(([name, image]) => ({ name, image })) });
    const base = containers(['a', '1'], ['b', '1']);
    check(base, containers(['a', '1'], ['b', '2']), containers(['a', '1']), {
      conflicts: ['.spec.containers[name="b"] (removed-and-changed)'],
    });
    check(base, containers(['a', '2'], ['b', '1']), containers(['a', '1']), { merged: containers(['a', '2']) });
  });

  it('null, absent and empty are three values', () => {
    check(spec({}), spec({ a: null }), spec({ a: {} }), { conflicts: ['.spec.a (both-added)'] });
    check(spec({ a: null }), spec({ a: null }), spec({}), { merged: spec({}) });
    check(spec({ a: {} }), spec({ a: {} }), spec({ a: null }), { merged: spec({ a: null }) });
  });

  it('a type that both sides changed is a decision', () => {
    check(spec({ a: 1 }), spec({ a: { x: 1 } }), spec({ a: { y: 1 } }), { conflicts: ['.spec.a (both-changed)'] });
    check(spec({ a: [1] }), spec({ a: { x: 1 } }), spec({ a: [1, 2] }), { conflicts: ['.spec.a (both-changed)'] });
  });

  it('a map of plain values that was emptied is the same as one that was removed', () => {
    const labels = (value?: JsonObject): JsonObject => ({ metadata: value === undefined ? {} : { labels: value } });
    check(labels({ a: '1' }), labels(), labels({ a: '1', b: '2' }), { merged: labels({ b: '2' }) });
    check(labels({ a: '1' }), labels({ a: '1', c: '3' }), labels(), { merged: labels({ c: '3' }) });
    check(labels({ a: '1' }), labels({}), labels(), { merged: labels() });
  });

  it('a structure that one side removed and the other changed is a decision', () => {
    const affinity = (value?: JsonObject): JsonObject => spec(value === undefined ? {} : { affinity: value });
    check(affinity({ node: { a: 1 } }), affinity({ node: { a: 1, b: 2 } }), affinity(), {
      conflicts: ['.spec.affinity (removed-and-changed)'],
    });
  });

  it('server-set metadata never conflicts and is the newest', () => {
    const meta = (metadata: JsonObject): JsonObject => ({ metadata, data: { a: '1' } });
    check(
      meta({ name: 'n', uid: 'u', resourceVersion: '1', generation: 1, managedFields: [] }),
      meta({ name: 'n', uid: 'u', resourceVersion: '2', generation: 2, managedFields: [{ manager: 'm' }] }),
      { ...meta({ name: 'n', resourceVersion: 'mine', labels: { x: '1' } }) },
      {
        merged: meta({
          name: 'n',
          labels: { x: '1' },
          uid: 'u',
          resourceVersion: '2',
          generation: 2,
          managedFields: [{ manager: 'm' }],
        }),
      },
    );
  });

  it('a status that the edited text does not show is the newest one', () => {
    const base = { spec: { a: 1 }, status: { phase: 'New' } };
    check(
      base,
      { spec: { a: 1 }, status: { phase: 'Ready' } },
      { spec: { a: 2 } },
      { merged: { spec: { a: 2 }, status: { phase: 'Ready' } } },
    );
  });

  it('a key called __proto__ is an ordinary key', () => {
    const data = (text: string): JsonObject => ({ data: parseJson(text) });
    const merged = merge3(data('{}'), data('{"a":1}'), data('{"__proto__":2}'), schema).merged;
    assert.equal(stringifyJson(merged), '{"data":{"a":1,"__proto__":2}}');
  });
});

const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 63n }),
  fc.string({ maxLength: 4 }),
);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'name', 'labels'), tie('json'), { maxKeys: 4 }),
  ),
}));
const objects = fc.dictionary(fc.constantFrom('spec', 'data', 'x', 'metadata'), json, {
  maxKeys: 3,
}) as fc.Arbitrary<JsonObject>;
const schemas = fc.constantFrom(
  noListSchema,
  schema,
  { listTypeAt: () => ({ type: 'map', keys: ['name'] }), isAtomicMapAt: () => false } satisfies ListSchema,
  { listTypeAt: () => ({ type: 'set' }), isAtomicMapAt: () => true } satisfies ListSchema,
);

describe('merge3, for any objects', () => {
  it('gives their object where you changed nothing, and yours where they changed nothing', () => {
    fc.assert(
      fc.property(objects, objects, schemas, (base, other, by) => {
        const theirs = merge3(base, other, base, by);
        assert.deepEqual(theirs.conflicts, []);
        assert.ok(equalJson(theirs.merged, other));
        const yours = merge3(base, base, other, by);
        assert.deepEqual(yours.conflicts, []);
        assert.ok(equalJson(yours.merged, withServerSet(base, other)));
      }),
    );
  });

  it('finds the same conflicts from either side', () => {
    fc.assert(
      fc.property(objects, objects, objects, schemas, (base, a, b, by) => {
        const one = merge3(base, a, withServerSet(a, b), by).conflicts.map(({ path }) => formatPath(path));
        const other = merge3(base, withServerSet(a, b), a, by).conflicts.map(({ path }) => formatPath(path));
        assert.deepEqual(one.sort(), other.sort());
      }),
    );
  });

  it('agrees on what two sides changed alike', () => {
    fc.assert(
      fc.property(objects, objects, schemas, (base, both, by) => {
        const merge = merge3(base, both, both, by);
        assert.deepEqual(merge.conflicts, []);
        assert.ok(equalJson(merge.merged, both));
      }),
    );
  });

  it('commutes for edits of different fields, which keep every unknown field and big integer', () => {
    const unknown = fc.dictionary(fc.constantFrom('futureField', 'x-kubernetes-int-or-string', 'big'), json);
    fc.assert(
      fc.property(unknown, json, json, (rest, left, right) => {
        const base: JsonObject = { spec: rest, data: { kept: 1 } };
        const a: JsonObject = { spec: { ...rest, left }, data: { kept: 1 } };
        const b: JsonObject = { spec: { ...rest, right }, data: { kept: 1 } };
        const both: JsonObject = { spec: { ...rest, left, right }, data: { kept: 1 } };
        for (const [theirs, yours] of [
          [a, b],
          [b, a],
        ] as const) {
          const merge = merge3(base, theirs, yours, schema);
          assert.deepEqual(merge.conflicts, []);
          assert.ok(equalJson(merge.merged, both));
        }
      }),
    );
  });

  it('never changes what it was given', () => {
    fc.assert(
      fc.property(objects, objects, objects, schemas, (base, theirs, yours, by) => {
        const before = [base, theirs, yours].map((one) => stringifyJson(one));
        merge3(base, theirs, yours, by);
        assert.deepEqual(
          [base, theirs, yours].map((one) => stringifyJson(one)),
          before,
        );
      }),
    );
  });

  it('knows two objects that differ in server-set metadata only', () => {
    assert.ok(
      sameBesidesServerSet({ metadata: { name: 'a', uid: '1' } }, { metadata: { name: 'a', resourceVersion: '2' } }),
    );
    assert.ok(!sameBesidesServerSet({ metadata: { name: 'a' } }, { metadata: { name: 'a', labels: {} } }));
  });
});
