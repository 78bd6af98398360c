import assert from 'node:assert/strict';
import { request } from 'node:https';
import { readFile } from 'node:fs/promises';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { decodeKubernetesProtobuf, decodeListItem, readEnvelope } from '../../src/codec/proto.ts';
import { ProtobufListSplitter } from '../../src/codec/protoListSplitter.ts';
import { FrameSplitter, readItemMetadata, readMetadata, readWatchEvent } from '../../src/codec/protoMetadata.ts';
import { continueTokenAt, MetadataListDecoder } from '../../src/codec/protoMetadataList.ts';
import { sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';
import { builtinObjects } from './builtinObjects.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
let ca: string;

function send(
  server: ApiServer,
  method: string,
  path: string,
  accept: string,
  body?: string,
): Promise<{ status: number; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      {
        method,
        ca,
        agent: false,
        headers: { authorization: `Bearer ${server.token}`, accept, 'content-type': 'application/json' },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, bytes: Buffer.concat(chunks) }));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] ?? null)]),
  );
}

describe('protobuf of the built-in kinds, against the real server', function () {
  this.timeout(60_000);
  let server: ApiServer;

  before(async function () {
    server = await sharedApiServer(this);
    ca = await readFile(server.caFile, 'utf8');
  });

  for (const { path, object } of builtinObjects) {
    it(`${textAt(object, 'kind')} decodes to the JSON that the server prints`, async () => {
      const created = await send(server, 'POST', path, 'application/json', stringifyJson(object));
      assert.equal(created.status, 201, created.bytes.toString());
      const metadata = object['metadata'];
      const own = `${path}/${isJsonObject(metadata) ? textAt(metadata, 'name') : ''}`;
      await settled(server, own);
      const [json, binary] = await Promise.all([
        send(server, 'GET', own, 'application/json'),
        send(server, 'GET', own, PROTOBUF),
      ]);
      assert.deepEqual(sorted(decodeKubernetesProtobuf(binary.bytes).object), sorted(parseJson(json.bytes.toString())));
      const read = readMetadata(binary.bytes);
      assert.deepEqual(
        sorted(read.metadata),
        sorted((parseJson(json.bytes.toString()) as { metadata: Json }).metadata),
      );
    });
  }

  it('a list decodes with items that carry no kind, and each as it streams, wherever the bytes are cut', async () => {
    const path = '/api/v1/namespaces';
    const [json, binary] = await Promise.all([
      send(server, 'GET', path, 'application/json'),
      send(server, 'GET', path, PROTOBUF),
    ]);
    assert.deepEqual(sorted(decodeKubernetesProtobuf(binary.bytes).object), sorted(parseJson(json.bytes.toString())));
    const { items } = parseJson(json.bytes.toString()) as { items: (JsonObject & { metadata: JsonObject })[] };
    assert.ok(items.length > 2);
    for (const size of [1, 2, 7, 100, binary.bytes.length]) {
      const found: { object: JsonObject | undefined; metadata: JsonObject }[] = [];
      const splitter = new ProtobufListSplitter(
        (bytes) => found.push({ object: decodeListItem(splitter, bytes), metadata: readItemMetadata(bytes) }),
        1e6,
      );
      for (let at = 0; at < binary.bytes.length; at += size) splitter.push(binary.bytes.subarray(at, at + size));
      assert.equal(splitter.end(), undefined);
      assert.deepEqual([splitter.apiVersion, splitter.kind, splitter.overflowed], ['v1', 'NamespaceList', false]);
      const named = items.map((item) => sorted({ kind: 'Namespace', apiVersion: 'v1', ...item }));
      assert.deepEqual(
        found.map((item) => sorted(item.object ?? null)),
        named,
      );
      assert.deepEqual(
        found.map((item) => sorted(item.metadata)),
        items.map((item) => sorted(item.metadata)),
      );
    }
  });

  it('a list of metadata decodes to the JSON that the server prints, page after page', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    for (const [index, labels] of [{ a: '1' }, { a: '1' }, { a: '2', b: '' }, {}].entries()) {
      const metadata = {
        name: `listed-${index}`,
        labels,
        ...(index % 2 === 0 ? { finalizers: ['example.com/f'] } : {}),
      };
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true };
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata:
          index === 2
            ? { ...metadata, annotations: { 'example.com/a': 'é \u2028', constructor: '' }, ownerReferences: [owner] }
            : metadata,
      };
      assert.equal((await send(server, 'POST', path, 'application/json', JSON.stringify(body))).status, 201);
    }
    const form = 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const decoder = new MetadataListDecoder();
    for (const query of ['?limit=2', '', '?limit=1&labelSelector=a%3D1', '?labelSelector=none']) {
      const [json, binary] = await Promise.all([
        send(server, 'GET', path + query, `application/json;${form}`),
        send(server, 'GET', path + query, `${PROTOBUF};${form}`),
      ]);
      const printed = parseJson(json.bytes.toString()) as { metadata: { continue?: string }; items: Json[] | null };
      assert.deepEqual(sorted(decoder.decode(binary.bytes)), sorted({ ...printed, items: printed.items ?? [] }));
      assert.equal(continueTokenAt(binary.bytes.subarray(0, 400)), printed.metadata.continue);
    }
  });

  it('a watch splits into frames wherever its chunks end', async () => {
    const got = await send(server, 'GET', '/api/v1/namespaces?watch=true&timeoutSeconds=1', `${PROTOBUF};stream=watch`);
    const splitter = new FrameSplitter();
    const frames: Uint8Array[] = [];
    for (let at = 0; at < got.bytes.length; at += 7) frames.push(...splitter.push(got.bytes.subarray(at, at + 7)));
    const kinds = frames
      .map(readWatchEvent)
      .filter((event) => event.type === 'ADDED')
      .map((event) => readEnvelope(event.object).kind);
    assert.ok(kinds.length >= 4);
    assert.deepEqual([...new Set(kinds)], ['Namespace']);
    assert.equal(splitter.pending, 0);
  });

  it('torn, foreign and endless bytes are refused with a code', () => {
    for (const bytes of [
      Buffer.from('{}'),
      Buffer.from([0x6b, 0x38, 0x73, 0x00, 0x0a, 0xff]),
      Buffer.from([0x6b, 0x38, 0x73, 0x00, 0x0a, 0x06, 0x0a, 0x01, 0x76, 0x12, 0x01, 0x58, 0x12, 0x00]),
    ]) {
      assert.throws(() => decodeKubernetesProtobuf(bytes), { code: 'invalid-protobuf' });
    }
    const list = Buffer.from('6b3873000a2b0a0e6d6574612e6b38732e696f2f7631121950617274', 'hex');
    for (let end = 0; end <= list.length; end += 1) {
      assert.throws(() => new MetadataListDecoder().decode(list.subarray(0, end)), { code: 'invalid-protobuf' });
      assert.equal(continueTokenAt(list.subarray(0, end)), undefined);
    }
    assert.throws(() => new FrameSplitter(100).push(Buffer.from([0x7f, 0xff, 0xff, 0xff])), {
      code: 'invalid-protobuf',
    });
  });
});

function textAt(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === 'string' ? value : '';
}

/** The server itself finishes some objects (a CRD's conditions) just after they were made. */
async function settled(server: ApiServer, path: string): Promise<void> {
  let last = '';
  for (let turn = 0; turn < 50; turn += 1) {
    const now = (await send(server, 'GET', path, 'application/json')).bytes.toString();
    if (now === last && turn > (path.includes('customresource') ? 10 : 0)) return;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
