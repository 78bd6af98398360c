import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import { responsibilityPresets, type Responsibility } from '../../src/core/responsibility.ts';
import { associationNote, type Association } from '../../src/core/associations.ts';
import { configMap, data, Scenario } from './scenario.ts';

const web = { group: 'apps', resource: 'deployments', namespace: 'lab', name: 'web' };
const autoscaler = 'kube-controller-manager';

function owned(manager: string, replicas: number, at = 1): JsonObject {
  const entry = { manager, operation: 'Update', subresource: 'scale', apiVersion: 'apps/v1', fieldsType: 'FieldsV1' };
  const time = `2026-01-01T00:00:0${at}Z`;
  return {
    spec: { replicas },
    metadata: { managedFields: [{ ...entry, time, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] },
  };
}

/** A Deployment whose replicas one manager owns, and the write of another to it. */
function scaled(before: string, by: string): Scenario {
  const s = new Scenario();
  s.stream(web, 'U1', 'v1', owned(before, 8), { kind: 'Deployment' });
  const result = { uid: 'U1', token: 'v2' };
  const stored = owned(by, 2, 2);
  s.write({ client: 'hand', manager: by }, web, 'replace', { preconditions: { token: 'v1' }, result, stored });
  return s;
}

const breaches = (s: Scenario, responsibilities: readonly Responsibility[]): Finding[] =>
  s.findings({ responsibilities }).filter(({ id }) => id === 'responsibility-breach');

describe('a field that somebody is responsible for', () => {
  it('changed by another actor is a finding, with the field, both actors, the reason and the write', () => {
    const s = scaled(autoscaler, 'kubectl');
    const [found, ...more] = breaches(s, responsibilityPresets);
    assert.deepEqual(more, []);
    assert.deepEqual([found?.fields, found?.actors, found?.count], [['.spec.replicas'], ['hand (kubectl)'], 1]);
    assert.equal(found?.details?.['responsible'], autoscaler);
    assert.match(
      found?.explanation ?? '',
      /hand \(kubectl\) changed \.spec\.replicas of web.*kube-controller-manager.*autoscaler/,
    );
    const write = s.events.find(({ type }) => type === 'write');
    assert.ok(found?.events.includes(write?.seq ?? -1));
    assert.equal(found?.sureness, 'certain');
  });

  it('is left alone by whoever is responsible, where nobody declared it, and where a preset does not hold', () => {
    assert.deepEqual(breaches(scaled(autoscaler, autoscaler), responsibilityPresets), []);
    assert.deepEqual(breaches(scaled(autoscaler, 'kubectl'), []), []);
    assert.deepEqual(breaches(scaled('helm', 'kubectl'), responsibilityPresets), []);
  });

  it('is told by field managers alone, as likely; of two who may have made a version neither is named', () => {
    const rule = { kind: 'Deployment', path: '.spec.replicas', manager: 'sizer', reason: 'it sizes' };
    const seen = (managers: readonly string[]): Finding[] => {
      const s = new Scenario();
      s.stream(web, 'U1', 'v1', owned('sizer', 8), { kind: 'Deployment' });
      const entries = managers.map((manager) => (owned(manager, 2, 2)['metadata'] as JsonObject)['managedFields']);
      s.stream(web, 'U1', 'v2', { spec: { replicas: 2 }, metadata: { managedFields: entries.flat() as JsonObject[] } });
      s.wait(5000);
      s.observe(configMap('later'), 'U9', 'x1');
      return breaches(s, [rule]);
    };
    assert.deepEqual(
      seen(['kubectl']).map(({ actors, sureness }) => [actors, sureness]),
      [[['kubectl'], 'likely']],
    );
    assert.deepEqual(seen(['kubectl', 'helm']), []);
    assert.deepEqual(seen(['sizer']), []);
  });

  it('and that keeps being changed is one finding that grows', () => {
    const s = scaled(autoscaler, 'kubectl');
    const again = {
      preconditions: { token: 'v2' },
      result: { uid: 'U1', token: 'v3' },
      stored: owned('kubectl', 1, 3),
    };
    s.write({ client: 'hand', manager: 'kubectl' }, web, 'replace', again);
    const always = responsibilityPresets.map((rule) => ({ ...rule, onlyWhileOwned: false }));
    assert.deepEqual(
      breaches(s, always).map(({ count }) => count),
      [2],
    );
  });
});

describe('what was declared to belong to an object from outside', () => {
  const name = configMap();
  const disk = (uid: string): Association => ({ cluster: 'c1', name, uid, what: 'disk', id: 'd-1', declaredAt: 1 });
  const note = (s: Scenario, uid: string, ended = false): void => {
    const { at: _at, via: _via, cluster: _cluster, ...rest } = associationNote(disk(uid), ended, 1);
    s.push(rest);
  };
  const told = (s: Scenario): string[] =>
    s
      .findings()
      .filter(({ kind }) => kind === 'association')
      .map(({ object, details, explanation }) => {
        const state = explanation.includes('nothing has its name') ? 'orphaned' : 'stale';
        return `${state} ${String(details?.['declaredUid'])} at ${object.uid}`;
      });
  const begun = (): Scenario => {
    const s = new Scenario();
    s.stream(name, 'U1', 'v1', data({ a: '1' }));
    note(s, 'U1');
    return s;
  };
  const recreate = (s: Scenario): void => {
    s.gone(name, 'U1');
    s.stream(name, 'U2', 'v9', data({ a: '1' }));
  };

  it('holds while its incarnation lives, is orphaned when it goes, and stale when another takes the name', () => {
    const s = begun();
    assert.deepEqual(told(s), []);
    s.gone(name, 'U1');
    assert.deepEqual(told(s), ['orphaned U1 at U1']);
    s.stream(name, 'U2', 'v9', data({ a: '1' }));
    assert.deepEqual(told(s), ['stale U1 at U2']);
  });

  it('is settled by adopting it, or by cleaning it up, and by nothing else', () => {
    const adopted = begun();
    recreate(adopted);
    note(adopted, 'U1');
    assert.deepEqual(told(adopted), ['stale U1 at U2'], 'saying the same again settles nothing');
    note(adopted, 'U2');
    assert.deepEqual(told(adopted), []);
    adopted.gone(name, 'U2');
    assert.deepEqual(told(adopted), ['orphaned U2 at U2']);
    const cleaned = begun();
    recreate(cleaned);
    note(cleaned, 'U1', true);
    assert.deepEqual(told(cleaned), []);
  });

  it('is told where the log begins after the recreation, and by a creation that only a write showed', () => {
    const late = new Scenario();
    note(late, 'U1');
    assert.deepEqual(told(late), [], 'nobody has looked');
    late.stream(name, 'U2', 'v9', data({ a: '1' }));
    assert.deepEqual(told(late), ['stale U1 at U2']);
    const written = begun();
    written.write('A', name, 'create', { result: { uid: 'U2', token: 'v9' } });
    assert.deepEqual(told(written), ['stale U1 at U2']);
  });

  it('is taken back for those who look, not only left out of the next list', () => {
    const s = begun();
    recreate(s);
    note(s, 'U2');
    const detector = createDetector();
    for (const event of s.events) detector.add(event);
    assert.equal(detector.retracted(), 2, 'orphaned became stale, and stale was settled');
  });
});
