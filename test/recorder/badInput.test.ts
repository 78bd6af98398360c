import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { connect as netConnect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { promisify } from 'node:util';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { TraceWriter } from '../../src/recorder/traceWriter.ts';
import { protobufField, protobufMeta, protobufObject } from '../codec/protobufBytes.ts';
import { run } from './cli.ts';
import { behindRecorder, open, send, type Behind } from './standIn.ts';

const CONFIG_MAPS = '/api/v1/namespaces/lab/configmaps';
const CONFIG_MAP = `${CONFIG_MAPS}/demo`;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function configMap(token: string): string {
  const metadata = { name: 'demo', namespace: 'lab', uid: 'U1', resourceVersion: token };
  return JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { a: token } });
}

/** A connection to the recorder as a client has it, to send on it whatever one likes. */
async function rawClient(behind: Behind, secure = true): Promise<{ socket: Socket; answer: Promise<string> }> {
  const url = new URL(behind.recorder.url);
  const at = { host: url.hostname, port: Number(url.port) };
  const socket: Socket = secure ? tlsConnect({ ...at, ca: behind.recorder.caPem }) : netConnect(at);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const answer = once(socket, 'close').then(() => text);
  await once(socket, secure ? 'secureConnect' : 'connect');
  return { socket, answer };
}

