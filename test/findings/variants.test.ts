import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import type { ObjectName, TraceEvent } from '../../src/core/traceEvent.ts';
import { Play, type Order } from './play.ts';
import { configMap, data, findingsOf, Scenario, toy } from './scenario.ts';

const deployment: ObjectName = { group: 'apps', resource: 'deployments', namespace: 'lab', name: 'web' };
const named = (resource: string, name: string, group = ''): ObjectName => ({ group, resource, namespace: 'lab', name });
const map = configMap();
const demo = toy();
const orders: readonly Order[] = ['watch-first', 'answer-first', 'watch-late', 'unfollowed'];

function tellings(events: readonly TraceEvent[]): string[] {
  return findingsOf(events)
    .filter((finding) => finding.severity !== 'info')
    .map(
      (finding) =>
        `${finding.kind === undefined ? finding.id : `${finding.id}/${finding.kind}`} ${finding.object.name}`,
    )
    .sort();
}

/** Plays, and holds what is told above information in every order, after the events were changed by `also`. */
function holds(
  told: readonly string[],
  play: (p: Play) => void,
  also: (event: TraceEvent) => TraceEvent[] = (event) => [event],
): void {
  const p = new Play();
  play(p);
  for (const order of orders) assert.deepEqual(tellings(p.trace(order).flatMap(also)), told, order);
  assert.deepEqual(tellings(p.audit('RequestResponse').flatMap(also)), told, 'audit');
}

const owned = (uid: string, more: JsonObject = {}): JsonObject => ({
  ...more,
  metadata: {
    labels: { toy: 'demo' },
    ownerReferences: [{ apiVersion: 'example.test/v1', kind: 'Toy', name: 'demo', uid }],
  },
});
const ports = (...list: [string, number, number][]): JsonObject => ({
  spec: { ports: list.map(([name, port, targetPort]) => ({ name, port, protocol: 'TCP', targetPort })) },
});
const withoutBody = (event: TraceEvent): TraceEvent[] => {
  if (event.type === 'write') {
    const { body: _body, ...rest } = event;
    return [{ ...rest, notAnalysed: 'application/vnd.kubernetes.protobuf, 200 bytes' }];
  }
  if (event.type !== 'observed') return [event];
  const { body: _body, ...rest } = event;
  return [rest];
};

describe('what a source does not hold is not guessed', () => {
  const swap = (p: Play): void => {
    p.create('A', map, data({ ann: '1' }));
    p.get('A', map);
    p.get('B', map);
    p.put('B', map, data({ ann: '1', bob: '1' }), { rv: p.tokenOf(map) });
    p.get('A', map);
    p.put('A', map, data({ ann: '1', cyd: '1' }), { rv: p.tokenOf(map) });
  };

  it('a swap whose bodies could not be read says nothing', () => {
    holds([], swap, withoutBody);
  });

  it('a swap with hashes of leaves only is told by them', () => {
    holds(['lost-update/token-swap demo'], swap, (event) => {
      if (event.type === 'write') {
        const { body: _body, ...rest } = event;
        return [rest];
      }
      if (event.type !== 'observed') return [event];
      const { body, ...rest } = event;
      const values = (body?.['data'] ?? {}) as Record<string, string>;
      return [
        {
          ...rest,
          leaves: Object.fromEntries(Object.entries(values).map(([key, value]) => [`.data.${key}`, `h${value}`])),
        },
      ];
    });
  });

  it('writes without any read in the log are not called unseen', () => {
    holds([], (p) => {
      p.create('A', map, data({ a: '1' }));
      for (let round = 0; round < 6; round += 1) {
        p.put('A', map, data({ a: String(round) }), { rv: p.tokenOf(map) });
        p.put('B', map, data({ a: 'x', b: String(round) }), { rv: p.tokenOf(map) });
        p.wait(3_000);
      }
    });
  });

  it('a loop of refusals needs no bodies', () => {
    holds(
      ['hot-conflict-loop/self-conflict demo'],
      (p) => {
        p.create('user', demo, { spec: {} });
        p.get('A', demo);
        const rv = p.tokenOf(demo);
        p.put('A', demo, { status: { n: 1 } }, { rv, sub: 'status' });
        for (let round = 0; round < 30; round += 1) p.put('A', demo, { status: { n: 2 } }, { rv, sub: 'status' });
      },
      withoutBody,
    );
  });

  it('what was read before a gap proves nothing about a name after it', () => {
    const s = new Scenario();
    s.stream(map, 'U1', 'v1', data({ a: '1' }));
    s.push({
      type: 'gap',
      gap: 'g1',
      scope: { group: '', resource: 'configmaps' },
      from: s.at,
      to: s.at + 5_000,
      cause: 'relist',
    });
    s.wait(5_000);
    s.observe(map, 'U2', 'v9', data({ a: '1' }), { stream: 'w-configmaps' });
    s.get('A', map, 'U2', 'v9');
    s.write('A', map, 'replace', {
      preconditions: { token: 'v9' },
      body: data({ a: '2' }),
      result: { uid: 'U2', token: 'v10' },
      stored: data({ a: '2' }),
    });
    assert.deepEqual(s.told(), []);
  });
});

