import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { hideSecrets } from '../../src/core/secrets.ts';
import type { ObjectName } from '../../src/core/traceEvent.ts';
import { configMap, data, Scenario, shortOf, toy } from './scenario.ts';

const job: ObjectName = { group: 'batch', resource: 'jobs', namespace: 'lab', name: 'demo-job' };
const lease: ObjectName = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'lab', name: 'leader' };

function refusals(count: number, pause: (index: number) => number, more: JsonObject = {}, name = job): Scenario {
  const s = new Scenario();
  s.stream(name, 'U1', 'v10', { status: { n: 0 } });
  s.get('A', name, 'U1', 'v10');
  s.write('A', name, 'replace', {
    subresource: 'status',
    preconditions: { token: 'v10' },
    body: { status: { n: 1 } },
    result: { uid: 'U1', token: 'v11' },
    stored: { status: { n: 1 } },
  });
  for (let index = 0; index < count; index += 1) {
    s.wait(pause(index) - 100);
    s.write('A', name, 'replace', {
      subresource: 'status',
      preconditions: { token: 'v10' },
      outcome: 'version-conflict',
      code: 409,
      ...more,
    });
  }
  return s;
}

describe('conflicts', () => {
  it('B1: sixty PUTs in a second with one dead token are one finding, with count, token and that it is its own', () => {
    const s = refusals(59, () => 15);
    s.get('A', job, 'U1', 'v11');
    s.write('A', job, 'replace', {
      subresource: 'status',
      preconditions: { token: 'v11' },
      result: { uid: 'U1', token: 'v12' },
      stored: { status: { n: 2 } },
    });
    const loops = s.findings().filter((item) => item.id === 'hot-conflict-loop');
    assert.equal(loops.length, 1);
    assert.equal(loops[0]?.count, 59);
    assert.equal(loops[0].details?.['self'], true);
    assert.equal(loops[0].details['token'], 'v10');
    assert.deepEqual(s.told(), ['hot-conflict-loop/self-conflict']);
  });

  it('B1: three conflicts spread over a minute, nine in a row, or growing pauses are no loop', () => {
    assert.deepEqual(refusals(3, () => 20_000).told(), []);
    assert.deepEqual(refusals(9, () => 100).told(), []);
    assert.deepEqual(refusals(12, (index) => 10 * 1.8 ** index).told(), []);
  });

  it('the same token and body three times is a loop whatever the pauses', () => {
    assert.deepEqual(refusals(3, (index) => 1000 * (index + 1), { body: { status: { n: 5 } } }).told(), [
      'hot-conflict-loop/self-conflict',
    ]);
  });

  it('losing rounds of a leader election is none', () => {
    assert.deepEqual(refusals(40, () => 20, {}, lease).told(), []);
  });

  it('a correct controller under contention, which reads before each attempt, shows conflicts and nothing worse', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 't0', data({ n: '0' }));
    let token = 't0';
    for (let index = 0; index < 15; index += 1) {
      s.get('A', configMap(), 'U1', token);
      const next = `t${index + 1}`;
      s.write('B', configMap(), 'replace', {
        preconditions: { token },
        body: data({ n: String(index) }),
        result: { uid: 'U1', token: next },
        stored: data({ n: String(index) }),
      });
      s.write('A', configMap(), 'replace', {
        preconditions: { token },
        body: data({ a: String(index) }),
        outcome: 'version-conflict',
        code: 409,
      });
      token = next;
    }
    assert.deepEqual(s.told(), []);
  });

  it('G2: applies that are refused for the same fields again and again are a loop', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v1', data({ n: '0' }));
    for (let index = 0; index < 12; index += 1) {
      s.write('op', configMap(), 'apply', {
        outcome: 'field-conflict',
        code: 409,
        causes: [{ reason: 'FieldManagerConflict', field: '.data.n', message: 'conflict with "kubectl-edit"' }],
      });
    }
    assert.deepEqual(s.told(), ['hot-conflict-loop/field-conflict']);
  });

  it('creates that are refused five times in ten seconds are a loop, unless what is there is read', () => {
    for (const reads of [false, true]) {
      const s = new Scenario();
      s.stream(configMap(), 'U1', 'v1', {});
      for (let index = 0; index < 6; index += 1) {
        s.write('A', configMap(), 'create', { outcome: 'already-exists', code: 409 });
        if (reads) s.get('A', configMap(), 'U1', 'v1');
      }
      assert.deepEqual(s.told(), reads ? [] : ['already-exists-loop']);
    }
  });

  it('a quick repetition after a lost answer is told as a conflict with oneself', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v1', data({ n: '0' }));
    s.get('A', configMap(), 'U1', 'v1');
    s.write('A', configMap(), 'replace', {
      preconditions: { token: 'v1' },
      body: data({ n: '1' }),
      outcome: 'uncertain',
    });
    s.stream(configMap(), 'U1', 'v2', data({ n: '1' }));
    s.write('A', configMap(), 'replace', {
      preconditions: { token: 'v1' },
      body: data({ n: '1' }),
      outcome: 'version-conflict',
      code: 409,
    });
    const [finding] = s.findings().filter((item) => item.id === 'uncertain-write');
    assert.equal(finding?.details?.['settled'], 'written');
  });
});

