import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isAppError } from '../../src/base/appError.ts';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { cloneJson, equalJson, parseJson, setOwn, stringifyJson } from '../../src/codec/json.ts';

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      2 ** 53,
      1e300,
      '',
      '1234567890123456',
      ': 12345678901234567,',
    ),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }),
    fc.bigInt({ min: -(2n ** 70n), max: -(2n ** 53n) }),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toString')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** Numbers that a double holds exactly come back as numbers. */
const same = (a: Json, b: Json): boolean => equalJson(a, b);

describe('JSON with exact integers', () => {
  it('reads back what it prints, whatever it is', () => {
    fc.assert(
      fc.property(json, (value) => assert.ok(same(parseJson(stringifyJson(value)), value))),
      { numRuns: 2_000 },
    );
  });

  it('keeps every digit of an integer beyond 2^53, and numbers as they are', () => {
    const text =
      '{"a":9007199254740993,"b":[-18446744073709551616],"c":1.5,"d":9007199254740991,"e":"9007199254740993"}';
    assert.deepEqual(parseJson(text), {
      a: 9007199254740993n,
      b: [-18446744073709551616n],
      c: 1.5,
      d: 9007199254740991,
      e: '9007199254740993',
    });
    assert.equal(stringifyJson(parseJson(text)), text);
    assert.equal(parseJson('12345678901234567890'), 12345678901234567890n);
  });

  it('J5: a change of one label leaves everything else as it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.string(), (rest, tier) => {
        const object: JsonObject = {
          ...rest,
          metadata: { labels: { tier: 'x' }, unknownMeta: 1, big: 9007199254740993n },
        };
        const text = stringifyJson(object);
        const edited = parseJson(text) as JsonObject;
        ((edited['metadata'] as JsonObject)['labels'] as JsonObject)['tier'] = tier;
        const expected = { ...object, metadata: { labels: { tier }, unknownMeta: 1, big: 9007199254740993n } };
        assert.ok(equalJson(parseJson(stringifyJson(edited)), expected));
      }),
    );
  });

  it('is refused with a clear error where it is none', () => {
    for (const text of ['', '{', '{"a":}', '{"a":12345678901234567890', 'nope']) {
      assert.throws(
        () => parseJson(text),
        (error) => isAppError(error, 'invalid-json'),
      );
    }
  });

  it('is equal by value: key order and the kind of an integer do not matter, all else does', () => {
    assert.ok(equalJson({ a: 1, b: [2n] }, { b: [2], a: 1n }));
    for (const [a, b] of [
      [1, 2],
      [1, '1'],
      [null, {}],
      [[], {}],
      [{ a: 1 }, { a: 1, b: 1 }],
      [{ a: null }, {}],
      [[1], [1, 2]],
      [1n, 2],
      [0, false],
      [{ toString: {} }, { other: {} }],
    ] as [Json, Json][]) {
      assert.ok(!equalJson(a, b) && !equalJson(b, a), stringifyJson([a, b]));
    }
    const proto = parseJson('{"__proto__":{}}');
    assert.ok(!equalJson(proto, {}) && !equalJson(proto, { x: 1 }) && equalJson(proto, parseJson('{"__proto__":{}}')));
    assert.equal(equalJson(undefined, null), false);
  });

  it('copies deeply, with keys of any name', () => {
    fc.assert(
      fc.property(json, (value) => {
        const copy = cloneJson(value);
        assert.ok(equalJson(copy, value));
        if (typeof value === 'object' && value !== null) assert.notEqual(copy, value);
      }),
    );
    const target: JsonObject = {};
    setOwn(target, '__proto__', 1);
    assert.deepEqual(Object.keys(target), ['__proto__']);
  });
});
