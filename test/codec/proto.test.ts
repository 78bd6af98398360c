import assert from 'node:assert/strict';
import { request } from 'node:https';
import { readFile } from 'node:fs/promises';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import { decodeKubernetesProtobuf, readEnvelope } from '../../src/codec/proto.ts';
import { FrameSplitter, readListMetadata, readMetadata, readWatchEvent } from '../../src/codec/protoMetadata.ts';
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

  it('a list decodes with items that carry no kind, and its metadata can be read alone', async () => {
    const path = '/api/v1/namespaces';
    const [json, binary] = await Promise.all([
      send(server, 'GET', path, 'application/json'),
      send(server, 'GET', path, PROTOBUF),
    ]);
    assert.deepEqual(sorted(decodeKubernetesProtobuf(binary.bytes).object), sorted(parseJson(json.bytes.toString())));
    const items = (parseJson(json.bytes.toString()) as { items: { metadata: { uid: string } }[] }).items;
    assert.deepEqual(
      [...readListMetadata(binary.bytes)].map((item) => item['uid']),
      items.map((item) => item.metadata.uid),
    );
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
