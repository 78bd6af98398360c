import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { AppError } from '../../src/base/appError.ts';
import { inWords } from '../../src/base/message.ts';
import { SendFailure, type Server, type ServerReply } from '../../src/base/server.ts';
import { systemClock } from '../../src/base/clock.ts';
import { parseJson, stringifyJson, type JsonObject } from '../../src/codec/json.ts';
import { connectCluster } from '../../src/kube/cluster.ts';
import { translateWith } from '../../src/core/timeline/translate.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { classifyReply, type RequestFacts } from '../../src/write/classify.ts';
import { createObject } from '../../src/write/createObject.ts';
import { deleteObject } from '../../src/write/deleteObject.ts';
import { modify } from '../../src/write/modify.ts';
import type { ModifyOptions } from '../../src/write/options.ts';
import { finalOutcomes, type AttemptOutcome, type FinalOutcome } from '../../src/write/outcome.ts';
import { printReport } from '../../src/write/report.ts';
import { describeTarget, type Target } from '../../src/write/target.ts';
import { exitCodeOf } from '../../src/cli/outcomeExit.ts';
import { FakeClock } from './fakeClock.ts';
import { FakeServer, reply, status } from './fakeServer.ts';
import { changes, RealServer, textAt } from './realServer.ts';

const put: RequestFacts = { verb: 'replace', resource: 'configmaps', terminating: false };

/** Recorded answers of the real server: the case, the step, the request, and what the answer means. */
const recorded: readonly [string, string, Partial<RequestFacts>, AttemptOutcome][] = [
  ['version/put-stale', 'stale', {}, 'version-conflict'],
  ['apply/version', 'stale', { verb: 'apply' }, 'version-conflict'],
  ['status/scale-stale', 'stale', { resource: 'deployments' }, 'version-conflict'],
  ['identity/put-uid-of-first-incarnation', 'put', {}, 'uid-mismatch'],
  ['patch/patch-identity', 'uid', { verb: 'patch' }, 'uid-mismatch'],
  ['identity/delete-precondition-uid', 'wrong', { verb: 'delete' }, 'uid-mismatch'],
  ['identity/delete-precondition-version', 'wrong', { verb: 'delete' }, 'version-conflict'],
  ['identity/put-missing-configmap', 'put', {}, 'gone'],
  ['identity/create-existing', 'again', { verb: 'create' }, 'already-exists'],
  ['apply/conflict', 'two', { verb: 'apply' }, 'field-conflict'],
  ['apply/cr-map-list', 'conflict', { verb: 'apply' }, 'field-conflict'],
  ['apply/managed-fields-in-body', 'nonNil', { verb: 'apply' }, 'invalid'],
  ['kinds/namespace-terminating', 'create', { verb: 'create' }, 'terminating'],
  ['errors/forbidden', 'update', {}, 'forbidden'],
  ['errors/namespace-missing', 'create', { verb: 'create' }, 'gone'],
  ['errors/namespace-missing', 'get', { verb: 'get' }, 'gone'],
  ['errors/method', 'putCollection', {}, 'unsupported'],
  ['errors/accept', 'xml', { verb: 'get' }, 'unsupported'],
  ['errors/content-type', 'putText', {}, 'unsupported'],
  ['patch/strategic-on-custom-resource', 'strategic', { verb: 'patch' }, 'unsupported'],
  ['errors/decode', 'malformed', { verb: 'create' }, 'invalid'],
  ['errors/invalid', 'several', { verb: 'create' }, 'invalid'],
  ['kinds/configmap-immutable', 'data', { verb: 'patch' }, 'invalid'],
  ['version/put-without-version-cr', 'put', {}, 'invalid'],
  ['patch/json-patch-test-fails', 'patch', { verb: 'patch', tests: true }, 'version-conflict'],
  ['patch/json-patch-bad-path', 'remove', { verb: 'patch', tests: false }, 'invalid'],
];

interface Golden {
  steps: { id: string; status: number; body?: JsonObject | string }[];
}

