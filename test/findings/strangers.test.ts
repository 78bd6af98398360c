import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { configMap, data, Scenario, toy } from './scenario.ts';

const map = configMap();
const demo = toy();
const held = (finalizers: string[], more: JsonObject = {}): JsonObject => ({
  metadata: { finalizers, ...more },
});
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
const rules = (...hosts: string[]): JsonObject => ({ spec: { rules: hosts.map((host) => ({ host })) } });

describe('findings of controllers that do it another way', () => {
  it('the last write of all, which releases the object, loses the finalizer of another as any other write does', () => {
    for (const isSeen of [false, true]) {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', held(['a.test/mine']));
      s.get('A', demo, 'U1', 'v1');
      s.write('B', demo, 'patch', {
        patchType: 'merge-patch',
        body: held(['a.test/mine', 'b.test/backup']),
        result: { uid: 'U1', token: 'v2' },
        stored: held(['a.test/mine', 'b.test/backup']),
      });
      s.stream(demo, 'U1', 'v3', held(isSeen ? ['a.test/mine'] : ['a.test/mine', 'b.test/backup'], deleting));
      if (isSeen) s.get('A', demo, 'U1', 'v3');
      s.gone(demo, 'U1');
      s.write('A', demo, 'patch', {
        patchType: 'json-patch',
        body: [{ op: 'remove', path: '/metadata/finalizers' }],
        result: { uid: 'U1', token: 'v3', released: true },
      });
      assert.deepEqual(s.told(), isSeen ? [] : ['lost-update/finalizer'], String(isSeen));
      if (isSeen) continue;
      const loss = s.findings().find(({ id }) => id === 'lost-update');
      assert.deepEqual(loss?.fields, ['.metadata.finalizers[="b.test/backup"]']);
      assert.deepEqual(loss.actors, ['A', 'B']);
    }
  });

  it('who is done takes away its own finalizer, or owner: with that of another at once it loses the other one', () => {
    const told = (left: string[], isOwner = false): string[] => {
      const list = (items: string[], sent: JsonObject): JsonObject =>
        isOwner
          ? { metadata: { ownerReferences: items.map((uid) => ({ kind: 'Toy', name: uid, uid })), ...sent } }
          : held(items, sent);
      const owners = (manager: string): JsonObject => ({ managedFields: [{ manager, operation: 'Update' }] });
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', list([], owners('user')));
      s.get('A', demo, 'U1', 'v1');
      const step = (client: string, from: string, to: string, finalizers: string[], sent: JsonObject): void =>
        s.write(client, demo, 'replace', {
          preconditions: { token: from },
          body: list(finalizers, sent),
          result: { uid: 'U1', token: to },
          stored: list(finalizers, owners(client)),
        });
      step('A', 'v1', 'v2', ['a.test/mine'], owners('user'));
      s.get('B', demo, 'U1', 'v2');
      step('B', 'v2', 'v3', ['a.test/mine', 'b.test/backup'], owners('A'));
      s.get('A', demo, 'U1', 'v3');
      step('A', 'v3', 'v4', left, owners('B'));
      for (const { explanation } of s.findings())
        assert.match(explanation, /took finalizers or owners of others away together/);
      return s.told();
    };
    assert.deepEqual(told([]), ['lost-update/finalizer']);
    assert.deepEqual(told([], true), ['lost-update/list-clobber']);
    for (const isOwner of [false, true]) assert.deepEqual(told(['b.test/backup'], isOwner), []);
    for (const isOwner of [false, true]) assert.deepEqual(told(['a.test/mine'], isOwner), []);
  });

  it('who releases an object did not make the version before', () => {
    const s = new Scenario();
    s.stream(demo, 'U1', 'v1', { ...held(['a.test/mine'], deleting), spec: { size: 1 } });
    s.get('A', demo, 'U1', 'v1');
    s.stream(demo, 'U1', 'v2', { ...held(['a.test/mine'], deleting), spec: { size: 2 } });
    s.stream(demo, 'U1', 'v3', { ...held(['a.test/mine'], deleting), spec: { size: 1 } });
    s.write('A', demo, 'patch', {
      patchType: 'merge-patch',
      body: { metadata: { finalizers: null } },
      result: { uid: 'U1', token: 'v3', released: true },
    });
    assert.deepEqual(s.told(), []);
  });

  it('items without a key are told by what they say: a patch by position hits the one that shifted there', () => {
    const told = (op: Json, now: JsonObject, after: JsonObject): string[] => {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', rules('a', 'b', 'c', 'd'));
      s.get('A', demo, 'U1', 'v1');
      s.stream(demo, 'U1', 'v2', now);
      s.write('A', demo, 'patch', {
        patchType: 'json-patch',
        body: [op],
        result: { uid: 'U1', token: 'v3' },
        stored: after,
      });
      const loss = s.findings().find(({ id }) => id === 'lost-update');
      if (loss !== undefined) assert.match(loss.explanation, /that position held host: "b"/);
      return s.told();
    };
    const lost = ['lost-update/index-patch'];
    const remove = { op: 'remove', path: '/spec/rules/1' };
    const rename = { op: 'replace', path: '/spec/rules/1/host', value: 'x' };
    assert.deepEqual(told(remove, rules('b', 'c', 'd'), rules('b', 'd')), lost);
    assert.deepEqual(told(remove, rules('b', 'c'), rules('b')), lost);
    assert.deepEqual(told(rename, rules('b', 'c', 'd'), rules('b', 'x', 'd')), lost);
    // What was put before the item that stood there pushed it on; what was changed where it stands was not shifted.
    const add = { op: 'add', path: '/spec/rules/1', value: { host: 'x' } };
    assert.deepEqual(told(add, rules('b', 'c'), rules('b', 'x', 'c')), []);
    assert.deepEqual(told(rename, rules('a', 'B', 'c', 'd'), rules('a', 'x', 'c', 'd')), []);
    assert.deepEqual(told(remove, rules('a', 'b', 'e'), rules('a', 'e')), []);
  });

  it('an item added at the end stands where another one stood, and is not that one put back', () => {
    const s = new Scenario();
    s.stream(demo, 'U1', 'v1', rules('a', 'b', 'c'));
    s.get('A', demo, 'U1', 'v1');
    s.stream(demo, 'U1', 'v2', rules('b', 'c'));
    s.write('A', demo, 'patch', {
      patchType: 'json-patch',
      body: [{ op: 'add', path: '/spec/rules/-', value: { host: 'n' } }],
      result: { uid: 'U1', token: 'v3' },
      stored: rules('b', 'c', 'n'),
    });
    assert.deepEqual(s.told(), []);
  });

  it('a body that was refused and came back with another token is known although the version before was placed late', () => {
    const s = new Scenario();
    const sent = data({ ann: '1', w1: '1' });
    s.stream(map, 'U1', 'v1', data({ ann: '1' }));
    s.get('A', map, 'U1', 'v1');
    s.write('A', map, 'replace', {
      preconditions: { token: 'v1' },
      body: data({ ann: '1', w0: '1' }),
      result: { uid: 'U1', token: 'v2' },
    });
    s.write('A', map, 'replace', {
      preconditions: { token: 'v1' },
      body: sent,
      outcome: 'version-conflict',
      code: 409,
    });
    s.get('A', map, 'U1', 'v2');
    // The first write is judged only now, when its event has come.
    s.stream(map, 'U1', 'v2', data({ ann: '1', w0: '1' }));
    s.write('A', map, 'replace', {
      preconditions: { token: 'v2' },
      body: sent,
      result: { uid: 'U1', token: 'v3' },
      stored: sent,
    });
    assert.deepEqual(s.told(), ['lost-update/token-swap']);
  });

  it('a scale replaced without a token loses what it was set to meanwhile; one that is patched says what it wants', () => {
    const told = (verb: 'replace' | 'patch', token?: string): string[] => {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', { spec: { replicas: 2 } });
      s.get('A', demo, 'U1', 'v1');
      s.stream(demo, 'U1', 'v2', { spec: { replicas: 6 } });
      if (token !== undefined) s.get('A', demo, 'U1', token);
      s.write('A', demo, verb, {
        subresource: 'scale',
        ...(verb === 'patch' ? { patchType: 'merge-patch' as const } : {}),
        ...(token === undefined ? {} : { preconditions: { token } }),
        body: { spec: { replicas: 2 } },
        result: { uid: 'U1', token: 'v3' },
        stored: { spec: { replicas: 2 } },
      });
      return s.told();
    };
    assert.deepEqual(told('replace'), ['lost-update/unconditional-overwrite']);
    assert.deepEqual(told('replace', 'v2'), []);
    assert.deepEqual(told('patch'), []);
  });

  it('threads that have refusals under way at the same time do not repeat each other', () => {
    for (const isParallel of [true, false]) {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', { spec: { size: 1 } });
      s.get('A', demo, 'U1', 'v1');
      s.stream(demo, 'U1', 'v2', { spec: { size: 2 } });
      const startedAt = s.at;
      for (let thread = 0; thread < 12; thread += 1)
        s.write('A', demo, 'replace', {
          preconditions: { token: 'v1' },
          body: { spec: { size: thread } },
          startedAt: isParallel ? startedAt : s.at,
          outcome: 'version-conflict',
          code: 409,
        });
      assert.deepEqual(s.told(), isParallel ? [] : ['hot-conflict-loop'], String(isParallel));
    }
  });

  it('contents in two API versions are not compared: each reads otherwise', () => {
    const one = { apiVersion: 'autoscaling/v1', spec: { target: 50 } };
    const two = (value: number): JsonObject => ({
      apiVersion: 'autoscaling/v2',
      spec: {
        metrics: [
          { name: 'cpu', value },
          { name: 'memory', value: 1 },
        ],
      },
    });
    for (const isStreamed of [true, false]) {
      const s = new Scenario();
      const show = (token: string, content: JsonObject): void => {
        const more = { apiVersion: content['apiVersion'] ?? null };
        if (isStreamed && content !== one) s.stream(demo, 'U1', token, content, more);
        else s.observe(demo, 'U1', token, content, more);
      };
      show('v1', one);
      show('v1', two(50));
      for (let round = 1; round < 9; round += 2) {
        s.get('A', demo, 'U1', `v${round}`);
        s.write('A', demo, 'replace', {
          preconditions: { token: `v${round}` },
          body: one,
          result: { uid: 'U1', token: `v${round + 1}` },
        });
        show(`v${round + 1}`, one);
        if (isStreamed) show(`v${round + 1}`, two(50 + Math.max(round - 2, 0)));
        s.write('B', demo, 'patch', {
          patchType: 'merge-patch',
          body: two(50 + round),
          result: { uid: 'U1', token: `v${round + 2}` },
        });
        show(`v${round + 2}`, two(50 + round));
      }
      assert.deepEqual(s.told(), [], String(isStreamed));
    }
  });

  it('a patch of somebody who never read the object asserts the field or the keyed item that it names', () => {
    const containers = (...names: string[]): JsonObject => ({
      spec: { containers: names.map((name) => ({ name, image: 'i', policy: 'Always' })) },
    });
    for (const reads of [false, true]) {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', containers('app', 'side'));
      if (reads) s.get('B', demo, 'U1', 'v1');
      s.get('A', demo, 'U1', 'v1');
      s.write('A', demo, 'replace', {
        preconditions: { token: 'v1' },
        body: containers('app'),
        result: { uid: 'U1', token: 'v2' },
        stored: containers('app'),
      });
      s.write('B', demo, 'patch', {
        patchType: 'strategic',
        body: { spec: { containers: [{ name: 'side', image: 'i' }] } },
        result: { uid: 'U1', token: 'v3' },
        stored: containers('side', 'app'),
      });
      assert.deepEqual(s.told(), reads ? ['lost-update/list-clobber'] : [], String(reads));
    }
  });

  it('a volume whose claim was made again is in order once its claimRef names no dead claim, and that is no dropped field', () => {
    for (const isRepaired of [true, false]) {
      const s = new Scenario();
      const claim = { group: '', resource: 'persistentvolumeclaims', namespace: 'lab', name: 'demo' };
      const volume = { group: '', resource: 'persistentvolumes', namespace: '', name: 'pv-1' };
      const uids = ['00000001-0000-4000-8000-000000000000', '00000002-0000-4000-8000-000000000000'] as const;
      const bound = (uid: string | undefined, label: string): JsonObject => ({
        metadata: { labels: { seen: label } },
        spec: { claimRef: { namespace: 'lab', name: 'demo', ...(uid === undefined ? {} : { uid }) } },
      });
      s.stream(claim, uids[0], 'c1', {});
      s.stream(volume, 'PV1', 'v1', { spec: {} });
      s.stream(volume, 'PV1', 'v2', bound(uids[0], '0'));
      s.gone(claim, uids[0]);
      s.stream(claim, uids[1], 'c2', {});
      s.get('A', volume, 'PV1', 'v2');
      const body = bound(isRepaired ? undefined : uids[0], '1');
      s.write('A', volume, 'replace', {
        preconditions: { token: 'v2' },
        body,
        result: { uid: 'PV1', token: 'v3' },
        stored: body,
      });
      assert.deepEqual(s.told(), isRepaired ? [] : ['stale-reference'], String(isRepaired));
    }
  });

  it('who begins to apply takes over with force what the server had filed under its own user agent', () => {
    const owned = (...entries: [string, string][]): JsonObject => ({
      metadata: {
        managedFields: entries.map(([manager, operation]) => ({
          manager,
          operation,
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { 'f:mode': {} } },
        })),
      },
      ...data({ mode: '1' }),
    });
    for (const agent of ['operator/v1.2 (linux)', 'other/v1.2 (linux)']) {
      const s = new Scenario();
      s.stream(map, 'U1', 'v1', owned(['operator', 'Update']));
      s.get('A', map, 'U1', 'v1');
      s.write({ client: 'A', agent, manager: 'op' }, map, 'apply', {
        force: true,
        patchType: 'apply',
        body: data({ mode: '2' }),
        result: { uid: 'U1', token: 'v2' },
        stored: owned(['op', 'Apply']),
      });
      assert.deepEqual(s.told(), agent.startsWith('operator/') ? [] : ['force-takeover'], agent);
    }
  });

  it('threads that want to make the same object at the same time do not repeat each other', () => {
    for (const isParallel of [true, false]) {
      const s = new Scenario();
      s.stream(map, 'U1', 'v1', data({ a: '1' }));
      const startedAt = s.at;
      for (let thread = 0; thread < 6; thread += 1)
        s.write('A', map, 'create', {
          body: data({ a: '1' }),
          startedAt: isParallel ? startedAt : s.at,
          outcome: 'already-exists',
          code: 409,
        });
      assert.deepEqual(s.told(), isParallel ? [] : ['already-exists-loop'], String(isParallel));
    }
  });

  it('a request in a label that is taken out of what was just read, with a mark left for it, is neither lost nor fought for', () => {
    const labelled = (round: number, isAsked: boolean): JsonObject => ({
      metadata: {
        labels: { app: 'x', ...(isAsked ? { 'needs-work': 'true' } : {}) },
        ...(round === 0 ? {} : { annotations: { done: String(round) } }),
        managedFields: [
          {
            manager: 'B',
            operation: 'Update',
            time: `2026-01-01T00:00:${10 + 2 * round + (isAsked ? 1 : 0)}Z`,
            fieldsV1: {},
          },
        ],
      },
    });
    for (const isFresh of [true, false]) {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v0', labelled(0, false));
      s.get('A', demo, 'U1', 'v0');
      for (let round = 0; round < 5; round += 1) {
        s.write('B', demo, 'patch', {
          patchType: 'merge-patch',
          body: { metadata: { labels: { 'needs-work': 'true' } } },
          result: { uid: 'U1', token: `v${2 * round + 1}` },
          stored: labelled(round, true),
        });
        s.get('A', demo, 'U1', `v${2 * round + 1}`);
        const { labels, annotations } = labelled(round + 1, false)['metadata'] as JsonObject;
        const { managedFields } = labelled(round, isFresh)['metadata'] as JsonObject;
        s.write('A', demo, 'replace', {
          preconditions: { token: `v${2 * round + 1}` },
          body: {
            metadata: {
              labels: labels ?? null,
              annotations: annotations ?? null,
              managedFields: managedFields ?? null,
            },
          },
          result: { uid: 'U1', token: `v${2 * round + 2}` },
          stored: labelled(round + 1, false),
        });
        if (!isFresh) break;
      }
      assert.deepEqual(s.told(), isFresh ? [] : ['lost-update/token-swap'], String(isFresh));
    }
  });

  it('a patch that was made for the version it changed takes back on purpose, whatever it is like', () => {
    const image = (value: string, more: JsonObject = {}): JsonObject => ({ spec: { image: value }, ...more });
    for (const how of ['asked', 'token', 'watched'] as const) {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', image('a:1'));
      s.get('A', demo, 'U1', 'v1');
      s.stream(demo, 'U1', 'v2', image('a:2'));
      if (how === 'asked') s.get('A', demo, 'U1', 'v2');
      else s.watched('A', demo, 'U1', 'v2');
      s.write('A', demo, 'patch', {
        patchType: 'merge-patch',
        ...(how === 'token' ? { preconditions: { token: 'v2' } } : {}),
        body: image('a:1', { metadata: { annotations: { undone: '1' } } }),
        result: { uid: 'U1', token: 'v3' },
        stored: image('a:1', { metadata: { annotations: { undone: '1' } } }),
      });
      assert.deepEqual(s.told(), how === 'watched' ? ['lost-update/unconditional-overwrite'] : [], how);
    }
  });

  it('a position is looked at in every list on the way: the item may have shifted in the inner one', () => {
    const env = (...names: string[]): JsonObject => ({
      spec: { containers: [{ name: 'app', env: names.map((name) => ({ name, value: '1' })) }] },
    });
    for (const isShifted of [true, false]) {
      const [now, after] = isShifted ? [env('B', 'C'), env('B')] : [env('A', 'B', 'C', 'D'), env('A', 'C', 'D')];
      const s = new Scenario();
      s.stream(demo, 'U1', 'v1', env('A', 'B', 'C'));
      s.get('A', demo, 'U1', 'v1');
      s.stream(demo, 'U1', 'v2', now);
      s.write('A', demo, 'patch', {
        patchType: 'json-patch',
        body: [{ op: 'remove', path: '/spec/containers/0/env/1' }],
        result: { uid: 'U1', token: 'v3' },
        stored: after,
      });
      const losses = s.findings().filter(({ id }) => id === 'lost-update');
      assert.deepEqual(
        losses.map(({ fields }) => fields),
        isShifted ? [['.spec.containers[name="app"].env[name="C"]']] : [],
      );
    }
  });
});
