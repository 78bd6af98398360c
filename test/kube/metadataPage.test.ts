import assert from 'node:assert/strict';

import fc from 'fast-check';

import { parseJson } from '../../src/codec/json.ts';
import { MetadataPages } from '../../src/kube/metadataPage.ts';

/** Texts that try to look like what the parser looks for. */
const awkward = fc.constantFrom(
  'a',
  '"managedFields":[',
  ']}},{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{',
  ']}}]}',
  ']}},{',
  'a\\b',
  '"',
  '"items":[',
  'f:x]}},{',
  'é\u2028',
);

const fields = fc.array(
  fc.record(
    {
      manager: awkward,
      time: awkward,
      fieldsV1: fc.dictionary(
        awkward.map((key) => `f:${key}`),
        fc.constant({}),
      ),
    },
    { requiredKeys: ['manager'] },
  ),
);
const item = fc.record(
  { name: awkward, generation: fc.constantFrom(1, 0), labels: fc.dictionary(awkward, awkward), managedFields: fields },
  { requiredKeys: ['name'], noNullPrototype: true },
);

const listText = (items: readonly object[], wrapper: object): string =>
  JSON.stringify({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '1', continue: 'c' },
    items: items.map((metadata) => ({ ...wrapper, metadata })),
  });

describe('pages of metadata', () => {
  const wrappers = fc.constantFrom({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }, {});

  it('are read as plain parsing reads them, whatever the texts in them', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(fc.array(item, { maxLength: 6 }), { maxLength: 3 }), wrappers, (lists, wrapper) => {
        const pages = new MetadataPages();
        for (const items of lists) {
          const text = listText(items, wrapper);
          const found = pages.parse(text);
          if (found === undefined) continue;
          read += 1;
          assert.deepEqual(found, parseJson(text));
        }
      }),
      { numRuns: 1000 },
    );
    assert.ok(read > 500, `${read} lists were read this way`);
  });

  it('big integers survive', () => {
    const text = listText([{ name: 'a', n: 0, managedFields: [{ manager: 'm' }] }], {}).replace(
      '"n":0',
      '"n":9007199254740993',
    );
    assert.deepEqual(new MetadataPages().parse(text), parseJson(text));
  });

  it('equal managed fields are one object', () => {
    const one = { name: 'a', managedFields: [{ manager: 'm' }] };
    const list = new MetadataPages().parse(listText([one, { ...one, name: 'b' }], {}));
    assert.ok(list !== undefined);
    const [a, b] = list['items'] as unknown as { metadata: { managedFields: object } }[];
    assert.equal(a?.metadata.managedFields, b?.metadata.managedFields);
  });

  it('another form is left to plain parsing', () => {
    const pages = new MetadataPages();
    for (const text of [
      '{}',
      'null',
      '<html>',
      '{"kind":"ConfigMapList","items":[]}',
      '{"kind":"PartialObjectMetadataList","items":[',
      listText([{ name: 'a', managedFields: [{ manager: 'm' }], z: 1 }], {}),
    ]) {
      assert.equal(pages.parse(text), undefined);
    }
    const afterFields = listText([{ name: 'a', managedFields: [{ manager: 'm' }] }], {}).replace(
      /^(.*)\}$/,
      '$1,"more":[{"b":{"c":[1]}}]}',
    );
    const found = pages.parse(afterFields);
    if (found !== undefined) assert.deepEqual(found, parseJson(afterFields));
  });
});