describe('bad input to the recorder', function () {
  this.timeout(120_000);
  let behind: Behind | undefined;

  afterEach(async () => {
    await behind?.stop();
    behind = undefined;
  });

  async function stillServes(own: Behind): Promise<void> {
    assert.equal((await send(own, 'GET', CONFIG_MAP)).status, 200);
  }

  it('a client that sends garbage gets a 400 or is cut off, reaches nobody, and the next one is served', async () => {
    let reached = 0;
    const own = await behindRecorder((_request, response) => {
      reached += 1;
      response.end(configMap('1'));
    });
    behind = own;
    const garbage = [
      '\0\x01\xff\xfe garbage\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `${'x'.repeat(3e6)}\r\n\r\n`,
    ];
    for (const bytes of garbage) {
      const { socket, answer } = await rawClient(own);
      socket.write(Buffer.from(bytes, 'latin1'));
      assert.match(await answer, /^HTTP\/1\.1 400 /, bytes.slice(0, 20));
    }
    const { socket, answer } = await rawClient(own, false);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.doesNotMatch(await answer, /HTTP\/1\.1 200/);
    assert.equal(reached, 0);
    await stillServes(own);
    assert.deepEqual(own.problems, []);
  });

  it('half a request: the server sees it break off, the write is no lost answer, and nothing is left open', async () => {
    const begun = Promise.withResolvers<void>();
    const broken = Promise.withResolvers<number>();
    let size = 0;
    const own = await behindRecorder((request, response) => {
      if (request.method === 'GET') response.end(configMap('1'));
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        begun.resolve();
      });
      request.once('aborted', () => broken.resolve(size));
      request.once('error', () => undefined);
    });
    behind = own;
    const head = await rawClient(own);
    head.socket.write('PUT / HTTP/1.1\r\nHost: x\r\nAuthor');
    head.socket.end();
    await head.answer;
    const { socket } = await rawClient(own);
    socket.write(
      `PUT ${CONFIG_MAP} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"half":`,
    );
    await begun.promise;
    socket.destroy();
    assert.equal(await broken.promise, 8);
    await own.recorder.settled();
    const write = own.events.find((event) => event.type === 'write');
    assert.ok(write?.type === 'write' && write.outcome === 'cancelled', JSON.stringify(write));
    await stillServes(own);
  });

  it('a body that is not what its type says passes as it came, is counted with its type, and nothing is guessed from it', async () => {
    const received: string[] = [];
    const own = await behindRecorder((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      request.on('end', () => {
        received.push(text);
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 400 }));
      });
    });
    behind = own;
    const bodies = [
      ['application/json', '<html>no json</html>'],
      ['application/merge-patch+json', '{"a":'],
      ['application/strategic-merge-patch+json', '\0\x01\x02'],
      [PROTOBUF, '{"kind":"ConfigMap"}'],
    ] as const;
    for (const [type, body] of bodies) {
      const method = type.includes('patch') ? 'PATCH' : 'PUT';
      const got = await send(own, method, CONFIG_MAP, { 'content-type': type }, Buffer.from(body, 'latin1'));
      assert.equal(got.status, 400);
    }
    assert.deepEqual(
      received,
      bodies.map(([, body]) => body),
    );
    await own.recorder.settled();
    const writes = own.events.filter((event) => event.type === 'write');
    assert.deepEqual(
      writes.map((event) => [event.outcome, event.body, event.notAnalysed?.split(',')[0]]),
      bodies.map(([type]) => ['invalid', undefined, type]),
    );
    assert.equal(own.recorder.notAnalysed().writes, bodies.length);
  });

  it('100 MB of a body reach the server, and are not held', async () => {
    const chunk = Buffer.alloc(1e6, 'x');
    let size = 0;
    const own = await behindRecorder((request, response) => {
      request.on('data', (part: Buffer) => (size += part.length));
      request.on('end', () => {
        response.writeHead(413, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 413 }));
      });
    });
    behind = own;
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    let held = 0;
    const status = await new Promise<number>((resolve, reject) => {
      const sent = open(own, 'PUT', CONFIG_MAP, { 'content-type': 'application/json' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject);
      void (async () => {
        for (let index = 0; index < 100; index += 1) {
          if (!sent.write(chunk)) await once(sent, 'drain');
          if (index % 20 !== 19) continue;
          collectGarbage();
          held = Math.max(held, process.memoryUsage().arrayBuffers - before);
        }
        sent.end();
      })();
    });
    assert.deepEqual([status, size], [413, 100e6]);
    assert.ok(held < 64e6, `${held} bytes held`);
    await own.recorder.settled();
    const write = own.events.find((event) => event.type === 'write');
    assert.ok(write?.type === 'write' && write.outcome === 'too-large');
    assert.match(write.notAnalysed ?? '', /100000000 bytes/);
  });

  it('a server that dies before it answers is a 502 with a Status, in the middle of an answer a break, as without the recorder', async () => {
    const own = await behindRecorder((request, response) => {
      if (request.url === CONFIG_MAP) {
        response.end(configMap('1'));
        return;
      }
      if (request.url?.endsWith('/silent') === true) {
        request.socket.destroy();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      const line = `${JSON.stringify({ type: 'ADDED', object: JSON.parse(configMap('7')) as unknown })}\n`;
      response.write(
        request.url?.includes('watch') === true ? `${line}{"type":"MODI` : '{"kind":"ConfigMapList","items":[{',
      );
      setTimeout(() => response.destroy(), 50);
    });
    behind = own;
    const silent = await send(own, 'PUT', `${CONFIG_MAPS}/silent`, { 'content-type': 'application/json' }, '{}');
    assert.equal(silent.status, 502);
    const status = JSON.parse(silent.body.toString()) as { kind: string; code: number; message: string };
    assert.deepEqual([status.kind, status.code], ['Status', 502]);
    assert.match(status.message, /no answer from the API server/);
    for (const path of [CONFIG_MAPS, `${CONFIG_MAPS}?watch=true`]) await assert.rejects(send(own, 'GET', path));
    await own.recorder.settled();
    const write = own.events.find((event) => event.type === 'write');
    assert.ok(write?.type === 'write' && write.outcome === 'uncertain', JSON.stringify(write));
    const given = own.events.flatMap((event) => (event.type === 'read' && event.verb === 'watch' ? event.given : []));
    assert.deepEqual(
      given.map((item) => item.token),
      ['7'],
    );
    await stillServes(own);
  });

  it('a server that is not there is a 503, and the write that was never sent is no lost answer', async () => {
    const own = await behindRecorder((_request, response) => void response.end(configMap('1')));
    behind = own;
    await send(own, 'GET', CONFIG_MAP);
    own.upstream.close();
    own.upstream.closeAllConnections();
    const put = await send(own, 'PUT', CONFIG_MAP, { 'content-type': 'application/json' }, configMap('1'));
    assert.equal(put.status, 503);
    await own.recorder.settled();
    const writes = own.events.flatMap((event) => (event.type === 'write' ? event.outcome : []));
    assert.deepEqual(writes, ['unavailable']);
  });

  it('HTML where an API is expected passes as it came, and is counted', async () => {
    const page = '<!doctype html><title>Sign in</title>';
    const own = await behindRecorder((request, response) => {
      request.resume();
      response.writeHead(request.url?.includes('watch') === true ? 403 : 200, { 'content-type': 'text/html' });
      response.end(page);
    });
    behind = own;
    for (const path of [CONFIG_MAP, CONFIG_MAPS, `${CONFIG_MAPS}?watch=true`]) {
      const got = await send(own, 'GET', path);
      assert.deepEqual([got.body.toString(), got.headers['content-type']], [page, 'text/html']);
    }
    const put = await send(own, 'PUT', CONFIG_MAP, { 'content-type': 'application/json' }, configMap('1'));
    assert.equal(put.body.toString(), page);
    await own.recorder.settled();
    assert.equal(own.recorder.notAnalysed().reads, 2);
    assert.ok(Object.keys(own.recorder.notAnalysed().reasons).some((reason) => reason.startsWith('text/html')));
    assert.ok(!own.events.some((event) => event.type === 'observed'));
    const write = own.events.find((event) => event.type === 'write');
    assert.ok(write?.type === 'write' && write.result === undefined);
  });

  it('a torn frame of a watch in protobuf passes as it came, and what was lost is a gap', async () => {
    const meta = protobufMeta({ name: 'demo', namespace: 'lab', uid: 'U1', resourceVersion: '7' });
    const object = protobufObject('v1', 'ConfigMap', protobufField(1, meta));
    const event = Buffer.concat([protobufField(1, 'ADDED'), protobufField(2, protobufField(1, object))]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(event.length);
    const bytes = Buffer.concat([length, event, length, event.subarray(0, 20)]);
    const own = await behindRecorder((_request, response) => {
      response.writeHead(200, { 'content-type': `${PROTOBUF};stream=watch` });
      response.end(bytes);
    });
    behind = own;
    const got = await send(own, 'GET', `${CONFIG_MAPS}?watch=true`, { accept: PROTOBUF });
    assert.ok(got.body.equals(bytes));
    await own.recorder.settled();
    const given = own.events.flatMap((item) => (item.type === 'read' ? item.given : []));
    assert.deepEqual(
      given.map((item) => item.token),
      ['7'],
    );
    assert.equal(own.recorder.notAnalysed().lost, 1);
    const gap = own.events.find((item) => item.type === 'gap');
    assert.ok(gap?.type === 'gap');
    assert.match(gap.detail ?? '', /torn/);
  });

  it('a thousand clients at once are served, each an actor of its own', async () => {
    const own = await behindRecorder((_request, response) => setTimeout(() => response.end(configMap('1')), 20));
    behind = own;
    const url = new URL(own.recorder.url);
    const tokens = Array.from({ length: 1_000 }, (_item, index) => {
      const config = JSON.parse(own.recorder.kubeconfig(`client-${index}`)) as { users: [{ user: { token: string } }] };
      return config.users[0].user.token;
    });
    assert.equal(new Set(tokens).size, tokens.length);
    const statuses = await Promise.all(
      tokens.map(
        (token) =>
          new Promise<number>((resolve, reject) => {
            const sent = httpsRequest({
              host: url.hostname,
              port: url.port,
              path: CONFIG_MAP,
              ca: own.recorder.caPem,
              agent: false,
              headers: { authorization: `Bearer ${token}` },
            });
            sent.on('response', (answer) => {
              answer.resume();
              answer.on('end', () => resolve(answer.statusCode ?? 0));
            });
            sent.on('error', reject);
            sent.end();
          }),
      ),
    );
    assert.ok(statuses.every((status) => status === 200));
    await own.recorder.settled();
    const clients = own.events.flatMap((event) => (event.type === 'read' ? [event.actor.client] : []));
    assert.deepEqual([clients.length, new Set(clients).size], [1_000, 1_000]);
  });

  it('a token that is nearly right opens nothing', async () => {
    let reached = 0;
    const own = await behindRecorder((_request, response) => {
      reached += 1;
      response.end();
    });
    behind = own;
    const { token } = own;
    const guesses = [token.slice(0, -1), `${token}x`, token.toUpperCase(), `${token.slice(0, -1)}!`, 'the-users-own'];
    for (const guess of guesses)
      assert.equal((await send(own, 'GET', CONFIG_MAP, { authorization: `Bearer ${guess}` })).status, 401, guess);
    assert.equal(reached, 0);
  });
});

