import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect as connectSocket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { isAppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SendFailure } from '../../src/base/server.ts';
import { appErrorOf, errorOf } from '../../src/kube/answers.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import type { ClusterEntry, UserEntry } from '../../src/kube/kubeconfig.ts';
import { makeAuthority } from '../../src/base/loopbackCertificate.ts';
import { FakeClock, until } from './fakeClock.ts';
import {
  beginWatch,
  configMap,
  line,
  sendJson,
  sendList,
  sendStatus,
  startFakeServer,
  type FakeHandler,
  type FakeServer,
} from './fakeServer.ts';
import { kubeconfigFor, Watching } from './harness.ts';
import { startTlsServer } from './tlsServer.ts';

const signal = new AbortController().signal;

describe('credentials', () => {
  let folder: string;
  let server: FakeServer | undefined;
  let cluster: Cluster | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-credentials-'));
  });
  afterEach(async () => {
    cluster?.dispose();
    cluster = undefined;
    await server?.stop();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  async function start(
    user: Partial<UserEntry>,
    handler: FakeHandler = (_request, response) => sendJson(response, 200, {}),
    clock = systemClock,
  ): Promise<void> {
    const authority = await makeAuthority(Date.now(), 'test CA');
    server = await startFakeServer(handler, authority);
    const entry = { caData: Buffer.from(authority.caPem).toString('base64') };
    cluster = connectCluster(kubeconfigFor(server.url, entry, user), {
      userAgent: 'test',
      clock,
      env: { PATH: process.env['PATH'], OUTER: 'outer' },
    });
  }

  const send = (): Promise<{ status: number }> => {
    assert.ok(cluster !== undefined);
    return cluster.send({ method: 'GET', path: '/x' }, signal);
  };
  const authorizations = (): (string | undefined)[] =>
    server?.requests.map((request) => request.headers.authorization) ?? [];

  /** A plugin that counts its runs and prints what the script makes of the number. */
  async function plugin(
    script: string,
  ): Promise<{ exec: NonNullable<UserEntry['exec']>; runs: () => Promise<number> }> {
    const counter = join(folder, 'runs');
    const command = join(folder, 'plugin');
    await writeFile(counter, '');
    await writeFile(
      command,
      `#!${process.execPath}\nconst fs = require('node:fs');\nfs.appendFileSync(${JSON.stringify(counter)}, 'x');\nconst n = fs.readFileSync(${JSON.stringify(counter)}, 'utf8').length;\nconst answer = (status) => console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status }));\n${script}\n`,
    );
    await chmod(command, 0o755);
    return {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command,
        args: ['arg'],
        env: { INNER: 'inner' },
        provideClusterInfo: true,
      },
      runs: async () => (await readFile(counter, 'utf8')).length,
    };
  }

  it('a token, a password and a token file authenticate; the file is read again after a minute', async () => {
    await start({ token: 'abc' });
    await send();
    assert.deepEqual(authorizations(), ['Bearer abc']);
    cluster?.dispose();
    await server?.stop();
    await start({ username: 'me', password: 'p:w' });
    await send();
    assert.deepEqual(authorizations(), [`Basic ${Buffer.from('me:p:w').toString('base64')}`]);
    cluster?.dispose();
    await server?.stop();
    const clock = new FakeClock();
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'one\n');
    await start({ tokenFile, token: 'ignored' }, undefined, clock);
    await send();
    await writeFile(tokenFile, 'two\n');
    await send();
    await clock.advance(61_000);
    await send();
    assert.deepEqual(authorizations(), ['Bearer one', 'Bearer one', 'Bearer two']);
  });

  it('impersonation is sent whole, groups each in a header of its own', async () => {
    await start({
      token: 't',
      impersonate: { user: 'bob', uid: '7', groups: ['dev', 'ops'], extra: { 'example.com/Scopes': ['a', 'b'] } },
    });
    await send();
    const headers = server?.requests[0]?.headers;
    assert.equal(headers?.['impersonate-user'], 'bob');
    assert.equal(headers['impersonate-uid'], '7');
    assert.equal(headers['impersonate-group'], 'dev, ops');
    assert.equal(headers['impersonate-extra-example.com%2fscopes'], 'a, b');
  });

  it('impersonation without a user is refused, not dropped', async () => {
    await start({ token: 't', impersonate: { groups: ['system:masters'] } });
    await assert.rejects(
      send(),
      (error) => error instanceof SendFailure && appErrorOf(error).code === 'kubeconfig-malformed',
    );
    assert.equal(server?.requests.length, 0);
  });

  it('a plugin runs once for many requests, is told about the cluster, and gets its environment', async () => {
    const { exec, runs } = await plugin(
      `const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO); answer({ token: [process.argv[2], process.env.INNER, process.env.OUTER, info.kind, info.spec.interactive, info.spec.cluster.server.split(':')[0]].join('-') });`,
    );
    await start({ exec });
    await Promise.all([send(), send(), send()]);
    await send();
    assert.equal(await runs(), 1);
    assert.equal(authorizations()[0], 'Bearer arg-inner-outer-ExecCredential-false-https');
  });

  it('a token is renewed before it expires', async () => {
    const clock = new FakeClock();
    const { exec, runs } = await plugin(
      `answer({ token: 't' + n, expirationTimestamp: ${JSON.stringify(new Date(clock.now() + 60_000).toISOString())} });`,
    );
    await start({ exec }, undefined, clock);
    await send();
    await clock.advance(45_000);
    await send();
    assert.equal(await runs(), 1);
    await clock.advance(10_000);
    await send();
    assert.equal(await runs(), 2);
    assert.deepEqual(authorizations(), ['Bearer t1', 'Bearer t1', 'Bearer t2']);
  });

  it('a 401 renews the credentials once and no more', async () => {
    const { exec, runs } = await plugin(`answer({ token: 't' + n });`);
    await start({ exec }, (request, response) =>
      request.headers.authorization === 'Bearer t2'
        ? sendJson(response, 200, {})
        : sendStatus(response, 401, 'Unauthorized'),
    );
    assert.equal((await send()).status, 200);
    assert.deepEqual(authorizations(), ['Bearer t1', 'Bearer t2']);
    cluster?.dispose();
    await server?.stop();
    await start({ exec }, (_request, response) => sendStatus(response, 401, 'Unauthorized'));
    const reply = await cluster?.send({ method: 'GET', path: '/x' }, signal);
    assert.ok(reply !== undefined);
    assert.equal(errorOf(reply).code, 'unauthenticated');
    assert.equal(server?.requests.length, 2);
    assert.equal(await runs(), 4);
  });

  it('a fixed token that is refused is not sent again', async () => {
    await start({ token: 'old' }, (_request, response) => sendStatus(response, 401, 'Unauthorized'));
    assert.equal((await send()).status, 401);
    assert.equal(server?.requests.length, 1);
  });

  it('a token that expires in the middle of a watch is renewed, and the watch goes on without a hole', async () => {
    const clock = new FakeClock();
    const { exec, runs } = await plugin(`answer({ token: 't' + n });`);
    let accepted = 'Bearer t1';
    let cut: (() => void) | undefined;
    await start(
      { exec },
      (request, response) => {
        if (request.headers.authorization !== accepted) return sendStatus(response, 401, 'Unauthorized');
        if (!request.isWatch) return sendList(response, '10', []);
        beginWatch(response);
        response.write(
          line('MODIFIED', configMap('demo', 'u1', request.query.get('resourceVersion') === '10' ? '11' : '12')),
        );
        cut = () => response.end();
        return undefined;
      },
      clock,
    );
    assert.ok(cluster !== undefined);
    const watching = new Watching(cluster);
    await until(() => watching.observed.length === 1);
    accepted = 'Bearer t2';
    await clock.advance(10_000);
    cut?.();
    await until(() => watching.observed.length === 2);
    assert.deepEqual(watching.story, ['+demo u1 11', '+demo u1 12']);
    assert.equal(await runs(), 2);
    await watching.stop();
  });

  const failing: [string, string, RegExp][] = [
    [
      'ends with an error',
      `console.error('please log in, tried sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaa'); process.exit(3);`,
      /ended with 3: please log in/,
    ],
    ['prints no JSON', `console.log('hello');`, /not an ExecCredential/],
    ['gives nothing', `answer({});`, /neither a token nor a certificate/],
    [
      'speaks another version',
      `console.log(JSON.stringify({kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1beta1', status: {token: 'x'}}));`,
      /another apiVersion/,
    ],
  ];
  for (const [what, script, says] of failing) {
    it(`a plugin that ${what} is a clear error that shows no credential`, async () => {
      const { exec } = await plugin(script);
      await start({ exec: { ...exec, installHint: 'Install it from example.com.' } });
      await assert.rejects(send(), (error) => {
        assert.ok(error instanceof SendFailure);
        assert.equal(error.reached, 'no');
        const shown = appErrorOf(error);
        assert.equal(shown.code, 'credentials-failed');
        assert.match(shown.message, says);
        assert.ok(!shown.message.includes('sk-aaaa'));
        assert.equal(shown.advice, 'Install it from example.com.');
        return true;
      });
      assert.equal(server?.requests.length, 0);
    });
  }

  it('a plugin that is not there, or wants a terminal, is a clear error', async () => {
    for (const entry of [
      { command: '/no/such/plugin' },
      { interactiveMode: 'Always' },
      { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
    ]) {
      const { exec } = await plugin('');
      await start({ exec: { ...exec, ...entry } });
      await assert.rejects(send(), (error) => appErrorOf(error).code === 'credentials-failed');
      cluster?.dispose();
      await server?.stop();
    }
  });

  it('a request that is cancelled while a plugin runs ends at once', async () => {
    const { exec } = await plugin(`setTimeout(() => answer({ token: 't' }), 400);`);
    await start({ exec });
    const controller = new AbortController();
    const sending = cluster?.send({ method: 'GET', path: '/x' }, controller.signal);
    setTimeout(() => controller.abort(), 50);
    const began = Date.now();
    await assert.rejects(sending ?? Promise.resolve(), (error) => isAppError(error, 'cancelled'));
    assert.ok(Date.now() - began < 300);
    await send();
  });

  it('a client certificate is shown to the server, from the kubeconfig and from a plugin', async () => {
    const authority = await makeAuthority(Date.now(), 'test CA');
    const seen: unknown[] = [];
    const tls = await startTlsServer(authority, (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate().subject?.CN);
      sendJson(response, 200, {});
    });
    const [mine, theirs] = [await authority.issue('from-config', []), await authority.issue('from-plugin', [])];
    const entry: Partial<ClusterEntry> = { caData: Buffer.from(authority.caPem).toString('base64') };
    const { exec } = await plugin(
      `answer({ clientCertificateData: ${JSON.stringify(theirs.certificatePem)}, clientKeyData: ${JSON.stringify(theirs.keyPem)} });`,
    );
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    for (const user of [{ certData: base64(mine.certificatePem), keyData: base64(mine.keyPem) }, { exec }]) {
      cluster = connectCluster(kubeconfigFor(tls.url, entry, user), { userAgent: 'test', clock: systemClock, env: {} });
      await send();
      await send();
      cluster.dispose();
    }
    assert.deepEqual(seen, ['from-config', 'from-config', 'from-plugin', 'from-plugin']);
    assert.equal(tls.connections(), 2);
    await tls.stop();
  });

  it('a proxy-url is gone through, and its connection kept', async () => {
    const authority = await makeAuthority(Date.now(), 'test CA');
    const tls = await startTlsServer(authority, (_request, response) => sendJson(response, 200, {}));
    let tunnels = 0;
    const proxy = createServer();
    proxy.on('connect', (request: IncomingMessage, socket) => {
      tunnels += 1;
      const [host = '', port = ''] = (request.url ?? '').split(':');
      const onward = connectSocket(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      onward.on('error', () => socket.destroy());
      socket.on('error', () => onward.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const entry = {
      caData: Buffer.from(authority.caPem).toString('base64'),
      proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    };
    cluster = connectCluster(kubeconfigFor(tls.url, entry, { token: 't' }), {
      userAgent: 'test',
      clock: systemClock,
      env: {},
    });
    await send();
    await send();
    assert.equal(tunnels, 1);
    cluster.dispose();
    await tls.stop();
    proxy.closeAllConnections();
    proxy.close();
    await once(proxy, 'close');
  });

  it('an OIDC token of the kubeconfig is sent', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'none' })}.${part({ exp: Math.floor(Date.now() / 1000) + 3600 })}.x`;
    await start({
      authProvider: {
        name: 'oidc',
        config: { 'id-token': token, 'client-id': 'c', 'idp-issuer-url': 'https://idp.example' },
      },
    });
    await send();
    assert.deepEqual(authorizations(), [`Bearer ${token}`]);
  });

  it('what loading client-node does to the process’s own fetch is undone', async () => {
    const module = fileURLToPath(new URL('../../src/kube/clientNode.ts', import.meta.url));
    const program = `
      const symbols = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
      const { ClientNodeConfig } = await import(${JSON.stringify(module)});
      await new ClientNodeConfig({ name: 'c', at: '', server: 'https://127.0.0.1:1', insecure: false, disableCompression: false, proxyUrl: 'http://127.0.0.1:1' }, undefined).auth();
      console.log(JSON.stringify(symbols.map((symbol) => globalThis[symbol] === undefined)));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    assert.deepEqual(JSON.parse(stdout), [true, true]);
  });
});
