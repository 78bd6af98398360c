import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { BaseFinder } from '../../src/recorder/basedOn.ts';
import { Recording } from '../../src/recorder/recording.ts';

const UID = 'U1';

function counted(own: number, other: number): JsonObject {
  return { kind: 'ConfigMap', metadata: { name: 'c', uid: UID }, data: { own: `${own}`, other: `${other}` } };
}

describe('what a write was based on', () => {
  it('is the version that its client read, however many came after it and are nearly like it', () => {
    const bases = new BaseFinder();
    bases.seen(UID, 'v0', counted(0, 0));
    bases.gave('A', UID, 'v0');
    for (let other = 1; other <= 40; other += 1) bases.seen(UID, `v${other}`, counted(0, other));
    bases.gave('A', UID, 'v40');
    assert.deepEqual(bases.find('A', UID, 'v40', counted(1, 0)).basedOn, { uid: UID, token: 'v0', known: 'content' });
  });

  it('is told by content alone where the client had read it elsewhere', () => {
    const bases = new BaseFinder();
    for (let other = 0; other <= 3; other += 1) bases.seen(UID, `v${other}`, counted(0, other));
    bases.gave('A', UID, 'v3');
    assert.deepEqual(bases.find('A', UID, 'v3', counted(1, 2)).basedOn, { uid: UID, token: 'v2', known: 'content' });
    assert.deepEqual(bases.find('A', UID, 'v3', counted(1, 3)).basedOn, { uid: UID, token: 'v3', known: 'token' });
    assert.deepEqual(bases.find('A', UID, undefined, undefined).basedOn, { uid: UID, token: 'v3', known: 'given' });
  });

  it('of what a client read, it is the nearest, and of equally near ones the newest', () => {
    const bases = new BaseFinder();
    for (const token of ['v0', 'v1', 'v2']) bases.seen(UID, token, counted(0, token === 'v2' ? 5 : 1));
    bases.gave('A', UID, 'v0');
    bases.gave('A', UID, 'v1');
    bases.gave('A', UID, 'v2');
    assert.equal(bases.find('A', UID, 'v2', counted(0, 1)).basedOn?.token, 'v1');
  });

  it('is what a program was given itself, not another one of its client; who only writes may know what others read', () => {
    const recording = new Recording({
      cluster: 'c1',
      now: () => 0,
      keepBodies: true,
      sink: () => undefined,
      parseYaml: () => null,
      touched: () => undefined,
      isFollowed: () => false,
    });
    const [reader, other, writer] = ['reader/1', 'other/1', 'writer/1'].map((agent) => ({ client: 'ctl', agent }));
    assert.ok(reader && other && writer);
    const name = { group: '', resource: 'configmaps', namespace: 'lab', name: 'c' };
    recording.give(reader, true, name, UID, 'v1');
    recording.give(other, true, name, UID, 'v1');
    recording.give(other, false, name, UID, 'v2');
    const base = (actor: typeof reader): unknown =>
      recording.baseOf(actor, recording.uidGiven(actor, name), undefined, undefined).basedOn;
    assert.deepEqual(base(reader), { uid: UID, token: 'v1', known: 'given' });
    assert.deepEqual(base(other), { uid: UID, token: 'v2', known: 'given' });
    assert.deepEqual(base(writer), { uid: UID, token: 'v2', known: 'given' });
  });
});
