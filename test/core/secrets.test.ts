import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { stringifyJson } from '../../src/codec/json.ts';
import { hashText, sipHash, utf8Bytes } from '../../src/core/hash.ts';
import { deletedFrom, observedFrom, type ObserveContext } from '../../src/core/observe.ts';
import { hideSecrets } from '../../src/core/secrets.ts';
import { testKey } from './traceBuilder.ts';

const context: ObserveContext = {
  cluster: 'c',
  via: 'watch',
  at: 1,
  resource: { group: '', resource: 'secrets', version: 'v1', kind: 'Secret' },
  keepBody: true,
  secretKey: testKey,
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function secret(value: string): JsonObject {
  const data = { key: base64(value) };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: 's',
      namespace: 'lab',
      uid: 'U1',
      resourceVersion: 'v1',
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ kind: 'Secret', data }),
        'other.test/copy': `copy of ${value}`,
        'other.test/encoded': `x ${data.key}`,
        'plain.test/a': 'fine',
      },
      managedFields: [
        {
          manager: 'm',
          operation: 'Update',
          fieldsV1: {
            'f:data': { 'f:key': {}, [`v:${JSON.stringify(value)}`]: {} },
            'f:metadata': { 'f:finalizers': { 'v:"a.test/x"': {} } },
          },
        },
      ],
    },
    data,
    stringData: { other: value },
    strange: { inside: [value] },
  };
}

describe('hashes', () => {
  it('SipHash-2-4 gives the values of its paper', () => {
    const bytes = (length: number): number[] => Array.from({ length }, (_, index) => index);
    assert.equal(sipHash(testKey, bytes(15)), 'a129ca6149be45e5');
    assert.equal(sipHash(testKey, []), '726fdb47dd0e0e31');
    assert.equal(sipHash(testKey, bytes(8)), '93f5f5799a932462');
    assert.equal(sipHash(testKey, bytes(63)), '958a324ceb064572');
  });

  it('bytes are those of UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => assert.deepEqual(utf8Bytes(text), [...Buffer.from(text)])),
    );
  });

  it('the fast hash tells texts apart', () => {
    const hashes = new Set(Array.from({ length: 100_000 }, (_, index) => hashText(`text ${index}`)));
    assert.equal(hashes.size, 100_000);
    assert.match(hashText('x'), /^[0-9a-f]{14}$/);
  });
});

