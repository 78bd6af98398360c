import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { configMap, Scenario, toy } from './scenario.ts';

describe('what controllers do wrong, as their authors write it', () => {
  const steady = (): number => 10;
  const growing = (index: number): number => 10 * 1.8 ** index;

  it('a delete of an incarnation that is gone, sent again and again, is a loop of that incarnation; with a backoff it is none', () => {
    for (const [pause, told] of [
      [steady, ['hot-conflict-loop/uid-mismatch']],
      [growing, []],
    ] as const) {
      const s = new Scenario();
      s.stream(configMap(), 'U1', 'v1', {});
      s.get('A', configMap(), 'U1', 'v1');
      s.gone(configMap(), 'U1');
      s.stream(configMap(), 'U2', 'v2', {});
      for (let index = 0; index < 12; index += 1) {
        s.wait(pause(index) - 100);
        s.write('A', configMap(), 'delete', { preconditions: { uid: 'U1' }, outcome: 'uid-mismatch', code: 409 });
      }
      assert.deepEqual(s.told(), told);
      const loop = s.findings().find(({ id }) => id === 'hot-conflict-loop');
      assert.equal(loop?.object.uid, told.length === 0 ? undefined : 'U1');
    }
  });

  it('a JSON Patch whose test fails again and again is a loop; one that is invalid otherwise is not', () => {
    for (const [first, told] of [
      ['test', ['hot-conflict-loop']],
      ['add', []],
    ] as const) {
      const s = new Scenario();
      s.stream(configMap(), 'U1', 'v1', { data: { mode: '9' } });
      const body = [
        { op: first, path: '/data/mode', value: '0' },
        { op: 'replace', path: '/data/mode', value: '2' },
      ];
      for (let index = 0; index < 12; index += 1)
        s.write('A', configMap(), 'patch', { patchType: 'json-patch', body, outcome: 'invalid', code: 422 });
      assert.deepEqual(s.told(), told);
    }
  });

  it('a loop that only reorders a list names the list; one that changes something now and then besides names only what each pass changed', () => {
    const env = (...names: string[]): JsonObject => ({ spec: { env: names.map((name) => ({ name, value: '1' })) } });
    const contents: ((index: number) => JsonObject)[] = [
      (index) => (index % 2 === 0 ? env('a', 'b') : env('b', 'a')),
      (index) => ({ spec: { size: Math.floor(index / 10) }, metadata: { annotations: { at: String(index) } } }),
    ];
    const told = contents.map((content) => {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v0', content(0));
      for (let index = 1; index < 30; index += 1) {
        const [token, next] = [`v${index - 1}`, `v${index}`];
        s.watched('A', toy(), 'U1', token);
        const body = content(index);
        s.write('A', toy(), 'replace', {
          preconditions: { token },
          body,
          result: { uid: 'U1', token: next },
          stored: body,
        });
      }
      const [loop] = s.findings().filter(({ id }) => id === 'update-loop');
      return [loop?.fields, /Each pass changed (.*)\.$/.exec(loop?.explanation ?? '')?.[1]];
    });
    assert.deepEqual(told, [
      [['.spec.env'], 'the order of .spec.env'],
      [['.metadata.annotations.at'], '.metadata.annotations.at'],
    ]);
  });

  it('who made an object with its finalizer and takes all away takes that of another too; only its own is none', () => {
    for (const [left, told] of [
      [[], ['lost-update/finalizer']],
      [['b.test/volumes'], []],
    ] as const) {
      const s = new Scenario();
      const owned = (by: string[], ...items: string[]): JsonObject => ({
        metadata: { finalizers: items, managedFields: by.map((manager) => ({ manager, operation: 'Update' })) },
      });
      const made = { body: owned([], 'a.test/own'), result: { uid: 'U1', token: 'v1' } };
      s.write('A', toy(), 'create', { ...made, stored: owned(['A'], 'a.test/own') });
      const both = owned(['A', 'B'], 'a.test/own', 'b.test/volumes');
      s.write('B', toy(), 'replace', {
        preconditions: { token: 'v1' },
        body: both,
        result: { uid: 'U1', token: 'v2' },
        stored: both,
      });
      s.get('A', toy(), 'U1', 'v2');
      const body = owned(['A', 'B'], ...left);
      s.write('A', toy(), 'replace', {
        preconditions: { uid: 'U1', token: 'v2' },
        body,
        result: { uid: 'U1', token: 'v3' },
        stored: body,
      });
      assert.deepEqual(s.told(), told);
    }
  });

  it('a patch that takes out a whole map loses what another put in, and means what it put in itself', () => {
    for (const patch of [{ metadata: { annotations: null } }, [{ op: 'remove', path: '/metadata/annotations' }]]) {
      const s = new Scenario();
      const annotations = (...names: string[]): JsonObject => ({
        metadata: { annotations: Object.fromEntries(names.map((name) => [name, '1'])) },
      });
      s.stream(toy(), 'U1', 'v1', {});
      s.get('A', toy(), 'U1', 'v1');
      for (const [who, token, names] of [
        ['A', 'v2', ['mine']],
        ['B', 'v3', ['mine', 'theirs']],
      ] as const) {
        const body = annotations(...names);
        s.write(who, toy(), 'patch', {
          patchType: 'merge-patch',
          body,
          result: { uid: 'U1', token },
          stored: body,
        });
      }
      s.write('A', toy(), 'patch', {
        patchType: Array.isArray(patch) ? 'json-patch' : 'merge-patch',
        body: patch,
        result: { uid: 'U1', token: 'v4' },
        stored: {},
      });
      assert.deepEqual(s.told(), ['lost-update/unconditional-overwrite']);
    }
  });

  it('who reads anew after a refusal and sets its value once more is no token swap, however like the refused body is; what it did not mean to change is lost', () => {
    const owners = (manager: string): JsonObject => ({ manager, operation: 'Update', fieldsV1: { 'f:spec': {} } });
    const body = (copied: string, spec: JsonObject): JsonObject => ({
      metadata: { managedFields: [owners(copied)] },
      spec,
    });
    for (const [copied, wanted, told] of [
      ['B', 3, []],
      ['A', 3, ['lost-update/token-swap certain']],
      ['B', 1, ['lost-update/token-swap certain']],
      // One more than what it had read at first: counted on, and outside the retry.
      ['B', 2, ['lost-update/token-swap likely']],
    ] as const) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', body('A', { size: 1, color: 'red' }));
      s.get('A', toy(), 'U1', 'v1');
      s.stream(toy(), 'U1', 'v2', body('B', { size: 9, color: 'red' }));
      for (const token of ['v1', 'v2']) {
        const isFirst = token === 'v1';
        s.write('A', toy(), 'replace', {
          preconditions: { token, uid: 'U1' },
          body: body(isFirst ? 'A' : copied, { size: wanted, color: 'blue' }),
          ...(isFirst
            ? { outcome: 'version-conflict', code: 409 }
            : { result: { uid: 'U1', token: 'v3' }, stored: body('B', { size: wanted, color: 'blue' }) }),
        });
        if (isFirst) s.get('A', toy(), 'U1', 'v2');
      }
      const losses = s.findings().filter(({ id }) => id === 'lost-update');
      const found = losses.map(({ id, kind, sureness }) => `${id}/${kind} ${sureness}`);
      assert.deepEqual(found, told, `${copied} ${wanted}`);
      assert.deepEqual(
        s.told(),
        told.map((one) => one.split(' ')[0]),
      );
    }
  });

  it('who waits for its cache with growing pauses is in no hot loop; who was given what is newer, or does not wait, is', () => {
    for (const [pause, isGiven, told] of [
      [growing, false, []],
      [growing, true, ['hot-conflict-loop']],
      [steady, false, ['hot-conflict-loop']],
    ] as const) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', {});
      s.watched('A', toy(), 'U1', 'v1');
      s.stream(toy(), 'U1', 'v2', { spec: { size: 2 } });
      if (isGiven) s.watched('A', toy(), 'U1', 'v2');
      for (let index = 0; index < 11; index += 1) {
        s.wait(pause(index) - 100);
        s.write('A', toy(), 'replace', {
          preconditions: { token: 'v1', uid: 'U1' },
          body: { spec: { color: 'red' } },
          outcome: 'version-conflict',
          code: 409,
        });
      }
      assert.deepEqual(s.told(), told, `${pause(1)} ${isGiven}`);
    }
  });

  it('two workers that have one owner in hand at once make a child too many; as many as it asks for are none', () => {
    for (const size of [0, 1, 2]) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', { spec: size === 0 ? {} : { size } });
      s.get('A', toy(), 'U1', 'v1');
      // They end, and two more take their place, which is none too many either.
      for (const round of size === 1 ? ['a'] : ['a', 'b']) {
        const start = s.at;
        for (const child of [`C${round}1`, `C${round}2`])
          s.write('A', configMap(`demo-${child.toLowerCase()}`), 'create', {
            startedAt: start,
            code: 201,
            body: { metadata: { generateName: 'demo-', ownerReferences: [{ kind: 'Toy', name: 'demo', uid: 'U1' }] } },
            result: { uid: child, token: `${child}-1` },
          });
      }
      assert.deepEqual(s.told(), size === 1 ? ['stale-read/duplicate-create'] : [], String(size));
    }
  });

  it('an object that is built anew and given the token only loses the labels, annotations and finalizers of others; one that was read and changed need not', () => {
    const app = { app: 'demo' };
    for (const [left, uid, told] of [
      [[], undefined, ['lost-update/dropped-fields']],
      [[], 'U1', []],
      [['b.test/b'], undefined, []],
    ] as const) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', { metadata: { labels: app }, spec: { size: 1 } });
      const [labels, finalizers] =
        left.length > 0 ? [app, ['a.test/a', 'b.test/b']] : [{ ...app, team: 'b' }, ['b.test/b']];
      s.stream(toy(), 'U1', 'v2', { metadata: { labels, finalizers }, spec: { size: 1 } });
      s.get('A', toy(), 'U1', 'v2');
      const stored = { metadata: { labels: app, finalizers: [...left] }, spec: { size: 2 } };
      s.write('A', toy(), 'replace', {
        preconditions: { token: 'v2', ...(uid === undefined ? {} : { uid }) },
        body: stored,
        result: { uid: 'U1', token: 'v3' },
        stored,
      });
      const found = s.findings().filter(({ severity }) => severity !== 'info');
      assert.deepEqual(s.told(), told, `${left.join()} ${uid}`);
      assert.deepEqual(
        found.flatMap(({ fields }) => fields),
        told.length === 0 ? [] : ['.metadata.finalizers[="b.test/b"]', '.metadata.labels.team'],
      );
    }
  });

  it('programs that share a user are told apart in words', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v0', { data: { mode: '0' } });
    for (let index = 1; index < 9; index += 1) {
      const agent = index % 2 === 0 ? 'operator/v1' : 'kubectl/v1 (linux)';
      const body = { data: { mode: agent } };
      s.write({ user: 'admin', agent }, configMap(), 'replace', {
        preconditions: { token: `v${index - 1}` },
        body,
        result: { uid: 'U1', token: `v${index}` },
        stored: body,
      });
    }
    const [fight] = s.findings().filter(({ id }) => id === 'ownership-fight');
    assert.deepEqual([...(fight?.actors ?? [])].sort(), ['admin (kubectl)', 'admin (operator)']);
  });
});
