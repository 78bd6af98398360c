import assert from 'node:assert/strict';

import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import type { Path } from '../../src/codec/path.ts';
import { parsePath } from '../../src/codec/path.ts';
import { partForKind, schemaFromOpenApi } from '../../src/kube/openApiSchema.ts';
import { listSchemaFor } from '../../src/kube/schema.ts';
import { sendJson, sendStatus, startFakeServer } from './fakeServer.ts';
import { clusterFor } from './harness.ts';

const signal = new AbortController().signal;
const kind = { group: 'demo', version: 'v1', kind: 'Thing' };
const ref = (name: string): JsonObject => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });

function at(text: string): Path {
  const parsed = parsePath(text);
  assert.ok('path' in parsed);
  return parsed.path;
}

const document: JsonObject = {
  components: {
    schemas: {
      Thing: {
        'x-kubernetes-group-version-kind': [kind],
        properties: {
          spec: ref('Spec'),
          description: { type: 'string' },
        },
      },
      Spec: {
        properties: {
          ports: {
            type: 'array',
            items: ref('Port'),
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
          },
          old: {
            type: 'array',
            items: ref('Port'),
            'x-kubernetes-patch-strategy': 'merge,retainKeys',
            'x-kubernetes-patch-merge-key': 'port',
          },
          oldSet: { type: 'array', items: { type: 'string' }, 'x-kubernetes-patch-strategy': 'merge' },
          set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          atomic: {
            type: 'array',
            items: { type: 'string' },
            'x-kubernetes-list-type': 'atomic',
            'x-kubernetes-patch-strategy': 'merge',
          },
          silent: { type: 'array', items: { type: 'string' } },
          selector: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
          byName: { type: 'object', additionalProperties: ref('Spec') },
          children: {
            type: 'array',
            items: ref('Spec'),
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
          },
          loop: ref('Loop'),
        },
      },
      Port: {
        required: ['port'],
        properties: {
          port: { type: 'integer', default: 0 },
          protocol: { type: 'string', default: 'TCP' },
          name: { type: 'string', default: '' },
        },
      },
      Loop: { allOf: [{ $ref: '#/components/schemas/Loop' }] },
    },
  },
};

describe('list schemas', () => {
  const schema = schemaFromOpenApi(document, kind);
  assert.ok(schema !== undefined);

  it('keyed lists carry their keys, and defaults of keys that may be left out', () => {
    assert.deepEqual(schema.listTypeAt(at('.spec.ports')), {
      type: 'map',
      keys: ['port', 'protocol'],
      defaults: { protocol: 'TCP' },
    });
    assert.deepEqual(schema.listTypeAt(at('.spec.old')), { type: 'map', keys: ['port'] });
  });

  it('sets, atomic lists and lists that say nothing are told apart', () => {
    assert.deepEqual(schema.listTypeAt(at('.spec.set')), { type: 'set' });
    assert.deepEqual(schema.listTypeAt(at('.spec.oldSet')), { type: 'set' });
    assert.deepEqual(schema.listTypeAt(at('.spec.atomic')), { type: 'atomic' });
    assert.equal(schema.listTypeAt(at('.spec.silent')), undefined);
    assert.equal(schema.listTypeAt(at('.spec.nothing')), undefined);
    assert.equal(schema.listTypeAt(at('.spec')), undefined);
  });

  it('atomic maps are known', () => {
    assert.equal(schema.isAtomicMapAt(at('.spec.selector')), true);
    assert.equal(schema.isAtomicMapAt(at('.spec.byName')), false);
  });

  it('schemas that contain themselves are followed as far as the path goes', () => {
    const deep = `.spec${'.children[name="x"].byName.any'.repeat(20)}.set`;
    assert.deepEqual(schema.listTypeAt(at(deep)), { type: 'set' });
    assert.equal(schema.listTypeAt(at('.spec.loop.anything')), undefined);
  });

  it('a kind that the document does not have has no schema', () => {
    assert.equal(schemaFromOpenApi(document, { ...kind, version: 'v2' }), undefined);
    assert.equal(schemaFromOpenApi({}, kind), undefined);
  });

  it('a document is read again only when its hash changes', async () => {
    let hash = 'one';
    const server = await startFakeServer((request, response) => {
      if (request.path === '/openapi/v3')
        sendJson(response, 200, {
          paths: { 'apis/demo/v1': { serverRelativeURL: `/openapi/v3/apis/demo/v1?hash=${hash}` } },
        });
      else sendJson(response, 200, document);
    });
    const cluster = clusterFor(server.url, systemClock);
    const documents = (): (string | null)[] =>
      server.requests.filter((request) => request.path !== '/openapi/v3').map((request) => request.query.get('hash'));
    for (let round = 0; round < 3; round += 1)
      assert.deepEqual((await listSchemaFor(cluster, kind, signal)).listTypeAt(at('.spec.set')), { type: 'set' });
    assert.deepEqual(documents(), ['one']);
    hash = 'two';
    await listSchemaFor(cluster, kind, signal);
    assert.deepEqual(documents(), ['one', 'two']);
    assert.equal(
      (await listSchemaFor(cluster, { ...kind, group: 'other' }, signal)).listTypeAt(at('.spec.set')),
      undefined,
    );
    cluster.dispose();
    await server.stop();
  });

  it('a kind’s part of a document says what the whole document says, and no more', () => {
    const other = { 'x-kubernetes-group-version-kind': [{ ...kind, kind: 'Other' }], properties: { own: ref('Own') } };
    const schemas = { ...((document['components'] as JsonObject)['schemas'] as JsonObject), Other: other, Own: {} };
    const part = partForKind({ components: { schemas } }, kind);
    assert.deepEqual(part, document);
    assert.equal(schemaFromOpenApi(part, { ...kind, kind: 'Other' }), undefined);
  });

  it('what was kept of a document is not fetched again, and a torn one is', async () => {
    const server = await startFakeServer((request, response) => {
      const address = '/openapi/v3/apis/demo/v1?hash=one';
      if (request.path === '/openapi/v3')
        sendJson(response, 200, { paths: { 'apis/demo/v1': { serverRelativeURL: address } } });
      else sendJson(response, 200, document);
    });
    const texts = new Map<string, string>();
    const kept = {
      read: (key: string) => Promise.resolve(texts.get(key)),
      write: (key: string, text: string) => Promise.resolve(void texts.set(key, text)),
    };
    const type = async (): Promise<unknown> => {
      const cluster = clusterFor(server.url, systemClock);
      const schema = await listSchemaFor(cluster, kind, signal, kept);
      cluster.dispose();
      return schema.listTypeAt(at('.spec.set'));
    };
    const fetched = (): number => server.requests.filter((request) => request.path !== '/openapi/v3').length;
    for (let round = 0; round < 3; round += 1) assert.deepEqual(await type(), { type: 'set' });
    assert.equal(fetched(), 1);
    for (const [key, text] of texts) texts.set(key, text.slice(0, -5));
    assert.deepEqual(await type(), { type: 'set' });
    assert.equal(fetched(), 2);
    await server.stop();
  });

  it('a server without a schema leaves everything unknown', async () => {
    const server = await startFakeServer((_request, response) => sendStatus(response, 404, 'NotFound'));
    const cluster = clusterFor(server.url, systemClock);
    assert.equal((await listSchemaFor(cluster, kind, signal)).listTypeAt(at('.spec.set')), undefined);
    cluster.dispose();
    await server.stop();
  });
});