describe('incarnations', () => {
  function recreated(): Scenario {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v1', data({ a: '1' }));
    s.get('A', configMap(), 'U1', 'v1');
    s.write('B', configMap(), 'delete', { result: { uid: 'U1', token: '' } });
    s.gone(configMap(), 'U1');
    s.write('B', configMap(), 'create', {
      code: 201,
      body: data({ b: '1' }),
      result: { uid: 'U2', token: 'v9' },
      stored: data({ b: '1' }),
    });
    return s;
  }

  it('A2: a PUT without UID and token that lands on the new object is a cross-incarnation overwrite', () => {
    const s = recreated();
    s.write('A', configMap(), 'replace', {
      body: data({ a: '2' }),
      result: { uid: 'U2', token: 'v10' },
      stored: data({ a: '2' }),
    });
    assert.ok(s.told().includes('stale-incarnation-write/overwrite'));
  });

  it('A2: the same PUT with the UID is refused and is information', () => {
    const s = recreated();
    s.write('A', configMap(), 'replace', { preconditions: { uid: 'U1' }, outcome: 'uid-mismatch', code: 409 });
    assert.deepEqual(shortOf(s.findings()), ['recreated', 'uid-mismatch']);
  });

  it('D4: a delete by name that removes the replacement is told; one of the same UID, or that saw it, is not', () => {
    const s = recreated();
    s.write('A', configMap(), 'delete', { result: { uid: 'U2', token: '' } });
    assert.deepEqual(s.told(), ['stale-incarnation-write/delete']);
    const aware = recreated();
    aware.get('A', configMap(), 'U2', 'v9');
    aware.write('A', configMap(), 'delete', { result: { uid: 'U2', token: '' } });
    assert.deepEqual(aware.told(), []);
  });

  it('D1: what belongs to the new object is deleted by what was read of the old one', () => {
    const pvc: ObjectName = { group: '', resource: 'persistentvolumeclaims', namespace: 'lab', name: 'data-demo-0' };
    for (const uid of ['U1', 'U2']) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', {});
      s.watched('A', toy(), 'U1', 'v1');
      s.gone(toy(), 'U1');
      s.stream(toy(), 'U2', 'v5', {});
      s.stream(pvc, 'P1', 'v6', {
        metadata: {
          labels: { toy: 'demo' },
          ownerReferences: [{ apiVersion: 'example.test/v1', kind: 'Toy', name: 'demo', uid: 'U2' }],
        },
      });
      s.watched('A', toy(), uid, uid === 'U1' ? 'v1' : 'v5', { terminating: true });
      s.write('A', pvc, 'delete', { result: { uid: 'P1', token: '' } });
      assert.deepEqual(s.told(), uid === 'U1' ? ['stale-incarnation-write/delete'] : []);
    }
  });

  it('D3: another UID under a name is a recreation, also with the same token and without a seen end', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v10', {});
    s.stream(configMap(), 'U2', 'v10', {});
    assert.deepEqual(shortOf(s.findings()), ['recreated']);
  });

  it('D5: a string that holds a dead UID, written after the recreation, is a stale reference at its path', () => {
    const s = recreated();
    s.stream(configMap('lb-registry'), 'R1', 'v20', data({ 'lb-1': 'service-uid=U1', other: 'U9' }));
    const [finding] = s.findings().filter((item) => item.id === 'stale-reference');
    assert.deepEqual(finding?.fields, ['.data.lb-1']);
    assert.equal(finding.details?.['live'], 'U2');
  });

  it('D5: the live UID, and one that was never seen, are no findings', () => {
    const s = recreated();
    s.stream(configMap('lb-registry'), 'R1', 'v20', data({ a: 'U2', b: '0b0b0b0b-1111-2222-3333-444444444444' }));
    assert.deepEqual(s.told(), []);
  });

  it('D7: a claimRef to the claim before is told when the claim comes back', () => {
    const claim: ObjectName = { group: '', resource: 'persistentvolumeclaims', namespace: 'lab', name: 'demo' };
    const volume: ObjectName = { group: '', resource: 'persistentvolumes', namespace: '', name: 'pv-1' };
    const s = new Scenario();
    s.stream(claim, 'U1', 'v3', {});
    s.stream(volume, 'V1', 'v4', {
      spec: { claimRef: { namespace: 'lab', name: 'demo', uid: 'U1', resourceVersion: 'v3' } },
    });
    s.gone(claim, 'U1');
    s.stream(claim, 'U2', 'v8', {});
    const [finding] = s.findings().filter((item) => item.id === 'stale-reference');
    assert.deepEqual(finding?.fields, ['.spec.claimRef.uid']);
  });
});

