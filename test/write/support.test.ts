import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AppError } from '../../src/base/appError.ts';
import type { Server } from '../../src/base/server.ts';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { noListSchema, type ListSchema } from '../../src/core/listSchema.ts';
import { formatPath, parsePath, valueAt, type Path } from '../../src/codec/path.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { associationsFrom, decide, declare, stateOf, type Association } from '../../src/core/associations.ts';
import { backoffFor, backoffMs } from '../../src/write/backoff.ts';
import { withBudget } from '../../src/write/budget.ts';
import { modify } from '../../src/write/modify.ts';
import { matchesPattern } from '../../src/core/pattern.ts';
import { editPaths, removeAt, setAt } from '../../src/write/pathEdit.ts';
import { isProtected, readOnly } from '../../src/write/protect.ts';
import {
  addFinalizer,
  releaseClaim,
  removeFinalizer,
  scaleTo,
  setAnnotation,
  setImage,
  setLabel,
} from '../../src/write/readyEdits.ts';
import { printReport } from '../../src/write/report.ts';
import {
  breachesOf,
  readResponsibilities,
  responsibilityPresets,
  type Responsibility,
} from '../../src/core/responsibility.ts';
import { contentForNewLife, restoreIntent } from '../../src/write/restore.ts';
import type { Target } from '../../src/write/target.ts';
import { winnersBetween } from '../../src/write/winners.ts';
import { FakeClock } from './fakeClock.ts';
import { FakeServer } from './fakeServer.ts';
import { changes } from './realServer.ts';

const target: Target = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  namespace: 'lab',
  name: 'demo',
};

function path(text: string): Path {
  const parsed = parsePath(text);
  assert.ok('path' in parsed, text);
  return parsed.path;
}

describe('edits by path', () => {
  const set = (root: Json, at: string, value: Json): Json | string => {
    const edited = setAt(root, path(at), value);
    return 'value' in edited ? edited.value : String(edited.problem);
  };
  const problem = (root: Json, at: string, value: Json): string => {
    const edited = setAt(root, path(at), value);
    return 'problem' in edited ? String(edited.problem) : '';
  };
  const remove = (root: Json, at: string): Json | string => {
    const edited = removeAt(root, path(at));
    return 'value' in edited ? edited.value : String(edited.problem);
  };

  it('make what is missing on the way', () => {
    assert.deepEqual(set({}, '.a.b["c.d"]', 1), { a: { b: { 'c.d': 1 } } });
    assert.deepEqual(set({ a: null }, '.a.b', 1), { a: { b: 1 } });
    assert.deepEqual(set({}, '.l[name="x"].v', 1), { l: [{ name: 'x', v: 1 }] });
    assert.deepEqual(set({}, '.l[="x"]', 'x'), { l: ['x'] });
    assert.deepEqual(set({}, '/l/-', 'x'), { l: ['x'] });
  });

  it('find items by key, value and position', () => {
    const list = { l: [{ name: 'a' }, { name: 'b' }] };
    assert.deepEqual(set(list, '.l[name="b"].v', 1), { l: [{ name: 'a' }, { name: 'b', v: 1 }] });
    assert.deepEqual(set(list, '.l[1].v', 1), { l: [{ name: 'a' }, { name: 'b', v: 1 }] });
    assert.deepEqual(set(list, '/l/2', 'c'), { l: [...list.l, 'c'] });
    assert.deepEqual(set({ data: { 0: 'a' } }, '/data/0', 'b'), { data: { 0: 'b' } });
    assert.deepEqual(remove(list, '.l[name="a"]'), { l: [{ name: 'b' }] });
    assert.deepEqual(remove({ f: ['x', 'y'] }, '.f[="x"]'), { f: ['y'] });
  });

  it('remove nothing where nothing is, and never make anything by removing', () => {
    for (const at of ['.x', '.x.y.z', '.a.x', '.l[3]', '.l[name="x"].y', '.l[="x"]']) {
      assert.deepEqual(remove({ a: {}, l: ['a'] }, at), { a: {}, l: ['a'] }, at);
    }
  });

  it('say where a path leads nowhere', () => {
    assert.match(problem({ a: 1 }, '.a.b', 1), /\.a\.b leads nowhere: \.a is a single value/);
    assert.match(problem({ l: [] }, '.l.b', 1), /leads nowhere/);
    assert.match(problem({ l: [1] }, '.l[5]', 1), /the list ends at 1/);
    assert.match(problem({ m: {} }, '.m[name="x"]', 1), /a map, not a list/);
  });

  it('read back what was set, and change nothing else', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c.d', '__proto__'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, fc.jsonValue(), (fields, value) => {
        const root = { kept: { x: 1 } };
        const steps = fields.map((field) => ({ field }));
        const edited = setAt(root, steps, value as Json);
        assert.ok('value' in edited);
        assert.deepEqual(valueAt(edited.value, steps), value);
        assert.deepEqual(valueAt(edited.value, path('.kept')), { x: 1 });
        assert.deepEqual(root, { kept: { x: 1 } });
      }),
    );
  });

  it('are done in order', () => {
    const edited = editPaths(
      { a: 1 },
      [
        [path('.b'), 2],
        [path('.b'), 3],
      ],
      [path('.a')],
    );
    assert.deepEqual(edited, { value: { b: 3 } });
  });
});

