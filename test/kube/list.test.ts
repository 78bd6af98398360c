import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { isAppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { getObject, listPages } from '../../src/kube/list.ts';
import {
  configMap,
  sendJson,
  sendList,
  sendStatus,
  startFakeServer,
  type FakeHandler,
  type FakeServer,
} from './fakeServer.ts';
import { clusterFor, configMaps } from './harness.ts';

const signal = new AbortController().signal;
const selection = { resource: configMaps, namespace: 'ns' };

describe('lists in pages', () => {
  let server: FakeServer;
  let cluster: Cluster;

  async function start(handler: FakeHandler): Promise<void> {
    server = await startFakeServer(handler);
    cluster = clusterFor(server.url, systemClock);
  }
  afterEach(async () => {
    cluster.dispose();
    await server.stop();
  });

  /** A list of so many pages. */
  const pagesOf =
    (count: number): FakeHandler =>
    (request, response) => {
      const page = Number((request.query.get('continue') ?? 'c0').slice(1));
      sendList(
        response,
        '7',
        [configMap(`n${page}`, `u${page}`, '1')],
        page + 1 < count ? `c${page + 1}` : undefined,
        count - page - 1,
      );
    };

  it('come in their order, each asked for once', async () => {
    await start(pagesOf(12));
    const names: unknown[] = [];
    for await (const page of listPages(cluster, selection, 'whole', signal))
      names.push(...page.items.map((item) => (item['data'] as { key: string }).key));
    assert.equal(names.length, 12);
    assert.deepEqual(
      server.requests.map((request) => request.query.get('continue')),
      [null, ...Array.from({ length: 11 }, (_unused, index) => `c${index + 1}`)],
    );
  });

  it('are asked for ahead of a slow reader, but not far', async () => {
    await start(pagesOf(30));
    let read = 0;
    for await (const page of listPages(cluster, selection, 'whole', signal)) {
      read += 1;
      assert.equal(page.page, read - 1);
      if (read > 5) break;
      await delay(20);
      assert.ok(
        server.requests.length > read && server.requests.length <= read + 3,
        `${server.requests.length} asked for, ${read} read`,
      );
    }
    const asked = server.requests.length;
    await delay(30);
    assert.equal(server.requests.length, asked, 'who stops reading stops asking');
  });

  it('a server that writes its lists in another form is read as well', async () => {
    await start((request, response) => {
      const more = request.query.get('continue');
      const metadata = { resourceVersion: '7', ...(more === null ? { continue: 'c "quoted" 1' } : {}) };
      sendJson(response, 200, { items: [configMap('a', 'u', '1')], metadata });
    });
    let count = 0;
    for await (const page of listPages(cluster, selection, 'metadata', signal)) count += page.items.length;
    assert.equal(count, 2);
    assert.equal(server.requests[1]?.query.get('continue'), 'c "quoted" 1');
  });

  it('a page that fails fails the list, with the page before it already given', async () => {
    await start((request, response) =>
      request.query.get('continue') === 'c1'
        ? sendStatus(response, 500, 'InternalError')
        : pagesOf(3)(request, response),
    );
    const pages: number[] = [];
    await assert.rejects(
      async () => {
        for await (const page of listPages(cluster, selection, 'whole', signal)) pages.push(page.page);
      },
      (error) => isAppError(error, 'server-error'),
    );
    assert.deepEqual(pages, [0]);
  });

  it('what is no list is a bad answer', async () => {
    await start((_request, response) =>
      sendJson(response, 200, { kind: 'ConfigMap', metadata: { resourceVersion: '1' } }),
    );
    await assert.rejects(listPages(cluster, selection, 'whole', signal).next(), (error) =>
      isAppError(error, 'bad-answer'),
    );
  });

  it('a 404 without an object in it is no absent object', async () => {
    await start((request, response) => {
      if (request.path.endsWith('/gone'))
        sendStatus(response, 404, 'NotFound', { details: { name: 'gone', kind: 'configmaps' } });
      else if (request.path.endsWith('/nogroup'))
        response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
      else sendStatus(response, 404, 'NotFound', { details: {} });
    });
    assert.equal(await getObject(cluster, '/api/v1/namespaces/ns/configmaps/gone', signal), undefined);
    for (const path of ['/x/nogroup', '/x/noresource'])
      await assert.rejects(getObject(cluster, path, signal), (error) => isAppError(error, 'not-found'));
  });
});
