import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../src/base/loopbackCertificate.ts';
import { appErrorOf } from '../../src/kube/answers.ts';
import { withoutUserInfo } from '../../src/kube/authorization.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import type { UserEntry } from '../../src/kube/kubeconfig.ts';
import { FakeClock } from './fakeClock.ts';
import { sendJson, startFakeServer, type FakeServer } from './fakeServer.ts';
import { kubeconfigFor } from './harness.ts';

const signal = new AbortController().signal;

describe('what authenticates a request', () => {
  let folder: string;
  let server: FakeServer;
  let cluster: Cluster;
  const clock = new FakeClock();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-authorization-'));
  });
  afterEach(async () => {
    cluster.dispose();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(user: Partial<UserEntry>, options: { plain?: boolean; userInfo?: string } = {}): Promise<void> {
    const authority = options.plain === true ? undefined : await makeAuthority(Date.now(), 'test CA');
    server = await startFakeServer((_request, response) => sendJson(response, 200, {}), authority);
    const url = server.url.replace('//', `//${options.userInfo ?? ''}`);
    const entry = authority === undefined ? {} : { caData: Buffer.from(authority.caPem).toString('base64') };
    cluster = connectCluster(kubeconfigFor(url, entry, user), { userAgent: 'test', clock, env: process.env });
  }
  const send = (): Promise<unknown> => cluster.send({ method: 'GET', path: '/x' }, signal);
  const sent = (header: string): unknown[] => server.requests.map(({ headers }) => headers[header]);
  const refusal = async (): Promise<{ code: string; message: string }> => {
    const error = appErrorOf(await send().catch((thrown: unknown) => thrown));
    return { code: error.code, message: error.message };
  };

  /** A credential plugin that starts a program of its own and says its process id in a file. */
  async function sleeper(): Promise<{ exec: NonNullable<UserEntry['exec']>; started: () => Promise<number> }> {
    const [command, said] = [join(folder, 'plugin'), join(folder, 'pid')];
    await writeFile(command, `#!/bin/sh\nsleep 100 &\necho $! > ${said}.new\nmv ${said}.new ${said}\nwait\n`);
    await chmod(command, 0o755);
    const exec = { apiVersion: '', command, args: [], env: {}, provideClusterInfo: false };
    const started = async (): Promise<number> => {
      for (;;) {
        const pid = Number(await readFile(said, 'utf8').catch(() => ''));
        if (pid > 0) return pid;
        await delay(20);
      }
    };
    return { exec, started };
  }
  const ended = async (pid: number): Promise<void> => {
    for (;;) {
      const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
      if (/\) Z/.test(state)) return;
      await delay(20);
    }
  };

  it('nothing secret over plain http, as client-go; whom to act as is no secret', async () => {
    const command = join(folder, 'plugin');
    await writeFile(command, `#!/bin/sh\ntouch ${join(folder, 'ran')}\n`, { mode: 0o755 });
    const exec = { apiVersion: '', command, args: [], env: {}, provideClusterInfo: false };
    const token = join(folder, 'token');
    await writeFile(token, 'secret');
    for (const user of [{ token: 'secret' }, { tokenFile: token }, { username: 'u', password: 'secret' }, { exec }]) {
      await start({ ...user, impersonate: { user: 'bob' } }, { plain: true });
      await send();
      assert.deepEqual([sent('authorization'), sent('impersonate-user')], [[undefined], ['bob']]);
      await server.stop();
    }
    await assert.rejects(readFile(join(folder, 'ran')));
    await start({}, { plain: true });
  });

  it('a name and password in the address authenticate as for every client, and are shown nowhere', async () => {
    await start({}, { userInfo: 'ada:s%40cret@' });
    await send();
    assert.deepEqual(sent('authorization'), [`Basic ${Buffer.from('ada:s@cret').toString('base64')}`]);
    assert.equal(cluster.url, server.url);
    assert.equal(withoutUserInfo('https://a:b@c.example:6443/d@e'), 'https://c.example:6443/d@e');
    assert.equal(withoutUserInfo('//a:b@c'), '//c');
    assert.equal(withoutUserInfo('https://c.example/@'), 'https://c.example/@');
    assert.throws(
      () => connectCluster(kubeconfigFor('ftp://ada:s%40cret@x'), { userAgent: 'test', clock }),
      (error: Error) => !error.message.includes('cret'),
    );
  });

  it('a token that no header can carry is a clear error of the credentials, and is not shown', async () => {
    for (const token of ['secret\nsecond', 'sécret', 'secr—et', 'secret\0']) {
      await start({ token });
      const { code, message } = await refusal();
      assert.deepEqual([code, /secr|sécr/.test(message)], ['credentials-failed', false]);
      assert.equal(server.requests.length, 0);
      await server.stop();
    }
    await start({ token: 't', impersonate: { user: 'Jürgen Ž' } });
    await send();
    assert.deepEqual(sent('impersonate-user'), [Buffer.from('Jürgen Ž', 'utf8').toString('latin1')]);
  });

  it('a token file that is empty for a moment leaves the token that was read before; at first it is an error', async () => {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, ' \n');
    await start({ tokenFile });
    assert.equal((await refusal()).code, 'credentials-failed');
    assert.equal(server.requests.length, 0);
    await writeFile(tokenFile, 'one\n');
    await send();
    await writeFile(tokenFile, '');
    await clock.advance(61_000);
    await send();
    await writeFile(tokenFile, 'two');
    await send();
    assert.deepEqual(sent('authorization'), ['Bearer one', 'Bearer one', 'Bearer two']);
  });

  it('a credential plugin ends, with what it started, when nobody waits for it any more', async function () {
    if (process.platform !== 'linux') this.skip();
    const { exec, started } = await sleeper();
    await start({ exec });
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [first, second].map(({ signal: own }) =>
      assert.rejects(cluster.send({ method: 'GET', path: '/x' }, own), { code: 'cancelled' }),
    );
    const pid = await started();
    first.abort();
    await waiting[0];
    await delay(100);
    assert.ok(!/\) Z/.test(await readFile(`/proc/${pid}/stat`, 'utf8')), 'the second still waits for it');
    second.abort();
    await waiting[1];
    await ended(pid);
  });

  it('a credential plugin ends with its client, and at its time limit', async function () {
    if (process.platform !== 'linux') this.skip();
    const { exec, started } = await sleeper();
    await start({ exec });
    const waiting = assert.rejects(send());
    const pid = await started();
    cluster.dispose();
    await waiting;
    await ended(pid);
    await rm(join(folder, 'pid'));
    await server.stop();
    await start({ exec });
    const late = refusal();
    const other = await started();
    await clock.advance(61_000);
    assert.match((await late).message, /did not end within 60 s/);
    await ended(other);
  });
});