describe('backoff', () => {
  it('is random between nothing and a bound that doubles up to the cap', () => {
    const backoff = { baseMs: 100, capMs: 1000 };
    assert.deepEqual(
      [1, 2, 3, 4, 5, 60].map((attempt) => backoffMs(attempt, backoff, 1)),
      [100, 200, 400, 800, 1000, 1000],
    );
    assert.equal(backoffMs(3, backoff, 0), 0);
    assert.equal(backoffMs(3, backoff, 0.5), 200);
  });
});

describe('backoff on a slow server', () => {
  it('grows with the time that an attempt takes, and never below what is set', () => {
    assert.deepEqual(backoffFor({ baseMs: 100, capMs: 2000 }, 10), { baseMs: 100, capMs: 2000 });
    assert.deepEqual(backoffFor({ baseMs: 100, capMs: 2000 }, 1000), { baseMs: 2000, capMs: 8000 });
  });
});

describe('ready edits', () => {
  it('scale by the scale endpoint where there is one', () => {
    assert.equal(scaleTo(3, ['scale']).subresource, 'scale');
    assert.equal(scaleTo(3, ['status']).subresource, undefined);
  });

  it('find containers where each kind keeps them', () => {
    const containers = [{ name: 'web', image: 'w:1' }];
    const at = (object: JsonObject): string | undefined => {
      const edit = setImage(object, 'web', 'w:2');
      return edit?.intent.kind === 'changes' ? edit.intent.set.map(([where]) => formatPath(where)).join() : undefined;
    };
    assert.equal(at({ spec: { containers } }), '.spec.containers[name="web"].image');
    assert.equal(
      at({ spec: { template: { spec: { initContainers: containers } } } }),
      '.spec.template.spec.initContainers[name="web"].image',
    );
    assert.equal(
      at({ spec: { jobTemplate: { spec: { template: { spec: { containers } } } } } }),
      '.spec.jobTemplate.spec.template.spec.containers[name="web"].image',
    );
    assert.equal(at({ spec: {} }), undefined);
  });

  it('set, remove and add exactly one thing', async () => {
    const fake = new FakeServer();
    fake.create({ metadata: { labels: { a: '1', b: '2' }, finalizers: ['x/x', 'y/y'] } });
    const server: Server = { send: async (request) => fake.answer(request) };
    const options = { clock: new FakeClock() };
    for (const { intent } of [
      setLabel('a'),
      setLabel('c', '3'),
      setAnnotation('n', '1'),
      removeFinalizer('x/x'),
      addFinalizer('z/z'),
      addFinalizer('z/z'),
    ]) {
      assert.ok(['written', 'unchanged'].includes((await modify(server, target, intent, options)).outcome));
    }
    const metadata = fake.object?.['metadata'] as JsonObject;
    assert.deepEqual(
      [metadata['labels'], metadata['annotations'], metadata['finalizers']],
      [{ b: '2', c: '3' }, { n: '1' }, ['y/y', 'z/z']],
    );
  });

  it('free a volume only where it is bound', () => {
    assert.equal(releaseClaim({ spec: { claimRef: { name: 'a' } } }), undefined);
    assert.equal(releaseClaim({ spec: {} }), undefined);
  });
});

