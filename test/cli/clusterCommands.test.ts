import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { Command } from 'commander';

import { isAppError } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { registerGet } from '../../src/cli/get.ts';
import { reportFailure } from '../../src/cli/reportFailure.ts';
import { registerWatch } from '../../src/cli/watch.ts';
import { TraceReader } from '../../src/core/trace.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { createNamespace, sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';
import { plainRequest, requestJson } from '../apiserver/request.ts';
import { until } from '../kube/fakeClock.ts';
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
} from '../kube/fakeServer.ts';

interface Run {
  out: string;
  err: string;
  code: number;
  interrupt(): void;
  readonly ended: Promise<void>;
}

/** Runs a command with an io of its own. */
function start(...args: string[]): Run {
  const interrupted = new AbortController();
  const run: { -readonly [K in keyof Run]: Run[K] } = {
    out: '',
    err: '',
    code: 0,
    interrupt: () => interrupted.abort(),
    ended: Promise.resolve(),
  };
  const io = {
    stdout: (text: string) => void (run.out += text),
    stderr: (text: string) => void (run.err += text),
    stdin: process.stdin,
    env: { HOME: '/nowhere' },
    clock: systemClock,
    signal: interrupted.signal,
    exit: (code: number) => void (run.code = code),
  };
  const program = new Command('object-versions')
    .exitOverride()
    .configureOutput({ writeErr: io.stderr, writeOut: io.stdout });
  registerGet(program, io);
  registerWatch(program, io);
  const work = async (): Promise<void> => {
    try {
      await program.parseAsync(args, { from: 'user' });
    } catch (error) {
      run.code = isAppError(error) ? reportFailure(error, io) : 2;
    }
  };
  run.ended = work();
  return run;
}

async function finished(...args: string[]): Promise<Run> {
  const run = start(...args);
  await run.ended;
  return run;
}

const discoveryOf: FakeHandler = (request, response) => {
  const resource = {
    name: 'configmaps',
    singularName: 'configmap',
    kind: 'ConfigMap',
    namespaced: true,
    shortNames: ['cm'],
    verbs: ['get', 'list', 'watch'],
  };
  if (request.path === '/api') sendJson(response, 200, { kind: 'APIVersions', versions: ['v1'] });
  else if (request.path === '/apis') sendJson(response, 200, { kind: 'APIGroupList', groups: [] });
  else sendJson(response, 200, { kind: 'APIResourceList', resources: [resource] });
};
const isDiscovery = (path: string): boolean => ['/api', '/apis', '/api/v1'].includes(path);