describe('ownership, loops and status', () => {
  const managed = (manager: string, operation: string, fields: JsonObject): JsonObject => ({
    manager,
    operation,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
  });

  it('G2: an apply with force names each field and its former owner', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v1', {
      ...data({ n: '3' }),
      metadata: { managedFields: [managed('kubectl-edit', 'Update', { 'f:data': { 'f:n': {} } })] },
    });
    const after = {
      ...data({ n: '1' }),
      metadata: { managedFields: [managed('op', 'Apply', { 'f:data': { 'f:n': {} } })] },
    };
    s.write({ client: 'A', manager: 'op' }, configMap(), 'apply', {
      force: true,
      body: data({ n: '1' }),
      result: { uid: 'U1', token: 'v2' },
      stored: after,
    });
    const [finding] = s.findings().filter((item) => item.id === 'force-takeover');
    assert.deepEqual(finding?.fields, ['.data.n']);
    assert.ok(finding.actors.includes('kubectl-edit'));
    assert.deepEqual(s.told(), ['force-takeover']);
  });

  it('two that set a field back after each other are in a fight from the third time', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v0', data({ n: '0' }));
    for (let index = 1; index <= 5; index += 1) {
      const client = index % 2 === 1 ? 'A' : 'B';
      const content = data({ n: client });
      s.watched(client, configMap(), 'U1', `v${index - 1}`);
      s.write(client, configMap(), 'replace', {
        preconditions: { token: `v${index - 1}` },
        body: content,
        result: { uid: 'U1', token: `v${index}` },
        stored: content,
      });
    }
    assert.deepEqual(s.told(), ['ownership-fight']);
  });

  it('five writes in a minute that change nothing are told with the respelled field', () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', 'v1', { spec: { cpu: '1' } });
    s.get('A', toy(), 'U1', 'v1');
    for (let index = 0; index < 5; index += 1) {
      s.write('A', toy(), 'replace', {
        preconditions: { token: 'v1' },
        body: { spec: { cpu: '1000m' } },
        result: { uid: 'U1', token: 'v1' },
        outcome: 'unchanged',
      });
    }
    const [finding] = s.findings();
    assert.equal(finding?.id, 'no-op-writes');
    assert.deepEqual(finding.fields, ['.spec.cpu']);
  });

  it('an actor that writes because of its own event is in a loop from the tenth time; one that asks and counts is not', () => {
    for (const reacts of [true, false]) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v0', { status: { n: 0 } });
      s.watched('A', toy(), 'U1', 'v0');
      for (let index = 1; index <= 12; index += 1) {
        if (!reacts) s.get('A', toy(), 'U1', `v${index - 1}`);
        const content = { status: { n: index } };
        s.write('A', toy(), 'replace', {
          subresource: 'status',
          preconditions: { token: `v${index - 1}` },
          body: content,
          result: { uid: 'U1', token: `v${index}` },
          stored: content,
        });
        if (reacts) s.watched('A', toy(), 'U1', `v${index}`);
      }
      assert.deepEqual(s.told(), reacts ? ['update-loop'] : []);
    }
  });

  it('E1: a status sent to the main endpoint and a spec sent to /status are told as ignored', () => {
    const s = new Scenario();
    const content = (size: number, phase: string): JsonObject => ({ spec: { size }, status: { phase } });
    s.stream(toy(), 'U1', 'v1', content(1, 'New'));
    s.get('A', toy(), 'U1', 'v1');
    const main = { ...content(1, 'Ready'), metadata: { finalizers: ['x.test/y'] } };
    s.write('A', toy(), 'replace', {
      preconditions: { token: 'v1' },
      body: main,
      result: { uid: 'U1', token: 'v2' },
      stored: { ...content(1, 'New'), metadata: { finalizers: ['x.test/y'] } },
    });
    s.write('A', toy(), 'replace', {
      subresource: 'status',
      preconditions: { token: 'v2' },
      body: { ...content(9, 'Ready'), metadata: { finalizers: ['x.test/y'] } },
      result: { uid: 'U1', token: 'v3' },
      stored: { ...content(1, 'Ready'), metadata: { finalizers: ['x.test/y'] } },
    });
    assert.deepEqual(
      s.findings().map((item) => [item.id, item.fields]),
      [
        ['ignored-part', ['.status.phase']],
        ['ignored-part', ['.spec.size']],
      ],
    );
  });

  it('observedGeneration that stays behind for half a minute is a lag; one that catches up is not', () => {
    for (const catches of [false, true]) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', { metadata: { generation: 2 }, status: { observedGeneration: 1 } });
      s.wait(20_000);
      if (catches) s.stream(toy(), 'U1', 'v2', { metadata: { generation: 2 }, status: { observedGeneration: 2 } });
      s.wait(15_000);
      s.stream(configMap(), 'X', 'x1', {});
      assert.deepEqual(s.told(), catches ? [] : ['generation-lag']);
    }
  });

  it('a lag is as long as it was seen to be, also where it ends after it was told', () => {
    for (const gap of [false, true]) {
      const s = new Scenario();
      const observed = (token: string, generation: number): number => {
        s.stream(toy(), 'U1', token, { metadata: { generation: 2 }, status: { observedGeneration: generation } });
        return s.at;
      };
      const since = observed('v1', 1);
      s.wait(31_000);
      s.stream(configMap(), 'X', 'x1', {});
      const { group, resource } = toy();
      if (gap)
        s.push({ type: 'gap', gap: 'g', scope: { group, resource }, from: s.at, to: s.at + 50, cause: 'relist' });
      s.wait(150_000);
      const end = observed('v2', 2);
      const [lag, ...others] = s.findings().filter(({ id }) => id === 'generation-lag');
      assert.deepEqual(others, []);
      assert.deepEqual([lag?.count, lag?.firstAt], [1, since]);
      const until = gap ? since + 30_000 : end;
      assert.equal(lag?.lastAt, until);
      assert.match(lag?.explanation ?? '', new RegExp(`was 1 for ${Math.round((until - since) / 1000)} s while`));
    }
  });
});

