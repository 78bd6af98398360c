import assert from 'node:assert/strict';
import { isTooDeep, parseJson, TOO_DEEP, type Json, type JsonObject } from '../../src/codec/json.ts';
import { printYaml } from '../../src/codec/yamlPrint.ts';
import { observedFrom } from '../../src/core/observe.ts';
import { TraceReader } from '../../src/core/trace.ts';
import { givenObject } from '../../src/recorder/given.ts';
import { readBody } from '../../src/recorder/bodyText.ts';

/** JSON of an object that holds a value so many levels deep. */
const deepText = (levels: number, inside: string): string => '{"a":'.repeat(levels) + inside + '}'.repeat(levels);

function thing(levels: number): JsonObject {
  return {
    apiVersion: 't.example/v1',
    kind: 'Thing',
    metadata: {
      name: 'd',
      namespace: 'lab',
      uid: 'U1',
      resourceVersion: '7',
      managedFields: [{ manager: 'm', fieldsV1: parseJson(deepText(levels, '1')) }],
    },
    spec: parseJson(deepText(levels, '1')),
  };
}

describe('JSON that is nested deeply', () => {
  for (const levels of [500, 5_000, 50_000]) {
    it(`keeps every digit at ${levels} levels, and every text that looks like a mark`, () => {
      const numbers = '[12345678901234567890,-99999999999999999999,1000000000000000,1.5,1e3,"1234567890123456789"';
      const text = deepText(levels, `${numbers},"\\u0000\\u0000\\u00007","x\\"1234567890123456789"]`);
      let value: Json | undefined = parseJson(text);
      for (let level = 0; level < levels; level += 1) value = (value as JsonObject)['a'];
      assert.deepEqual(value, [
        12345678901234567890n,
        -99999999999999999999n,
        1000000000000000,
        1.5,
        1000,
        '1234567890123456789',
        '\0\0\u00007',
        'x"1234567890123456789',
      ]);
    });
  }

  it('is told, however deep', () => {
    assert.deepEqual(
      [499, 500, 501, 100_000].map((levels) => isTooDeep(parseJson(deepText(levels, '1')))),
      [false, false, true, true],
    );
    assert.deepEqual(
      [[[1]], [[[1]]], { a: [{}] }].map((value) => isTooDeep(value, 2)),
      [false, true, true],
    );
  });

  it('is an object known by its metadata only, in an event of any source', () => {
    const context = { cluster: 'c', via: 'list', at: 1, keepBody: true, secretKey: '0'.repeat(32) } as const;
    const resource = { group: 't.example', resource: 'things', version: 'v1', kind: 'Thing' };
    for (const keepBody of [true, false]) {
      const event = observedFrom(thing(4_000), { ...context, resource, keepBody });
      assert.deepEqual(
        [event?.uid, event?.token, event?.kind, event?.body, event?.leaves, event?.managedFields],
        ['U1', '7', 'Thing', undefined, undefined, undefined],
      );
    }
    assert.notEqual(observedFrom(thing(400), { ...context, resource })?.body, undefined);
    const given = givenObject(thing(4_000));
    assert.deepEqual([given?.given.uid, given?.whole, given?.notAnalysed], ['U1', false, String(TOO_DEEP)]);
    const body = readBody(
      Buffer.from(`{"kind":"Thing","metadata":{"uid":"U1"},"spec":${deepText(4_000, '1')}}`),
      'application/json',
      () => null,
    );
    assert.deepEqual(body, {
      notAnalysed: String(TOO_DEEP),
      value: { apiVersion: '', kind: 'Thing', metadata: { uid: 'U1' } },
    });
  });

  it('is not printed as YAML, in one sentence', () => {
    assert.match(printYaml(thing(400)), /^apiVersion: /);
    assert.throws(() => printYaml(thing(4_000)), { code: 'bad-answer', message: new RegExp(String(TOO_DEEP)) });
  });

  it('is skipped and reported in a trace', () => {
    const reader = new TraceReader();
    const note = '{"seq":1,"at":1,"cluster":"c","via":"recorder","type":"note","text":"x"}\n';
    const deep = `{"seq":2,"at":1,"cluster":"c","via":"recorder","type":"note","text":"x","y":${deepText(4_000, '1')}}\n`;
    const events = reader.push(`{"trace":"object-versions","version":1}\n${note}${deep}${note}`);
    assert.equal(events.length, 2);
    assert.match(String(reader.problems[0]?.message), new RegExp(String(TOO_DEEP)));
  });
});
