import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { HIDDEN } from '../../src/core/secrets.ts';
import { storable } from '../../src/lab/hiddenValues.ts';

const secret = { group: '', resource: 'secrets', namespace: 'lab', name: 's' };
const hidden = `${HIDDEN}6a2714cd47c92aa6`;
const encoded = Buffer.from(hidden).toString('base64');

describe('what a trace hides of a Secret, in a replay', () => {
  it('is base64 under data, as it stands under stringData, and the same for equal values', () => {
    const body: JsonObject = { metadata: { name: 's' }, data: { a: hidden, b: hidden }, stringData: { c: hidden } };
    assert.deepEqual(storable(secret, body), { ...body, data: { a: encoded, b: encoded } });
  });

  it('is encoded in a JSON Patch where it goes to data only', () => {
    const patch = [
      { op: 'replace', path: '/data/a', value: hidden },
      { op: 'add', path: '/metadata/labels/x', value: 'y' },
      { op: 'remove', path: '/data/b' },
    ];
    assert.deepEqual(storable(secret, patch), [{ op: 'replace', path: '/data/a', value: encoded }, patch[1], patch[2]]);
  });

  it('is nothing to other kinds', () => {
    const body = { data: { a: hidden } };
    assert.equal(storable({ ...secret, resource: 'configmaps' }, body), body);
  });
});
