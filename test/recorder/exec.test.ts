import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needKubectl } from '../apiserver/kubectl.ts';
import { behindRecorder, type Behind } from './standIn.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [STDIN, STDOUT, ERROR, CLOSE] = [0, 1, 3, 255];
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get'] }],
  },
  '/api/v1/namespaces/lab/pods/p': {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace: 'lab', uid: 'u', resourceVersion: '1' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
    status: { phase: 'Running' },
  },
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  const found = ANSWERS[(request.url ?? '').split('?')[0] ?? ''];
  response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
}

/** A kubelet's end of `exec -i … cat`: what comes on the channel of stdin goes back on the one of stdout. Source: KEP-4006. */
function echo(request: IncomingMessage, socket: Socket): void {
  const key = String(request.headers['sec-websocket-key']);
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n`,
  );
  let held = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    for (let frame = takeFrame(held); frame !== undefined; frame = takeFrame(held)) {
      held = held.subarray(frame.size);
      if (frame.opcode === 8) socket.end();
      else if (frame.payload[0] === STDIN) socket.write(frameOf(STDOUT, frame.payload.subarray(1)));
      else if (frame.payload[0] === CLOSE) {
        socket.write(frameOf(ERROR, Buffer.from('{"metadata":{},"status":"Success"}')));
        socket.write(Buffer.from([0x88, 2, 0x03, 0xe8]));
      }
    }
  });
  socket.on('error', () => socket.destroy());
}

function takeFrame(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + extra + 4;
  if (bytes.length < start) return undefined;
  const length = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + length));
  for (const [at, byte] of payload.entries()) payload[at] = byte ^ (mask[at % 4] ?? 0);
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload, size: start + length };
}

function frameOf(channel: number, data: Buffer): Buffer {
  const length = data.length + 1;
  const head =
    length < 126
      ? Buffer.from([0x82, length])
      : length < 65_536
        ? Buffer.from([0x82, 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([0x82, 127]), Buffer.alloc(8)]);
  if (length >= 65_536) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.from([channel]), data]);
}

function exec(kubeconfig: string, input: Buffer): Promise<{ code: number | null; out: Buffer; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('kubectl', ['--kubeconfig', kubeconfig, '-n', 'lab', 'exec', '-i', 'p', '--', 'cat']);
    const out: Buffer[] = [];
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => (err += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out: Buffer.concat(out), err }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

describe('kubectl exec through the recorder, against a stand-in that echoes', function () {
  this.timeout(60_000);
  let behind: Behind;
  let folder = '';

  before(async function () {
    await needKubectl(this);
    folder = await mkdtemp(join(tmpdir(), 'exec-test-'));
    behind = await behindRecorder(answer, { onUpgrade: echo });
  });
  after(async () => {
    await behind.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('over WebSocket: every byte comes back, small or large, as without it', async () => {
    const direct = join(folder, 'direct');
    const through = join(folder, 'through');
    const { port } = behind.upstream.address() as AddressInfo;
    await writeFile(
      direct,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      }),
    );
    await writeFile(through, behind.recorder.kubeconfig('exec'));
    const large = Buffer.from(Array.from({ length: 300_000 }, (_item, index) => (index * 7) % 256));
    for (const input of [Buffer.from('ping\n'), large]) {
      const [plain, recorded] = [await exec(direct, input), await exec(through, input)];
      assert.equal(recorded.code, plain.code, recorded.err);
      assert.equal(recorded.code, 0, recorded.err);
      assert.equal(recorded.err, plain.err);
      assert.ok(plain.out.equals(input));
      assert.ok(recorded.out.equals(input));
    }
    assert.deepEqual(behind.problems, []);
  });
});
