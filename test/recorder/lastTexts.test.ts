import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { LastTexts } from '../../src/recorder/lastTexts.ts';

const parse = (text: string): Json | undefined => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

const scalar = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    0,
    12345678901234567890n,
    '',
    ':',
    ',"a":1',
    '"',
    '\\',
    'a"b',
    ']}',
    'ünï',
    'x'.repeat(150),
  ),
  fc.integer(),
  fc.string(),
);
const key = fc.constantFrom('a', 'b', 'f:x', '__proto__', 'with "quotes"', 'colon:', '0', 'length');
const tree: fc.Arbitrary<Json> = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  ),
})).tree;

/** The value with the n-th of its scalars replaced, counted round and round. */
function replaced(value: Json, nth: number, by: Json): Json {
  const count = (item: Json): number =>
    typeof item === 'object' && item !== null
      ? Object.values<Json>(item).reduce<number>((sum, below) => sum + count(below), 0)
      : 1;
  let left = nth % Math.max(count(value), 1);
  const visit = (item: Json): Json => {
    if (Array.isArray(item)) return item.map(visit);
    if (typeof item === 'object' && item !== null)
      return Object.fromEntries(Object.entries(item).map(([name, below]) => [name, visit(below)]));
    left -= 1;
    return left === -1 ? by : item;
  };
  return visit(value);
}

const long = (value: Json): JsonObject => ({ before: 'x'.repeat(300), value, after: ['y'.repeat(300), 1] });

describe('the last texts of places', () => {
  it('have the values that their JSON has, whatever changed since the last one', () => {
    fc.assert(
      fc.property(tree, fc.array(fc.tuple(fc.nat(), scalar, fc.option(tree)), { maxLength: 12 }), (first, changes) => {
        const texts = new LastTexts(parse);
        let value = first;
        for (const [nth, by, other] of [[0, null, null] as const, ...changes]) {
          value = other === null || other === undefined ? replaced(value, nth, by) : other;
          const text = stringifyJson(long(value));
          const before = texts.get('place', text);
          assert.deepEqual(before, parseJson(text));
          assert.equal(texts.get('place', text), before);
        }
      }),
      { numRuns: 3_000, seed: 7 },
    );
  });

  it('are parsed where they changed only, and all else is the same as before', () => {
    let parsed = 0;
    const texts = new LastTexts((text) => {
      parsed += text.length;
      return parse(text);
    });
    const text = (replicas: number, image: string): string =>
      JSON.stringify({ replicas, template: { notes: 'n'.repeat(2_000), containers: [{ image, args: ['a', 'b'] }] } });
    const get = (replicas: number, image: string): JsonObject =>
      texts.get('place', text(replicas, image)) as JsonObject;
    const first = get(1, 'web:1.2');
    const second = get(20, 'web:1.2');
    parsed = 0;
    const third: JsonObject = get(300, 'web:1.2');
    assert.equal(parsed, 3);
    assert.deepEqual<JsonObject>(third, { ...first, replicas: 300 });
    assert.equal(third['template'], second['template']);
    const moved = get(300, 'web:1.3');
    parsed = 0;
    assert.deepEqual(get(300, 'web:1.4'), JSON.parse(text(300, 'web:1.4')));
    assert.equal(parsed, '"web:1.4"'.length);
    assert.deepEqual(moved, JSON.parse(text(300, 'web:1.3')), 'what was given is not changed');
    assert.deepEqual(first, JSON.parse(text(1, 'web:1.2')));
  });

  it('that are torn have no value, and do not harm what is known', () => {
    const texts = new LastTexts(parse);
    const text = (count: string): string => `{"long":"${'x'.repeat(600)}","count":${count}}`;
    texts.get('place', text('1'));
    texts.get('place', text('2'));
    assert.equal(texts.get('place', text('2,')), undefined);
    assert.equal(texts.get('place', text('')), undefined);
    assert.equal(texts.get('place', text('"a').slice(0, -1)), undefined);
    assert.deepEqual(texts.get('place', text('3')), parseJson(text('3')));
  });
});
