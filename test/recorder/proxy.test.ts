import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { protobufField, protobufList, protobufMeta } from '../codec/protobufBytes.ts';
import { behindRecorder, open, send, type Behind } from './standIn.ts';

const CONFIG_MAP = '/api/v1/namespaces/lab/configmaps/demo';
const configMap = (token: string, data: Record<string, string> = {}): string =>
  JSON.stringify({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'demo', namespace: 'lab', uid: 'U1', resourceVersion: token },
    data,
  });

describe('the recorder in front of a server', () => {
  let behind: Behind | undefined;

  afterEach(async () => {
    await behind?.stop();
    behind = undefined;
  });

  it('swaps the credentials, and passes status, several headers of one name and the user agent as they came', async () => {
    const seen: IncomingMessage['headers'][] = [];
    behind = await behindRecorder(
      (request, response) => {
        seen.push(request.headers);
        response.writeHead(200, [
          'Content-Type',
          'application/json',
          'Warning',
          '299 - "one"',
          'Warning',
          '299 - "two"',
          'X-Own',
          'kept',
        ]);
        response.end(configMap('1'));
      },
      { secure: true },
    );
    const got = await send(behind, 'GET', CONFIG_MAP, { 'user-agent': 'me/1', 'impersonate-user': 'jane' });
    assert.equal(got.status, 200);
    assert.deepEqual(
      got.raw.filter((_value, index) => got.raw[index - 1] === 'Warning'),
      ['299 - "one"', '299 - "two"'],
    );
    assert.equal(got.headers['x-own'], 'kept');
    assert.equal(seen[0]?.authorization, 'Bearer the-users-own');
    assert.equal(seen[0]['user-agent'], 'me/1');
    assert.equal(seen[0]['impersonate-user'], 'jane');
    assert.ok(!got.raw.join().includes('the-users-own'));
  });

  it('refuses a guessed token and none at all with a Status object, and sends nothing on', async () => {
    let reached = 0;
    behind = await behindRecorder((_request, response) => {
      reached += 1;
      response.end();
    });
    for (const authorization of ['Bearer guessed', 'Basic eDp5', '']) {
      const got = await send(behind, 'GET', CONFIG_MAP, { authorization });
      assert.equal(got.status, 401);
      assert.equal(JSON.parse(got.body.toString()).reason, 'Unauthorized');
    }
    assert.equal(reached, 0);
  });

  it('asks for JSON where the client accepts it, unless it is transparent', async () => {
    for (const transparent of [false, true]) {
      const accepts: (string | undefined)[] = [];
      behind = await behindRecorder(
        (request, response) => {
          accepts.push(request.headers.accept);
          response.end('{}');
        },
        { transparent },
      );
      const accept = 'application/vnd.kubernetes.protobuf,application/json';
      await send(behind, 'GET', CONFIG_MAP, { accept });
      await send(behind, 'GET', CONFIG_MAP, { accept: 'application/vnd.kubernetes.protobuf' });
      assert.deepEqual(accepts, [transparent ? accept : 'application/json', 'application/vnd.kubernetes.protobuf']);
      await behind.stop();
      behind = undefined;
    }
  });

  it('I1: passes headers at once, and each half of a line as it comes, and yields one event', async () => {
    behind = await behindRecorder((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      const line = `${JSON.stringify({ type: 'ADDED', object: JSON.parse(configMap('7')) })}\n`;
      setTimeout(() => response.write(line.slice(0, 20)), 300);
      setTimeout(() => response.end(line.slice(20)), 600);
    });
    const from = performance.now();
    const times: number[] = [];
    await new Promise<void>((resolve, reject) => {
      const request = open(behind as Behind, 'GET', '/api/v1/namespaces/lab/configmaps?watch=true', {}, (answer) => {
        times.push(performance.now() - from);
        answer.on('data', () => times.push(performance.now() - from));
        answer.on('end', resolve);
      });
      request.on('error', reject);
      request.end();
    });
    assert.ok((times[0] ?? 999) < 250, `headers after ${times[0]} ms`);
    assert.ok((times[1] ?? 999) < 550, `first half after ${times[1]} ms`);
    await behind.recorder.settled();
    assert.deepEqual(
      behind.events.map((event) => event.type),
      ['observed', 'read'],
    );
  });

  it('I2: unknown and torn binary bodies pass unchanged, are counted, and no finding is guessed', async () => {
    const received: Buffer[] = [];
    behind = await behindRecorder((request, response) => {
      request.on('data', (chunk: Buffer) => received.push(chunk));
      request.on('end', () => response.end(configMap('2')));
    });
    const torn = Buffer.from([0x6b, 0x38, 0x73, 0x00, 0xff, 0xff, 0x01]);
    const got = await send(behind, 'PUT', CONFIG_MAP, { 'content-type': 'application/vnd.kubernetes.protobuf' }, torn);
    assert.equal(got.status, 200);
    assert.deepEqual(Buffer.concat(received), torn);
    await behind.recorder.settled();
    const write = behind.events.find((event) => event.type === 'write');
    assert.ok(write?.type === 'write' && write.notAnalysed !== undefined && write.body === undefined);
    assert.equal(behind.recorder.notAnalysed().writes, 1);
  });

  it('reads compressed answers and passes their bytes as they are', async () => {
    const packed = gzipSync(configMap('3'));
    behind = await behindRecorder((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': packed.length,
      });
      response.end(packed);
    });
    const got = await send(behind, 'GET', CONFIG_MAP, { 'accept-encoding': 'gzip' });
    assert.deepEqual(got.body, packed);
    await delay(20);
    await behind.recorder.settled();
    assert.ok(behind.events.some((event) => event.type === 'read' && event.given[0]?.token === '3'));
  });

  it('honours Expect: 100-continue as the server does', async () => {
    behind = await behindRecorder((request, response) => {
      if (request.headers['expect'] === '100-continue') response.writeContinue();
      request.resume();
      request.on('end', () => response.end(configMap('4')));
    });
    const continued = await new Promise<boolean>((resolve, reject) => {
      let asked = false;
      const request = open(
        behind as Behind,
        'PUT',
        CONFIG_MAP,
        { expect: '100-continue', 'content-type': 'application/json' },
        (answer) => {
          answer.resume();
          answer.on('end', () => resolve(asked));
        },
      );
      request.on('continue', () => {
        asked = true;
        request.end(configMap('3'));
      });
      request.on('error', reject);
      request.flushHeaders();
    });
    assert.equal(continued, true);
  });

  it('closes the upstream at once when the client goes, and breaks off when the upstream dies mid-answer', async () => {
    const closed = Promise.withResolvers<void>();
    behind = await behindRecorder((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"half":');
      if (request.url?.includes('die') === true) setTimeout(() => response.destroy(), 50);
      response.on('close', () => closed.resolve());
    });
    await assert.rejects(send(behind, 'GET', '/api/v1/namespaces/lab/configmaps/die'));
    const request = open(behind, 'GET', CONFIG_MAP, {}, (answer) => {
      answer.on('error', () => undefined);
      answer.once('data', () => request.destroy());
    });
    request.on('error', () => undefined);
    request.end();
    await closed.promise;
  });

  it('answers 503 with a Status object where the server is gone', async () => {
    behind = await behindRecorder((_request, response) => response.end('{}'));
    await new Promise((resolve) => {
      behind?.upstream.close(resolve);
      behind?.upstream.closeAllConnections();
    });
    const got = await send(behind, 'GET', CONFIG_MAP);
    assert.ok(got.status === 503 || got.status === 502);
    assert.equal(JSON.parse(got.body.toString()).kind, 'Status');
  });

  it('passes an upgrade both ways, bytes and all', async () => {
    behind = await behindRecorder((_request, response) => response.end(), {
      onUpgrade: (request, socket) => {
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade ?? ''}\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\nhello `,
        );
        socket.on('data', (chunk) => socket.write(chunk));
        socket.on('end', () => socket.end());
        socket.on('error', () => socket.destroy());
      },
    });
    const url = new URL(behind.recorder.url);
    const echoed = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket: Socket = tlsConnect(
        { host: url.hostname, port: Number(url.port), ca: behind?.recorder.caPem ?? '' },
        () => {
          socket.write(
            `POST /api/v1/namespaces/lab/pods/p/exec?command=cat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${behind?.token ?? ''}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`,
          );
          setTimeout(() => socket.write('and back'), 100);
        },
      );
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.includes('and back')) {
          socket.destroy();
          resolve(text);
        }
      });
      socket.on('error', reject);
    });
    assert.match(echoed, /^HTTP\/1\.1 101 /);
    assert.match(echoed, /Upgrade: SPDY\/3\.1/);
    assert.ok(echoed.endsWith('hello and back'));
  });

  it('goes on when the recording itself fails', async () => {
    behind = await behindRecorder((_request, response) => response.end(configMap('5')), {
      sink: () => {
        throw new Error('disk full');
      },
    });
    for (let index = 0; index < 3; index += 1) assert.equal((await send(behind, 'GET', CONFIG_MAP)).status, 200);
    await behind.recorder.settled();
    assert.deepEqual(behind.problems, ['The recording cannot be kept: disk full']);
    assert.ok(behind.recorder.notAnalysed().eventsUnkept >= 3);
  });

  it("never keeps a Secret's values", async () => {
    const secret = JSON.stringify({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 's', namespace: 'lab', uid: 'S1', resourceVersion: '9' },
      data: { password: 'aHVudGVyMg==' },
    });
    behind = await behindRecorder((request, response) => {
      request.resume();
      request.on('end', () => response.end(secret));
    });
    await send(behind, 'GET', '/api/v1/namespaces/lab/secrets/s');
    await send(behind, 'PUT', '/api/v1/namespaces/lab/secrets/s', { 'content-type': 'application/json' }, secret);
    await behind.recorder.settled();
    assert.ok(behind.events.length >= 3);
    assert.ok(!JSON.stringify(behind.events).includes('aHVudGVyMg=='));
  });

  it('nor in what a refusal repeats of it', async () => {
    const message = 'Secret in version "v1" cannot be handled: {"data":{"password":"ZEBRA"}}';
    behind = await behindRecorder((request, response) => {
      request.resume();
      const refused = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Invalid' };
      const causes = [{ reason: 'FieldValueInvalid', message: 'Invalid value: "ZEBRA"', field: 'data' }];
      response.writeHead(request.method === 'PUT' ? 422 : 400, { 'content-type': 'application/json' });
      request.on('end', () =>
        response.end(JSON.stringify(request.method === 'PUT' ? { ...refused, details: { causes } } : refused)),
      );
    });
    const type = { 'content-type': 'application/merge-patch+json' };
    await send(behind, 'PATCH', '/api/v1/namespaces/lab/secrets/s', type, '{"data":{"password":["ZEBRA"]}}');
    await send(
      behind,
      'PUT',
      '/api/v1/namespaces/lab/secrets/s',
      { 'content-type': 'application/json' },
      '{"data":{}}',
    );
    await behind.recorder.settled();
    const writes = behind.events.filter((event) => event.type === 'write');
    assert.deepEqual(
      writes.map((write) => [write.outcome, write.code]),
      [
        ['invalid', 400],
        ['invalid', 422],
      ],
    );
    assert.ok(!JSON.stringify(writes).includes('ZEBRA'));
  });

  it('counts what is nested too deeply to be read, and reads the rest', async () => {
    const deep = '{"a":'.repeat(4000) + '1' + '}'.repeat(4000);
    const meta = (name: string): string =>
      `"metadata":{"name":"${name}","namespace":"lab","uid":"U-${name}","resourceVersion":"7"}`;
    const object = `{"kind":"ConfigMap","apiVersion":"v1",${meta('deep')},"spec":${deep}}`;
    behind = await behindRecorder((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      const items = `[{${meta('deep')},"spec":${deep}},{${meta('flat')}}]`;
      const list = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":${items}}`;
      request.on('end', () => response.end(request.url?.endsWith('/deep') === true ? object : list));
    });
    await send(behind, 'GET', '/api/v1/namespaces/lab/configmaps');
    const json = { 'content-type': 'application/json' };
    await send(behind, 'PUT', '/api/v1/namespaces/lab/configmaps/deep', json, object);
    await behind.recorder.settled();
    const { reads, writes, reasons } = behind.recorder.notAnalysed();
    assert.deepEqual([reads, writes, Object.keys(reasons)], [1, 1, ['it is nested more than 500 levels deep']]);
    const write = behind.events.find((event) => event.type === 'write');
    assert.deepEqual([write?.outcome, write?.preconditions?.token, write?.body], ['unchanged', '7', undefined]);
    const given = behind.events.flatMap((event) => (event.type === 'read' ? event.given : []));
    assert.deepEqual(
      given.map((item) => item.name),
      ['deep', 'flat'],
    );
    assert.ok(behind.events.some((event) => event.type === 'observed' && event.name.name === 'flat'));
    assert.deepEqual(behind.problems, []);
  });

  it('reads a list item by item, whatever the chunks, and gives each token', async () => {
    const items = Array.from({ length: 700 }, (_, index) => ({
      metadata: { name: `c${index}`, namespace: 'lab', uid: `U${index}`, resourceVersion: `v"${index}` },
      data: { t: '}],"items":[{' },
    }));
    const text = JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items });
    behind = await behindRecorder((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      for (let at = 0; at < text.length; at += 777) response.write(text.slice(at, at + 777));
      response.end();
    });
    const got = await send(behind, 'GET', '/api/v1/namespaces/lab/configmaps');
    assert.equal(got.body.toString(), text);
    await behind.recorder.settled();
    const given = behind.events.flatMap((event) => (event.type === 'read' ? event.given : []));
    assert.deepEqual(
      given.map((item) => item.token),
      items.map((item) => item.metadata.resourceVersion),
    );
    assert.ok(behind.events.some((event) => event.type === 'observed' && event.kind === 'ConfigMap'));
  });

  it('reads a list in protobuf item by item while it streams, a kind that nobody declared by its metadata', async () => {
    const meta = (index: number): Buffer =>
      protobufMeta({ name: `c${index}`, namespace: 'lab', uid: `U${index}`, resourceVersion: `v${index}` });
    const items = Array.from({ length: 700 }, (_, index) =>
      Buffer.concat([
        protobufField(1, meta(index)),
        protobufField(2, Buffer.concat([protobufField(1, 'a'), protobufField(2, 'b')])),
      ]),
    );
    let goOn: (() => void) | undefined;
    const own = await behindRecorder((request, response) => {
      const kind = request.url?.endsWith('/things') === true ? 'ThingList' : 'ConfigMapList';
      const bytes = protobufList(kind === 'ThingList' ? 'example.test/v1' : 'v1', kind, items);
      response.writeHead(200, { 'content-type': 'application/vnd.kubernetes.protobuf' });
      response.write(bytes.subarray(0, bytes.length / 2));
      goOn = () => response.end(bytes.subarray(bytes.length / 2));
    });
    behind = own;
    const given = (): string[] =>
      own.events.flatMap((event) => (event.type === 'read' ? event.given.map((item) => item.token) : []));
    for (const path of ['/api/v1/namespaces/lab/configmaps', '/apis/example.test/v1/namespaces/lab/things']) {
      own.events.length = 0;
      const got = send(own, 'GET', path, { accept: 'application/vnd.kubernetes.protobuf' });
      while (given().length < 300) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok(given().length < 700, 'read before the end of the list has come');
      goOn?.();
      assert.equal((await got).status, 200);
      await own.recorder.settled();
      assert.deepEqual(
        given(),
        items.map((_, index) => `v${index}`),
      );
    }
    const whole = own.events.filter((event) => event.type === 'observed');
    assert.equal(whole.length, 0, 'of a kind that nobody declared only metadata is known');
  });
});