describe('responsibility', () => {
  const rule: Responsibility = { kind: 'Toy', path: '.spec.size', manager: 'sizer*', reason: 'it sizes' };
  const owned = (manager: string): JsonObject => ({
    spec: { replicas: 3, size: 1 },
    metadata: {
      managedFields: [
        {
          manager,
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-01-01T00:00:00Z',
          fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        },
      ],
    },
  });

  it('speaks up where somebody else changes the field, something beneath it, or all that holds it', () => {
    const breaches = (at: string, manager = 'me', kind = 'Toy.example.com'): number =>
      breachesOf([rule], kind, {}, [path(at)], manager).length;
    assert.deepEqual(
      [breaches('.spec.size'), breaches('.spec.size.x'), breaches('.spec'), breaches('.spec.other')],
      [1, 1, 1, 0],
    );
    assert.deepEqual([breaches('.spec.size', 'sizer-2'), breaches('.spec.size', 'me', 'Other')], [0, 0]);
  });

  it('of an autoscaler is a preset that holds while it owns the replicas', () => {
    const at = [path('.spec.replicas')];
    assert.equal(
      breachesOf(responsibilityPresets, 'Deployment.apps', owned('kube-controller-manager'), at, 'me').length,
      1,
    );
    assert.equal(breachesOf(responsibilityPresets, 'Deployment.apps', owned('helm'), at, 'me').length, 0);
  });

  it('says which declarations do not hold, and why', () => {
    const { reason: _reason, ...unreasoned } = rule;
    const { rules, problems } = readResponsibilities([rule, { ...rule, path: '.a[' }, unreasoned, 'no object']);
    assert.deepEqual(rules, [rule]);
    assert.match(problems.join('\n'), /^2: \.a\[: .+\n3: reason is missing\n4: it is no object$/);
    assert.equal(readResponsibilities({}).problems.length, 1);
  });
});

describe('external associations', () => {
  const name = { group: '', resource: 'services', namespace: 'lab', name: 'demo' };
  const service = (uid: string): JsonObject => ({ metadata: { uid, annotations: { 'lb.example.com/id': 'lb-1' } } });
  const rules = [{ resource: 'services', path: '.metadata.annotations["lb.example.com/id"]', what: 'load balancer' }];
  const found = associationsFrom(rules, 'c1', name, service('u1'), 5);

  it('are found by rules and bound to the UID', () => {
    assert.deepEqual(found, [{ cluster: 'c1', name, uid: 'u1', what: 'load balancer', id: 'lb-1', declaredAt: 5 }]);
    assert.deepEqual(associationsFrom(rules, 'c1', { ...name, resource: 'pods' }, service('u1'), 5), []);
  });

  it('are stale after a recreation until a person decides, whatever the rule then finds', () => {
    const [one] = found as [Association];
    assert.deepEqual(
      [undefined, 'u1', 'u2', null].map((holder) => stateOf(one, holder)),
      ['unknown', 'holds', 'stale', 'orphaned'],
    );
    const known = declare(found, associationsFrom(rules, 'c1', name, service('u2'), 9));
    assert.deepEqual(known, found);
    assert.deepEqual(decide(known, one, { kind: 'clean-up' }), []);
    const [adopted] = decide(known, one, { kind: 'adopt', uid: 'u2', at: 10 });
    assert.equal(adopted?.uid, 'u2');
    assert.equal(adopted === undefined ? '' : stateOf(adopted, 'u2'), 'holds');
  });
});

describe('restoring', () => {
  const older = {
    metadata: { name: 'demo', uid: 'u', resourceVersion: '1' },
    data: { a: '1', gone: 'x' },
    status: { old: true },
  };
  const later = {
    metadata: { name: 'demo', uid: 'u', resourceVersion: '2' },
    data: { a: '2', kept: 'y' },
    status: { new: true },
  };

  it('an older version is a set of edits of the later one, without status', () => {
    const intent = restoreIntent(older, later);
    assert.deepEqual(intent, {
      kind: 'edits',
      base: later,
      desired: { metadata: later.metadata, data: older.data, status: later.status },
    });
  });

  it('a new life keeps nothing of the old one’s identity', () => {
    assert.deepEqual(
      contentForNewLife({ ...older, metadata: { ...older.metadata, labels: { a: '1' }, managedFields: [] } }),
      {
        metadata: { name: 'demo', labels: { a: '1' } },
        data: older.data,
      },
    );
  });
});

describe('protection', () => {
  it('knows protected contexts by pattern', () => {
    assert.ok(isProtected('prod-eu', ['prod*']));
    assert.ok(isProtected('eu-prod', ['*prod']));
    assert.ok(!isProtected('staging', ['prod*', '*live*']));
  });

  it('patterns match as globs with stars do', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 }), (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
        assert.equal(matchesPattern(pattern, text), expression.test(text));
      }),
    );
  });

  it('read only refuses every write before it is sent, and lets reads through', async () => {
    let on = true;
    const sent: string[] = [];
    const server = readOnly(
      { send: async ({ method }) => (sent.push(method), { status: 200, headers: {}, body: '{}' }) },
      () => on,
    );
    const signal = new AbortController().signal;
    await server.send({ method: 'GET', path: '/' }, signal);
    await assert.rejects(
      server.send({ method: 'PUT', path: '/' }, signal),
      (error) => error instanceof AppError && error.code === 'forbidden',
    );
    on = false;
    await server.send({ method: 'PUT', path: '/' }, signal);
    assert.deepEqual(sent, ['GET', 'PUT']);
  });

  it('a budget lets a burst through and then spaces requests', async () => {
    const clock = new FakeClock();
    const server = withBudget(
      { send: async () => ({ status: 200, headers: {}, body: '' }) },
      { perSecond: 10, burst: 3, clock },
    );
    const signal = clock.caller(new AbortController().signal);
    const begin = clock.now();
    const times: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      await server.send({ method: 'GET', path: '/' }, signal);
      times.push(Math.round(clock.now() - begin));
    }
    assert.deepEqual(times, [0, 0, 0, 100, 200, 300]);
  });
});

