import assert from 'node:assert/strict';
import { parseJson } from '../../src/codec/json.ts';
import { withoutSecretWords } from '../../src/core/secretRefusal.ts';

/** The words of real API servers (1.34) and of webhooks in front of them. */
const kept: readonly (readonly [number, string])[] = [
  [404, 'secrets "s" not found'],
  [409, 'Operation cannot be fulfilled on secrets "s": the object has been modified; please apply your changes'],
  [
    403,
    'secrets "s" is forbidden: User "alice" cannot patch resource "secrets" in API group "" in the namespace "lab"',
  ],
  [403, 'secrets "s" is forbidden: exceeded quota: full, requested: count/secrets=1'],
];
const hidden: readonly (readonly [number, string])[] = [
  [400, 'illegal base64 data at input byte 0: "ZEBRA"'],
  [422, ' "" is invalid: patch: Invalid value: "{\\"data\\":{\\"password\\":\\"ZEBRA\\"}}"'],
  [500, 'failed to create typed patch object: ZEBRA'],
  [403, 'admission webhook "w.example" denied the request: ZEBRA is too short'],
  [409, 'admission webhook "w.example" denied the request: ZEBRA is taken'],
  [403, 'secrets "s" is forbidden: ValidatingAdmissionPolicy \'p\' denied request: ZEBRA'],
  [418, 'ZEBRA'],
];

describe('what a refusal says of a Secret', () => {
  for (const [code, message] of kept) {
    it(`is kept where it is about no content: ${message.slice(0, 60)}`, () => {
      assert.deepEqual(withoutSecretWords({ code, message }), { code, message });
    });
  }
  for (const [code, message] of hidden) {
    it(`is hidden where it may repeat it: ${code} ${message.slice(0, 50)}`, () => {
      const said = withoutSecretWords({ code, message });
      assert.ok(!JSON.stringify(said).includes('ZEBRA'));
      assert.match(said.message ?? '', new RegExp(`\\(${code}\\)`));
    });
  }

  it('causes keep where and why, and who owns a field', () => {
    const causes = [
      { reason: 'FieldValueInvalid', field: 'data[a]', message: 'Invalid value: "ZEBRA"' },
      { reason: 'FieldManagerConflict', field: '.data.a', message: 'conflict with "kubectl" using v1' },
      { reason: 'FieldManagerConflict', field: '.data.b', message: 'ZEBRA' },
    ];
    assert.deepEqual(withoutSecretWords({ code: 422, message: 'ZEBRA', causes }), {
      code: 422,
      causes: [
        { reason: 'FieldValueInvalid', field: 'data[a]' },
        causes[1],
        { reason: 'FieldManagerConflict', field: '.data.b' },
      ],
    });
  });

  it('and what is said of text that is no JSON quotes none of it', () => {
    for (const text of [
      '{"password":ZEBRA}',
      'ZEBRA',
      '{"password":"ZEBRA',
      '{"a":"ZEBRA"x',
      `[${'"ZEBRA",'.repeat(90)}]`,
    ]) {
      assert.throws(
        () => parseJson(text),
        (error: Error) =>
          /^This is not JSON: \S/.test(error.message) && !error.message.includes('ZEB') && error.cause === undefined,
      );
    }
  });
});