describe('what is kept of a Secret', () => {
  it('holds its value in no form, with or without the body, in any observation', () => {
    const text = fc
      .string({ minLength: 6, maxLength: 40, unit: 'grapheme-ascii' })
      .filter((value) => /[a-z]{3}\W|\W[A-Z]{2}|\d\D\d/.test(value));
    fc.assert(
      fc.property(text, fc.boolean(), (value, keepBody) => {
        for (const event of [
          observedFrom(secret(value), { ...context, keepBody }),
          deletedFrom(secret(value), { ...context, keepBody }),
        ]) {
          const printed = stringifyJson(event as unknown as Json);
          const forms = [value, base64(value), JSON.stringify(value).slice(1, -1), base64(value).replace(/=*$/, '')];
          for (const form of forms) assert.ok(!printed.includes(form), `${form} in ${printed}`);
        }
      }),
    );
  });

  it('tells equal values from different ones, and stringData from data not at all', () => {
    const data = (object: JsonObject): Json | undefined => (hideSecrets(object, testKey)['data'] as JsonObject)['key'];
    assert.equal(data(secret('hunter2')), data(secret('hunter2')));
    assert.notEqual(data(secret('hunter2')), data(secret('hunter3')));
    const hidden = hideSecrets(secret('hunter2'), testKey);
    assert.equal((hidden['stringData'] as JsonObject)['other'], (hidden['data'] as JsonObject)['key']);
    assert.notEqual(
      data(secret('hunter2')),
      (hideSecrets(secret('hunter2'), testKey.replace('00', '11'))['data'] as JsonObject)['key'],
    );
  });

  it('keeps what is no secret', () => {
    const hidden = hideSecrets(secret('hunter2'), testKey);
    assert.equal(hidden['type'], 'Opaque');
    const metadata = hidden['metadata'] as JsonObject;
    assert.equal((metadata['annotations'] as JsonObject)['plain.test/a'], 'fine');
    assert.match(JSON.stringify((metadata['annotations'] as JsonObject)['other.test/copy']), /^"hidden:[0-9a-f]{16}"$/);
    assert.ok(JSON.stringify(metadata['managedFields']).includes('v:\\"a.test/x\\"'));
    assert.deepEqual(Object.keys(hidden['data'] as JsonObject), ['key']);
  });

  it('hides a second time what is hidden already as it is', () => {
    const once = hideSecrets(secret('hunter2'), testKey);
    assert.deepEqual(hideSecrets(once, testKey)['data'], once['data']);
  });

  it('covers patches of every form', () => {
    const value = base64('hunter2-secret');
    const bodies: Json[] = [
      { data: { key: value } },
      { stringData: { key: 'hunter2-secret' } },
      [{ op: 'replace', path: '/data/key', value }],
      [{ op: 'add', path: '/stringData/key', value: 'hunter2-secret' }],
      [{ op: 'add', path: '/data', value: { key: value } }],
      [{ op: 'test', path: '', value: { data: { key: value } } }],
      [
        {
          op: 'add',
          path: '/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration',
          value: `{"data":{"key":"${value}"}}`,
        },
      ],
      [{ op: 'add', path: '/metadata', value: { annotations: { 'x-last-applied': value } } }],
      { kind: 'SecretList', items: [secret('hunter2-secret')] },
      value,
    ];
    for (const body of bodies) {
      const printed = stringifyJson(hideSecrets(body, testKey));
      assert.ok(!printed.includes(value) && !printed.includes('hunter2'), printed);
    }
    const test = [{ op: 'test', path: '/metadata/resourceVersion', value: 'v1' }];
    assert.deepEqual(hideSecrets(test, testKey), test);
    const [put, add] = [
      hideSecrets({ data: { key: value } }, testKey),
      hideSecrets([{ op: 'add', path: '/stringData/key', value: 'hunter2-secret' }], testKey) as JsonObject[],
    ];
    assert.equal((put['data'] as JsonObject)['key'], add[0]?.['value']);
  });

  it('is kept of any object that says it is a Secret, whatever was asked', () => {
    const event = observedFrom(secret('hunter2'), { ...context, resource: { group: '', resource: 'things' } });
    assert.ok(!JSON.stringify(event).includes(base64('hunter2')));
  });
});

describe('an observation', () => {
  it('J9: keeps times as they came and fills in what items of lists leave out', () => {
    const spec = { renewTime: '2026-01-02T03:04:05.123456Z' };
    const lease = { metadata: { name: 'l', namespace: 'lab', uid: 'U1', resourceVersion: 'v1' }, spec };
    const resource = { group: 'coordination.k8s.io', resource: 'leases', version: 'v1', kind: 'Lease' };
    const event = observedFrom(lease, { ...context, resource });
    assert.deepEqual(event?.body, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease });
    assert.equal(event?.kind, 'Lease');
  });

  it('without bodies has hashes of leaves that tell equal from different', () => {
    const map = (value: string): JsonObject => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'c', uid: 'U1', resourceVersion: 'v1' },
      data: { a: value, resourceVersion: 'x' },
    });
    const resource = { group: '', resource: 'configmaps' };
    const leaves = (value: string): Record<string, string> | undefined =>
      observedFrom(map(value), { ...context, resource, keepBody: false })?.leaves;
    assert.deepEqual(Object.keys(leaves('1') ?? {}), [
      '.kind',
      '.apiVersion',
      '.metadata.name',
      '.metadata.uid',
      '.data.a',
      '.data.resourceVersion',
    ]);
    assert.deepEqual(leaves('1'), leaves('1'));
    assert.notEqual(leaves('1')?.['.data.a'], leaves('2')?.['.data.a']);
  });

  it('of what is no object is none', () => {
    for (const object of [{}, { metadata: null }, { metadata: { name: 'x' } }, { metadata: { uid: 'U' } }])
      assert.equal(observedFrom(object, context), undefined);
  });
});
