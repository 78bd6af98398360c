import assert from 'node:assert/strict';

import { isAppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { discover, pathOf, type Discovery } from '../../src/kube/discovery.ts';
import { sendJson, sendStatus, startFakeServer, type FakeHandler } from './fakeServer.ts';
import { clusterFor } from './harness.ts';

const signal = new AbortController().signal;

const plain: FakeHandler = (request, response) => {
  const resource = (name: string, kind: string, more: object = {}): object => ({
    name,
    kind,
    singularName: kind.toLowerCase(),
    namespaced: true,
    verbs: ['get', 'list', 'watch'],
    ...more,
  });
  switch (request.path) {
    case '/api':
      return sendJson(response, 200, { kind: 'APIVersions', versions: ['v1'] });
    case '/api/v1':
      return sendJson(response, 200, {
        kind: 'APIResourceList',
        resources: [
          resource('pods', 'Pod', { shortNames: ['po'] }),
          resource('pods/status', 'Pod'),
          resource('events', 'Event', { shortNames: ['ev'] }),
        ],
      });
    case '/apis':
      return sendJson(response, 200, {
        kind: 'APIGroupList',
        groups: [
          { name: 'apps', preferredVersion: { version: 'v1' }, versions: [{ version: 'v1beta1' }, { version: 'v1' }] },
          { name: 'events.k8s.io', versions: [{ version: 'v1' }] },
          { name: 'metrics.k8s.io', versions: [{ version: 'v1beta1' }] },
        ],
      });
    case '/apis/apps/v1':
    case '/apis/apps/v1beta1':
      return sendJson(response, 200, {
        kind: 'APIResourceList',
        resources: [
          resource('deployments', 'Deployment', { shortNames: ['deploy'] }),
          resource('deployments/scale', 'Scale'),
        ],
      });
    case '/apis/events.k8s.io/v1':
      return sendJson(response, 200, { kind: 'APIResourceList', resources: [resource('events', 'Event')] });
    default:
      return sendStatus(response, 503, 'ServiceUnavailable');
  }
};

async function discovered(handler: FakeHandler): Promise<Discovery> {
  const server = await startFakeServer(handler);
  const cluster = clusterFor(server.url, systemClock);
  try {
    return await discover(cluster, signal);
  } finally {
    cluster.dispose();
    await server.stop();
  }
}

describe('discovery', () => {
  it('falls back to plain discovery, and a group that does not answer does not hide the others', async () => {
    const found = await discovered(plain);
    assert.equal(found.find('po').kind, 'Pod');
    assert.deepEqual(found.find('pods').subresources, ['status']);
    assert.equal(found.problems.length, 1);
    assert.equal(found.problems[0]?.code, 'unavailable');
  });

  it('words find what kubectl finds', async () => {
    const found = await discovered(plain);
    const where = (text: string): string => {
      const { group, version, resource } = found.find(text);
      return `${group}/${version}/${resource}`;
    };
    for (const text of [
      'deploy',
      'deployment',
      'deployments',
      'Deployment',
      'deployments.apps',
      'deployments.v1.apps',
      'Deployment.v1.apps',
    ])
      assert.equal(where(text), 'apps/v1/deployments');
    assert.equal(where('deploy.v1beta1.apps'), 'apps/v1beta1/deployments');
    assert.equal(where('events'), '/v1/events');
    assert.equal(where('ev'), '/v1/events');
    assert.equal(where('events.events.k8s.io'), 'events.k8s.io/v1/events');
    assert.equal(where('pods.v1'), '/v1/pods');
  });

  it('an unknown resource is an error with what comes near and what could not be asked', async () => {
    const found = await discovered(plain);
    assert.throws(
      () => found.find('deploymnets'),
      (error) =>
        isAppError(error, 'unknown-resource') &&
        /Did you mean deployments\?/.test(error.advice) &&
        /did not answer/.test(error.advice),
    );
    assert.throws(
      () => found.find('deployments.batch'),
      (error) => isAppError(error, 'unknown-resource'),
    );
    assert.throws(
      () => found.find(''),
      (error) => isAppError(error, 'unknown-resource'),
    );
  });

  it('aggregated discovery is two requests; a stale group is named', async () => {
    const handler: FakeHandler = (request, response) => {
      const items =
        request.path === '/api'
          ? [
              {
                metadata: {},
                versions: [
                  {
                    version: 'v1',
                    resources: [
                      {
                        resource: 'pods',
                        responseKind: { kind: 'Pod' },
                        scope: 'Namespaced',
                        singularResource: 'pod',
                        verbs: ['list'],
                        subresources: [{ subresource: 'status' }],
                      },
                    ],
                  },
                ],
              },
            ]
          : [
              {
                metadata: { name: 'metrics.k8s.io' },
                versions: [{ version: 'v1beta1', freshness: 'Stale', resources: [] }],
              },
            ];
      sendJson(response, 200, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items });
    };
    const found = await discovered(handler);
    assert.deepEqual(found.find('pod').subresources, ['status']);
    assert.match(found.problems[0]?.message ?? '', /metrics\.k8s\.io/);
  });

  it('a refusal and a web page are typed errors', async () => {
    await assert.rejects(
      discovered((_request, response) => sendStatus(response, 401, 'Unauthorized')),
      (error) => isAppError(error, 'unauthenticated'),
    );
    await assert.rejects(
      discovered((_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')),
      (error) => isAppError(error, 'bad-answer'),
    );
  });

  it('paths are made as the API has them, with every name escaped', () => {
    const pods = { group: '', version: 'v1', resource: 'pods', namespaced: true };
    const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles', namespaced: false };
    assert.equal(pathOf(pods), '/api/v1/pods');
    assert.equal(pathOf(pods, 'ns', 'a', 'status'), '/api/v1/namespaces/ns/pods/a/status');
    assert.equal(
      pathOf(roles, 'ignored', 'My:Role/../x'),
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/My%3ARole%2F..%2Fx',
    );
  });
});