async function goldenReply(name: string, step: string): Promise<ServerReply> {
  const golden = JSON.parse(
    await readFile(new URL(`../conformance/golden/${name}.json`, import.meta.url), 'utf8'),
  ) as Golden;
  const steps = golden.steps.filter((one) => one.status >= 400);
  const found = steps.find(({ id }) => id === step) ?? steps[0];
  assert.ok(found !== undefined, `${name} has no refused step`);
  return {
    status: found.status,
    headers: {},
    body: typeof found.body === 'string' ? found.body : stringifyJson(found.body ?? null),
  };
}

describe('what an answer means', () => {
  it('a redirection comes from what stands before the server: nothing is known of a write', () => {
    const reply = { status: 302, headers: { location: '/login' }, body: '' };
    for (const [verb, outcome] of [
      ['get', 'unavailable'],
      ['replace', 'uncertain'],
    ] as const) {
      const meaning = classifyReply(reply, { verb, resource: 'configmaps', terminating: false });
      assert.equal(meaning.outcome, outcome);
      assert.match(String(meaning.message), /redirection \(302\)/);
    }
  });

  for (const [name, step, facts, outcome] of recorded) {
    it(`${name} ${step} is ${outcome}`, async () => {
      assert.equal(classifyReply(await goldenReply(name, step), { ...put, ...facts }).outcome, outcome);
    });
  }

  it('a UID that is sent to a free name is gone, on PUT and on apply', () => {
    const precondition =
      'StorageError: invalid object, Code: 4, Key: /registry/leases/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: u, UID in object meta: ';
    const onPut = status(409, 'Conflict', `Operation cannot be fulfilled on leases "a": ${precondition}`, {
      name: 'a',
      kind: 'leases',
    });
    assert.equal(classifyReply(onPut, put).outcome, 'gone');
    const onApply = status(
      409,
      'Conflict',
      'uid mismatch: the provided object specified uid u, and no existing object was found',
      { name: 'a' },
    );
    assert.equal(classifyReply(onApply, { ...put, verb: 'apply' }).outcome, 'gone');
  });

  it('a name that is still being deleted is terminating, and a quota’s conflict is not the object’s', () => {
    const terminating = status(409, 'AlreadyExists', 'object is being deleted: configmaps "a" already exists', {
      name: 'a',
      kind: 'configmaps',
    });
    assert.equal(classifyReply(terminating, { ...put, verb: 'create' }).outcome, 'terminating');
    const quota = status(
      409,
      'Conflict',
      'Operation cannot be fulfilled on resourcequotas "q": the object has been modified',
      { name: 'q', kind: 'resourcequotas' },
    );
    assert.equal(classifyReply(quota, put).outcome, 'unavailable');
    assert.equal(classifyReply(quota, { ...put, resource: 'resourcequotas' }).outcome, 'version-conflict');
  });

  it('a finalizer added too late is terminating only for an object that is being deleted', () => {
    const cause = {
      reason: 'FieldValueForbidden',
      field: 'metadata.finalizers',
      message: 'Forbidden: no new finalizers',
    };
    const refused = status(422, 'Invalid', 'ConfigMap "a" is invalid', {
      name: 'a',
      kind: 'ConfigMap',
      causes: [cause],
    });
    assert.equal(classifyReply(refused, { ...put, terminating: true }).outcome, 'terminating');
    assert.equal(classifyReply(refused, put).outcome, 'invalid');
  });

  it('of field conflicts it tells owner, operation, subresource and version apart', () => {
    const causes = [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "hpa" with subresource "scale" using apps/v1',
        field: '.spec.replicas',
      },
      { reason: 'FieldManagerConflict', message: 'conflict with "a\\"b"', field: '.data.k' },
    ];
    const { fieldConflicts } = classifyReply(status(409, 'Conflict', 'Apply failed', { causes }), {
      ...put,
      verb: 'apply',
    });
    assert.deepEqual(fieldConflicts, [
      { path: '.spec.replicas', manager: 'hpa', operation: 'Update', subresource: 'scale', apiVersion: 'apps/v1' },
      { path: '.data.k', manager: 'a"b', operation: 'Apply' },
    ]);
  });

  it('what a body cannot be typed as is invalid for an apply; any other 500 to a write is uncertain, and to a read unavailable', () => {
    const untyped = reply(500, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'failed to create typed patch object (ns/a; /v1, Kind=ConfigMap): .bogus: field not declared in schema',
      code: 500,
    });
    assert.equal(classifyReply(untyped, { ...put, verb: 'apply' }).outcome, 'invalid');
    assert.equal(classifyReply(untyped, put).outcome, 'uncertain');
    assert.equal(classifyReply(untyped, { ...put, verb: 'get' }).outcome, 'unavailable');
    assert.equal(classifyReply({ status: 502, headers: {}, body: '<html>' }, put).outcome, 'uncertain');
    assert.equal(classifyReply({ status: 503, headers: {}, body: 'upstream reset' }, put).outcome, 'uncertain');
    const read = { ...put, verb: 'get' } as const;
    assert.equal(classifyReply({ status: 503, headers: {}, body: 'upstream reset' }, read).outcome, 'unavailable');
    assert.equal(
      classifyReply(status(504, 'Timeout', 'request did not complete', undefined), put).outcome,
      'uncertain',
    );
  });

  it('the wait that a server asks for is its header’s, else its Status’s', () => {
    const asked = status(429, 'TooManyRequests', 'slow down', { retryAfterSeconds: 7 });
    assert.equal(classifyReply(asked, put).retryAfterMs, 7000);
    assert.equal(classifyReply({ ...asked, headers: { 'retry-after': '2' } }, put).retryAfterMs, 2000);
    assert.equal(classifyReply(status(503, 'ServiceUnavailable', '', undefined), put).retryAfterMs, undefined);
  });

  it('every answer has a meaning, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.oneof(fc.string(), fc.json(), fc.constant('{"kind":"Status","details":{"causes":[null,1,{}]}}')),
        fc.constantFrom('get', 'create', 'replace', 'patch', 'apply', 'delete'),
        (code, body, verb) => {
          const { outcome } = classifyReply({ status: code, headers: {}, body }, { ...put, verb });
          assert.ok(typeof outcome === 'string');
        },
      ),
    );
  });

  it('every final outcome has an exit code', () => {
    const expected: Record<FinalOutcome, number> = {
      written: 0,
      unchanged: 0,
      'needs-decision': 3,
      'field-conflict': 3,
      'already-exists': 3,
      'partly-written': 3,
      contended: 4,
      unauthenticated: 5,
      forbidden: 5,
      invalid: 6,
      unsupported: 6,
      'too-large': 6,
      unknown: 7,
      gone: 8,
      recreated: 8,
      terminating: 8,
      unavailable: 9,
      throttled: 9,
      'timed-out': 9,
      cancelled: 130,
    };
    for (const outcome of finalOutcomes) assert.equal(exitCodeOf(outcome), expected[outcome]);
  });
});

