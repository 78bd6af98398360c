import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../src/codec/json.ts';
import type { Path, PathStep } from '../../src/codec/path.ts';
import { equalStep, formatPath, parsePath, startsWith, valueAt } from '../../src/codec/path.ts';

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(9007199254740993n),
) as fc.Arbitrary<Json>;
const keyName = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9.]{0,5}$/);
const step: fc.Arbitrary<PathStep> = fc.oneof(
  fc.string({ minLength: 1 }).map((field) => ({ field })),
  fc.constantFrom('spec', 'app.kubernetes.io/name', '0', '', '__proto__', 'a]b', '"', '=').map((field) => ({ field })),
  fc.nat(99).map((index) => ({ index })),
  leaf.map((value) => ({ value })),
  fc.dictionary(keyName, leaf, { minKeys: 1, maxKeys: 3, noNullPrototype: true }).map((key) => ({ key })),
);

describe('paths', () => {
  it('print as the API server prints them', () => {
    const path: Path = [
      { field: 'spec' },
      { field: 'ports' },
      { key: { protocol: 'TCP', port: 80 } },
      { field: 'name' },
    ];
    assert.equal(formatPath(path), '.spec.ports[port=80,protocol="TCP"].name');
    assert.equal(
      formatPath([{ field: 'metadata' }, { field: 'finalizers' }, { value: 'a.test/x' }]),
      '.metadata.finalizers[="a.test/x"]',
    );
    assert.equal(
      formatPath([{ field: 'metadata' }, { field: 'labels' }, { field: 'app.kubernetes.io/name' }]),
      '.metadata.labels["app.kubernetes.io/name"]',
    );
    assert.equal(formatPath([{ field: 'args' }, { index: 0 }]), '.args[0]');
  });

  it('read back as they were printed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), (path) => {
        assert.deepEqual(parsePath(formatPath(path)), { path });
      }),
      { numRuns: 3_000 },
    );
  });

  it('are read without the first dot, and as JSON Pointers', () => {
    assert.deepEqual(parsePath('spec.replicas'), { path: [{ field: 'spec' }, { field: 'replicas' }] });
    assert.deepEqual(parsePath('/spec/list/0/a~1b'), {
      path: [{ field: 'spec' }, { field: 'list' }, { index: 0 }, { field: 'a/b' }],
    });
    assert.deepEqual(parsePath(''), { path: [] });
  });

  it('that are none are said to be none', () => {
    for (const text of ['spec..a', 'a[', 'a[x]', 'a]b', 'a[0', 'a[=', '.', 'a.']) {
      const found = parsePath(text);
      if (text === '.') assert.deepEqual(found, { path: [] });
      else assert.ok('problem' in found, text);
    }
  });

  it('lead to values by key, value and position', () => {
    const object: Json = {
      l: [
        { name: 'a', v: 1 },
        { name: 'b', v: 2 },
      ],
      s: ['x', 'y'],
      o: { a: 1 },
    };
    const at = (text: string): Json | undefined => {
      const found = parsePath(text);
      return 'path' in found ? valueAt(object, found.path) : undefined;
    };
    assert.equal(at('.l[name="b"].v'), 2);
    assert.equal(at('.l[1].v'), 2);
    assert.equal(at('.s[="y"]'), 'y');
    assert.equal(at('.s[="z"]'), undefined);
    assert.equal(at('.o.toString'), undefined);
    assert.equal(at('.o.a.b'), undefined);
  });

  it('steps are equal exactly if they print the same', () => {
    fc.assert(
      fc.property(step, step, (a, b) => {
        assert.equal(equalStep(a, b), formatPath([a]) === formatPath([b]));
        assert.ok(startsWith([a, b], [a]) && startsWith([a, b], []) && !startsWith([a], [a, b]));
      }),
      { numRuns: 1_000 },
    );
  });
});
