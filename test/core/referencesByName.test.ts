import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import type { ObjectName } from '../../src/core/traceEvent.ts';
import { nameMeant, recreatedSince } from '../../src/core/referencesByName.ts';
import { referencesOf } from '../../src/core/references.ts';
import { TraceBuilder } from './traceBuilder.ts';

const secret: ObjectName = { group: '', resource: 'secrets', namespace: 'lab', name: 'keys' };
const pod: ObjectName = { group: '', resource: 'pods', namespace: 'lab', name: 'web' };
const uses = (secretName: string, more: JsonObject = {}): JsonObject => ({
  spec: { volumes: [{ name: 'v', secret: { secretName } }] },
  ...more,
});

/** A trace in which several objects happen, each with the events that are told of it. */
class Cluster extends TraceBuilder {
  of(name: ObjectName, kind: string, happens: (trace: this) => void): this {
    Object.assign(this, { name, kind });
    happens(this);
    return this;
  }

  secret(happens: (trace: this) => void): this {
    return this.of(secret, 'Secret', happens);
  }

  pod(happens: (trace: this) => void): this {
    return this.of(pod, 'Pod', happens);
  }

  /** Who holds the name that an object's only reference means, by UID, and "recreated" where that is shown. */
  meant(uid = 'P'): string {
    const from = this.history.uids.get(`${this.cluster}\0${uid}`);
    const body = from?.versions.at(-1)?.body;
    assert.ok(from !== undefined && body !== undefined);
    const [reference] = referencesOf(body);
    assert.ok(reference !== undefined);
    const name = nameMeant(this.history, from, reference);
    const holder = name?.incarnations.at(-1);
    if (name === undefined || holder === undefined) return 'unknown';
    return `${holder.uid}${recreatedSince(name, holder, from, reference) ? ' recreated' : ''}`;
  }
}

const again = (trace: Cluster): void => {
  trace.absent('event', { uid: 'S1', token: 's2', stream: 's-secrets' });
  trace.added('S2', 's3', {}, 's-secrets');
};

describe('a reference by name only', () => {
  const begun = (): Cluster => new Cluster().secret((trace) => trace.added('S1', 's1', {}, 's-secrets'));

  it('means who holds the name, which is no one else since it was written', () => {
    assert.equal(
      begun()
        .pod((trace) => trace.added('P', 'p1', uses('keys')))
        .meant(),
      'S1',
    );
    assert.equal(
      begun()
        .secret(again)
        .pod((trace) => trace.added('P', 'p1', uses('keys')))
        .meant(),
      'S2',
    );
  });

  it('was written before the name was taken anew, also where the status changed since', () => {
    const trace = begun()
      .pod((one) => one.added('P', 'p1', uses('keys')))
      .secret(again);
    assert.equal(trace.meant(), 'S2 recreated');
    trace.pod((one) => one.modified('P', 'p2', uses('keys', { status: { phase: 'Running' } })));
    assert.equal(trace.meant(), 'S2 recreated');
  });

  it('that is written after the name was taken anew means the new one', () => {
    const trace = begun()
      .pod((one) => one.added('P', 'p1', uses('other')))
      .secret(again)
      .pod((one) => one.modified('P', 'p2', uses('keys')));
    assert.equal(trace.meant(), 'S2');
  });

  it('to what was created later for the first time is no sign of a recreation', () => {
    const trace = new Cluster()
      .pod((one) => one.added('P', 'p1', uses('keys')))
      .secret((one) => one.added('S1', 's1', {}, 's-secrets'));
    assert.equal(trace.meant(), 'S1');
  });

  it('where nobody saw the new one begin, counts from when the old one was seen last', () => {
    const unseen = (one: Cluster): void => {
      one.gap();
      one.list('S2', 's3', {}, 's-secrets-2');
    };
    const before = new Cluster()
      .pod((one) => one.added('P', 'p1', uses('keys')))
      .secret((one) => one.added('S1', 's1', {}, 's-secrets'));
    assert.equal(before.secret(unseen).meant(), 'S2 recreated');
    const within = begun().pod((one) => one.added('P', 'p1', uses('keys')));
    assert.equal(within.secret(unseen).meant(), 'S2');
  });

  it('is of its own kind, group, namespace and cluster, or of no namespace', () => {
    const elsewhere: readonly [ObjectName, string][] = [
      [{ ...secret, namespace: 'other' }, 'Secret'],
      [{ ...secret, group: 'example.test' }, 'Secret'],
      [{ ...secret, resource: 'configmaps' }, 'ConfigMap'],
    ];
    const trace = new Cluster();
    for (const [index, [name, kind]] of elsewhere.entries())
      trace.of(name, kind, (one) => one.added(`X${index}`, 'x1', {}, `s-${index}`));
    trace.pod((one) => one.added('P', 'p1', uses('keys')));
    assert.equal(trace.meant(), 'unknown');
    const classes: ObjectName = { group: 'storage.k8s.io', resource: 'storageclasses', namespace: '', name: 'fast' };
    trace
      .of(classes, 'StorageClass', (one) => one.added('C', 'c1', {}, 's-classes'))
      .pod((one) => one.added('P2', 'p2', { spec: { storageClassName: 'fast' } }));
    assert.equal(trace.meant('P2'), 'C');
  });

  it('with an apiVersion means that group, and without one of two that fit neither', () => {
    const scaler = (apiVersion: object): JsonObject => ({
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web', ...apiVersion } },
    });
    const trace = new Cluster();
    for (const group of ['apps', 'example.test'])
      trace.of({ group, resource: 'deployments', namespace: 'lab', name: 'web' }, 'Deployment', (one) =>
        one.added(`D-${group}`, 'd1', {}, `s-${group}`),
      );
    trace.pod((one) => {
      one.added('P', 'p1', scaler({ apiVersion: 'apps/v1' }));
      one.added('P2', 'p2', scaler({}));
    });
    assert.equal(trace.meant('P'), 'D-apps');
    assert.equal(trace.meant('P2'), 'unknown');
  });
});
