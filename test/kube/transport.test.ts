import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import { isAppError, type AppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SendFailure } from '../../src/base/server.ts';
import { parseJson, stringifyJson } from '../../src/codec/json.ts';
import { appErrorOf, objectOf } from '../../src/kube/answers.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import type { CertificateAuthority } from '../../src/base/certificateAuthority.ts';
import { makeAuthority } from '../../src/base/loopbackCertificate.ts';
import { FakeClock, until } from './fakeClock.ts';
import { sendJson, startFakeServer, type FakeHandler, type FakeServer } from './fakeServer.ts';
import { clusterFor, kubeconfigFor } from './harness.ts';
import { startTlsServer } from './tlsServer.ts';

const signal = new AbortController().signal;

async function failureOf(work: Promise<unknown>): Promise<SendFailure> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof SendFailure, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'it did not fail' });
}

function causeOf(failure: SendFailure): AppError {
  assert.ok(isAppError(failure.cause));
  assert.notEqual(failure.cause.advice, '');
  return failure.cause;
}

/** A server that does what it likes with a socket. */
async function rawServer(
  onSocket: (socket: Socket) => void,
): Promise<{ url: string; port: number; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('the transport', () => {
  let cluster: Cluster | undefined;
  let stops: (() => Promise<void>)[] = [];

  afterEach(async () => {
    cluster?.dispose();
    cluster = undefined;
    for (const stop of stops) await stop();
    stops = [];
  });

  async function fake(handler: FakeHandler): Promise<FakeServer> {
    const server = await startFakeServer(handler);
    stops.push(() => server.stop());
    cluster = clusterFor(server.url, systemClock);
    return server;
  }

  const send = (path = '/x'): Promise<{ status: number; body: string }> => {
    assert.ok(cluster !== undefined);
    return cluster.send({ method: 'GET', path }, signal);
  };

  it('bodies come byte for byte: unknown fields, big integers, 1.0', async () => {
    const text = '{"spec":{"big":9007199254740993,"future":{"a":[1.0,1e3]}},"é":"ü"}';
    await fake((_request, response) => void response.end(text));
    const { body } = await send();
    assert.equal(body, text);
    assert.equal(stringifyJson(parseJson(body)).includes('9007199254740993'), true);
  });

  it('a gzipped body is unpacked, and a broken one is no answer', async () => {
    const packed = gzipSync(JSON.stringify({ kind: 'Thing' }));
    await fake((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(request.path === '/whole' ? packed : packed.subarray(0, packed.length - 12));
    });
    assert.equal((await send('/whole')).body, '{"kind":"Thing"}');
    assert.equal((await failureOf(send('/broken'))).reached, 'maybe');
  });

  it('a body that unpacks without end is no answer, and is not held', async () => {
    const piece = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    await fake((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      for (let count = 0; count < 20; count += 1) response.write(piece);
      response.end();
    });
    const { cause } = await failureOf(send('/bomb'));
    assert.ok(isAppError(cause, 'bad-answer'));
    assert.match(cause.message, /more than 256 MiB/);
  });

  it('a body that drips ends at its time limit', async () => {
    const clock = new FakeClock();
    const server = await fake((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 5);
      response.once('close', () => clearInterval(timer));
    });
    cluster?.dispose();
    cluster = clusterFor(server.url, clock);
    let begun = false;
    const failure = failureOf(
      cluster.sendEarly({ method: 'GET', path: '/drip' }, signal, () => {
        begun = true;
      }),
    );
    await until(() => begun);
    for (let second = 0; second < 70; second += 10) await clock.advance(10_000);
    assert.match((await failure).message, /did not finish its answer within 60 s/);
  });

  it('asks for gzip but not on loopback, where it only costs time', async () => {
    const server = await fake((_request, response) => sendJson(response, 200, {}));
    await send();
    assert.equal(server.requests[0]?.headers['accept-encoding'], undefined);
  });

  it('paths, queries and a server below a path are put together', async () => {
    const server = await fake((_request, response) => sendJson(response, 200, {}));
    cluster?.dispose();
    cluster = clusterFor(`${server.url}/k8s/clusters/c-1`, systemClock);
    await cluster.send(
      { method: 'GET', path: '/api/v1/pods', query: { limit: '5', labelSelector: 'a=b,c!=d', continue: undefined } },
      signal,
    );
    const [request] = server.requests;
    assert.equal(request?.path, '/k8s/clusters/c-1/api/v1/pods');
    assert.equal(request.query.get('labelSelector'), 'a=b,c!=d');
    assert.equal(request.query.has('continue'), false);
    assert.equal(request.headers['user-agent'], 'test');
  });

  it('one connection serves request after request', async () => {
    const server = await fake((_request, response) => sendJson(response, 200, {}));
    for (let round = 0; round < 10; round += 1) await send();
    assert.equal(server.connections(), 1);
  });

  it('a refused connection never reached the server', async () => {
    const raw = await rawServer(() => undefined);
    await raw.stop();
    cluster = clusterFor(raw.url, systemClock);
    const failure = await failureOf(send());
    assert.equal(failure.reached, 'no');
    assert.equal(causeOf(failure).code, 'unreachable');
  });

  it('an unknown host never reached the server', async () => {
    cluster = clusterFor('http://does-not-exist.invalid', systemClock);
    const failure = await failureOf(send());
    assert.equal(failure.reached, 'no');
    assert.equal(causeOf(failure).code, 'unreachable');
  });

  it('a server that takes the request and closes may have acted on it', async () => {
    const raw = await rawServer((socket) => socket.once('data', () => socket.end()));
    stops.push(() => raw.stop());
    cluster = clusterFor(raw.url, systemClock);
    const failure = await failureOf(cluster.send({ method: 'PUT', path: '/x', body: '{}' }, signal));
    assert.equal(failure.reached, 'maybe');
    assert.equal(causeOf(failure).code, 'connection-lost');
  });

  it('an answer that is cut off in the middle is no answer', async () => {
    const raw = await rawServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"kind"')),
    );
    stops.push(() => raw.stop());
    cluster = clusterFor(raw.url, systemClock);
    const failure = await failureOf(send());
    assert.equal(failure.reached, 'maybe');
    assert.equal(causeOf(failure).code, 'connection-lost');
  });

  it('what does not speak HTTP is a bad answer', async () => {
    const raw = await rawServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9\r\n')));
    stops.push(() => raw.stop());
    cluster = clusterFor(raw.url, systemClock);
    assert.equal(causeOf(await failureOf(send())).code, 'bad-answer');
  });

  it('a server that never answers is given up after its time', async () => {
    const clock = new FakeClock();
    let asked = false;
    const raw = await rawServer((socket) => socket.once('data', () => (asked = true)));
    stops.push(() => raw.stop());
    cluster = clusterFor(raw.url, clock);
    const failing = failureOf(send());
    await until(() => asked);
    await clock.advance(30_000);
    const failure = await failing;
    assert.equal(failure.reached, 'maybe');
    assert.equal(causeOf(failure).code, 'timed-out');
    assert.equal(clock.pending, 0);
  });

  it('a server that does not finish its answer is given up after its time', async () => {
    const clock = new FakeClock();
    const server = await startFakeServer((_request, response) => {
      response.writeHead(200);
      response.write('{');
    });
    stops.push(() => server.stop());
    cluster = clusterFor(server.url, clock);
    const failing = failureOf(send());
    await until(() => server.requests.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(60_000);
    assert.equal(causeOf(await failing).code, 'timed-out');
    assert.equal(clock.pending, 0);
  });

  it('an abort ends a request at every stage', async () => {
    const server = await fake((request, response) => {
      if (request.path === '/head') return;
      response.writeHead(200);
      response.write('{');
    });
    for (const path of ['/head', '/body']) {
      const controller = new AbortController();
      const before = server.requests.length;
      const sending = cluster?.send({ method: 'GET', path }, controller.signal);
      await until(() => server.requests.length > before);
      controller.abort();
      await assert.rejects(sending ?? Promise.resolve(), (error) => isAppError(error, 'cancelled'));
    }
    await assert.rejects(
      cluster?.send({ method: 'GET', path: '/x' }, AbortSignal.abort()) ?? Promise.resolve(),
      (error) => isAppError(error, 'cancelled'),
    );
    assert.equal(server.requests.length, 2);
  });

  it('a read that dies on a kept connection is sent once more, a write never', async () => {
    let requests = 0;
    const raw = await rawServer((socket) => {
      let onThis = 0;
      socket.on('data', () => {
        requests += 1;
        onThis += 1;
        if (onThis === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
        else socket.destroy();
      });
    });
    stops.push(() => raw.stop());
    cluster = clusterFor(raw.url, systemClock);
    await send();
    assert.equal((await send()).status, 200);
    assert.equal(requests, 3);
    const failure = await failureOf(cluster.send({ method: 'PUT', path: '/x', body: '{}' }, signal));
    assert.equal(failure.reached, 'maybe');
    assert.equal(requests, 4);
  });

  it('a web page, a redirection and text instead of JSON are bad answers', async () => {
    await fake((request, response) => {
      if (request.path === '/moved') return void response.writeHead(302, { location: 'https://login' }).end();
      response.writeHead(request.path === '/page401' ? 502 : 200, { 'content-type': 'text/html' });
      return void response.end('<html><body>Sign in</body></html>');
    });
    for (const path of ['/moved', '/page', '/page401']) {
      const reply = await cluster?.send({ method: 'GET', path }, signal);
      assert.ok(reply !== undefined);
      assert.throws(
        () => objectOf(reply),
        (error) => isAppError(error, 'bad-answer') && !error.message.includes('Sign in'),
      );
    }
  });

  describe('over TLS', () => {
    let authority: CertificateAuthority;
    before(async () => {
      authority = await makeAuthority(Date.now(), 'test CA');
    });

    const connect = (url: string, entry: object): Cluster => {
      cluster = connectCluster(kubeconfigFor(url, entry), { userAgent: 'test', clock: systemClock, env: {} });
      return cluster;
    };
    const pem = (text: string): string => Buffer.from(text).toString('base64');

    it('trusts the CA of the kubeconfig and no other', async () => {
      const server = await startTlsServer(authority, (_request, response) => sendJson(response, 200, {}));
      stops.push(() => server.stop());
      connect(server.url, { caData: pem(authority.caPem) });
      assert.equal((await send()).status, 200);
      const other = await makeAuthority(Date.now(), 'another CA');
      for (const entry of [{}, { caData: pem(other.caPem) }]) {
        cluster?.dispose();
        connect(server.url, entry);
        const failure = await failureOf(send());
        assert.equal(failure.reached, 'no');
        assert.equal(causeOf(failure).code, 'tls-untrusted');
      }
    });

    it('insecure-skip-tls-verify and tls-server-name are heeded', async () => {
      const server = await startTlsServer(authority, (_request, response) => sendJson(response, 200, {}), [
        'api.example',
      ]);
      stops.push(() => server.stop());
      connect(server.url, { caData: pem(authority.caPem) });
      assert.equal(causeOf(await failureOf(send())).code, 'tls-untrusted');
      cluster?.dispose();
      connect(server.url, { caData: pem(authority.caPem), tlsServerName: 'api.example' });
      assert.equal((await send()).status, 200);
      cluster?.dispose();
      connect(server.url, { insecure: true });
      assert.equal((await send()).status, 200);
    });

    it('TLS spoken to a server without it is unreachable, not reached', async () => {
      const server = await startFakeServer((_request, response) => sendJson(response, 200, {}));
      stops.push(() => server.stop());
      connect(server.url.replace('http:', 'https:'), {});
      const failure = await failureOf(send());
      assert.equal(failure.reached, 'no');
      assert.equal(causeOf(failure).code, 'unreachable');
    });

    it('a CA that is no PEM is a malformed kubeconfig', async () => {
      connect('https://127.0.0.1:1', { caData: pem('-----BEGIN CERTIFICATE-----\nnope\n-----END CERTIFICATE-----\n') });
      assert.equal(appErrorOf(await failureOf(send())).code, 'kubeconfig-malformed');
      cluster?.dispose();
      connect('https://127.0.0.1:1', { caFile: '/does/not/exist' });
      assert.equal(appErrorOf(await failureOf(send())).code, 'credentials-failed');
    });
  });
});
