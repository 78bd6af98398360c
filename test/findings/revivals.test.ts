import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { Scenario, toy } from './scenario.ts';

const demo = toy();
const vase = { spec: { size: 3, color: 'blue' } };
const labelled = { metadata: { labels: { tier: 'gold' } } };
const CREATED = '2026-01-01T00:00:00Z';
const made = { metadata: { creationTimestamp: CREATED } };

/** A toy that `maker` made, that A has read, and that `end` took away. */
function deleted(maker: string, end: (s: Scenario) => void): Scenario {
  const s = new Scenario();
  s.write(maker, demo, 'create', { body: vase, result: { uid: 'U1', token: 'v1' }, stored: { ...vase, ...made } });
  s.get('A', demo, 'U1', 'v1');
  end(s);
  s.gone(demo, 'U1');
  return s;
}

const byUser = (s: Scenario): void => s.write('user', demo, 'delete', { result: { uid: 'U1', token: '' } });

function applied(s: Scenario, body: JsonObject): string[] {
  s.write('A', demo, 'apply', { body, result: { uid: 'U2', token: 'v3' }, stored: body });
  return s.told();
}

function createdAnew(s: Scenario, body: JsonObject): string[] {
  s.write('A', demo, 'replace', { body, preconditions: { uid: 'U1', token: 'v1' }, outcome: 'not-found', code: 404 });
  s.write('A', demo, 'create', { body, result: { uid: 'U2', token: 'v3' }, stored: body });
  return s.told();
}

describe('objects that come back', () => {
  it('an apply brings an object of others back, without what they had set, by who was not told that it is gone', () => {
    const s = deleted('user', byUser);
    assert.deepEqual(applied(s, labelled), ['stale-incarnation-write/revival']);
    const [found] = s.findings().filter(({ id }) => id === 'stale-incarnation-write');
    assert.deepEqual(found?.fields, ['.spec.color', '.spec.size']);
    assert.deepEqual(
      found.events.map((seq) => s.events[seq - 1]?.type),
      ['read', 'write', 'write'],
    );
  });

  it('who made the object, knows of its end, or applies all of it makes it anew on purpose', () => {
    assert.deepEqual(applied(deleted('A', byUser), labelled), []);
    assert.deepEqual(applied(deleted('user', byUser), { ...vase, ...labelled }), []);
    const watching = deleted('user', byUser);
    watching.watched('A', demo, 'U1', 'v1', { deleted: true });
    assert.deepEqual(applied(watching, labelled), []);
    const looking = deleted('user', byUser);
    looking.get('A', demo, 'U1', 'v1', { given: [], code: 404 });
    assert.deepEqual(applied(looking, labelled), []);
  });

  it('a create with the creation time of the one that was deleted is a copy of it', () => {
    const copy = { ...vase, metadata: { creationTimestamp: CREATED.replace('Z', '+00:00') } };
    assert.deepEqual(createdAnew(deleted('user', byUser), copy), ['stale-incarnation-write/revival']);
    assert.deepEqual(createdAnew(deleted('user', byUser), vase), []);
    assert.deepEqual(createdAnew(deleted('A', byUser), copy), []);
    const moved = deleted('user', (s) => s.write('A', demo, 'delete', { result: { uid: 'U1', token: '' } }));
    assert.deepEqual(createdAnew(moved, copy), []);
  });
});