describe('get and watch', () => {
  let folder: string;
  let server: FakeServer | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-cli-'));
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  /** A fake cluster; returns the options that name it. */
  async function fake(handler: FakeHandler): Promise<string[]> {
    server = await startFakeServer((request, response) =>
      isDiscovery(request.path) ? discoveryOf(request, response) : handler(request, response),
    );
    const file = join(folder, 'config');
    const config = {
      clusters: [{ name: 'c', cluster: { server: server.url } }],
      users: [{ name: 'u', user: { token: 'secret-token' } }],
      contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'ns' } }],
      'current-context': 'main',
    };
    await writeFile(file, JSON.stringify(config));
    return ['--kubeconfig', file];
  }

  it('get prints identity columns, and tokens as badges', async () => {
    const options = await fake((_request, response) =>
      sendList(response, '9', [
        configMap('demo', '0a1b2c3d-0000-4000-8000-000000000001', '123456', {
          generation: 4,
          managedFields: [{ manager: 'kubectl' }, { manager: 'kubectl' }, { manager: 'helm' }],
        }),
      ]),
    );
    const { out, code } = await finished('get', 'cm', ...options);
    assert.equal(code, 0);
    assert.match(out, /^NAME\s+UID\s+TOKEN\s+GENERATION\s+OBSERVED\s+AGE\s+MANAGERS\n/);
    assert.match(out, /demo\s+0a1b2c3d\s+\S+·\S+\s+4\s+-\s+\S+\s+kubectl,helm\n/);
    assert.ok(!out.includes('123456'));
    assert.ok((await finished('get', 'cm', '--raw-tokens', ...options)).out.includes('123456'));
  });

  it('an object without a name is no answer of an API server', async () => {
    const options = await fake((request, response) =>
      request.path.endsWith('/demo') ? sendJson(response, 200, { kind: 'ConfigMap' }) : sendList(response, '9', [{}]),
    );
    for (const words of [['cm', 'demo'], ['cm'], ['cm', '-o', 'json']]) {
      const { code, out, err } = await finished('get', ...words, ...options);
      assert.deepEqual([code, out], [9, '']);
      assert.match(err, /an object that has no name/);
    }
  });

  it('an object that is nested deeply does not keep the others from being seen', async () => {
    const levels = 6000;
    const deep = '{"a":'.repeat(levels) + '12345678901234567890' + '}'.repeat(levels);
    const meta = (name: string): string =>
      `"metadata":{"name":"${name}","namespace":"ns","uid":"0a1b2c3d-0000-4000-8000-00000000000${name.length}","resourceVersion":"7"}`;
    const list = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{${meta('deep')},"spec":${deep}},{${meta('a')}}]}`;
    const options = await fake((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (!request.isWatch) response.end(list);
      else
        response.write(
          `{"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1",${meta('deeper')},"spec":${deep}}}\n`,
        );
    });
    const got = await finished('get', 'cm', ...options);
    assert.equal(got.code, 0, got.err);
    assert.match(got.out, /\ndeep [^]*\na /);
    const run = start('watch', 'cm', '--trace', join(folder, 'deep.trace'), ...options);
    while (!run.err.includes('deeper')) await delay(20);
    run.interrupt();
    await run.ended;
    assert.match(run.err, /configmaps ns\/deep is left out: it is nested more than \d+ levels deep/);
    for (const name of ['deep ', 'a ', 'deeper ']) assert.ok(run.out.includes(name), name);
  });

  it('get -o json prints one document, with raw tokens', async () => {
    const options = await fake((request, response) =>
      request.path.endsWith('/demo')
        ? sendJson(response, 200, configMap('demo', 'u1', 'W/"x"'))
        : sendList(response, '9', [configMap('demo', 'u1', 'W/"x"')]),
    );
    const list = JSON.parse((await finished('get', 'cm', '-o', 'json', ...options)).out) as {
      kind: string;
      items: { token: string; uid: string }[];
    };
    assert.equal(list.kind, 'ConfigMap');
    assert.deepEqual(
      list.items.map(({ uid, token }) => [uid, token]),
      [['u1', 'W/"x"']],
    );
    const one = JSON.parse((await finished('get', 'cm', 'demo', '-o', 'json', ...options)).out) as {
      name: string;
      token: string;
    };
    assert.deepEqual([one.name, one.token], ['demo', 'W/"x"']);
    assert.equal((await finished('get', 'cm/demo', ...options)).out.split('\n').length, 3);
  });

  const failures: [string, number, string, FakeHandler][] = [
    ['401', 5, 'credentials', (_request, response) => sendStatus(response, 401, 'Unauthorized')],
    ['403', 5, 'not allow', (_request, response) => sendStatus(response, 403, 'Forbidden')],
    [
      '404 of the object',
      8,
      'no ConfigMap',
      (_request, response) => sendStatus(response, 404, 'NotFound', { details: { name: 'demo' } }),
    ],
    [
      'a web page',
      9,
      'web page',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['a broken connection', 9, 'broke', (_request, response) => void response.destroy()],
  ];
  for (const [what, code, says, handler] of failures) {
    it(`${what}: exit code ${code}, one sentence, no credential`, async () => {
      const run = await finished('get', 'cm', 'demo', ...(await fake(handler)));
      assert.equal(run.code, code, run.err);
      assert.match(run.err, new RegExp(says));
      assert.equal(run.err.trim().split('\n').length, 1);
      assert.equal(run.out, '');
      assert.ok(!run.err.includes('secret-token'));
    });
  }

  it('an unreachable server, an unknown context and an unknown resource each say what to do', async () => {
    const options = await fake((_request, response) => sendStatus(response, 500, ''));
    assert.match((await finished('get', 'cm', '--context', 'nope', ...options)).err, /no context "nope".*It has: main/);
    assert.match((await finished('get', 'configmpas', ...options)).err, /Did you mean configmaps\?/);
    await server?.stop();
    server = undefined;
    const { code, err } = await finished('get', 'cm', ...options);
    assert.equal(code, 9);
    assert.match(err, /ECONNREFUSED/);
  });

  it('watch prints what happens, keeps it in a trace, and ends when interrupted', async () => {
    const options = await fake((request, response) => {
      if (!request.isWatch) return sendList(response, '5', [configMap('a', 'u1', '1')]);
      beginWatch(response);
      if (server?.watches().length === 1) {
        response.end(
          line('MODIFIED', configMap('a', 'u1', '2')) + line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }),
        );
      }
      return undefined;
    });
    const trace = join(folder, 'trace.jsonl');
    const run = start('watch', 'cm', '--trace', trace, '--raw-tokens', ...options);
    await until(() => server?.watches().length === 2);
    await until(() => run.out.includes('ends'));
    run.interrupt();
    await run.ended;
    assert.match(run.out, /LISTED\s+configmaps\/ns\/a\s+u1\s+1/);
    assert.match(run.out, /MODIFIED\s+configmaps\/ns\/a\s+u1\s+2/);
    assert.match(run.out, /GAP\s+configmaps: begins \(expired/);
    const reader = new TraceReader();
    const events: TraceEvent[] = [...reader.push(await readFile(trace, 'utf8')), ...reader.end()];
    assert.deepEqual(reader.problems, []);
    assert.deepEqual(
      events.map((event) => event.type),
      ['observed', 'observed', 'gap', 'observed', 'gap', 'note'],
    );
    const last = events.at(-1);
    assert.equal(last?.type === 'note' ? last.mark : undefined, 'recording-ended');
    assert.deepEqual(
      events.map((event) => event.seq),
      [1, 2, 3, 4, 5, 6],
    );
    assert.deepEqual(
      Object.values(reader.header?.clusters ?? {}).map(({ label }) => label),
      ['main'],
    );
  });

  it('watch -o json prints the events as JSON Lines, and nothing of a Secret', async () => {
    const options = await fake((request, response) => {
      if (!request.isWatch) return sendList(response, '5', [configMap('a', 'u1', '1')]);
      return beginWatch(response);
    });
    const run = start('watch', 'cm', '-o', 'json', ...options);
    await until(() => run.out.includes('\n'));
    run.interrupt();
    await run.ended;
    const event = JSON.parse(run.out) as TraceEvent;
    assert.equal(event.type, 'observed');
    assert.equal(event.seq, 1);
  });

  it('watch says when a server is in trouble and goes on; a refusal at the start ends it', async () => {
    const options = await fake((request, response) => {
      if (request.isWatch) return beginWatch(response);
      if (server?.lists().filter(({ path }) => !isDiscovery(path)).length === 1)
        return sendStatus(response, 503, 'ServiceUnavailable');
      return sendList(response, '5', [configMap('a', 'u1', '1')]);
    });
    const run = start('watch', 'cm', ...options);
    await until(() => run.out.includes('LISTED'));
    run.interrupt();
    await run.ended;
    assert.match(run.err, /configmaps: The API server cannot answer at the moment.*next try in/);
    await server?.stop();
    const refused = await finished(
      'watch',
      'cm',
      ...(await fake((_request, response) => sendStatus(response, 403, 'Forbidden'))),
    );
    assert.equal(refused.code, 5);
  });

  it('a trace that cannot be written is said before anything is watched', async () => {
    const options = await fake((_request, response) => sendList(response, '5', []));
    const run = await finished('watch', 'cm', '--trace', join(folder, 'no', 'such', 'folder'), ...options);
    assert.equal(run.code, 1);
    assert.match(run.err, /cannot be written/);
    assert.equal(server?.watches().length, 0);
  });
});

describe('get and watch on the real API server', function () {
  this.timeout(60_000);
  let server: ApiServer;
  let folder: string;
  let options: string[];

  before(async function () {
    server = await sharedApiServer(this);
    folder = await mkdtemp(join(tmpdir(), 'object-versions-cli-real-'));
    options = ['--kubeconfig', await server.kubeconfig(join(folder, 'config'))];
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('a Secret’s values never leave the watch', async () => {
    const namespace = await createNamespace(server);
    const value = 'correct horse battery staple';
    await requestJson(server, 'POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 's' },
      stringData: { password: value },
    });
    const trace = join(folder, 'secrets.jsonl');
    const run = start('watch', 'secrets', 'cm', '-n', namespace, '-o', 'json', '--trace', trace, ...options);
    await until(() => run.out.includes('"s"'));
    await plainRequest(
      server,
      'PATCH',
      `/api/v1/namespaces/${namespace}/secrets/s`,
      { stringData: { password: `${value}!` } },
      'application/merge-patch+json',
    );
    await until(() => run.out.includes('MODIFIED'));
    run.interrupt();
    await run.ended;
    for (const text of [run.out, await readFile(trace, 'utf8')]) {
      assert.ok(!text.includes(value));
      assert.ok(!text.includes(Buffer.from(value).toString('base64').slice(0, 20)));
    }
  });

  it('get finds cluster-scoped and namespaced resources, and whole generations', async () => {
    const namespace = await createNamespace(server);
    const spec = {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    await requestJson(server, 'POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: 'web' },
      spec,
    });
    await plainRequest(
      server,
      'PATCH',
      `/apis/apps/v1/namespaces/${namespace}/deployments/web/status`,
      { status: { observedGeneration: 1 } },
      'application/merge-patch+json',
    );
    const run = await finished('get', 'deploy', '-n', namespace, ...options);
    assert.match(run.out, /web\s+[0-9a-f]{8}\s+\S+\s+1\s+1\s/);
    assert.match((await finished('get', 'ns', ...options)).out, /kube-system/);
    assert.match((await finished('get', 'deploy', '-A', ...options)).out, /^NAMESPACE\s+NAME/);
    assert.match((await finished('get', 'cm', '-n', namespace, ...options)).err, /No configmaps in namespace/);
    await requestJson(server, 'POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'web' } });
    const both = await finished('get', 'deploy,cm', '-n', namespace, ...options);
    assert.match(both.out, /^deployments\.apps\nNAME[^\n]+\nweb [^\n]+\n\nconfigmaps\nNAME[^\n]+\nweb /);
    const lines = (await finished('get', 'deploy,cm', 'web', '-o', 'json', '-n', namespace, ...options)).out;
    assert.deepEqual(
      lines
        .trimEnd()
        .split('\n')
        .map((one) => {
          const { kind, name } = JSON.parse(one) as { kind: string; name: string };
          return [kind, name];
        }),
      [
        ['Deployment', 'web'],
        ['ConfigMap', 'web'],
      ],
    );
    for (const text of ['deploy,', ',cm', 'deploy,,cm'])
      assert.equal((await finished('get', text, '-n', namespace, ...options)).code, 2, text);
    const watched = start('watch', 'deploy,cm', '-n', namespace, '-o', 'json', ...options);
    await until(() => watched.out.includes('"ConfigMap"') && watched.out.includes('"Deployment"'));
    watched.interrupt();
    await watched.ended;
  });
});