describe('a trace that cannot be written', () => {
  const header = { creator: 'test', clusters: {}, at: 1 };
  const note = (seq: number): TraceEvent => ({ type: 'note', seq, at: seq, via: 'recorder', cluster: 'c', text: 'x' });

  it('to a disk that is full costs the trace: it is said once, and every event that is missing is counted', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const problems: string[] = [];
    const writer = await TraceWriter.open('/dev/full', header, (message) => void problems.push(message));
    for (let seq = 1; seq <= 10; seq += 1) writer.add(note(seq));
    while (problems.length === 0) await delay(5);
    for (let seq = 11; seq <= 20; seq += 1) writer.add(note(seq));
    await writer.close();
    assert.equal(writer.lost, 20);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /ENOSPC.*the traffic and the findings go on without it/);
  });

  it('any further keeps what came out whole, counts the rest only, and is read as cut off', async function () {
    if (process.platform === 'win32') this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'trace-test-'));
    try {
      const path = join(folder, 'run.jsonl');
      const writes = `import { TraceWriter } from ${JSON.stringify(new URL('../../src/recorder/traceWriter.ts', import.meta.url).href)};
        const writer = await TraceWriter.open(${JSON.stringify(path)}, ${JSON.stringify(header)}, () => undefined);
        for (let seq = 1; seq <= 500; seq += 1) writer.add({ ...${JSON.stringify(note(1))}, seq });
        await writer.close();
        process.stdout.write(String(writer.lost));`;
      // No file may be larger than some KiB: the write that goes beyond ends in the middle of a line.
      const limited = `ulimit -f 8; trap '' XFSZ; exec "$0" --input-type=module -e "$1"`;
      const { stdout } = await promisify(execFile)('bash', ['-c', limited, process.execPath, writes]);
      const whole = (await readFile(path, 'utf8')).split('\n').length - 2;
      assert.ok(whole > 50, String(whole));
      assert.equal(Number(stdout), 500 - whole);
      const { stdout: read } = await run(['analyze', path, '--format', 'json']);
      const { notAnalysed } = JSON.parse(read) as { notAnalysed: { unreadableLines: number; tornLines: number } };
      assert.deepEqual([notAnalysed.unreadableLines, notAnalysed.tornLines], [0, 1]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('at all is an error that says so, before anything runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trace-test-'));
    try {
      for (const path of [folder, join(folder, 'none', 'run.jsonl')])
        await assert.rejects(
          TraceWriter.open(path, header, () => undefined),
          { code: 'storage-failed' },
        );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
