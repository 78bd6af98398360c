import assert from 'node:assert/strict';
import { parseJson } from '../../src/codec/json.ts';
import { decodeBody, decodePatched, type FieldValidation } from '../../src/sandbox/fields/decode.ts';
import { parseGoJson } from '../../src/sandbox/goJson.ts';
import { strictProblems } from '../../src/sandbox/fields/strictFields.ts';
import { StatusError } from '../../src/sandbox/status.ts';
import { configMap, kindOf, widgetKind } from './builders.ts';

const maps = kindOf('ConfigMap');
const deployments = kindOf('Deployment');

function messageOf(text: string, kind = maps, validation: FieldValidation = 'Warn'): string {
  try {
    decodeBody(kind, text, 'application/json', validation);
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return '';
}

describe('decoding a body', () => {
  it('unknown and doubled fields are warned of in the order of the text', () => {
    const text = '{"bogus":1,"metadata":{"name":"a","x":1},"data":{"k":"1","k":"2"},"kind":"ConfigMap"}';
    const { object, warnings } = decodeBody(maps, text, 'application/json', 'Warn');
    assert.deepEqual(warnings, ['unknown field "bogus"', 'unknown field "metadata.x"', 'duplicate field "data.k"']);
    assert.deepEqual(object, { ...configMap({ k: '2' }) });
  });

  it('Strict refuses what Warn warns of, Ignore says nothing', () => {
    const text = '{"metadata":{"name":"a"},"bogus":1}';
    assert.equal(
      messageOf(text, maps, 'Strict'),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "bogus"',
    );
    assert.deepEqual(decodeBody(maps, text, 'application/json', 'Ignore').warnings, []);
  });

  it('wrong types are told as Go tells them', () => {
    const prefix = 'Deployment in version "v1" cannot be handled as a Deployment: ';
    const cases: readonly (readonly [string, string])[] = [
      [
        '{"spec":{"replicas":"x"}}',
        'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
      ],
      [
        '{"spec":{"replicas":1.5}}',
        'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
      ],
      [
        '{"metadata":{"labels":{"a":1}}}',
        'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
      ],
      [
        '{"spec":{"template":{"spec":{"containers":"x"}}}}',
        'json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
      ],
    ];
    for (const [body, said] of cases) assert.equal(messageOf(body, deployments), prefix + said);
  });

  it('a body that is no object shows its first bytes, in hex if it does not look like JSON', () => {
    assert.match(messageOf('{"apiVersion":"v1",'), /unexpected end of JSON input \(\{"apiVersion":"v1",\)$/);
    assert.match(messageOf('[]'), /\(5b5d\)$/);
    assert.match(messageOf(''), /\(<empty>\)$/);
  });

  it('another kind, another version and an unknown kind are told apart', () => {
    assert.match(
      messageOf('{"apiVersion":"v1","kind":"Secret"}'),
      /converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/,
    );
    assert.match(
      messageOf('{"apiVersion":"v9","kind":"ConfigMap"}'),
      /no kind "ConfigMap" is registered for version "v9"/,
    );
    assert.match(messageOf('{"apiVersion":"v1","kind":"Gadget"}'), /no kind "Gadget" is registered for version "v1"/);
  });

  it('YAML bodies name doubled keys by their line', () => {
    const { warnings, object } = decodeBody(
      maps,
      'kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "1"\n  k: "2"\n',
      'application/yaml',
      'Warn',
    );
    assert.deepEqual(warnings, ['line 6: key "k" already set in map']);
    assert.deepEqual(object['data'], { k: '2' });
  });

  it('custom resources are pruned and defaulted; nulls go where null is no value', () => {
    const widgets = widgetKind({
      a: { type: 'string', default: 'x' },
      n: { type: 'string', nullable: true },
      o: { type: 'object', properties: { p: { type: 'integer' } } },
    });
    const text =
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":null,"n":null,"o":{"p":null,"q":1},"odd":1}}';
    const { object, warnings } = decodeBody(widgets, text, 'application/json', 'Warn');
    assert.deepEqual(object['spec'], { a: 'x', n: null, o: {} });
    assert.deepEqual(warnings, ['unknown field "spec.o.q"', 'unknown field "spec.odd"']);
  });

  it('a patched object that does not decode is a 422 without a name', () => {
    assert.throws(
      () => decodePatched(maps, { ...configMap({}), data: { k: 1 } }, 'Warn'),
      (error) =>
        error instanceof StatusError &&
        error.code === 422 &&
        error.message.startsWith(' "" is invalid: patch: Invalid value: "{') &&
        error.status['details'] !== undefined,
    );
  });

  it('a text is judged alike with and without its value at hand', () => {
    const texts = [
      '{"metadata":{"name":"a"},"data":{"k":"v"}}',
      '{"metadata":{"name":"a"},"data":{"k":"v","k":"w"}}',
      '{ "metadata": {"name": "a"}, "data": {"k": "v", "k": "w"} }',
      '{"metadata":{"name":"a","odd":1},"odd":{"odd":2}}',
      '{"metadata":{"generation":12345678901234567890,"generation":1}}',
      '{"metadata":{"ownerReferences":[{"uid":"u","odd":1},null,3]}}',
      '{"metadata":[],"data":null}',
      'null',
    ];
    for (const text of texts)
      for (const schema of [maps.schema, undefined])
        assert.deepEqual(strictProblems(text, schema, parseJson(text)), strictProblems(text, schema), text);
    assert.deepEqual(strictProblems(texts[1] ?? '', maps.schema, parseJson(texts[1] ?? '')), [
      'duplicate field "data.k"',
    ]);
  });

  it('text is JSON as Go reads it: no deeper than 10,000, refused in its words', () => {
    const read = (text: string): unknown => parseGoJson(text, (problem) => new Error(problem));
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    assert.deepEqual(read('{"a":[1,12345678901234567890,null]}'), { a: [1, 12345678901234567890n, null] });
    assert.equal(read('null'), null);
    assert.ok(Array.isArray(read(nested(10_000))));
    assert.throws(() => read(nested(10_001)), { message: 'exceeded max depth' });
    assert.throws(() => read('{"a":}'), { message: "invalid character '}' looking for beginning of value" });
  });
});