const target: Target = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  namespace: 'lab',
  name: 'demo',
};

/** A write of one key against a server that answers writes, or reads, with what is injected. */
async function inject(
  faults: { write?: () => ServerReply | Error | undefined; read?: () => ServerReply | Error | undefined },
  options: Partial<ModifyOptions> = {},
): Promise<{ report: Awaited<ReturnType<typeof modify>>; clock: FakeClock; requests: string[] }> {
  const fake = new FakeServer();
  fake.create({ data: { a: '1' } });
  const clock = new FakeClock();
  const requests: string[] = [];
  const server: Server = {
    send: async (request) => {
      requests.push(request.method);
      const fault = request.method === 'GET' ? faults.read?.() : faults.write?.();
      if (fault instanceof Error) throw fault;
      return fault ?? fake.answer(request);
    },
  };
  const report = await modify(server, target, changes({ 'data/a': '2' }), { clock, ...options });
  return { report, clock, requests };
}

describe('how a write ends', () => {
  const details = { name: 'demo', kind: 'configmaps' };
  const finalAtOnce: readonly [string, ServerReply, FinalOutcome][] = [
    ['401', status(401, 'Unauthorized', 'Unauthorized', undefined), 'unauthenticated'],
    ['403', status(403, 'Forbidden', 'configmaps "demo" is forbidden', details), 'forbidden'],
    ['400', status(400, 'BadRequest', 'bad', undefined), 'invalid'],
    [
      '422',
      status(422, 'Invalid', 'ConfigMap "demo" is invalid', {
        ...details,
        causes: [{ reason: 'FieldValueInvalid', field: 'data[a b]', message: 'x' }],
      }),
      'invalid',
    ],
    ['404 of the object', status(404, 'NotFound', 'configmaps "demo" not found', details), 'gone'],
    ['404 of the type', status(404, 'NotFound', 'the server could not find the requested resource', {}), 'unsupported'],
    ['404 that is no Status', { status: 404, headers: {}, body: '404 page not found\n' }, 'unsupported'],
    ['405', status(405, 'MethodNotAllowed', 'no', {}), 'unsupported'],
    ['413', status(413, 'RequestEntityTooLarge', 'Request entity too large', undefined), 'too-large'],
    ['415', status(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}), 'unsupported'],
  ];
  for (const [what, answer, outcome] of finalAtOnce) {
    it(`${what} to a write is ${outcome}, after one write`, async () => {
      const { report, requests } = await inject({ write: () => answer });
      assert.equal(report.outcome, outcome);
      assert.deepEqual(requests, ['GET', 'PUT']);
      assert.equal(report.attempts[0]?.code, answer.status);
    });

    it(`${what} to the read is ${outcome}, and nothing is written`, async () => {
      const { report, requests } = await inject({ read: () => answer });
      assert.equal(report.outcome, outcome);
      assert.deepEqual(requests, ['GET']);
    });
  }

  it('the causes of a 422 are in the report with their fields', async () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.ports[0].port', message: 'Invalid value: 0' }];
    const { report } = await inject({
      write: () => status(422, 'Invalid', 'no', { ...details, causes: [...causes, ...causes] }),
    });
    assert.deepEqual(report.causes, causes);
  });

  it('429 waits as long as asked, and ends throttled at the bound', async () => {
    const { report, clock } = await inject({
      write: () => ({ ...status(429, 'TooManyRequests', 'slow', undefined), headers: { 'retry-after': '3' } }),
    });
    assert.equal(report.outcome, 'throttled');
    assert.equal(report.attempts.length, 5);
    assert.deepEqual(clock.pauses, [3000, 3000, 3000, 3000]);
  });

  it('a wait that is longer than the time that is left is not begun', async () => {
    const { report, clock } = await inject({
      write: () => ({ ...status(429, 'TooManyRequests', 'slow', undefined), headers: { 'retry-after': '60' } }),
    });
    assert.equal(report.outcome, 'throttled');
    assert.equal(report.attempts.length, 1);
    assert.deepEqual(clock.pauses, []);
  });

  it('503 is asked again and written when the server is back', async () => {
    let count = 0;
    const { report } = await inject({
      write: () => {
        count += 1;
        return count < 3 ? status(503, 'ServiceUnavailable', 'not yet', undefined) : undefined;
      },
    });
    assert.equal(report.outcome, 'written');
    assert.deepEqual(
      report.attempts.map(({ outcome }) => outcome),
      ['unavailable', 'unavailable', 'written'],
    );
  });

  it('a connection that does not come about is unavailable, and never uncertain', async () => {
    const { report } = await inject({ write: () => new SendFailure('connection refused', 'no') });
    assert.equal(report.outcome, 'unavailable');
  });

  it('a read that breaks off is asked again', async () => {
    let count = 0;
    const { report } = await inject({
      read: () => {
        count += 1;
        if (count === 1) return new SendFailure('cut', 'maybe');
        return undefined;
      },
    });
    assert.equal(report.outcome, 'written');
    assert.deepEqual(
      report.attempts.map(({ outcome }) => outcome),
      ['unavailable', 'written'],
    );
  });

  it('an answer of success that cannot be read is settled by reading', async () => {
    const fake = new FakeServer();
    fake.create({ data: { a: '1' } });
    const methods: string[] = [];
    const server: Server = {
      send: async (request) => {
        methods.push(request.query?.['watch'] === 'true' ? 'WATCH' : request.method);
        const answer = fake.answer(request);
        return request.method === 'PUT' ? { ...answer, body: '{"kind":' } : answer;
      },
    };
    const report = await modify(server, target, changes({ 'data/a': '2' }), { clock: new FakeClock() });
    assert.equal(report.outcome, 'written');
    assert.deepEqual(methods, ['GET', 'PUT', 'GET', 'WATCH']);
  });

  it('a script that fails, or gives no object, is an error of the script', async () => {
    const fake = new FakeServer();
    fake.create({ data: {} });
    const server: Server = { send: async (request) => fake.answer(request) };
    const failing = async (compute: () => JsonObject): Promise<void> => {
      await assert.rejects(
        modify(server, target, { kind: 'function', compute }, { clock: new FakeClock() }),
        (error) => error instanceof AppError && error.code === 'script-failed',
      );
    };
    await failing(() => {
      throw new Error('boom');
    });
    await failing(() => [] as unknown as JsonObject);
    await failing(() => undefined as unknown as JsonObject);
  });

  it('what JSON cannot hold is not sent as something else, and a Secret is not quoted', async () => {
    const fake = new FakeServer();
    fake.create({ data: {} });
    const sent: string[] = [];
    const server: Server = {
      send: async (request) => {
        sent.push(request.method);
        return fake.answer(request);
      },
    };
    const itself: Record<string, unknown> = {};
    itself['self'] = itself;
    const values = [Number.NaN, Infinity, () => 1, Symbol('s'), new Date(0), new Map(), [undefined], itself];
    for (const value of values) {
      const compute = (object: JsonObject): JsonObject => ({ ...object, data: { a: value } }) as unknown as JsonObject;
      await assert.rejects(modify(server, target, { kind: 'function', compute }, { clock: new FakeClock() }), {
        code: 'script-failed',
        message: value === itself ? /nested too deeply, or holds itself/ : /\.data\.a/,
      });
    }
    assert.deepEqual([...new Set(sent)], ['GET']);
    const compute = (object: JsonObject): JsonObject =>
      ({ ...object, data: { kept: '1', gone: undefined } }) as unknown as JsonObject;
    const report = await modify(server, target, { kind: 'function', compute }, { clock: new FakeClock() });
    assert.deepEqual([report.outcome, report.object?.['data']], ['written', { kept: '1' }]);
    const failing = (): JsonObject => JSON.parse('HUNTER2') as JsonObject;
    for (const kind of ['Secret', 'ConfigMap']) {
      const secret = { ...target, kind, resource: `${kind.toLowerCase()}s` };
      const run = modify(server, secret, { kind: 'function', compute: failing }, { clock: new FakeClock() });
      await assert.rejects(
        run,
        (error) => error instanceof AppError && /HUNTER2/.test(inspect(error)) === (kind !== 'Secret'),
      );
    }
  });

  it('a change of what locates the object is refused before anything is sent', async () => {
    for (const path of ['metadata/name', 'metadata/namespace', 'kind', 'apiVersion']) {
      const fake = new FakeServer();
      fake.create({ data: {} });
      const methods: string[] = [];
      const server: Server = {
        send: async (request) => {
          methods.push(request.method);
          return fake.answer(request);
        },
      };
      const report = await modify(server, target, changes({ [path]: 'other' }), { clock: new FakeClock() });
      assert.equal(report.outcome, 'invalid', path);
      assert.deepEqual(
        report.causes?.map(({ field }) => field),
        [path.replace('/', '.')],
      );
      assert.deepEqual(methods, ['GET']);
    }
  });

  it('what a person edits of UID, version and managed fields is not sent', async () => {
    const fake = new FakeServer();
    const stored = fake.create({ data: { a: '1' } });
    let body: JsonObject = {};
    const server: Server = {
      send: async (request) => {
        if (request.body !== undefined) body = parseJson(request.body) as JsonObject;
        return fake.answer(request);
      },
    };
    const desired = {
      ...stored,
      data: { a: '2' },
      metadata: { name: 'demo', namespace: 'lab', resourceVersion: 'mine', uid: 'mine' },
    };
    const report = await modify(server, target, { kind: 'edits', base: stored, desired }, { clock: new FakeClock() });
    assert.equal(report.outcome, 'written');
    assert.deepEqual(body['metadata'], stored['metadata']);
  });

  it('a cancel ends it at once, in the middle of a read, a write and a pause', async () => {
    for (const during of ['GET', 'PUT', 'pause']) {
      const fake = new FakeServer();
      fake.create({ data: { a: '1' } });
      const stop = new AbortController();
      const server: Server = {
        send: (request, signal) =>
          new Promise((resolve, reject) => {
            if (during === 'pause' && request.method === 'PUT') {
              resolve(status(503, 'ServiceUnavailable', 'x', undefined));
              setImmediate(() => stop.abort());
            } else if (request.method === during) {
              signal.addEventListener('abort', () => reject(new AppError('cancelled', 'Cancelled.')));
              setImmediate(() => stop.abort());
            } else resolve(fake.answer(request));
          }),
      };
      const options = {
        clock: { ...systemClock, random: () => 0.9 },
        signal: stop.signal,
        backoff: { baseMs: 60_000, capMs: 60_000 },
        timeoutMs: 120_000,
      };
      const report = await modify(server, target, changes({ 'data/a': '2' }), options);
      assert.equal(report.outcome, 'cancelled', during);
      assert.equal(String(report.message).includes('may have been stored'), during === 'PUT', during);
    }
  });

  it('an object that is nested too deeply is not edited, in one sentence', async () => {
    const deep = `{"kind":"Thing","metadata":{"name":"d","uid":"u","resourceVersion":"1"},"spec":${'{"a":'.repeat(4000)}1${'}'.repeat(4000)}}`;
    const server: Server = { send: () => Promise.resolve({ status: 200, headers: {}, body: deep }) };
    const report = await modify(server, target, changes({ 'data/a': '2' }), { clock: systemClock });
    assert.equal(report.outcome, 'unsupported');
    assert.match(String(report.message), /cannot be edited: it is nested more than 500 levels deep\.$/);
    const gone = await deleteObject(server, { ...target, uid: 'u' }, { clock: systemClock });
    assert.equal(gone.outcome, 'written', 'it can be deleted');
  });

  it('a server that never answers ends timed-out for a read, and unknown for a write, within the time limit', async () => {
    for (const [method, outcome] of [
      ['GET', 'timed-out'],
      ['PUT', 'unknown'],
    ] as const) {
      const fake = new FakeServer();
      fake.create({ data: { a: '1' } });
      let wrote = false;
      const server: Server = {
        send: (request, signal) =>
          new Promise((resolve, reject) => {
            wrote ||= request.method === 'PUT';
            if (request.method === method || wrote)
              signal.addEventListener('abort', () => reject(new AppError('cancelled', 'Cancelled.')));
            else resolve(fake.answer(request));
          }),
      };
      const begin = Date.now();
      const report = await modify(server, target, changes({ 'data/a': '2' }), { clock: systemClock, timeoutMs: 300 });
      assert.equal(report.outcome, outcome);
      assert.ok(Date.now() - begin < 1500);
    }
  });
});

