import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { Server } from '../../src/base/server.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import { connectCluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { createObject } from '../../src/write/createObject.ts';
import { modify } from '../../src/write/modify.ts';
import type { Attempt, Report } from '../../src/write/report.ts';
import { at, changes, RealServer, textAt } from './realServer.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };

/** Answers that a server gives only when something around it is so: each is brought about on the real one. */
describe('outcomes provoked on the real server', function () {
  this.timeout(90_000);
  let real: RealServer;
  /** Cluster-scoped objects, which a namespace does not take along. */
  const made: string[] = [];

  before(async function () {
    real = await RealServer.start(this);
  });
  after(async () => {
    for (const path of made.toReversed()) await real.send('DELETE', path);
    await real?.stop();
  });

  async function make(path: string, object: JsonObject): Promise<void> {
    await real.send('POST', path, object);
    made.push(`${path}/${textAt(object, 'metadata', 'name')}`);
  }

  const options = { clock: systemClock, backoff: { baseMs: 1, capMs: 5 }, maxAttempts: 2 };

  it('a name whose object is still being deleted is terminating, and nothing is created', async () => {
    const target = real.configMap('held');
    const first = await real.create(target, { metadata: { finalizers: ['write.example/hold'] } });
    await real.delete(target);
    const report = await createObject(real.cluster, target, { metadata: { name: 'held' } }, options);
    assert.deepEqual([report.outcome, report.attempts.length], ['terminating', 1]);
    assert.deepEqual([report.attempts[0]?.code, report.attempts[0]?.reason], [409, 'AlreadyExists']);
    assert.match(String(report.message), /object is being deleted/);
    assert.equal(at(await real.read(target), 'metadata', 'uid'), at(first, 'metadata', 'uid'));
    await real.patch(target, { metadata: { finalizers: null } });
  });

  it('an exceeded quota is forbidden, with the quota in the message, and is not asked again', async () => {
    const path = `/api/v1/namespaces/${real.namespace}/resourcequotas`;
    const hard = { 'count/secrets': '1' };
    const quota = await real.send('POST', path, { metadata: { name: 'full' }, spec: { hard } });
    await real.send('PUT', `${path}/full/status`, { ...quota, status: { hard, used: { 'count/secrets': '1' } } });
    const secret = real.target('', 'v1', 'secrets', 'Secret', 'one-more');
    const object = { metadata: { name: 'one-more' } };
    // Admission takes note of a quota a moment after it is stored.
    let report = await createObject(real.cluster, secret, object, { ...options, dryRun: true });
    for (let tries = 0; report.outcome === 'written' && tries < 50; tries += 1) {
      await systemClock.delay(100);
      report = await createObject(real.cluster, secret, object, { ...options, dryRun: true });
    }
    report = await createObject(real.cluster, secret, object, options);
    assert.deepEqual([report.outcome, report.attempts.length, report.attempts[0]?.code], ['forbidden', 1, 403]);
    assert.match(String(report.message), /exceeded quota: full, requested: count\/secrets=1/);
    await real.send('DELETE', `${path}/full`);
  });

  it('a conflict of admission with itself over a quota is not one of ours: asked again, it is stored', async () => {
    const path = `/api/v1/namespaces/${real.namespace}/resourcequotas`;
    const hard = { 'count/services': '1000' };
    const quota = await real.send('POST', path, { metadata: { name: 'busy' }, spec: { hard } });
    await real.send('PUT', `${path}/busy/status`, { ...quota, status: { hard, used: { 'count/services': '0' } } });
    const label = async (value: string): Promise<unknown> =>
      real.send('PATCH', `${path}/busy`, { metadata: { labels: { value } } }, { headers: mergePatch });
    const crowd = new AbortController();
    const others = Array.from({ length: 6 }, async (_, index) => {
      for (let n = 0; !crowd.signal.aborted; n += 1) await label(`${index}-${n}`);
    });
    const refused: Attempt[] = [];
    let outcome = '';
    for (let n = 0; refused.length === 0 && n < 200; n += 1) {
      const service = real.target('', 'v1', 'services', 'Service', `counted-${n}`);
      const object = { metadata: { name: service.name }, spec: { ports: [{ port: 80 }] } };
      const onAttempt = (attempt: Attempt): void => {
        if (attempt.code !== 409) return;
        refused.push(attempt);
        crowd.abort();
      };
      const more = { maxAttempts: 20, backoff: { baseMs: 20, capMs: 200 }, onAttempt };
      ({ outcome } = await createObject(real.cluster, service, object, { ...options, ...more }));
    }
    crowd.abort();
    await Promise.all(others);
    assert.equal(refused[0]?.outcome, 'unavailable');
    assert.match(String(refused[0].message), /resourcequotas "busy": the object has been modified/);
    assert.equal(outcome, 'written');
    await real.send('DELETE', `${path}/busy`);
  });

  it('a request that priority and fairness rejects is throttled, and asked again after the time it names', async () => {
    const user = `jailed-${real.namespace}`;
    const root = '/apis/flowcontrol.apiserver.k8s.io/v1';
    await make(`${root}/prioritylevelconfigurations`, {
      metadata: { name: user },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
      },
    });
    const rules = [
      {
        subjects: [{ kind: 'User', user: { name: user } }],
        resourceRules: [{ verbs: ['update'], apiGroups: [''], resources: ['configmaps'], namespaces: ['*'] }],
      },
    ];
    await make(`${root}/flowschemas`, {
      metadata: { name: user },
      spec: { priorityLevelConfiguration: { name: user }, matchingPrecedence: 10, rules },
    });
    await make('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
    });
    const jailed: Server = {
      send: async (request, signal) =>
        real.cluster.send({ ...request, headers: { ...request.headers, 'impersonate-user': user } }, signal),
    };
    const target = real.configMap('throttled');
    await real.create(target, { data: { n: '0' } });
    // The level has no seats: it takes a request only while it serves none, and others see to it that it does.
    const crowd = new AbortController();
    const others = Array.from({ length: 12 }, async (_, index) => {
      const own = real.configMap(`crowd-${index}`);
      await real.create(own, {});
      for (let n = 0; !crowd.signal.aborted; n += 1)
        await modify(jailed, own, changes({ 'data/n': `${n}` }), { ...options, maxAttempts: 1 });
    });
    const rejected: { at: number; code: number | undefined }[] = [];
    let report = await modify(jailed, target, changes({ 'data/n': '0' }), options);
    for (let n = 1; rejected.length === 0 && n < 300; n += 1) {
      const onAttempt = ({ outcome, code }: Attempt): void => {
        if (outcome === 'throttled' || rejected.length > 0) rejected.push({ at: performance.now(), code });
      };
      report = await modify(jailed, target, changes({ 'data/n': `${n}` }), { ...options, onAttempt });
    }
    crowd.abort();
    await Promise.all(others);
    const [first, second] = rejected;
    assert.equal(first?.code, 429);
    assert.ok((second?.at ?? 0) - first.at >= 1000, 'it waited the second that Retry-After names');
    assert.equal(report.attempts.length, 2);
    assert.equal(report.outcome, second?.code === 200 ? 'written' : 'throttled');
  });

  it('a server that nothing listens for is unavailable: nothing can have been stored, and it is asked again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'object-versions-closed-'));
    const closed = join(folder, 'kubeconfig');
    const config = (await readFile(real.kubeconfig, 'utf8')).replaceAll(/https:\/\/[^\s"']+/g, 'https://127.0.0.1:1');
    await writeFile(closed, config);
    const kubeconfig = loadKubeconfig({ paths: [closed], env: {}, home: '/' });
    const cluster = connectCluster(kubeconfig, { userAgent: 'write-test', clock: systemClock, env: {} });
    const report = await createObject(cluster, real.configMap('nowhere'), { metadata: { name: 'nowhere' } }, options);
    cluster.dispose();
    await rm(folder, { recursive: true });
    const outcomes = report.attempts.map(({ outcome }) => outcome);
    assert.deepEqual([report.outcome, outcomes], ['unavailable', ['unavailable', 'unavailable']]);
  });

  it('an API whose own server is not there is unavailable, and asked again', async () => {
    const group = `${real.namespace}.example.com`;
    await make('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { namespace: real.namespace, name: 'nowhere' },
      },
    });
    const target = real.target(group, 'v1', 'things', 'Thing', 'one');
    let report = await modify(real.cluster, target, changes({ 'data/a': '1' }), options);
    for (let tries = 0; report.outcome === 'unsupported' && tries < 50; tries += 1) {
      await systemClock.delay(100);
      report = await modify(real.cluster, target, changes({ 'data/a': '1' }), options);
    }
    assert.deepEqual([report.outcome, report.attempts.map(({ code }) => code)], ['unavailable', [503, 503]]);
  });

  it('a 500 to a write, as from a webhook that is not there, is settled by reading: not stored, and so unavailable', async () => {
    const target = real.configMap('hooked');
    const stored = await real.create(target, { data: { n: '0' } });
    await make('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name: real.namespace },
      webhooks: [
        {
          name: 'nowhere.write.example',
          clientConfig: { url: 'https://127.0.0.1:9/never' },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': real.namespace } },
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    let report = await modify(real.cluster, target, changes({ 'data/n': '1' }), options);
    for (let n = 2; report.outcome === 'written' && n < 100; n += 1) {
      await systemClock.delay(100);
      report = await modify(real.cluster, target, changes({ 'data/n': `${n}` }), options);
    }
    assert.equal(report.outcome, 'unavailable');
    assert.deepEqual(
      report.attempts.map(({ outcome, code }) => [outcome, code]),
      [
        ['uncertain', 500],
        ['uncertain', 500],
      ],
    );
    assert.match(String(report.message), /failed calling webhook "nowhere\.write\.example"/);
    assert.equal(at(await real.read(target), 'metadata', 'uid'), at(stored, 'metadata', 'uid'));
  });

  /** What comes of a write, its attempts by code, and how often it was sent. */
  const short = ({ outcome, attempts }: Report): string => [outcome, ...attempts.map(({ code }) => code)].join(' ');

  it('a resource that cannot be created is unsupported (405), and asked once', async () => {
    const target = real.target('', 'v1', 'componentstatuses', 'ComponentStatus', 'own', false);
    const report = await createObject(real.cluster, target, { metadata: { name: 'own' } }, options);
    assert.equal(short(report), 'unsupported 405');
    assert.match(String(report.message), /does not allow this method/);
  });

  it('media types that the server cannot send (406) or read (415) are unsupported, and nothing is stored', async () => {
    const target = real.configMap('types');
    const stored = await real.create(target, { data: { a: '0' } });
    // None of our requests has such headers: a program in between may.
    const speaking = (header: string, type: string): Server => ({
      send: async (request, signal) =>
        real.cluster.send({ ...request, headers: { ...request.headers, [header]: type } }, signal),
    });
    const change = changes({ 'data/a': '1' });
    const xml = speaking('accept', 'application/xml');
    assert.equal(short(await modify(xml, target, change, options)), 'unsupported 406');
    const other = real.configMap('types-2');
    assert.equal(short(await createObject(xml, other, { metadata: { name: other.name } }, options)), 'unsupported 406');
    assert.equal(short(await modify(real.cluster, other, change, options)), 'gone 404');
    for (const strategy of ['replace', 'merge-patch', 'json-patch', 'strategic', 'apply'] as const) {
      const report = await modify(speaking('content-type', 'text/plain'), target, change, { ...options, strategy });
      assert.equal(short(report), 'unsupported 415', strategy);
      if (strategy === 'replace')
        assert.deepEqual(report.accepted, [
          'application/json',
          'application/yaml',
          'application/vnd.kubernetes.protobuf',
        ]);
    }
    assert.deepEqual(await real.read(target), stored);
  });

  it('a creation in a namespace that is not there is gone, and says which namespace', async () => {
    const target = { ...real.configMap('homeless'), namespace: `${real.namespace}-away` };
    const report = await createObject(real.cluster, target, { metadata: { name: 'homeless' } }, options);
    assert.equal(short(report), 'gone 404');
    assert.match(String(report.message), new RegExp(`namespaces "${target.namespace}" not found`));
  });
});
