import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';

import type { Cluster } from '../../src/kube/cluster.ts';
import { maxRequestsPerMinute } from '../../src/kube/backoff.ts';
import { FakeClock, until } from './fakeClock.ts';
import {
  beginWatch,
  configMap,
  line,
  sendList,
  sendStatus,
  startFakeServer,
  type FakeHandler,
  type FakeServer,
} from './fakeServer.ts';
import { clusterFor, Watching } from './harness.ts';

/** Advances to the end of the wait that the watch is in. */
async function waitOver(clock: FakeClock, watching: Watching): Promise<void> {
  await until(() => watching.phase === 'waiting' || watching.phase === 'failed', 'a wait');
  const { retryAt } = watching.lastState ?? {};
  assert.ok(retryAt !== undefined);
  await clock.advance(retryAt - clock.now());
}

describe('the life of a watch (H1)', () => {
  let clock: FakeClock;
  let server: FakeServer;
  let cluster: Cluster;
  let watching: Watching | undefined;

  async function start(handler: FakeHandler): Promise<void> {
    clock = new FakeClock();
    server = await startFakeServer(handler);
    cluster = clusterFor(server.url, clock);
  }

  afterEach(async () => {
    await watching?.stop();
    watching = undefined;
    cluster.dispose();
    await server.stop();
    assert.equal(clock.pending, 0, 'no timer is left behind');
  });

  it('a watch with traffic is never cut by the client: one event a second for 95 s (H1 a)', async () => {
    let stream: ServerResponse | undefined;
    await start((request, response) => {
      if (!request.isWatch) sendList(response, '10', []);
      else {
        beginWatch(response);
        stream = response;
      }
    });
    watching = new Watching(cluster);
    await until(() => stream !== undefined);
    for (let second = 1; second <= 95; second += 1) {
      stream?.write(line('MODIFIED', configMap('demo', 'u1', String(10 + second))));
      await until(() => watching?.observed.length === second);
      await clock.advance(1000);
    }
    assert.equal(server.watches().length, 1);
    assert.equal(watching.gaps.length, 0);
    assert.equal(watching.lastState?.phase, 'live');
  });

  it('asks for bookmarks and for a server timeout, and never for token 0', async () => {
    await start((request, response) => (request.isWatch ? beginWatch(response) : sendList(response, '10', [])));
    watching = new Watching(cluster);
    await until(() => server.watches().length === 1);
    const { query } = server.watches()[0] ?? {};
    assert.equal(query?.get('allowWatchBookmarks'), 'true');
    assert.ok(Number(query?.get('timeoutSeconds')) >= 300);
    assert.equal(query?.get('resourceVersion'), '10');
    assert.equal(server.lists()[0]?.query.has('resourceVersion'), false);
  });

  it('a silent connection is given up after the idle limit and taken up at the last token (H1 b)', async () => {
    await start((request, response) => {
      if (!request.isWatch) sendList(response, '10', []);
      else {
        beginWatch(response);
        if (request.query.get('resourceVersion') === '10')
          response.write(line('ADDED', configMap('demo', 'u1', 'last')));
      }
    });
    watching = new Watching(cluster, {}, { idleMs: 60_000 });
    await until(() => watching?.observed.length === 1);
    const heardAt = clock.now();
    await clock.advance(59_000);
    assert.equal(server.watches().length, 1);
    const lives = (): number => watching?.states.filter((state) => state.phase === 'live').length ?? 0;
    const before = lives();
    await clock.advance(1000);
    await until(() => lives() > before);
    assert.equal(server.watches()[1]?.query.get('resourceVersion'), 'last');
    await clock.advance(2000);
    const [opened, closed] = watching.gaps;
    assert.equal(opened?.cause, 'idle');
    assert.equal(opened?.from, heardAt);
    assert.equal(closed?.gap, opened?.gap);
    assert.equal(closed?.resumed, true);
    assert.ok((closed?.to ?? 0) >= heardAt + 60_000);
    assert.equal(watching.observed.length, 1);
  });

  it('a list that is refused three times with 503 recovers alone, with growing waits that are visible (H1 c)', async () => {
    let lists = 0;
    await start((request, response) => {
      if (request.isWatch) beginWatch(response);
      else if ((lists += 1) <= 3) sendStatus(response, 503, 'ServiceUnavailable');
      else sendList(response, '10', [configMap('demo', 'u1', '9')]);
    });
    clock.randomValue = 1;
    watching = new Watching(cluster);
    for (let round = 0; round < 3; round += 1) {
      await until(() => watching?.states.filter((state) => state.phase === 'waiting').length === round + 1);
      await waitOver(clock, watching);
    }
    await until(() => watching?.phase === 'live');
    const waits = watching.states.filter((state) => state.phase === 'waiting');
    assert.deepEqual(
      waits.map((state) => state.error?.code),
      ['unavailable', 'unavailable', 'unavailable'],
    );
    assert.equal(watching.observed.length, 1);
    assert.equal(watching.gaps.length, 0, 'nothing was known before, so that there is no gap');
  });

  it('lines split anywhere, several in one chunk, and one of 3 MB all arrive (H1 d)', async () => {
    let stream: ServerResponse | undefined;
    await start((request, response) => {
      if (!request.isWatch) sendList(response, '10', []);
      else {
        beginWatch(response);
        stream = response;
      }
    });
    watching = new Watching(cluster);
    await until(() => stream !== undefined);
    const first = Buffer.from(line('ADDED', configMap('größe', 'u1', '11')));
    const middle = first.indexOf(Buffer.from('ö')) + 1;
    for (const part of [first.subarray(0, 7), first.subarray(7, middle), first.subarray(middle)]) {
      stream?.write(part);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    stream?.write(line('ADDED', configMap('b', 'u2', '12')) + line('MODIFIED', configMap('b', 'u2', '13')));
    stream?.write(line('ADDED', { ...configMap('big', 'u3', '14'), data: { key: 'x'.repeat(3_000_000) } }));
    await until(() => watching?.observed.length === 4);
    assert.deepEqual(watching.story, ['+größe u1 11', '+b u2 12', '+b u2 13', '+big u3 14']);
  });

  it('a handler that throws is reported and the events after it still come (H1 e)', async () => {
    await start((request, response) => {
      if (!request.isWatch) sendList(response, '10', []);
      else {
        beginWatch(response);
        for (let token = 11; token <= 15; token += 1)
          response.write(line('MODIFIED', configMap('demo', 'u1', String(token))));
      }
    });
    watching = new Watching(cluster, {}, {}, (event) => {
      if (event.type === 'observed' && event.token === '12') throw new Error('a view broke');
    });
    await until(() => watching?.observed.length === 4);
    assert.deepEqual(
      watching.observed.map((event) => event.token),
      ['11', '13', '14', '15'],
    );
    assert.equal(watching.problems.length, 1);
    assert.match(watching.problems[0]?.message ?? '', /a view broke/);
    assert.equal(server.watches().length, 1);
  });

  it('an ERROR event with another code than 410 is visible, then the watch goes on from its token (H1 f)', async () => {
    await start((request, response) => {
      if (!request.isWatch) sendList(response, '10', []);
      else {
        beginWatch(response);
        if (server.watches().length === 1) {
          response.end(
            line('ADDED', configMap('demo', 'u1', '11')) +
              line('ERROR', { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd is ill' }),
          );
        } else response.write(line('MODIFIED', configMap('demo', 'u1', '12')));
      }
    });
    watching = new Watching(cluster);
    await until(() => watching?.phase === 'waiting');
    assert.equal(watching.lastState?.error?.code, 'server-error');
    assert.match(watching.lastState.error.message, /etcd is ill/);
    await waitOver(clock, watching);
    await until(() => watching?.observed.length === 2);
    assert.equal(server.watches()[1]?.query.get('resourceVersion'), '11');
    assert.equal(server.lists().length, 1);
    assert.deepEqual(watching.story, ['+demo u1 11', 'gap error', 'gap end error', '+demo u1 12']);
  });

  it('a hundred reconnects lose nothing and double nothing', async () => {
    await start((request, response) => {
      if (!request.isWatch) sendList(response, '0x', []);
      else {
        beginWatch(response);
        const number = server.watches().length;
        const again = number > 1 ? line('MODIFIED', configMap('demo', 'u1', `t${number - 1}`)) : '';
        response.write(again + line('MODIFIED', configMap('demo', 'u1', `t${number}`)), () => {
          if (number % 2 === 0) response.end();
          else setTimeout(() => response.destroy(), 1);
        });
      }
    });
    watching = new Watching(cluster);
    while (server.watches().length < 100) await waitOver(clock, watching);
    await until(() => watching?.observed.at(-1)?.token === 't100');
    const tokens = watching.observed.map((event) => event.token);
    assert.deepEqual(
      tokens,
      Array.from({ length: 100 }, (_unused, index) => `t${index + 1}`),
    );
  });

  it('a line that is not JSON is visible, then everything is listed anew', async () => {
    await start((request, response) => {
      if (!request.isWatch)
        sendList(response, server.lists().length === 1 ? '10' : '20', [configMap('demo', 'u1', '9')]);
      else {
        beginWatch(response);
        if (server.watches().length === 1) response.write('<html>oops</html>\n');
      }
    });
    watching = new Watching(cluster);
    await until(() => watching?.phase === 'waiting');
    assert.equal(watching.lastState?.error?.code, 'bad-answer');
    await waitOver(clock, watching);
    await until(() => server.watches().length === 2);
    assert.equal(server.watches()[1]?.query.get('resourceVersion'), '20');
    assert.deepEqual(watching.story, ['+demo u1 9', 'gap error', 'gap end error']);
  });

  it('a refusal that a person must settle shows as failed, and is tried again', async () => {
    let allowed = false;
    await start((request, response) => {
      if (request.isWatch) beginWatch(response);
      else if (allowed) sendList(response, '10', []);
      else sendStatus(response, 403, 'Forbidden');
    });
    watching = new Watching(cluster);
    await until(() => watching?.phase === 'failed');
    assert.equal(watching.lastState?.error?.code, 'forbidden');
    allowed = true;
    await waitOver(clock, watching);
    await until(() => watching?.phase === 'live');
  });

  it('Retry-After is heeded, in the header and in the body', async () => {
    await start((request, response) => {
      if (request.isWatch) beginWatch(response);
      else if (server.lists().length === 1) sendStatus(response, 429, 'TooManyRequests', {}, { 'retry-after': '7' });
      else if (server.lists().length === 2)
        sendStatus(response, 429, 'TooManyRequests', { details: { retryAfterSeconds: 11 } });
      else sendList(response, '10', []);
    });
    watching = new Watching(cluster);
    await until(() => watching?.phase === 'waiting');
    assert.equal((watching.lastState?.retryAt ?? 0) - clock.now(), 7000);
    await waitOver(clock, watching);
    await until(() => watching?.states.filter((state) => state.phase === 'waiting').length === 2);
    assert.equal((watching.lastState?.retryAt ?? 0) - clock.now(), 11_000);
    await waitOver(clock, watching);
    await until(() => watching?.phase === 'live');
  });

  for (const randomValue of [0, 0.999]) {
    it(`a server that closes every watch after 5 ms gets few requests (H2 d), random ${randomValue}`, async () => {
      await start((request, response) => {
        if (!request.isWatch) sendList(response, '10', []);
        else {
          beginWatch(response);
          setTimeout(() => response.end(), 5);
        }
      });
      clock.randomValue = randomValue;
      watching = new Watching(cluster);
      const end = clock.now() + 60_000;
      while (clock.now() < end) await waitOver(clock, watching);
      assert.ok(server.watches().length <= maxRequestsPerMinute, `${server.watches().length} requests`);
      assert.equal(server.lists().length, 1);
    });
  }
});