describe('how a write ends on the real server', function () {
  this.timeout(60_000);
  let real: RealServer;

  before(async function () {
    real = await RealServer.start(this);
  });
  after(async () => real?.stop());

  const as = async <T>(text: (kubeconfig: string) => string, use: (server: Server) => Promise<T>): Promise<T> => {
    const folder = await mkdtemp(join(tmpdir(), 'object-versions-as-'));
    const file = join(folder, 'kubeconfig');
    await writeFile(file, text(await readFile(real.kubeconfig, 'utf8')));
    const cluster = connectCluster(loadKubeconfig({ paths: [file], env: {}, home: '/' }), {
      userAgent: 'write-test',
      clock: systemClock,
      env: {},
    });
    try {
      return await use(cluster);
    } finally {
      cluster.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  };

  it('a wrong token is unauthenticated, and a user without rights forbidden', async () => {
    const one = real.configMap('rights');
    await real.create(one, {});
    const options = { clock: systemClock };
    const wrong = await as(
      (text) => text.replace(real.server.token, 'wrong'),
      async (server) => modify(server, one, changes({ 'data/a': '1' }), options),
    );
    assert.equal(wrong.outcome, 'unauthenticated');
    const alice = await as(
      (text) => text.replace(real.server.token, real.server.userToken),
      async (server) => modify(server, one, changes({ 'data/a': '1' }), options),
    );
    assert.equal(alice.outcome, 'forbidden');
  });

  it('a body beyond the server’s limit is too large', async () => {
    const one = real.configMap('large');
    await real.create(one, {});
    const { report } = await real.modify(one, changes({ 'data/a': 'x'.repeat(4 * 1024 * 1024) }));
    assert.equal(report.outcome, 'too-large');
    const middle = await real.modify(one, changes({ 'data/a': 'x'.repeat(1024 * 1024 + 1) }));
    assert.equal(middle.report.outcome, 'invalid');
  });

  it('a missing object and a missing resource type are told apart', async () => {
    const missing = await real.modify(real.configMap('nobody'), changes({ 'data/a': '1' }));
    assert.equal(missing.report.outcome, 'gone');
    const name = describeTarget(real.configMap('nobody'));
    assert.match(printReport(missing.report), new RegExp(`"message":"${name} does not exist: its name is free."`));
    const german = translateWith(
      JSON.parse(readFileSync('l10n/bundle.l10n.de.json', 'utf8')) as Record<string, string>,
    );
    assert.equal(inWords(missing.report.message ?? '', german), `${name} gibt es nicht: Der Name ist frei.`);
    const type = await real.modify({ ...real.configMap('x'), resource: 'nothings' }, changes({ 'data/a': '1' }));
    assert.equal(type.report.outcome, 'unsupported');
    const group = await real.modify(
      { ...real.configMap('x'), group: 'no.example', version: 'v1' },
      changes({ 'data/a': '1' }),
    );
    assert.equal(group.report.outcome, 'unsupported');
  });

  it('an immutable field is invalid, with the cause at its field', async () => {
    const one = real.target('apps', 'v1', 'deployments', 'Deployment', 'fixed');
    const labels = { app: 'a' };
    await real.create(one, {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    const { report } = await real.modify(one, changes({ 'spec/selector/matchLabels/app': 'b' }));
    assert.equal(report.outcome, 'invalid');
    assert.ok(
      report.causes?.some(({ field }) => field === 'spec.selector'),
      JSON.stringify(report.causes),
    );
  });

  it('a create in a namespace that is being deleted is terminating', async () => {
    const created = await real.send('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { generateName: 'ending-' },
    });
    const namespace = textAt(created, 'metadata', 'name');
    await real.send('DELETE', `/api/v1/namespaces/${namespace}`);
    const one = { ...real.configMap('late'), namespace };
    const report = await createObject(real.cluster, one, { metadata: { name: 'late' } }, { clock: systemClock });
    assert.equal(report.outcome, 'terminating');
  });

  it('an apply that the schema cannot type is invalid, and sent once', async () => {
    const one = real.configMap('untyped');
    await real.create(one, {});
    const { report, writes } = await real.modify(one, changes({ bogus: 1 }), { strategy: 'apply' });
    assert.equal(report.outcome, 'invalid');
    assert.equal(report.attempts[0]?.code, 500);
    assert.equal(writes.length, 1);
  });
});
