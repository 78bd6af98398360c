import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { isAppError, type AppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { connectCluster } from '../../src/kube/cluster.ts';
import { loadKubeconfig, resolveContext } from '../../src/kube/kubeconfig.ts';

const basic = (name: string, server: string): string => `
apiVersion: v1
kind: Config
current-context: ${name}
clusters:
- name: ${name}
  cluster: {server: "${server}"}
users:
- name: ${name}
  user: {token: t-${name}}
contexts:
- name: ${name}
  context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}
`;

function failure(action: () => unknown): AppError {
  try {
    action();
  } catch (error) {
    assert.ok(isAppError(error), String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'it did not fail' });
}

describe('the kubeconfig, read as kubectl reads it', () => {
  let folder: string;
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
    return path;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-kubeconfig-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('several files of KUBECONFIG are merged, the first that has a name wins, missing ones are skipped', async () => {
    const one = await file('one', basic('a', 'https://one'));
    const three = await file('three', basic('c', 'https://three'));
    const config = loadKubeconfig({
      env: { KUBECONFIG: [join(folder, 'missing'), one, '', three].join(delimiter) },
      home: folder,
    });
    assert.equal(config.currentContext, 'a');
    assert.deepEqual(
      config.contexts.map((context) => context.name),
      ['a', 'c'],
    );
    const again = await file('again', basic('a', 'https://again'));
    const both = loadKubeconfig({ env: { KUBECONFIG: [one, again].join(delimiter) }, home: folder });
    assert.equal(both.clusters.get('a')?.server, 'https://one');
  });

  it('the first current-context that is set counts', async () => {
    const one = await file('one', basic('a', 'https://one').replace('current-context: a', 'current-context: ""'));
    const two = await file('two', basic('b', 'https://two'));
    assert.equal(loadKubeconfig({ env: { KUBECONFIG: [one, two].join(delimiter) }, home: folder }).currentContext, 'b');
  });

  it('a file named in so many words is the only one, and must exist', async () => {
    const one = await file('one', basic('a', 'https://one'));
    await file('.kube/config', basic('home', 'https://home'));
    assert.equal(loadKubeconfig({ paths: [one], env: { KUBECONFIG: 'other' }, home: folder }).currentContext, 'a');
    assert.equal(loadKubeconfig({ env: {}, home: folder }).currentContext, 'home');
    assert.equal(
      failure(() => loadKubeconfig({ paths: [join(folder, 'nope')], env: {}, home: folder })).code,
      'kubeconfig-missing',
    );
    assert.equal(
      failure(() => loadKubeconfig({ env: { KUBECONFIG: join(folder, 'nope') }, home: folder })).code,
      'kubeconfig-missing',
    );
  });

  it('a pod’s service account is never used on its own', () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    assert.equal(failure(() => loadKubeconfig({ env, home: folder })).code, 'kubeconfig-missing');
  });

  it('paths of certificates, token and plugin are those of their own file', async () => {
    const path = await file(
      'deep/config',
      `
clusters: [{name: c, cluster: {server: https://c, certificate-authority: ca.crt}}]
users:
- name: u
  user: {client-certificate: certs/u.crt, client-key: /abs/u.key, tokenFile: token, exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/plugin, args: [a], env: [{name: X, value: y}]}}
- name: v
  user: {exec: {command: plugin}}
`,
    );
    const { clusters, users } = loadKubeconfig({ paths: [path], env: {}, home: folder });
    const deep = join(folder, 'deep');
    assert.equal(clusters.get('c')?.caFile, join(deep, 'ca.crt'));
    const user = users.get('u');
    assert.deepEqual(
      [user?.certFile, user?.keyFile, user?.tokenFile],
      [join(deep, 'certs/u.crt'), '/abs/u.key', join(deep, 'token')],
    );
    assert.deepEqual(
      [user?.exec?.command, user?.exec?.args, user?.exec?.env],
      [join(deep, 'bin/plugin'), ['a'], { X: 'y' }],
    );
    assert.equal(users.get('v')?.exec?.command, 'plugin');
  });

  it('impersonation is kept whole', async () => {
    const path = await file(
      'config',
      'users: [{name: u, user: {as: bob, as-uid: "7", as-groups: [dev, ops], as-user-extra: {scopes: [a, b]}}}]',
    );
    assert.deepEqual(loadKubeconfig({ paths: [path], env: {}, home: folder }).users.get('u')?.impersonate, {
      user: 'bob',
      uid: '7',
      groups: ['dev', 'ops'],
      extra: { scopes: ['a', 'b'] },
    });
  });

  const malformed: [string, string, number, RegExp][] = [
    ['broken YAML', 'clusters:\n- name: a\n  cluster: {server: https://a]\n', 3, /config:/],
    ['a list', '- a\n- b\n', 1, /not a map/],
    ['a server that is a number', 'clusters:\n- name: a\n  cluster:\n    server: 12\n', 4, /"server" is not text/],
    ['clusters that are a map', 'apiVersion: v1\nclusters:\n  a: b\n', 3, /"clusters" is not a list/],
    ['a doubled name', 'users:\n- name: a\n- name: a\n', 3, /twice/],
    ['a cluster without a name', 'clusters:\n- cluster: {server: https://a}\n', 2, /no name/],
    ['a doubled key', 'current-context: a\ncurrent-context: b\n', 2, /unique/],
    ['a plugin without a command', 'users:\n- name: a\n  user:\n    exec: {args: [x]}\n', 4, /no command/],
    [
      'a flag that is text',
      'clusters:\n- name: a\n  cluster: {insecure-skip-tls-verify: "yes"}\n',
      3,
      /neither true nor false/,
    ],
  ];
  for (const [what, text, line, says] of malformed) {
    it(`${what} is malformed, with file and line`, async () => {
      const path = await file('config', text);
      const error = failure(() => loadKubeconfig({ paths: [path], env: {}, home: folder }));
      assert.equal(error.code, 'kubeconfig-malformed');
      assert.match(error.message, says);
      assert.ok(error.message.includes(`${path}:${line}`), error.message);
      assert.ok(!error.message.includes('\n'));
      assert.notEqual(error.advice, '');
    });
  }

  it('a name that does not exist is named, with those that do', async () => {
    const path = await file(
      'config',
      `${basic('a', 'https://a')}- {name: nocluster, context: {cluster: gone, user: a}}\n- {name: nouser, context: {cluster: a, user: gone}}\n- {name: anonymous, context: {cluster: a}}\n`,
    );
    const config = loadKubeconfig({ paths: [path], env: {}, home: folder });
    assert.match(failure(() => resolveContext(config, 'z')).message, /no context "z"/);
    assert.match(failure(() => resolveContext(config, 'z')).advice, /a, nocluster/);
    assert.match(failure(() => resolveContext(config, 'nocluster')).message, /cluster "gone"/);
    assert.match(failure(() => resolveContext(config, 'nouser')).message, /user "gone"/);
    assert.equal(resolveContext(config, 'anonymous').user, undefined);
    assert.equal(resolveContext(config).context.namespace, 'ns-a');
  });

  it('an empty kubeconfig has no context to choose', async () => {
    const config = loadKubeconfig({ paths: [await file('config', '')], env: {}, home: folder });
    assert.equal(failure(() => resolveContext(config)).code, 'kubeconfig-unknown-name');
  });

  it('a cluster without a server, or with another scheme, is malformed', async () => {
    for (const server of ['', 'ftp://x', 'just words']) {
      const config = loadKubeconfig({ paths: [await file('config', basic('a', server))], env: {}, home: folder });
      assert.equal(
        failure(() => connectCluster(config, { userAgent: 'test', clock: systemClock })).code,
        'kubeconfig-malformed',
      );
    }
  });
});
