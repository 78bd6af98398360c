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
