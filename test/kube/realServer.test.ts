import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isAppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SendFailure } from '../../src/base/server.ts';
import { isJsonObject, parseJson } from '../../src/codec/json.ts';
import { parsePath, type Path } from '../../src/codec/path.ts';
import { appErrorOf, readJson } from '../../src/kube/answers.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { discover, pathOf, type Discovery } from '../../src/kube/discovery.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { getObject, listPages } from '../../src/kube/list.ts';
import { listSchemaFor } from '../../src/kube/schema.ts';
import { runWatch } from '../../src/kube/watchStream.ts';
import { createNamespace, sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';
import { plainRequest, requestJson } from '../apiserver/request.ts';
import { until } from './fakeClock.ts';
import { Watching } from './harness.ts';

const signal = new AbortController().signal;

function at(text: string): Path {
  const parsed = parsePath(text);
  assert.ok('path' in parsed);
  return parsed.path;
}

describe('on the real API server', function () {
  this.timeout(60_000);
  let server: ApiServer;
  let folder: string;
  let cluster: Cluster;
  let discovery: Discovery;

  before(async function () {
    server = await sharedApiServer(this);
    folder = await mkdtemp(join(tmpdir(), 'object-versions-real-'));
    cluster = await connect('admin');
    discovery = await discover(cluster, signal);
  });
  after(async () => {
    cluster?.dispose();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function connect(user: 'admin' | 'alice', change: (text: object) => object = (text) => text): Promise<Cluster> {
    const path = await server.kubeconfig(join(folder, user), user);
    const kubeconfig = loadKubeconfig({ paths: [path], env: {}, home: folder });
    const entry = kubeconfig.clusters.get('apiserver');
    assert.ok(entry !== undefined);
    const clusters = new Map([['apiserver', { ...entry, ...change(entry) }]]);
    return connectCluster(
      { ...kubeconfig, clusters },
      { userAgent: 'object-versions-test', clock: systemClock, env: {} },
    );
  }

  const put = (ns: string, name: string, data: object): Promise<unknown> =>
    requestJson(server, 'POST', `/api/v1/namespaces/${ns}/configmaps`, {
      metadata: { name, labels: { app: name } },
      data,
    });
  const patch = async (ns: string, name: string, body: object): Promise<void> => {
    const reply = await plainRequest(
      server,
      'PATCH',
      `/api/v1/namespaces/${ns}/configmaps/${name}`,
      body,
      'application/merge-patch+json',
    );
    assert.equal(reply.status, 200, reply.body);
  };
  const remove = (ns: string, name: string): Promise<unknown> =>
    requestJson(server, 'DELETE', `/api/v1/namespaces/${ns}/configmaps/${name}`);

  it('the cluster is known by the UID of kube-system, and by server and CA where that may not be read', async () => {
    const namespace = await readJson(cluster, { path: '/api/v1/namespaces/kube-system' }, signal);
    const uid = isJsonObject(namespace['metadata']) ? namespace['metadata']['uid'] : undefined;
    assert.equal(await cluster.id(signal), uid);
    const alice = await connect('alice');
    assert.match(await alice.id(signal), /^server-[0-9a-f]{16}$/);
    alice.dispose();
  });

  it('discovery finds built-in resources with their subresources', () => {
    assert.deepEqual(discovery.find('deploy').subresources.toSorted(), ['scale', 'status']);
    assert.equal(discovery.find('crd').resource, 'customresourcedefinitions');
    assert.equal(discovery.find('crd').namespaced, false);
    assert.equal(discovery.find('ev').group, '');
    assert.deepEqual(discovery.problems, []);
  });

  for (const bodies of ['whole', 'metadata'] as const) {
    it(`a life is seen in the server's order, ${bodies}`, async () => {
      const ns = await createNamespace(server);
      await put(ns, 'before', { a: '1' });
      const watching = new Watching(cluster, { resource: discovery.find('cm'), namespace: ns, bodies });
      await until(() => watching.phase === 'live');
      await put(ns, 'demo', { a: '1' });
      await patch(ns, 'demo', { data: { a: '2' } });
      await patch(ns, 'demo', { data: { a: '2' } });
      await remove(ns, 'demo');
      await put(ns, 'demo', { a: '3' });
      await until(() => watching.absent.length === 1 && watching.observed.length === 4);
      const [first, added, modified, again] = watching.observed;
      assert.deepEqual(
        [first?.via, added?.change, modified?.change, again?.change],
        ['list', 'ADDED', 'MODIFIED', 'ADDED'],
      );
      assert.equal(added?.uid, modified?.uid);
      assert.notEqual(again?.uid, added?.uid);
      assert.equal(watching.absent[0]?.uid, added?.uid);
      assert.equal(watching.absent[0]?.how, 'event');
      assert.notEqual(watching.absent[0]?.token, modified?.token);
      assert.equal(first?.body !== undefined, bodies === 'whole');
      assert.deepEqual([first?.apiVersion, first?.kind], ['v1', 'ConfigMap']);
      assert.equal(watching.gaps.length, 0);
      await watching.stop();
    });
  }

  it('an object that leaves a label selection is not said to be gone', async () => {
    const ns = await createNamespace(server);
    await put(ns, 'left', {});
    await put(ns, 'dead', {});
    const watching = new Watching(cluster, {
      resource: discovery.find('cm'),
      namespace: ns,
      labelSelector: 'app in (left,dead)',
    });
    await until(() => watching.phase === 'live');
    await patch(ns, 'left', { metadata: { labels: { app: 'other' } } });
    await remove(ns, 'dead');
    await until(() => watching.absent.length === 1);
    assert.equal(watching.absent[0]?.name.name, 'dead');
    assert.equal(watching.observed.at(-1)?.name.name, 'left');
    assert.equal(watching.observed.at(-1)?.via, 'get');
    await watching.stop();
  });

  it('pages show one state of the store, in both forms', async () => {
    const ns = await createNamespace(server);
    for (let index = 0; index < 7; index += 1) await put(ns, `c${index}`, {});
    for (const bodies of ['whole', 'metadata'] as const) {
      const names: unknown[] = [];
      const tokens = new Set<string>();
      let pages = 0;
      for await (const page of listPages(
        cluster,
        { resource: discovery.find('cm'), namespace: ns },
        bodies,
        signal,
        3,
      )) {
        if (page.page === 0) await put(ns, `late-${bodies}`, {});
        pages += 1;
        tokens.add(page.token);
        for (const item of page.items) names.push(isJsonObject(item['metadata']) ? item['metadata']['name'] : '');
      }
      assert.ok(pages >= 3);
      assert.equal(tokens.size, 1);
      assert.equal(names.includes(`late-${bodies}`), false);
      assert.equal(new Set(names).size, names.length);
    }
  });

  it('a token that is too old ends a watch as expired, in a stream that began well', async () => {
    const ns = await createNamespace(server);
    const opened: boolean[] = [];
    const end = await runWatch(
      {
        cluster,
        selection: { resource: discovery.find('cm'), namespace: ns },
        bodies: 'whole',
        token: '1',
        timeoutSeconds: 5,
        idleMs: 10_000,
      },
      { opened: () => opened.push(true), heard: () => undefined, message: () => undefined },
      signal,
    );
    assert.equal(end.kind, 'expired');
  });

  it('a streaming list ends with its bookmark, and is followed by what comes then', async () => {
    const ns = await createNamespace(server);
    await put(ns, 'a', {});
    const seen: string[] = [];
    const stop = new AbortController();
    const running = runWatch(
      {
        cluster,
        selection: { resource: discovery.find('cm'), namespace: ns },
        bodies: 'metadata',
        token: undefined,
        timeoutSeconds: 20,
        idleMs: 20_000,
      },
      {
        opened: () => undefined,
        heard: () => undefined,
        message: (message) =>
          void seen.push(message.type === 'BOOKMARK' ? `end ${message.isInitialEnd}` : message.type),
      },
      stop.signal,
    );
    await until(() => seen.length === 2);
    await put(ns, 'b', {});
    await until(() => seen.length === 3);
    assert.deepEqual(seen, ['ADDED', 'end true', 'ADDED']);
    stop.abort();
    await assert.rejects(running, (error) => isAppError(error, 'cancelled'));
  });

  it('list schemas of built-in kinds say how lists are merged', async () => {
    const service = await listSchemaFor(cluster, discovery.find('svc'), signal);
    assert.deepEqual(service.listTypeAt(at('.spec.ports')), {
      type: 'map',
      keys: ['port', 'protocol'],
      defaults: { protocol: 'TCP' },
    });
    assert.deepEqual(service.listTypeAt(at('.metadata.finalizers')), { type: 'set' });
    assert.deepEqual(service.listTypeAt(at('.metadata.ownerReferences')), { type: 'map', keys: ['uid'] });
    const deployment = await listSchemaFor(cluster, discovery.find('deploy'), signal);
    const containers = '.spec.template.spec.containers';
    assert.deepEqual(deployment.listTypeAt(at(containers)), { type: 'map', keys: ['name'] });
    assert.deepEqual(deployment.listTypeAt(at(`${containers}[name="web"].args`)), { type: 'atomic' });
    assert.deepEqual(deployment.listTypeAt(at(`${containers}[0].ports`)), {
      type: 'map',
      keys: ['containerPort', 'protocol'],
      defaults: { protocol: 'TCP' },
    });
    assert.equal(deployment.isAtomicMapAt(at('.spec.selector')), true);
    const crd = await listSchemaFor(cluster, discovery.find('crd'), signal);
    assert.equal(
      crd.listTypeAt(at('.spec.versions[0].schema.openAPIV3Schema.properties.x.properties.y.required')) !== undefined,
      true,
    );
  });

  it('one object is read whole; nothing there is undefined, no such resource is an error', async () => {
    const ns = await createNamespace(server);
    await put(ns, 'demo', { a: '1' });
    const found = await getObject(cluster, pathOf(discovery.find('cm'), ns, 'demo'), signal);
    assert.deepEqual(found?.['data'], { a: '1' });
    assert.equal(await getObject(cluster, pathOf(discovery.find('cm'), ns, 'nope'), signal), undefined);
    await assert.rejects(getObject(cluster, '/apis/nope.example/v1/things/x', signal), (error) =>
      isAppError(error, 'not-found'),
    );
    await assert.rejects(getObject(cluster, `/api/v1/namespaces/${ns}/things/x`, signal), (error) =>
      isAppError(error, 'not-found'),
    );
  });

  it('numbers beyond 2^53 of a custom resource come back to the digit', async () => {
    const group = `big${Date.now().toString(36)}.example.com`;
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    };
    const names = { plural: 'bigs', singular: 'big', kind: 'Big' };
    await requestJson(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `bigs.${group}` },
      spec: { group, names, scope: 'Cluster', versions: [version] },
    });
    const path = `/apis/${group}/v1/bigs`;
    const headers = { 'content-type': 'application/json' };
    const body = `{"apiVersion":"${group}/v1","kind":"Big","metadata":{"name":"x"},"spec":{"n":9007199254740993,"future":[{"a":1}]}}`;
    let status = 0;
    for (const deadline = Date.now() + 20_000; status !== 201 && Date.now() < deadline;) {
      status = (await cluster.send({ method: 'POST', path, headers, body }, signal)).status;
      if (status !== 201) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.equal(status, 201);
    const reply = await cluster.send({ method: 'GET', path: `${path}/x` }, signal);
    const object = parseJson(reply.body);
    assert.ok(isJsonObject(object) && isJsonObject(object['spec']));
    assert.equal(object['spec']['n'], 9007199254740993n);
  });

  it('a user without rights is forbidden, a wrong token unauthenticated, another CA untrusted', async () => {
    const alice = await connect('alice');
    const watching = new Watching(alice, { resource: discovery.find('cm'), namespace: 'default' });
    await until(() => watching.phase === 'failed');
    assert.equal(watching.lastState?.error?.code, 'forbidden');
    assert.match(watching.lastState.error.message, /alice/);
    await watching.stop();
    for (const bodies of ['whole', 'metadata'] as const) {
      const pages = listPages(alice, { resource: discovery.find('cm'), namespace: 'default' }, bodies, signal);
      await assert.rejects(pages.next(), (error) => isAppError(error, 'forbidden') && error.message.includes('alice'));
    }
    alice.dispose();
    const path = await server.kubeconfig(join(folder, 'wrong'));
    const kubeconfig = loadKubeconfig({ paths: [path], env: {}, home: folder });
    const user = kubeconfig.users.get('admin');
    assert.ok(user !== undefined);
    const wrong = connectCluster(
      { ...kubeconfig, users: new Map([['admin', { ...user, token: 'wrong' }]]) },
      { userAgent: 'test', clock: systemClock, env: {} },
    );
    await assert.rejects(readJson(wrong, { path: '/api/v1/namespaces' }, signal), (error) =>
      isAppError(error, 'unauthenticated'),
    );
    wrong.dispose();
    const untrusted = await connect('admin', () => ({ caData: undefined }));
    await assert.rejects(
      untrusted.send({ method: 'GET', path: '/version' }, signal),
      (error) => error instanceof SendFailure && appErrorOf(error).code === 'tls-untrusted',
    );
    untrusted.dispose();
  });
});