describe('winners', () => {
  const entry = (manager: string, time: string, fields: JsonObject, more: JsonObject = {}): JsonObject => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsV1: fields,
    ...more,
  });
  const object = (data: JsonObject, managedFields: JsonObject[]): JsonObject => ({ metadata: { managedFields }, data });
  const data = (...keys: string[]): JsonObject => ({
    'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])),
  });
  const schema: ListSchema = noListSchema;

  it('are those whose entries moved; one alone has the removals as well', () => {
    const before = object({ a: '1', b: '1' }, [entry('x', '1', data('a', 'b'))]);
    const after = object({ a: '2' }, [entry('y', '2', data('a'))]);
    assert.deepEqual(winnersBetween(before, after, schema), [
      { manager: 'y', operation: 'Update', time: '2', fields: ['.data.a', '.data.b'] },
    ]);
  });

  it('are told apart by what each owns', () => {
    const before = object({ a: '1', b: '1' }, []);
    const after = object({ a: '2', b: '2' }, [
      entry('x', '2', data('a')),
      entry('y', '2', data('b'), { subresource: 'status' }),
    ]);
    assert.deepEqual(
      winnersBetween(before, after, schema).map(({ manager, subresource, fields }) => [manager, subresource, fields]),
      [
        ['x', undefined, ['.data.a']],
        ['y', 'status', ['.data.b']],
      ],
    );
  });

  it('within one second are the owners of what changed', () => {
    const fields = [entry('x', '1', data('a')), entry('y', '1', data('b'))];
    assert.deepEqual(
      winnersBetween(object({ a: '1', b: '1' }, fields), object({ a: '2', b: '1' }, fields), schema).map(
        ({ manager }) => manager,
      ),
      ['x'],
    );
  });

  it('are unknown without managed fields', () => {
    assert.deepEqual(winnersBetween({ data: { a: '1' } }, { data: { a: '2' } }, schema), []);
  });
});