describe('reads, servers and gaps', () => {
  it('C1: a list that goes back in time is a server behind, no change and no recreation', () => {
    const s = new Scenario();
    s.via = 'watch';
    s.stream(toy(), 'U1', 'v10', { n: 1 });
    s.stream(toy(), 'U1', 'v20', { n: 2 });
    s.gone(toy(), 'U1');
    s.via = 'list';
    s.observe(toy(), 'U1', 'v10', { n: 1 }, { stream: 'w2' });
    assert.deepEqual(shortOf(s.findings()), ['server-behind']);
  });

  it('a write based on a cached read from before its own write is a read-your-write violation', () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', 'v1', { spec: { n: 1 } });
    s.get('A', toy(), 'U1', 'v1');
    s.write('A', toy(), 'replace', {
      preconditions: { token: 'v1' },
      body: { spec: { n: 2 } },
      result: { uid: 'U1', token: 'v2' },
      stored: { spec: { n: 2 } },
    });
    s.get('A', toy(), 'U1', 'v1', { cacheAllowed: true });
    s.write('A', toy(), 'replace', { preconditions: { token: 'v1' }, outcome: 'version-conflict', code: 409 });
    assert.deepEqual(s.told(), ['stale-read/own-write']);
  });

  it('a child created twice for one owner, as a list did not show the first, is a duplicate', () => {
    const pods: ObjectName = { group: '', resource: 'pods', namespace: 'lab', name: 'demo-a1' };
    const body = {
      metadata: {
        generateName: 'demo-',
        ownerReferences: [{ uid: 'U1', kind: 'Toy', name: 'demo', apiVersion: 'example.test/v1' }],
      },
      spec: { x: 1 },
    };
    for (const shown of [false, true]) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', {});
      s.write('A', pods, 'create', { body, result: { uid: 'P1', token: 'v2' } });
      s.push({
        type: 'read',
        actor: { client: 'A' },
        verb: 'list',
        scope: { group: '', resource: 'pods', namespace: 'lab' },
        given: shown ? [{ namespace: 'lab', name: 'demo-a1', uid: 'P1', token: 'v2' }] : [],
        cacheAllowed: true,
      });
      s.write('A', { ...pods, name: 'demo-b2' }, 'create', { body, result: { uid: 'P2', token: 'v3' } });
      assert.deepEqual(s.told(), shown ? [] : ['stale-read/duplicate-create']);
    }
  });

  it('a token that was never given for the object is invented', () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', '100', {});
    s.get('A', toy(), 'U1', '100');
    s.write('A', toy(), 'replace', { preconditions: { token: '101' }, outcome: 'version-conflict', code: 409 });
    assert.deepEqual(s.told(), ['invented-token']);
  });

  it('one token with two contents is a restored storage; a dry run is not', () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', 'v1', { spec: { n: 1 } });
    s.observe(toy(), 'U1', 'v1', { spec: { n: 7 } }, { notStored: true });
    assert.deepEqual(s.told(), []);
    s.observe(toy(), 'U1', 'v1', { spec: { n: 2 } });
    assert.deepEqual(s.told(), ['token-reuse']);
  });

  it('one token of a Secret with values hashed by two keys is no restored storage; with other labels it is', () => {
    const s = new Scenario();
    const secret = { group: '', resource: 'secrets', namespace: 'lab', name: 'demo' };
    const hashed = (key: string, app = 'one'): JsonObject => ({
      ...hideSecrets({ data: { password: 'eA==' } }, key.repeat(32)),
      metadata: { labels: { app } },
    });
    s.stream(secret, 'U1', 'v1', hashed('a'));
    s.stream(secret, 'U1', 'v1', hashed('b'));
    assert.deepEqual(s.told(), []);
    s.stream(secret, 'U1', 'v1', hashed('b', 'other'));
    assert.deepEqual(s.told(), ['token-reuse']);
  });

  it('a time that nobody saw is told', () => {
    const s = new Scenario();
    s.push({
      type: 'gap',
      gap: 'g1',
      scope: { group: '', resource: 'configmaps' },
      from: 1,
      to: 5_001,
      cause: 'expired',
    });
    assert.deepEqual(
      s.findings().map((item) => item.id),
      ['watch-gap'],
    );
  });
});

describe('reads without contents', () => {
  it('D4: a delete is told by the UIDs in a list and in its answer alone', () => {
    for (const seen of ['U1', 'U2']) {
      const s = new Scenario();
      s.get('A', configMap(), seen, 'v5');
      s.write('A', configMap(), 'delete', { result: { uid: 'U2', token: '' } });
      assert.deepEqual(s.told(), seen === 'U1' ? ['stale-incarnation-write/delete'] : []);
    }
  });

  it('a forced apply after a refused one takes over what the refusal named, where owners were never seen', () => {
    const s = new Scenario();
    const actor = { client: 'A', manager: 'op' };
    s.write(actor, configMap(), 'apply', {
      outcome: 'field-conflict',
      code: 409,
      causes: [{ reason: 'FieldManagerConflict', field: '.data.n', message: 'conflict with "kubectl-edit" using v1' }],
    });
    s.write(actor, configMap(), 'apply', { force: true, result: { uid: 'U1', token: 'v2' }, stored: data({ n: '1' }) });
    const [finding] = s.findings().filter((item) => item.id === 'force-takeover');
    assert.deepEqual(finding?.fields, ['.data.n']);
    assert.deepEqual(finding.actors.slice(1), ['kubectl-edit']);
  });
});
