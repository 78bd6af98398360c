import assert from 'node:assert/strict';
import type { Finding } from '../../src/core/findings/finding.ts';
import { configMap, data, Scenario } from './scenario.ts';

const map = configMap();

/** A has read `v1`; its update got no answer, and was stored as `v2` where `stored` says so. */
function lostUpdate(stored: boolean): Scenario {
  const s = new Scenario();
  s.stream(map, 'U1', 'v1', data({ n: '0' }));
  s.get('A', map, 'U1', 'v1');
  s.write('A', map, 'replace', { preconditions: { token: 'v1' }, body: data({ n: '1' }), outcome: 'uncertain' });
  if (stored) s.stream(map, 'U1', 'v2', data({ n: '1' }));
  return s;
}

function again(s: Scenario, token: string, outcome: 'accepted' | 'version-conflict'): void {
  const result = outcome === 'accepted' ? { result: { uid: 'U1', token: 'v3' } } : { code: 409 };
  s.write('A', map, 'replace', { preconditions: { token }, body: data({ n: '1' }), outcome, ...result });
}

function only(s: Scenario, id: Finding['id']): Finding {
  const found = s.findings().filter((finding) => finding.id === id);
  assert.equal(found.length, 1);
  assert.ok(found[0]);
  return found[0];
}

describe('an answer that was lost', () => {
  it('is information where its sender looks before it does anything else, whatever had become of the write', () => {
    for (const stored of [true, false]) {
      const quiet = lostUpdate(stored);
      quiet.get('A', map, 'U1', stored ? 'v2' : 'v1');
      const listed = lostUpdate(stored);
      listed.push({
        type: 'read',
        actor: { client: 'A' },
        verb: 'list',
        scope: { group: '', resource: 'configmaps', namespace: 'lab' },
        given: [],
        cacheAllowed: false,
      });
      const repeated = lostUpdate(stored);
      repeated.get('A', map, 'U1', stored ? 'v2' : 'v1');
      again(repeated, stored ? 'v2' : 'v1', 'accepted');
      const woken = lostUpdate(true);
      woken.watched('A', map, 'U1', 'v2');
      again(woken, 'v2', 'accepted');
      for (const s of [quiet, listed, repeated, woken]) {
        const { severity, explanation, events } = only(s, 'uncertain-write');
        assert.equal(severity, 'info');
        assert.match(explanation, /Its sender looked at what is stored/);
        assert.deepEqual(
          events,
          [...events].sort((a, b) => a - b),
        );
      }
    }
  });

  it('stays a warning where its sender does not look, looks elsewhere, or somebody else looks', () => {
    const silent = lostUpdate(true);
    const elsewhere = lostUpdate(true);
    elsewhere.get('A', configMap('other'), 'U9', 'v9');
    const other = lostUpdate(true);
    other.get('B', map, 'U1', 'v2');
    const watching = lostUpdate(true);
    watching.watched('A', map, 'U1', 'v2');
    const blind = lostUpdate(false);
    again(blind, 'v1', 'accepted');
    blind.get('A', map, 'U1', 'v3');
    for (const s of [silent, elsewhere, other, watching, blind])
      assert.equal(only(s, 'uncertain-write').severity, 'warning');
  });

  it('stays a conflict with oneself where its sender looked and sent the same token all the same', () => {
    const s = lostUpdate(true);
    s.get('A', map, 'U1', 'v1', { cacheAllowed: true });
    again(s, 'v1', 'version-conflict');
    const { kind, severity } = only(s, 'uncertain-write');
    assert.deepEqual([kind, severity], ['self-conflict', 'warning']);
  });

  it('is who made progress first in the conflict that follows, however late', () => {
    for (const wait of [0, 5_000]) {
      const s = lostUpdate(true);
      s.wait(wait);
      s.get('B', map, 'U1', 'v2');
      again(s, 'v1', 'version-conflict');
      const { explanation, events } = only(s, 'version-conflict');
      assert.match(explanation, /most likely its own write before, whose answer was lost, made progress first/);
      assert.deepEqual(events, [3, 4, 6]);
      assert.equal(only(s, 'uncertain-write').kind, 'self-conflict');
    }
  });

  it('is not blamed where somebody else wrote in between', () => {
    const s = lostUpdate(false);
    s.write('B', map, 'replace', {
      preconditions: { token: 'v1' },
      body: data({ n: '5' }),
      result: { uid: 'U1', token: 'v2' },
    });
    again(s, 'v1', 'version-conflict');
    assert.match(only(s, 'version-conflict').explanation, /: B made progress first/);
    assert.equal(only(s, 'uncertain-write').kind, undefined);
  });

  it('is the cause that a loop of conflicts names', () => {
    const s = lostUpdate(true);
    for (let attempt = 0; attempt < 3; attempt += 1) again(s, 'v1', 'version-conflict');
    assert.match(only(s, 'hot-conflict-loop').explanation, /The write that retired the token was its own/);
  });
});