describe('the log of a write', () => {
  it('has every read and write with what it was based on, and a refused write knows who won', async () => {
    const fake = new FakeServer();
    fake.create({ data: { a: '1' } });
    const events: Omit<TraceEvent, 'seq'>[] = [];
    let raced = false;
    const server: Server = {
      send: async (request) => {
        if (request.method === 'PUT' && !raced) {
          raced = true;
          fake.now += 5000;
          fake.update((object) => ({ ...object, data: { ...(object['data'] as JsonObject), b: '2' } }));
        }
        return fake.answer(request);
      },
    };
    await modify(server, target, changes({ 'data/a': '2' }), {
      clock: new FakeClock(),
      cluster: 'c1',
      agent: 'test',
      keepBodies: true,
      onEvent: (event) => events.push(event),
    });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['read', 'observed', 'write', 'read', 'observed', 'write', 'observed'],
    );
    const writes = events.filter((event) => event.type === 'write') as Extract<TraceEvent, { type: 'write' }>[];
    assert.deepEqual(
      writes.map(({ outcome, attempt }) => [outcome, attempt]),
      [
        ['version-conflict', 1],
        ['accepted', 2],
      ],
    );
    assert.deepEqual(
      writes[0]?.wonBy?.map(({ manager, fields }) => [manager, fields]),
      [['other', ['.data.b']]],
    );
    assert.equal(writes[0]?.write, writes[1]?.write);
    assert.deepEqual(writes[1]?.paths, ['.data.a']);
    assert.deepEqual(writes[1]?.actor, { manager: 'object-versions', agent: 'test' });
    assert.equal(writes[1]?.preconditions?.token, writes[1]?.basedOn?.token);
    assert.equal(writes[1]?.result?.uid, 'uid-1');
    assert.ok(events.every(({ cluster }) => cluster === 'c1'));
  });

  it('never has a Secret’s values', async () => {
    const fake = new FakeServer();
    fake.create({ kind: 'Secret', data: { password: 'b2xkLXNlY3JldA==' } });
    const events: unknown[] = [];
    const server: Server = { send: async (request) => fake.answer(request) };
    for (const strategy of ['replace', 'json-patch', 'merge-patch', 'apply'] as const) {
      const value = `bmV3LXNlY3JldA-${strategy}`;
      await modify(server, { ...target, resource: 'secrets', kind: 'Secret' }, changes({ 'data/password': value }), {
        clock: new FakeClock(),
        strategy,
        keepBodies: true,
        onEvent: (event) => events.push(event),
      });
    }
    const text = JSON.stringify(events);
    assert.ok(text.includes('hidden:'));
    assert.ok(!text.includes('b2xkLXNlY3JldA') && !text.includes('bmV3LXNlY3JldA'));
  });
});

describe('the printed report', () => {
  it('leaves out what does not apply, and never prints objects', () => {
    const text = printReport({
      outcome: 'written',
      uid: 'u',
      attempts: [{ attempt: 1, outcome: 'written' }],
      object: { data: { a: 'secret' } },
      storedOtherwise: [{ path: '.a', asked: 9007199254740993n }],
    });
    assert.equal(
      text,
      '{"outcome":"written","uid":"u","attempts":[{"attempt":1,"outcome":"written"}],"storedOtherwise":[{"path":".a","asked":9007199254740993}]}',
    );
  });
});
