import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { observedFrom } from '../../src/core/observe.ts';
import { configMap, Scenario } from './scenario.ts';

const map = configMap();

/** A ConfigMap whose fields the managers have. */
const owned = (data: Record<string, string>, ...managers: readonly string[]): JsonObject => ({
  data,
  metadata: {
    managedFields: managers.map((manager, index) => ({
      manager,
      operation: 'Update',
      fieldsV1: { 'f:data': { [`f:${'abc'[index]}`]: {} } },
      time: '2026-01-01T00:00:00Z',
    })),
  },
});

describe('who made progress first', () => {
  it('is named by the managed fields of what was seen, also when the refusal comes right after', () => {
    for (const wait of [0, 5000]) {
      const s = new Scenario();
      s.stream(map, 'U1', 'v1', owned({ a: '1' }, 'kubectl-create'));
      s.get('A', map, 'U1', 'v1');
      s.stream(map, 'U1', 'v2', owned({ a: '1', b: '2' }, 'kubectl-create', 'kubectl-patch'));
      s.wait(wait);
      s.write('A', map, 'replace', { preconditions: { token: 'v1' }, outcome: 'version-conflict', code: 409 });
      const [conflict] = s.findings().filter(({ id }) => id === 'version-conflict');
      assert.match(conflict?.explanation ?? '', /: kubectl-patch made progress first/);
      assert.deepEqual(conflict?.actors, ['A', 'kubectl-patch']);
    }
  });

  it('is somebody where the versions do not tell, and unseen only where nothing was seen', () => {
    const told = (seen: boolean): string => {
      const s = new Scenario();
      s.stream(map, 'U1', 'v1', { data: { a: '1' } });
      s.get('A', map, 'U1', 'v1');
      if (seen) s.stream(map, 'U1', 'v2', { data: { a: '2' } });
      s.write('A', map, 'replace', { preconditions: { token: 'v1' }, outcome: 'version-conflict', code: 409 });
      return s.findings().find(({ id }) => id === 'version-conflict')?.explanation ?? '';
    };
    assert.match(told(true), /somebody whose name its versions do not tell made progress/);
    assert.match(told(false), /somebody whose write was not seen made progress/);
  });
});

describe('a token of which one sight keeps hashes and another the body', () => {
  const seen = (mode: string): string[] => {
    const s = new Scenario();
    const body = { metadata: { name: map.name, namespace: map.namespace, uid: 'U1' }, data: { mode: 'old' } };
    const hashed = observedFrom(
      { ...body, metadata: { ...body.metadata, resourceVersion: 'v1' } },
      { cluster: 'c1', via: 'write', at: 1, resource: map, keepBody: false, secretKey: '0'.repeat(32) },
    );
    assert.ok(hashed?.leaves !== undefined);
    s.push({ type: 'observed', name: map, uid: 'U1', token: 'v1', leaves: hashed.leaves });
    s.stream(map, 'U1', 'v1', { data: { mode } });
    return s.findings().map(({ id }) => id);
  };

  it('is no token for two contents, unless they are two', () => {
    assert.deepEqual(seen('old'), []);
    assert.deepEqual(seen('new'), ['token-reuse']);
  });
});
