import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DEEPEST, isTooDeep, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { AuditLines } from '../../src/recorder/auditLine.ts';

const nasty = fc.constantFrom<Json>(
  ',"spec":{"a":1},"status":{"b":2}',
  '}],"requestReceivedTimestamp":"',
  ',"managedFields":[{"f":"]}]"}]',
  'ünï ]} \\"',
  12345678901234567890n,
  null,
  true,
);
const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, nasty, fc.integer(), tie('object')),
  object: fc.oneof(
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'spec',
        'status',
        'metadata',
        'managedFields',
        'requestObject',
        'responseObject',
        '__proto__',
        'a',
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;
const optional = (name: string, of: fc.Arbitrary<Json>): fc.Arbitrary<[string, Json] | undefined> =>
  fc.option(
    of.map((item): [string, Json] => [name, item]),
    { nil: undefined },
  );
const members = (...parts: readonly fc.Arbitrary<[string, Json] | undefined>[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(...parts).map((entries) => Object.fromEntries(entries.filter((entry) => entry !== undefined)));
const body = members(
  optional('kind', fc.constantFrom('Deployment', 'DeploymentList')),
  optional(
    'metadata',
    members(
      optional('name', value),
      optional('managedFields', fc.array(value, { maxLength: 2 })),
      optional('uid', value),
    ),
  ),
  optional('spec', value),
  optional('status', value),
  optional('items', value),
);
/** Two bodies come back often, as a log's do. */
const event = (bodies: readonly JsonObject[]): fc.Arbitrary<JsonObject> =>
  members(
    optional('objectRef', fc.constantFrom<Json>({ resource: 'x', name: 'a' }, { resource: 'x', name: 'b' }, {})),
    optional('requestObject', fc.oneof(fc.constantFrom(...bodies), value)),
    optional('responseObject', fc.oneof(fc.constantFrom(...bodies), value)),
    optional('requestReceivedTimestamp', fc.constant('2026-01-01T00:00:00Z')),
    optional('annotations', value),
  );
const log = fc
  .array(body, { minLength: 1, maxLength: 3 })
  .chain((bodies) => fc.array(event(bodies), { minLength: 1, maxLength: 8 }));

describe('lines of an audit log', () => {
  it('say what their JSON says, whatever stood in the lines before and however like another place a text looks', () => {
    fc.assert(
      fc.property(log, fc.boolean(), (events, isTorn) => {
        const lines = new AuditLines();
        const texts = events.map((item) => stringifyJson({ kind: 'Event', ...item }));
        const read = texts.map((text) => lines.parse(text));
        for (const [index, text] of texts.entries()) assert.deepEqual(read[index], parseJson(text));
        const torn = (texts[0] ?? '').slice(0, -1);
        if (isTorn) assert.throws(() => lines.parse(torn), { code: 'invalid-json' });
      }),
      { numRuns: 2_000, seed: 3 },
    );
  });

  it('give the same values again for what an object said before, and keep its equal parts where another one changed', () => {
    const lines = new AuditLines();
    const line = (replicas: number, image: string): string =>
      JSON.stringify({
        kind: 'Event',
        objectRef: { resource: 'deployments', namespace: 'ns', name: 'web' },
        requestObject: {
          kind: 'Deployment',
          metadata: { name: 'web' },
          spec: { replicas, template: { image } },
          status: { replicas },
        },
        requestReceivedTimestamp: '2026-01-01T00:00:00Z',
      });
    const sent = (text: string): JsonObject => (lines.parse(text) as { requestObject: JsonObject }).requestObject;
    const [first, same, other] = [sent(line(1, 'a')), sent(line(1, 'a')), sent(line(2, 'a'))];
    assert.equal(same['spec'], first['spec']);
    assert.equal(same['status'], first['status']);
    assert.deepEqual(other['spec'], { replicas: 2, template: { image: 'a' } });
    assert.equal((other['spec'] as JsonObject)['template'], (first['spec'] as JsonObject)['template']);
    assert.deepEqual(first['spec'], { replicas: 1, template: { image: 'a' } }, 'what was given is not changed');
  });

  it('are too deep exactly where their JSON is', () => {
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    for (let levels = DEEPEST - 6; levels < DEEPEST + 2; levels += 1)
      for (const spec of [`{"spec":{},"status":${deep(levels)}}`, `{"metadata":{},"spec":${deep(levels)}}`]) {
        const text = `{"objectRef":{"resource":"x","name":"a"},"requestObject":${spec},"requestReceivedTimestamp":"x"}`;
        const whole = parseJson(text);
        assert.deepEqual(new AuditLines().parse(text), isTooDeep(whole) ? undefined : whole, String(levels));
      }
  });
});