describe('what was told once is told again', () => {
  it('the same swap on a second object, and a second one on the same', () => {
    const swap = (p: Play, name: ObjectName): void => {
      const before = p.get('A', name)['data'] as JsonObject;
      p.get('B', name);
      const values = { ...before, bob: '1' };
      p.put('B', name, data(values), { rv: p.tokenOf(name) });
      p.get('A', name);
      p.put('A', name, data({ ...before, cyd: String(Object.keys(before).length) }), { rv: p.tokenOf(name) });
    };
    holds(['lost-update/token-swap demo', 'lost-update/token-swap other'], (p) => {
      p.create('A', map, data({ ann: '1' }));
      p.create('A', configMap('other'), data({ ann: '1' }));
      swap(p, map);
      swap(p, configMap('other'));
      swap(p, map);
    });
    const p = new Play();
    p.create('A', map, data({ ann: '1' }));
    swap(p, map);
    swap(p, map);
    for (const order of orders) {
      const [finding] = findingsOf(p.trace(order)).filter((item) => item.id === 'lost-update');
      assert.equal(finding?.count, 2, order);
    }
  });

  it('status written at each event of the pods that it counts is no loop of its own', () => {
    holds([], (p) => {
      p.create('user', deployment, { spec: { replicas: 20 } });
      p.list('ctl', deployment);
      p.watch('ctl', deployment);
      p.watch('ctl', named('pods', ''));
      for (let ready = 1; ready <= 20; ready += 1) {
        p.create('kubelet', named('pods', `web-${ready}`), {});
        p.put('ctl', deployment, { status: { readyReplicas: ready } }, { rv: p.tokenOf(deployment), sub: 'status' });
      }
    });
  });

  it('an apply of the same at every pass is how it is meant; a hot loop of it is not', () => {
    for (const pauseMs of [4_000, 100]) {
      const s = new Scenario();
      s.stream(map, 'U1', 'v1', data({ a: '1' }));
      for (let pass = 0; pass < 30; pass += 1) {
        s.write({ client: 'op', manager: 'op' }, map, 'apply', {
          outcome: 'unchanged',
          body: data({ a: '1' }),
          result: { uid: 'U1', token: 'v1' },
        });
        s.wait(pauseMs);
      }
      assert.deepEqual(s.told(), pauseMs === 100 ? ['no-op-writes'] : []);
    }
  });
});

