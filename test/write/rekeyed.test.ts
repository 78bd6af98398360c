import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { formatPath } from '../../src/codec/path.ts';
import { diffObjects } from '../../src/core/diff.ts';
import { noListSchema, type ListSchema } from '../../src/core/listSchema.ts';
import { replacedEntries } from '../../src/write/rekeyed.ts';

const schema: ListSchema = {
  ...noListSchema,
  listTypeAt: (path) =>
    formatPath(path) === '.spec.ports'
      ? { type: 'map', keys: ['port', 'protocol'], defaults: { protocol: 'TCP' } }
      : undefined,
};
const ports = (...list: JsonObject[]): JsonObject => ({ spec: { ports: list as Json[] } });

/** What is told of a change of the ports: replaced entries in words, and the other changes by path. */
function told(before: JsonObject, after: JsonObject): string[] {
  const { replaced, others } = replacedEntries(diffObjects(before, after, schema));
  return [
    ...replaced.map((entry) => `${entry.list}: ${entry.before} by ${entry.after}`),
    ...others.map(({ kind, path }) => `${kind} ${formatPath(path)}`),
  ];
}

describe('entries of keyed lists that get another key', () => {
  const web = { name: 'web', port: 80, targetPort: 8080 };
  const dns = { name: 'dns', port: 53, protocol: 'UDP' };

  it('are replaced, and that is all there is to say of them', () => {
    assert.deepEqual(told(ports(web, dns), ports({ ...web, port: 81 }, dns)), ['.spec.ports: 80/TCP by 81/TCP']);
    assert.deepEqual(told(ports(web, dns), ports(web, { ...dns, protocol: 'TCP' })), ['.spec.ports: 53/UDP by 53/TCP']);
  });

  it('are found among several by what else they hold', () => {
    const other = { name: 'other', port: 90 };
    assert.deepEqual(told(ports(web, other), ports({ ...other, port: 91 }, { ...web, port: 81 })), [
      '.spec.ports: 80/TCP by 81/TCP',
      '.spec.ports: 90/TCP by 91/TCP',
    ]);
  });

  it('say what else differs where one alone left and one alone came', () => {
    assert.deepEqual(told(ports(web), ports({ name: 'web', port: 81, targetPort: 9090 })), [
      '.spec.ports: 80/TCP by 81/TCP',
      'removed .spec.ports[port=80,protocol="TCP"]',
      'added .spec.ports[port=81,protocol="TCP"]',
    ]);
  });

  it('are none where nothing left, nothing came, or nothing tells which is which', () => {
    assert.deepEqual(told(ports(web), ports(web, dns)), ['added .spec.ports[port=53,protocol="UDP"]']);
    assert.deepEqual(told(ports(web, dns), ports(web)), ['removed .spec.ports[port=53,protocol="UDP"]']);
    const [a, b] = [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ];
    assert.equal(told(ports(a, b), ports({ name: 'c', port: 3 }, { name: 'd', port: 4 })).length, 4);
    assert.deepEqual(told(ports(web), ports({ ...web, targetPort: 1 })), [
      'changed .spec.ports[port=80,protocol="TCP"].targetPort',
    ]);
  });
});
