import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../src/codec/json.ts';
import { equalJson } from '../../src/codec/json.ts';
import { diffObjects } from '../../src/core/diff.ts';
import type { ListSchema, ListType } from '../../src/core/listSchema.ts';
import { noListSchema } from '../../src/core/listSchema.ts';
import { formatPath } from '../../src/codec/path.ts';
import { applyChanges } from './applyChanges.ts';

const TYPES: Record<string, ListType> = {
  containers: { type: 'map', keys: ['name'] },
  ports: { type: 'map', keys: ['port', 'protocol'], defaults: { protocol: 'TCP' } },
  finalizers: { type: 'set' },
  args: { type: 'atomic' },
};

const schema: ListSchema = {
  listTypeAt(path) {
    const last = path[path.length - 1];
    return last !== undefined && 'field' in last && Object.hasOwn(TYPES, last.field) ? TYPES[last.field] : undefined;
  },
  isAtomicMapAt: (path) => formatPath(path).endsWith('.selector'),
};

const diff = (a: Json, b: Json, by: ListSchema = schema): string[] =>
  diffObjects(a, b, by).map(({ path, kind }) => `${kind} ${formatPath(path)}`);

describe('the difference of two objects', () => {
  const cases: [string, Json, Json, string[]][] = [
    ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    ['the order of keys is none', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['members', { a: 1, b: 2 }, { a: 3, c: 4 }, ['changed .a', 'removed .b', 'added .c']],
    ['absent, null and empty', { a: {}, b: null }, { a: null, c: {} }, ['changed .a', 'removed .b', 'added .c']],
    ['a type', { a: [1] }, { a: { '0': 1 } }, ['changed .a']],
    ['big integers', { a: 9007199254740993n, b: 1n }, { a: 9007199254740992n, b: 1 }, ['changed .a']],
    [
      'a keyed list',
      { containers: [{ name: 'a', v: 1 }, { name: 'b' }] },
      { containers: [{ name: 'x' }, { name: 'a', v: 2 }] },
      ['changed .containers[name="a"].v', 'removed .containers[name="b"]', 'added .containers[name="x"]'],
    ],
    [
      'a key field that is left out',
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80, protocol: 'TCP', name: 'w' }] },
      ['added .ports[port=80,protocol="TCP"].protocol', 'added .ports[port=80,protocol="TCP"].name'],
    ],
    [
      'a changed key is another item',
      { ports: [{ port: 80 }] },
      { ports: [{ port: 81 }] },
      ['removed .ports[port=80,protocol="TCP"]', 'added .ports[port=81,protocol="TCP"]'],
    ],
    [
      'a set',
      { finalizers: ['a', 'b'] },
      { finalizers: ['b', 'c'] },
      ['removed .finalizers[="a"]', 'added .finalizers[="c"]'],
    ],
    ['an atomic list', { args: ['a', 'b'] }, { args: ['a', 'c'] }, ['changed .args']],
    ['an atomic map', { selector: { a: '1' } }, { selector: { a: '2' } }, ['changed .selector']],
    [
      'another order of a keyed list',
      { containers: [{ name: 'a' }, { name: 'b' }] },
      { containers: [{ name: 'b' }, { name: 'a' }] },
      ['changed .containers'],
    ],
    [
      'doubled keys',
      { containers: [{ name: 'a' }, { name: 'a' }] },
      { containers: [{ name: 'a' }] },
      ['changed .containers'],
    ],
    ['items without keys', { containers: [{ v: 1 }] }, { containers: [{ v: 2 }] }, ['changed .containers']],
    ['an undeclared list in place', { l: [1, { a: 1 }] }, { l: [1, { a: 2 }] }, ['changed .l[1].a']],
    ['an undeclared list that grew', { l: [1] }, { l: [1, 2] }, ['added .l[1]']],
    ['an undeclared list that shifted', { l: [1, 2, 3] }, { l: [2, 3] }, ['changed .l']],
  ];
  for (const [name, a, b, expected] of cases) it(`of ${name}`, () => assert.deepEqual(diff(a, b), expected));

  const leaf = fc.constantFrom<Json>(null, true, 0, 1, 'x', 'y', '', 9007199254740993n);
  const item = fc.record({ name: fc.constantFrom('a', 'b', 'c'), v: leaf }) as fc.Arbitrary<Json>;
  const unique = fc.uniqueArray(item, { maxLength: 3, selector: (one) => (one as { name: string }).name });
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'x.y/z', ''), tie('value'), { maxKeys: 3 }),
      fc.record({ containers: unique }) as fc.Arbitrary<Json>,
      fc.record({ finalizers: fc.uniqueArray(leaf, { maxLength: 3 }) }) as fc.Arbitrary<Json>,
      fc.record({ args: fc.array(leaf, { maxLength: 3 }) }) as fc.Arbitrary<Json>,
    ),
  })).value;

  it('applied to the first gives the second (lists with identities in any order)', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.ok(equalJson(applyChanges(a, diffObjects(a, b, noListSchema)), b));
        const made = applyChanges(a, diffObjects(a, b, schema));
        assert.deepEqual(sorted(made), sorted(b));
      }),
      { numRuns: 2_000 },
    );
  });

  it('of equal values is empty, and of different ones is not', () => {
    fc.assert(
      fc.property(json, json, (a, b) => assert.equal(diffObjects(a, b, schema).length === 0, equalJson(a, b))),
      { numRuns: 2_000 },
    );
  });

  function sorted(value: Json): unknown {
    if (Array.isArray(value)) return value.map(sorted).toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
    if (typeof value !== 'object' || value === null) return value;
    return Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key] ?? null)]);
  }

  const text = (value: unknown): string =>
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item)) ?? '';
});
