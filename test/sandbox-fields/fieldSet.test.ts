import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FieldSet } from '../../src/sandbox/fields/fieldSet.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"c"}', 'v:"x"');
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 });
const sets = paths.map((list) => FieldSet.of(...list));

function texts(set: FieldSet): string[] {
  return [...set.paths()].map((path) => path.join('/')).sort();
}

describe('field sets', () => {
  it('what is printed as fieldsV1 reads back the same', () => {
    fc.assert(
      fc.property(sets, (set) => {
        const read = FieldSet.fromFieldsV1(set.toFieldsV1());
        assert.ok(read !== undefined);
        assert.deepEqual(texts(read), texts(set));
      }),
    );
  });

  it('a union has the places of both, an intersection those of each', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        assert.deepEqual(texts(a.union(b)), [...new Set([...texts(a), ...texts(b)])].sort());
        assert.deepEqual(
          texts(a.intersection(b)),
          texts(a).filter((text) => texts(b).includes(text)),
        );
      }),
    );
  });

  it('a difference takes places, and a removal also what is below them', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const gone = texts(b);
        assert.deepEqual(
          texts(a.difference(b)),
          texts(a).filter((text) => !gone.includes(text)),
        );
        const below = (text: string): boolean => gone.some((other) => text === other || text.startsWith(`${other}/`));
        assert.deepEqual(
          texts(a.without(b)),
          texts(a).filter((text) => !below(text)),
        );
      }),
    );
  });

  it('a node that is owned beside its children shows as a dot', () => {
    assert.deepEqual(FieldSet.of(['f:data'], ['f:data', 'f:k']).toFieldsV1(), { 'f:data': { '.': {}, 'f:k': {} } });
    assert.deepEqual(FieldSet.of(['f:data', 'f:k']).toFieldsV1(), { 'f:data': { 'f:k': {} } });
  });

  it('malformed fieldsV1 is refused', () => {
    for (const bad of [[], { x: {} }, { 'f:a': 1 }, { 'k:[]': {} }, { 'v:{': {} }])
      assert.equal(FieldSet.fromFieldsV1(bad), undefined);
  });
});
