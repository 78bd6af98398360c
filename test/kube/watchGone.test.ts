import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';

import type { Cluster } from '../../src/kube/cluster.ts';
import type { WatchOptions, WatchTarget } from '../../src/kube/watch.ts';
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
  type FakeRequest,
  type FakeServer,
} from './fakeServer.ts';
import { clusterFor, Watching } from './harness.ts';

describe('a watch that loses its place (H2), and who was there meanwhile (D3)', () => {
  let clock: FakeClock;
  let server: FakeServer;
  let cluster: Cluster;
  let watching: Watching;

  async function start(
    handler: FakeHandler,
    target: Partial<WatchTarget> = {},
    options: Partial<WatchOptions> = {},
  ): Promise<void> {
    clock = new FakeClock();
    server = await startFakeServer(handler);
    cluster = clusterFor(server.url, clock);
    watching = new Watching(cluster, target, options);
  }

  async function waitOver(): Promise<void> {
    await until(() => watching.phase === 'waiting', 'a wait');
    await clock.advance((watching.lastState?.retryAt ?? 0) - clock.now());
  }

  afterEach(async () => {
    await watching.stop();
    cluster.dispose();
    await server.stop();
    assert.equal(clock.pending, 0, 'no timer is left behind');
  });

  /** A server whose first watch ends as given; lists answer in turn, the last one for ever. */
  function twoLists(
    lists: readonly (readonly object[])[],
    firstWatch: (response: ServerResponse) => void,
  ): FakeHandler {
    return (request, response) => {
      if (request.isWatch) {
        if (server.watches().length === 1) firstWatch(response);
        else beginWatch(response);
        return;
      }
      const round = Math.min(server.lists().length, lists.length);
      sendList(response, `list${round}`, lists[round - 1] ?? []);
    };
  }

  const expiredStatus = (response: ServerResponse): void => sendStatus(response, 410, 'Expired');
  const expiredEvent = (response: ServerResponse): void => {
    beginWatch(response);
    response.end(
      line('ERROR', {
        kind: 'Status',
        apiVersion: 'v1',
        code: 410,
        reason: 'Expired',
        message: 'too old resource version',
      }),
    );
  };

  for (const [shape, firstWatch] of [
    ['HTTP status (H2 a)', expiredStatus],
    ['ERROR event (H2 b)', expiredEvent],
  ] as const) {
    it(`410 as ${shape}: lists without a version, then watches from that list's`, async () => {
      await start(twoLists([[configMap('a', 'u1', '1')], [configMap('a', 'u1', '7')]], firstWatch));
      await until(() => server.watches().length === 2);
      assert.equal(server.lists().length, 2);
      assert.equal(server.lists()[1]?.query.has('resourceVersion'), false);
      assert.equal(server.watches()[1]?.query.get('resourceVersion'), 'list2');
      await until(() => watching.gaps.length === 2);
      assert.deepEqual(watching.story, ['+a u1 1', 'gap expired', '+a u1 7', 'gap end expired']);
      assert.equal(watching.gaps[1]?.resumed, undefined);
    });
  }

  it('an object deleted during the gap is one absence (H2 e)', async () => {
    await start(
      twoLists([[configMap('a', 'u1', '1'), configMap('b', 'u2', '2')], [configMap('a', 'u1', '1')]], expiredEvent),
    );
    await until(() => server.watches().length === 2);
    assert.deepEqual(watching.story, ['+a u1 1', '+b u2 2', 'gap expired', '-b u2 list', 'gap end expired']);
  });

  it('410 on a continue token: page 1 again, and nothing of the half list is shown (H2 c)', async () => {
    let pages = 0;
    await start(
      (request, response) => {
        if (request.isWatch) return beginWatch(response);
        pages += 1;
        const more = request.query.get('continue');
        if (pages === 1) return sendList(response, '5', [configMap('ghost', 'u0', '1')], 'c1');
        if (pages === 2) return sendStatus(response, 410, 'Expired', { metadata: { continue: 'inconsistent' } });
        if (more === null) return sendList(response, '9', [configMap('a', 'u1', '1')], 'c2');
        return sendList(response, '9', [configMap('b', 'u2', '2')]);
      },
      {},
      { pageSize: 2 },
    );
    await until(() => watching.phase === 'live');
    assert.deepEqual(
      server.lists().map((request) => request.query.get('continue')),
      [null, 'c1', null, 'c2'],
    );
    assert.deepEqual(watching.story, ['+a u1 1', '+b u2 2']);
    assert.equal(server.watches()[0]?.query.get('resourceVersion'), '9');
  });

  it('a list that answers 410 for ever is asked ever less often', async () => {
    await start((_request, response) => sendStatus(response, 410, 'Expired'));
    const end = clock.now() + 60_000;
    while (clock.now() < end) {
      await until(() => watching.phase === 'waiting');
      await clock.advance((watching.lastState?.retryAt ?? 0) - clock.now());
      await until(() => watching.phase !== 'listing' || server.lists().length > 0);
    }
    assert.ok(server.lists().length <= 14, `${server.lists().length} requests`);
    assert.ok(
      server.lists().every((request) => !request.query.has('resourceVersion') && !request.query.has('continue')),
    );
  });

  it('a recreated object is the first one gone unseen and a second one there (D3)', async () => {
    await start(twoLists([[configMap('demo', 'U1', 'v10')], [configMap('demo', 'U2', 'v25')]], expiredEvent));
    await until(() => server.watches().length === 2);
    assert.deepEqual(watching.story, [
      '+demo U1 v10',
      'gap expired',
      '-demo U1 list',
      '+demo U2 v25',
      'gap end expired',
    ]);
  });

  it('also where both have the same token (D3)', async () => {
    await start(twoLists([[configMap('demo', 'U1', 'v10')], [configMap('demo', 'U2', 'v10')]], expiredEvent));
    await until(() => server.watches().length === 2);
    assert.deepEqual(watching.story.slice(2, 4), ['-demo U1 list', '+demo U2 v10']);
  });

  it('also where a resumed watch says MODIFIED of another UID (D3)', async () => {
    await start(
      twoLists([[configMap('demo', 'U1', 'v10')]], (response) => {
        beginWatch(response);
        response.write(line('MODIFIED', configMap('demo', 'U2', 'v25')));
      }),
    );
    await until(() => watching.observed.length === 2);
    assert.deepEqual(watching.story, ['+demo U1 v10', '-demo U1 list', '+demo U2 v25']);
  });

  it('versions keep their order of arrival, whatever they look like (H4)', async () => {
    const tokens = ['999999', '1000000', '9007199254740992', '9007199254740993', 'W/"abc"', '0012', '12'];
    await start(
      twoLists([[]], (response) => {
        beginWatch(response);
        response.write(tokens.map((token) => line('MODIFIED', configMap('demo', 'u1', token))).join(''));
      }),
    );
    await until(() => watching.observed.length === tokens.length);
    assert.deepEqual(
      watching.observed.map((event) => event.token),
      tokens,
    );
    assert.equal(new Set(watching.observed.map((event) => event.stream)).size, 1);
  });

  it('a deletion that the watch delivers carries its own version', async () => {
    await start(
      twoLists([[configMap('demo', 'u1', '5')]], (response) => {
        beginWatch(response);
        response.write(line('DELETED', configMap('demo', 'u1', '6')) + line('ADDED', configMap('demo', 'u2', '7')));
      }),
    );
    await until(() => watching.observed.length === 2);
    assert.deepEqual(watching.story, ['+demo u1 5', '-demo u1 event', '+demo u2 7']);
    assert.equal(watching.absent[0]?.token, '6');
    assert.equal(watching.gaps.length, 0);
  });

  it('a list that does not say its version is an error, and token 0 is never sent', async () => {
    await start((request, response) => (request.isWatch ? beginWatch(response) : sendList(response, '0', [])));
    await until(() => watching.phase === 'waiting');
    assert.equal(watching.lastState?.error?.code, 'bad-answer');
    assert.equal(server.watches().length, 0);
  });

  it('an object that leaves a label selection lives on: DELETED is no deletion there', async () => {
    await start(
      (request, response) => {
        if (request.isWatch) {
          beginWatch(response);
          if (server.watches().length === 1)
            response.write(
              line('DELETED', configMap('left', 'u1', '8')) + line('DELETED', configMap('dead', 'u2', '9')),
            );
        } else if (request.path.endsWith('/left')) sendJson(response, 200, configMap('left', 'u1', '8'));
        else if (request.path.endsWith('/dead'))
          sendStatus(response, 404, 'NotFound', { details: { name: 'dead', kind: 'configmaps' } });
        else sendList(response, '5', [configMap('left', 'u1', '1'), configMap('dead', 'u2', '2')]);
      },
      { labelSelector: 'app=x' },
    );
    await until(() => watching.absent.length === 1);
    assert.deepEqual(watching.story, ['+left u1 1', '+dead u2 2', '+left u1 8', '-dead u2 404']);
    assert.equal(watching.observed.at(-1)?.via, 'get');
    assert.equal(server.watches()[0]?.query.get('labelSelector'), 'app=x');
  });

  it('a token that is refused again and again is given up for a list', async () => {
    await start((request, response) => {
      if (request.isWatch) sendStatus(response, 500, '', { message: 'Invalid value' });
      else sendList(response, 'bad', []);
    });
    for (let round = 0; round < 3; round += 1) {
      await until(() => server.watches().length === round + 1 && watching.phase === 'waiting');
      await waitOver();
    }
    await until(() => server.lists().length === 2);
  });

  it('bookmarks move the token on', async () => {
    await start((request, response) => {
      if (!request.isWatch) return sendList(response, '5', []);
      beginWatch(response);
      if (server.watches().length === 1)
        response.end(line('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '77' } }));
      return undefined;
    });
    await waitOver();
    await until(() => server.watches().length === 2);
    assert.equal(server.watches()[1]?.query.get('resourceVersion'), '77');
    assert.equal(watching.observed.length, 0);
  });

  it('auto reads small selections whole and large ones as metadata', async () => {
    const large = (request: FakeRequest): boolean =>
      request.headers.accept?.includes('PartialObjectMetadataList') === true;
    await start(
      (request, response) => {
        if (request.isWatch) return beginWatch(response);
        return sendList(
          response,
          '5',
          [configMap('a', 'u1', '1')],
          large(request) ? undefined : 'c',
          large(request) ? undefined : 3000,
        );
      },
      { bodies: 'auto' },
    );
    await until(() => watching.phase === 'live');
    assert.deepEqual(server.lists().map(large), [false, true]);
    assert.match(server.watches()[0]?.headers.accept ?? '', /as=PartialObjectMetadata;/);
    assert.equal(watching.observed.length, 1);
  });

  it('a very large whole list is streamed where the server offers it', async () => {
    await start((request, response) => {
      if (!request.isWatch) return sendList(response, '5', [configMap('a', 'u1', '1')], 'c', 9000);
      beginWatch(response);
      if (request.query.get('sendInitialEvents') !== 'true') return undefined;
      const end = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: '8', annotations: { 'k8s.io/initial-events-end': 'true' } },
      };
      response.write(
        line('ADDED', configMap('a', 'u1', '1')) + line('ADDED', configMap('b', 'u2', '2')) + line('BOOKMARK', end),
      );
      response.write(line('MODIFIED', configMap('b', 'u2', '9')));
      return undefined;
    });
    await until(() => watching.observed.length === 3);
    assert.deepEqual(watching.story, ['+a u1 1', '+b u2 2', '+b u2 9']);
    assert.deepEqual(
      watching.observed.map((event) => event.via),
      ['list', 'list', 'watch'],
    );
    assert.equal(server.watches()[0]?.query.get('resourceVersionMatch'), 'NotOlderThan');
    assert.equal(server.watches().length, 1);
  });

  it('and paged where it does not', async () => {
    await start((request, response) => {
      if (request.query.get('sendInitialEvents') === 'true') return sendStatus(response, 422, 'Invalid');
      if (request.isWatch) return beginWatch(response);
      if (request.query.get('continue') === null)
        return sendList(response, '5', [configMap('a', 'u1', '1')], 'c', 9000);
      return sendList(response, '5', [configMap('b', 'u2', '2')]);
    });
    await until(() => watching.phase === 'live');
    assert.deepEqual(watching.story, ['+a u1 1', '+b u2 2']);
  });

  it('many gaps open and close by pairs', async () => {
    await start((request, response) => {
      if (!request.isWatch) return sendList(response, '5', []);
      if (server.watches().length % 2 === 1) return void response.destroy();
      beginWatch(response);
      response.write(line('MODIFIED', configMap('demo', 'u1', String(server.watches().length))), () =>
        response.destroy(),
      );
      return undefined;
    });
    while (server.watches().length < 10) await waitOver();
    await until(() => watching.phase === 'waiting');
    const open = new Set<string>();
    for (const gap of watching.gaps) {
      if (gap.to === undefined) {
        assert.equal(open.size, 0);
        open.add(gap.gap);
      } else assert.ok(open.delete(gap.gap) && gap.to >= gap.from);
    }
  });
});