describe('lists by key', () => {
  it('a port of another that a whole object leaves out is named by its key', () => {
    const name = named('services', 'web');
    const p = new Play();
    p.create('user', name, ports(['http', 80, 8080]));
    p.get('A', name);
    p.get('B', name);
    p.put('B', name, ports(['http', 80, 8080], ['metrics', 9090, 9090]), { rv: p.tokenOf(name) });
    p.get('A', name);
    p.put('A', name, ports(['http', 80, 8081]), { rv: p.tokenOf(name) });
    for (const order of orders) {
      const found = findingsOf(p.trace(order)).filter((finding) => finding.severity !== 'info');
      assert.deepEqual(
        found.map((finding) => [finding.id, finding.kind, finding.fields]),
        [['lost-update', 'token-swap', ['.spec.ports[name="metrics"]']]],
        order,
      );
    }
  });

  it('each changes a port of its own from the current object: nothing is lost', () => {
    const name = named('services', 'web');
    holds([], (p) => {
      p.create('user', name, ports(['http', 80, 8080], ['metrics', 9090, 9090]));
      for (let round = 0; round < 5; round += 1) {
        p.get('A', name);
        p.put('A', name, ports(['http', 80, 8081 + round], ['metrics', 9090, 9090 + round]), { rv: p.tokenOf(name) });
        p.get('B', name);
        p.put('B', name, ports(['http', 80, 8081 + round], ['metrics', 9090, 9091 + round]), { rv: p.tokenOf(name) });
        p.wait(1_000);
      }
    });
  });

  it('an environment variable of another is lost by a patch of the whole list', () => {
    const env = (...names: string[]): JsonObject => ({
      spec: { env: names.map((item) => ({ name: item, value: '1' })) },
    });
    holds(['lost-update/list-clobber demo'], (p) => {
      p.create('user', demo, env('A'));
      p.get('A', demo);
      p.patch('B', demo, env('A', 'B'));
      p.patch('A', demo, env('A', 'C'));
    });
  });
});

describe('incarnations, by parents and by values', () => {
  it("D1: an old parent's event makes its reader delete what belongs to the new one", () => {
    for (const stale of [true, false]) {
      const pvc = named('persistentvolumeclaims', 'data-demo-0');
      holds(stale ? ['stale-incarnation-write/delete data-demo-0'] : [], (p) => {
        p.create('user', demo, { spec: { size: 1 } });
        p.list('op', demo);
        const before = p.get('op', demo);
        p.remove('user', demo);
        const uid = p.create('user', demo, { spec: { size: 1 } });
        p.create('sts', pvc, owned(uid));
        p.wait(2_000);
        if (stale)
          p.get('op', demo, {
            cached: true,
            shown: {
              ...before,
              metadata: { ...(before['metadata'] as JsonObject), deletionTimestamp: '2026-01-01T00:00:00Z' },
            },
          });
        else p.get('op', demo);
        p.list('op', pvc);
        p.remove('op', pvc);
      });
    }
  });

  it('D1: the label alone ties the target to its parent where no owner does', () => {
    const pvc = named('persistentvolumeclaims', 'data-demo-0');
    holds(['stale-incarnation-write/delete data-demo-0'], (p) => {
      p.create('user', demo, {});
      p.get('op', demo);
      p.remove('user', demo);
      p.create('user', demo, {});
      p.wait(1_000);
      p.create('sts', pvc, { metadata: { labels: { toy: 'demo' } } });
      p.list('op', pvc);
      p.remove('op', pvc);
    });
  });

  it('a garbage collector that removes what belonged to the old one is right', () => {
    const pvc = named('persistentvolumeclaims', 'data-demo-0');
    holds([], (p) => {
      const uid = p.create('user', demo, {});
      p.create('sts', pvc, owned(uid));
      p.get('gc', demo);
      p.remove('user', demo);
      p.create('user', demo, {});
      p.list('gc', pvc);
      p.remove('gc', pvc, { uid: p.uidOf(pvc) });
    });
  });

  it('D5: a UID in a string, a list and an annotation is told where it is; a foreign or living one is not', () => {
    const p = new Play();
    const service = named('services', 'web');
    const dead = p.create('user', service, { spec: {} });
    p.remove('user', service);
    const live = p.create('user', service, { spec: {} });
    p.create('cloud', configMap('registry'), data({ 'lb-1': `service-uid=${dead}` }));
    p.create('cloud', toy('related'), { status: { related: [{ uid: dead }] } });
    p.create('cloud', configMap('fine'), data({ a: live, b: '11111111-2222-4333-8444-555555555555' }));
    p.create('cloud', configMap('noted'), { metadata: { annotations: { 'x.test/for': dead } } });
    for (const order of orders) {
      const found = findingsOf(p.trace(order)).filter((finding) => finding.id === 'stale-reference');
      assert.deepEqual(
        found.map((finding) => [
          finding.object.name,
          finding.fields[0],
          finding.details?.['dead'],
          finding.details?.['live'],
        ]),
        [
          ['registry', '.data.lb-1', dead, live],
          ['related', '.status.related[0].uid', dead, live],
          ['noted', '.metadata.annotations["x.test/for"]', dead, live],
        ],
        order,
      );
    }
  });

  it('D5: a write whose answer the log does not hold tells it by its body', () => {
    const s = new Scenario();
    const service = named('services', 'web');
    const [dead, live] = ['aaaaaaaa-0000-4000-8000-000000000000', 'bbbbbbbb-0000-4000-8000-000000000000'];
    s.write('user', service, 'create', { body: { spec: {} }, result: { uid: dead, token: 'v1' } });
    s.write('user', service, 'delete', { result: { uid: dead, token: '' } });
    s.write('user', service, 'create', { body: { spec: {} }, result: { uid: live, token: 'v3' } });
    s.write('cloud', configMap('registry'), 'create', {
      body: data({ lb: `uid=${dead}`, other: live }),
      result: { uid: 'cccccccc-0000-4000-8000-000000000000', token: 'v4' },
    });
    const [finding, ...more] = s.findings().filter((item) => item.severity !== 'info');
    assert.deepEqual(
      [finding?.id, finding?.object.name, finding?.fields, more.length],
      ['stale-reference', 'registry', ['.data.lb'], 0],
    );
  });

  it('A2: an incarnation that its writer was never given is no business of this rule', () => {
    holds([], (p) => {
      p.create('B', map, data({ a: '1' }));
      p.remove('B', map);
      p.create('B', map, data({ b: '1' }));
      p.put('C', map, data({ b: '2' }));
      p.remove('C', map);
    });
  });

  it('an actor that made the new incarnation knows it', () => {
    holds([], (p) => {
      for (let round = 0; round < 4; round += 1) {
        p.create('A', map, data({ a: '1' }));
        p.put('A', map, data({ a: '2' }));
        p.remove('A', map);
      }
    });
  });
});

