import assert from 'node:assert/strict';
import { connect } from 'node:tls';

import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { at, Caller, CONFIG_MAPS, configMap, eventually, type Stream } from './apiCalls.ts';

describe('sandbox: access', () => {
  let sandbox: Sandbox;
  let caller: Caller;

  before(async () => {
    sandbox = await startSandbox();
    caller = new Caller(sandbox);
  });
  after(async () => {
    caller.close();
    await sandbox.stop();
  });

  it('listens on loopback, and its certificate is valid for that address', async () => {
    assert.match(sandbox.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    const port = Number(new URL(sandbox.url).port);
    const authorized = await new Promise<boolean>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', ca: sandbox.caPem }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.on('error', reject);
    });
    assert.ok(authorized);
  });

  it('refuses a request that came under another name', async () => {
    const reply = await caller.send('GET', '/version', undefined, { host: 'attacker.example' });
    assert.equal(reply.status, 403);
    assert.equal((await caller.send('GET', '/version', undefined, { host: 'localhost:1234' })).status, 200);
  });

  it('each request of a connection is let in by its own token', async () => {
    const tokens = [sandbox.token, 'wrong', sandbox.userToken, sandbox.token, sandbox.userToken];
    const one = new Caller(sandbox, { sockets: 1 });
    const statuses: number[] = [];
    for (const token of tokens)
      statuses.push((await one.send('GET', CONFIG_MAPS, undefined, { authorization: `Bearer ${token}` })).status);
    one.close();
    assert.deepEqual(statuses, [200, 401, 403, 200, 403]);
  });

  it('an answer is as long as it says in bytes, and one line of JSON ends itself', async () => {
    const name = 'long-answer';
    const sent = await caller.send('POST', CONFIG_MAPS, configMap(name, 'größer: 日本'));
    for (const { headers, text } of [sent, await caller.send('GET', `${CONFIG_MAPS}/${name}`)]) {
      assert.equal(headers['content-length'], String(Buffer.byteLength(text)));
      assert.ok(text.endsWith('}\n') && text.includes('日本'));
    }
    const pretty = await caller.send('GET', `${CONFIG_MAPS}/${name}?pretty=true`);
    assert.equal(pretty.headers['content-length'], String(Buffer.byteLength(pretty.text)));
    assert.ok(pretty.text.startsWith('{\n') && pretty.text.endsWith('\n}'));
  });

  it('sends no CORS header', async () => {
    const reply = await caller.send('GET', CONFIG_MAPS, undefined, { origin: 'https://attacker.example' });
    assert.ok(Object.keys(reply.headers).every((name) => !name.startsWith('access-control')));
  });

  it('says in its version that it is a sandbox', async () => {
    const { body } = await caller.send('GET', '/version');
    assert.match(String(body['gitVersion']), /^v1\.\d+\.\d+\+sandbox$/);
  });

  it('takes a body of 3 MiB and refuses more with 413', async () => {
    const big = (size: number): string => JSON.stringify({ metadata: { name: 'big' }, data: { k: 'x'.repeat(size) } });
    assert.equal((await caller.send('POST', CONFIG_MAPS, big(3_145_800))).status, 413);
    assert.equal((await caller.send('POST', CONFIG_MAPS, big(3_000_000))).status, 422);
    assert.equal((await caller.send('POST', CONFIG_MAPS, big(100_000))).status, 201);
  });

  it('survives a client that breaks off, and rubbish', async () => {
    const port = Number(new URL(sandbox.url).port);
    await new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', ca: sandbox.caPem, servername: 'localhost' }, () => {
        socket.write(
          'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"met',
        );
        setTimeout(() => {
          socket.destroy();
          resolve();
        }, 50);
      });
    });
    assert.equal((await caller.send('GET', '/healthz')).status, 200);
  });

  it('hundreds of watches each get the change, and go when their clients go', async () => {
    const streams: Stream[] = await Promise.all(
      Array.from({ length: 200 }, () => caller.stream('/api/v1/namespaces/default/services?watch=true')),
    );
    await caller.send('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    });
    await eventually('all have the event', () => streams.every((stream) => stream.lines.length === 1));
    for (const stream of streams) stream.close();
    await eventually('none is left', () => sandbox.cutWatches() === 0);
  }).timeout(20_000);

  it('with random tokens nothing can be read from them but equality, and everything works', async () => {
    const random = await startSandbox({ tokens: 'random' });
    const client = new Caller(random);
    const { body } = await client.send('POST', CONFIG_MAPS, configMap('a'));
    const token = String(at(body, 'metadata.resourceVersion'));
    assert.match(token, /^[\w-]{22}$/);
    const watch = await client.stream(`${CONFIG_MAPS}?watch=true&resourceVersion=${token}`);
    const changed = await client.send('PUT', `${CONFIG_MAPS}/a`, {
      ...configMap('a', 'w'),
      metadata: { name: 'a', resourceVersion: token },
    });
    assert.equal(changed.status, 200);
    assert.equal(
      (
        await client.send('PUT', `${CONFIG_MAPS}/a`, {
          ...configMap('a', 'x'),
          metadata: { name: 'a', resourceVersion: token },
        })
      ).status,
      409,
    );
    assert.equal(
      (
        await client.send('PUT', `${CONFIG_MAPS}/a`, {
          ...configMap('a', 'x'),
          metadata: { name: 'a', resourceVersion: '5' },
        })
      ).status,
      500,
    );
    await eventually('the change is watched', () => watch.lines.length === 1);
    assert.equal(at(watch.lines[0], 'object.metadata.resourceVersion'), at(changed.body, 'metadata.resourceVersion'));
    const page = await client.send('GET', `${CONFIG_MAPS}?resourceVersion=${token}&resourceVersionMatch=Exact`);
    assert.equal(at(page.body, 'items.0.data.k'), 'v');
    client.close();
    await random.stop();
  });
});