describe('subresources, dry runs and creations', () => {
  it('an autoscaler on /scale and a deployer that applies without replicas are silent', () => {
    const s = new Scenario();
    const spec = (replicas: number): JsonObject => ({ spec: { replicas } });
    s.stream(deployment, 'U1', 'v1', spec(2));
    for (let round = 0; round < 6; round += 1) {
      s.get('hpa', deployment, 'U1', `v${round + 1}`);
      s.write('hpa', deployment, 'replace', {
        subresource: 'scale',
        preconditions: { token: `v${round + 1}` },
        body: spec(3 + round),
        result: { uid: 'U1', token: `v${round + 2}` },
        stored: spec(3 + round),
      });
      s.wait(5_000);
    }
    assert.deepEqual(s.told(), []);
  });

  it('an autoscaler whose replicas a deployer sets back each time is in a fight with it', () => {
    const s = new Scenario();
    const spec = (replicas: number): JsonObject => ({ spec: { replicas } });
    s.stream(deployment, 'U1', 'v1', spec(2));
    let token = 1;
    for (let round = 0; round < 5; round += 1)
      for (const [actor, replicas] of [
        ['hpa', 7],
        ['deployer', 2],
      ] as const) {
        s.get(actor, deployment, 'U1', `v${token}`);
        s.write({ client: actor, manager: actor }, deployment, 'replace', {
          preconditions: { token: `v${token}` },
          body: spec(replicas),
          result: { uid: 'U1', token: `v${token + 1}` },
          stored: spec(replicas),
        });
        token += 1;
        s.wait(2_000);
      }
    const [finding, ...more] = s.findings().filter((item) => item.severity !== 'info');
    assert.deepEqual(
      [finding?.id, finding?.fields, [...(finding?.actors ?? [])].sort(), more.length],
      [
        'ownership-fight',
        ['.spec.replicas'],
        ['deployer (deployer)', 'hpa (hpa)'].map((item) => item.split(' ')[0]),
        0,
      ],
    );
  });

  it('an autoscaler that comes back with another number each time, or with several, is in a fight too; one that nobody undoes, and a request with its answer, are not', () => {
    holds(['ownership-fight web'], (p) => {
      p.create('deployer', deployment, { spec: { replicas: 2 } });
      for (let round = 0; round < 5; round += 1)
        for (const [actor, replicas] of [
          ['hpa', 5 + round],
          ['deployer', 2],
        ] as const) {
          p.get(actor, deployment);
          p.put(actor, deployment, { spec: { replicas } }, { rv: p.tokenOf(deployment) });
          p.wait(2_000);
        }
    });
    holds(['ownership-fight web'], (p) => {
      p.create('deployer', deployment, { spec: { replicas: 2 } });
      for (let round = 0; round < 4; round += 1)
        for (const [actor, replicas] of [
          ['hpa', 5 + round],
          ['hpa', 6 + round],
          ['deployer', 2],
        ] as const) {
          p.get(actor, deployment);
          p.put(actor, deployment, { spec: { replicas } }, { rv: p.tokenOf(deployment) });
          p.wait(2_000);
        }
    });
    holds([], (p) => {
      p.create('deployer', deployment, { spec: { replicas: 2 } });
      for (let round = 0; round < 8; round += 1) {
        p.get('hpa', deployment);
        p.put('hpa', deployment, { spec: { replicas: 3 + (round % 2) } }, { rv: p.tokenOf(deployment) });
        p.wait(20_000);
      }
    });
    holds([], (p) => {
      p.create('user', demo, { spec: { size: 1 } });
      for (let round = 0; round < 6; round += 1) {
        p.patch('ui', demo, { metadata: { annotations: { refresh: String(round) } } });
        p.patch('op', demo, { metadata: { annotations: { refresh: null } } });
        p.wait(1_000);
      }
    });
  });

  it('a request and answer through one value is no fight where each brings something new; who only restores fights', () => {
    const annotations = (values: Record<string, string>): JsonObject => ({ metadata: { annotations: values } });
    const say = (asks: (round: number) => JsonObject, answers: (round: number) => JsonObject) => (p: Play) => {
      p.create('user', demo, { spec: { size: 1 }, data: {} });
      for (let round = 0; round < 6; round += 1) {
        p.patch('ui', demo, asks(round));
        p.wait(1_000);
        p.patch('op', demo, answers(round));
        p.wait(1_000);
      }
    };
    const ask = (round: number): JsonObject => annotations({ backup: 'requested', 'backup-id': `b-${round}` });
    const answer = (round: number): JsonObject => ({ ...annotations({ backup: 'done' }), status: { size: round } });
    holds([], say(ask, answer));
    // The id goes ahead of the request, in a write of its own.
    holds([], (p) => {
      p.create('user', demo, { spec: { size: 1 } });
      for (let round = 0; round < 6; round += 1) {
        p.patch('ui', demo, annotations({ 'backup-id': `b-${round}` }));
        p.patch('ui', demo, annotations({ backup: 'requested' }));
        p.patch('op', demo, annotations({ backup: 'done', 'backup-result': `r-${round}` }));
        p.wait(1_000);
      }
    });
    // Steps in between are progress: no value is set back at once.
    holds([], (p) => {
      p.create('user', demo, { spec: { size: 1 } });
      for (let round = 0; round < 6; round += 1) {
        p.patch('ui', demo, annotations({ backup: 'requested' }));
        for (const backup of ['running', 'done']) p.patch('op', demo, annotations({ backup }));
        p.wait(1_000);
      }
    });
    const mode = (value: string, more: Record<string, string> = {}): JsonObject =>
      annotations({ mode: value, ...more });
    const fight = ['ownership-fight demo'];
    holds(
      fight,
      say(
        () => mode('a'),
        () => mode('b'),
      ),
    );
    // Only one of them brings anything else, or what both bring goes to and fro as well.
    holds(
      fight,
      say(
        (round) => mode('a', { image: `v${round}` }),
        () => mode('b'),
      ),
    );
    holds(
      fight,
      say(
        () => mode('a', { why: 'mine' }),
        () => mode('b', { why: 'no' }),
      ),
    );
    // A desired state is not talked through, whatever comes with it.
    holds(
      fight,
      say(
        (round) => ({ spec: { size: 4 }, ...annotations({ image: `v${round}` }) }),
        (round) => ({ spec: { size: 2 }, ...annotations({ load: `l${round}` }) }),
      ),
    );
  });

  it('a deletion of a whole collection is about no single object', () => {
    const s = new Scenario();
    s.stream(map, 'U1', 'v1', data({ a: '1' }));
    s.get('A', map, 'U1', 'v1');
    s.gone(map, 'U1');
    s.stream(map, 'U2', 'v2', data({ a: '1' }));
    s.write('A', { ...map, name: '' }, 'deletecollection', {});
    s.gone(map, 'U2');
    assert.deepEqual(s.told(), []);
  });

  it('a second child for one owner, made although the list did not show the first yet', () => {
    const child = (uid: string, name: string): [ObjectName, JsonObject] => [
      named('pods', name),
      {
        metadata: { generateName: 'web-', ownerReferences: [{ apiVersion: 'v1', kind: 'Toy', name: 'demo', uid }] },
        spec: { image: 'a' },
      },
    ];
    holds(['stale-read/duplicate-create web-b2'], (p) => {
      const uid = p.create('user', demo, { spec: { replicas: 1 } });
      p.get('op', demo);
      p.list('op', named('pods', ''), { cached: true });
      p.create('op', ...child(uid, 'web-a1'));
      p.get('op', demo);
      p.list('op', named('pods', ''), { cached: true, shown: [] });
      p.create('op', ...child(uid, 'web-b2'));
    });
    holds([], (p) => {
      const uid = p.create('user', demo, { spec: { replicas: 2 } });
      p.list('op', named('pods', ''));
      p.create('op', ...child(uid, 'web-a1'));
      p.list('op', named('pods', ''));
      p.create('op', ...child(uid, 'web-b2'));
    });
  });

  it('a status on the main endpoint is a part that is ignored, and no loss', () => {
    const p = new Play();
    p.create('user', demo, { spec: { size: 1 }, status: { phase: 'New' } });
    p.get('A', demo);
    p.put(
      'A',
      demo,
      { metadata: { finalizers: ['x.test/y'] }, spec: { size: 1 }, status: { phase: 'Ready' } },
      { rv: p.tokenOf(demo) },
    );
    for (const order of orders)
      assert.deepEqual(
        findingsOf(p.trace(order)).map((finding) => [finding.id, finding.kind, finding.fields]),
        [['ignored-part', 'status', ['.status.phase']]],
        order,
      );
  });

  it('two clients behind one recorder with the same user agent are two actors', () => {
    holds(['lost-update/unconditional-overwrite demo'], (p) => {
      p.create('one', map, data({ a: '1' }));
      p.get('two', map);
      p.put('one', map, data({ a: '1', b: '1' }), { rv: p.tokenOf(map) });
      p.put('two', map, data({ a: '2' }));
    });
  });

  it('a 422 for a missing token is neither a conflict nor an overwrite', () => {
    const s = new Scenario();
    s.stream(demo, 'U1', 'v1', { spec: { size: 1 } });
    s.get('A', demo, 'U1', 'v1');
    for (let round = 0; round < 6; round += 1)
      s.write('A', demo, 'replace', {
        body: { spec: { size: 2 } },
        outcome: 'invalid',
        code: 422,
        reason: 'Invalid',
        causes: [{ field: 'metadata.resourceVersion', message: 'must be specified for an update' }],
      });
    assert.deepEqual(s.findings(), []);
  });
});
