import assert from 'node:assert/strict';
import { foldVersions } from '../../src/core/fold.ts';
import { changeLabel } from '../../src/core/versionChange.ts';
import { TraceBuilder } from './traceBuilder.ts';

function labels(trace: TraceBuilder, incarnation = 0): string[] {
  return (trace.at.incarnations[incarnation]?.versions ?? []).map((version) => changeLabel(version.changed));
}

const fields = (manager: string, time: string, fieldsV1: Record<string, object>, more: object = {}) =>
  ({
    manager,
    operation: 'Update',
    apiVersion: 'example.test/v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  }) as never;

describe('the history of incarnations', () => {
  it('a watched object that is created, changed and deleted is one incarnation', () => {
    const trace = new TraceBuilder();
    trace.added('U1', 'v1');
    trace.modified('U1', 'v2');
    trace.absent('event', { uid: 'U1', token: 'v3' });
    assert.deepEqual(trace.rows, ['U1 seen: v1 v2 | event']);
    assert.equal(trace.at.incarnations[0]?.end?.token, 'v3');
  });

  it('an object that was there already did not begin when it was first seen', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    assert.deepEqual(trace.rows, ['U1 earlier: v1']);
  });

  it('a recreated object starts a new incarnation', () => {
    const trace = new TraceBuilder();
    trace.added('U1', 'v1');
    trace.absent('event', { uid: 'U1' });
    trace.added('U2', 'v2');
    assert.deepEqual(trace.rows, ['U1 seen: v1 | event', 'U2 seen: v2']);
  });

  it('D3: a relist that finds another UID is a recreation within the gap', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v10');
    trace.gap();
    trace.list('U2', 'v25', undefined, 's2');
    assert.deepEqual(trace.rows, ['U1 earlier: v10 | in-gap', 'U2 in-gap: v25']);
  });

  it('D3: so is a MODIFIED of another UID', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v10');
    trace.gap();
    trace.modified('U2', 'v25');
    assert.deepEqual(trace.rows, ['U1 earlier: v10 | in-gap', 'U2 in-gap: v25']);
  });

  it('D3: so is another UID with the same token', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v10');
    trace.gap();
    trace.list('U2', 'v10', undefined, 's2');
    assert.deepEqual(trace.rows, ['U1 earlier: v10 | in-gap', 'U2 in-gap: v10']);
  });

  it('an object that a relist no longer shows went at a time nobody saw', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.gap();
    trace.absent('list', { uid: 'U1' });
    assert.deepEqual(trace.rows, ['U1 earlier: v1 | in-gap']);
    trace.list('U2', 'v5', undefined, 's2');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 | in-gap', 'U2 in-gap: v5']);
  });

  it('an object that a relist after a gap shows for the first time began within the gap', () => {
    const trace = new TraceBuilder();
    trace.gap();
    trace.list('U1', 'v1', undefined, 's2');
    assert.deepEqual(trace.rows, ['U1 in-gap: v1']);
  });

  it('C1: a server that is behind adds a remark and nothing else', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v10');
    trace.modified('U1', 'v20');
    trace.absent('event', { uid: 'U1', token: 'v30' });
    trace.gap();
    trace.list('U1', 'v10', undefined, 's2');
    trace.absent('list', { uid: 'U1', stream: 's2' });
    assert.deepEqual(trace.rows, ['U1 earlier: v10 v20 | event']);
    assert.deepEqual(
      trace.history.remarks.map(({ kind, uid, token }) => [kind, uid, token]),
      [['server-behind', 'U1', 'v10']],
    );
  });

  it('C1: a superseded version of a living object is no change back', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v10');
    trace.modified('U1', 'v20');
    trace.gap();
    trace.list('U1', 'v10', undefined, 's2');
    trace.modified('U1', 'v20', undefined, 's2');
    trace.modified('U1', 'v30', undefined, 's2');
    assert.deepEqual(trace.rows, ['U1 earlier: v10 v20 v30']);
    assert.equal(trace.history.remarks.length, 1);
  });

  it('C1: an incarnation from before the present one is the past, not a recreation', () => {
    const trace = new TraceBuilder();
    trace.seen(trace.object('U2', 'v9', {}, { creationTimestamp: '2026-01-01T00:00:09Z' }), { via: 'list' });
    trace.seen(trace.object('U1', 'v1', {}, { creationTimestamp: '2026-01-01T00:00:01Z' }), {
      via: 'list',
      stream: 's2',
    });
    assert.deepEqual(trace.rows, ['U2 earlier: v9']);
    assert.equal(trace.history.remarks[0]?.uid, 'U1');
  });

  it('what a watch delivers is a recreation whatever the clocks of the servers say', () => {
    const trace = new TraceBuilder();
    const object = (uid: string, token: string, second: number) =>
      trace.object(uid, token, {}, { creationTimestamp: `2026-01-01T00:00:0${second}Z` });
    trace.seen(object('U1', 'v1', 5), { via: 'list' });
    trace.absent('event', { uid: 'U1' });
    trace.seen(object('U2', 'v2', 1), { change: 'ADDED' });
    assert.deepEqual(trace.rows, ['U1 earlier: v1 | event', 'U2 seen: v2']);
  });

  it('an end that was only inferred is taken back by a version nobody had seen', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.absent('list', { uid: 'U1', stream: 's2' });
    trace.list('U1', 'v2', undefined, 's3');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2']);
  });

  it('the late answer of a write does not bring back what is gone', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.absent('list', { uid: 'U1', stream: 's2' });
    trace.seen(trace.object('U1', 'v2'), { via: 'write' });
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2? | in-gap']);
  });

  it('an object that left a selection and came back was never gone', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.absent('event', { uid: 'U1', token: 'v2' });
    trace.added('U1', 'v3');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v3']);
  });

  it('a version that was on its way when a 404 came belongs before the end', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.absent('404');
    trace.modified('U1', 'v2');
    trace.absent('event', { uid: 'U1', token: 'v3' });
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 | event']);
  });

  it('one name in two clusters, and one UID in two clusters, are different objects', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.cluster = 'c2';
    trace.list('U1', 'v7');
    assert.equal(trace.history.names.size, 2);
    assert.equal(trace.history.uids.size, 2);
  });

  it('the start of the end is the first version that is terminating', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    const event = trace.seen(trace.object('U1', 'v2', {}, { deletionTimestamp: '2026-01-01T00:00:01Z' }), {
      change: 'MODIFIED',
    });
    trace.modified('U1', 'v3');
    assert.equal(trace.at.incarnations[0]?.terminatingAt, event.at);
  });

  it('an answer that is not stored makes no version', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.seen(trace.object('U1', 'v1', { spec: { dry: true } }), { via: 'write', notStored: true });
    assert.deepEqual(trace.at.incarnations[0]?.versions[0]?.body?.['spec'], undefined);
  });
});

describe('the order of versions', () => {
  it('H4: seven tokens of any form are seven rows in the order of the stream', () => {
    const trace = new TraceBuilder();
    const tokens = ['999999', '1000000', '9007199254740992', '9007199254740993', 'W/"abc"', '0012', '12'];
    for (const token of tokens) trace.modified('U1', token);
    assert.deepEqual(
      trace.at.incarnations[0]?.versions.map(({ token }) => token),
      tokens,
    );
    assert.ok(trace.at.incarnations[0]?.versions.every(({ placed }) => placed));
  });

  it('J9: list and watch of one version are one version', () => {
    const trace = new TraceBuilder();
    const object = trace.object('U1', 'v1', { spec: { renewTime: '2026-01-02T03:04:05.123456Z' } });
    const { apiVersion: _apiVersion, kind: _kind, ...item } = object;
    const [listed, watched] = [trace.seen(item, { via: 'list' }), trace.seen(object, { change: 'MODIFIED' })];
    assert.deepEqual(trace.rows, ['U1 earlier: v1']);
    assert.ok(listed.type === 'observed' && watched.type === 'observed');
    assert.deepEqual(listed.body, watched.body);
  });

  it('what no stream delivered is not placed, and its event places it', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.seen(trace.object('U1', 'v3'), { via: 'write' });
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v3?']);
    trace.modified('U1', 'v2');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 v3?']);
    trace.modified('U1', 'v3');
    trace.modified('U1', 'v4');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 v3 v4']);
  });

  it('answers that arrive late stand where the stream puts them', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.seen(trace.object('U1', 'v3'), { via: 'write' });
    trace.seen(trace.object('U1', 'v2'), { via: 'write' });
    trace.modified('U1', 'v2');
    trace.modified('U1', 'v3');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 v3']);
  });

  it('a write that was checked against a token follows the version with that token', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    const startedAt = trace.tick();
    trace.seen(trace.object('U1', 'v2'), { via: 'write' });
    trace.write({ startedAt, preconditions: { uid: 'U1', token: 'v1' }, result: { uid: 'U1', token: 'v2' } });
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2']);
  });

  it('a slower stream fits what it alone saw into the hole of the other', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1', undefined, 'a');
    trace.list('U1', 'v1', undefined, 'b');
    trace.modified('U1', 'v2', undefined, 'a');
    trace.gap();
    trace.list('U1', 'v4', undefined, 'a2');
    trace.modified('U1', 'v2', undefined, 'b');
    trace.modified('U1', 'v3', undefined, 'b');
    trace.modified('U1', 'v4', undefined, 'b');
    trace.modified('U1', 'v5', undefined, 'b');
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 v3 v4 v5']);
    assert.equal(trace.history.remarks.length, 0);
  });

  it('two streams that deliver the same are one order', () => {
    const trace = new TraceBuilder();
    for (const stream of ['a', 'b']) trace.list('U1', 'v1', undefined, stream);
    for (const [token, stream] of [
      ['v2', 'a'],
      ['v3', 'a'],
      ['v2', 'b'],
      ['v3', 'b'],
      ['v4', 'b'],
      ['v4', 'a'],
      ['v5', 'a'],
    ] as const) {
      trace.modified('U1', token, undefined, stream);
    }
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 v3 v4 v5']);
  });

  it('hundreds of versions are found again by their tokens', () => {
    const trace = new TraceBuilder();
    for (let index = 0; index < 300; index += 1) trace.modified('U1', `t${index}`);
    trace.list('U1', 't7', undefined, 's2');
    assert.equal(trace.at.incarnations[0]?.versions.length, 300);
    assert.equal(trace.history.remarks[0]?.token, 't7');
  });
});

describe('who made a version, and what changed in it', () => {
  it('a recorded write names its actor, whichever of its answer and its event comes first', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.write({ actor: { client: 'early' }, result: { uid: 'U1', token: 'v2', generation: 4 } });
    assert.equal(trace.at.incarnations[0]?.versions[1]?.generation, 4);
    trace.modified('U1', 'v2');
    const startedAt = trace.tick();
    trace.modified('U1', 'v3');
    trace.write({ actor: { client: 'late' }, startedAt, result: { uid: 'U1', token: 'v3' } });
    const versions = trace.at.incarnations[0]?.versions ?? [];
    assert.deepEqual(
      versions.map(({ actor, actorKnown }) => [actor?.client, actorKnown]),
      [
        [undefined, undefined],
        ['early', 'write'],
        ['late', 'write'],
      ],
    );
    assert.deepEqual(trace.rows, ['U1 earlier: v1 v2 v3']);
  });

  it('a write that changed nothing made nothing', () => {
    const trace = new TraceBuilder();
    trace.list('U1', 'v1');
    trace.write({ preconditions: { token: 'v1' }, result: { uid: 'U1', token: 'v1' } });
    trace.write({ verb: 'patch', result: { uid: 'U1', token: 'v1' } });
    trace.write({ dryRun: true, result: { uid: 'U1', token: 'v9' } });
    trace.write({ outcome: 'version-conflict', code: 409 });
    assert.equal(trace.at.incarnations[0]?.versions[0]?.actor, undefined);
    assert.deepEqual(trace.rows, ['U1 earlier: v1']);
    assert.equal(trace.at.writes.length, 4);
  });

  it('a chain of checked writes from a create is an order, without any stream', () => {
    const trace = new TraceBuilder();
    trace.write({ verb: 'create', result: { uid: 'U1', token: 'v1' } });
    trace.write({ preconditions: { token: 'v1' }, result: { uid: 'U1', token: 'v2' } });
    trace.write({ preconditions: { token: 'v2' }, result: { uid: 'U1', token: 'v3' } });
    trace.write({ verb: 'patch', result: { uid: 'U1', token: 'v4' } });
    assert.deepEqual(trace.rows, ['U1 seen: v1 v2 v3 v4?']);
  });

  it('a recorded create is seen creation', () => {
    const trace = new TraceBuilder();
    trace.write({ verb: 'create', result: { uid: 'U1', token: 'v1' } });
    trace.added('U1', 'v1');
    assert.deepEqual(trace.rows, ['U1 seen: v1']);
    assert.equal(trace.at.incarnations[0]?.versions[0]?.actor?.client, 'A');
  });

  it('an unambiguous change of managed fields names the manager', () => {
    const trace = new TraceBuilder();
    const helm = fields('helm', '2026-01-01T00:00:00Z', { 'f:spec': { 'f:a': {}, 'f:b': {} } });
    const versions = [
      [helm],
      [
        fields('helm', '2026-01-01T00:00:00Z', { 'f:spec': { 'f:a': {} } }),
        fields('edit', '2026-01-01T00:00:05Z', { 'f:spec': { 'f:b': {} } }),
      ],
      [
        fields('helm', '2026-01-01T00:00:09Z', { 'f:spec': { 'f:a': {} } }),
        fields('edit', '2026-01-01T00:00:09Z', { 'f:spec': { 'f:b': {} } }),
      ],
      [
        fields('helm', '2026-01-01T00:00:09Z', { 'f:spec': { 'f:a': {} } }),
        fields('edit', '2026-01-01T00:00:09Z', { 'f:spec': { 'f:b': {} } }),
      ],
    ];
    trace.seen(trace.object('U1', 'v1', {}, { managedFields: versions[0] ?? [] }), { change: 'ADDED' });
    for (const [index, managedFields] of versions.slice(1).entries()) {
      trace.seen(trace.object('U1', `v${index + 2}`, {}, { managedFields }), { change: 'MODIFIED' });
    }
    const known = trace.at.incarnations[0]?.versions.map(({ actor, actorKnown }) => [actor?.manager, actorKnown]);
    assert.deepEqual(known, [
      ['helm', 'managed-fields'],
      ['edit', 'managed-fields'],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('across a gap nobody is named', () => {
    const trace = new TraceBuilder();
    trace.seen(trace.object('U1', 'v1', {}, { managedFields: [] }), { via: 'list' });
    trace.gap();
    const managedFields = [fields('edit', '2026-01-01T00:00:05Z', { 'f:spec': {} })];
    trace.seen(trace.object('U1', 'v2', {}, { managedFields }), { via: 'list', stream: 's2' });
    assert.equal(trace.at.incarnations[0]?.versions[1]?.actor, undefined);
  });

  it('E3: what changed is told by content: spec, status, metadata, each with its paths', () => {
    const trace = new TraceBuilder();
    trace.modified('U1', 'v1', { spec: { a: 1 }, status: { s: 1 } });
    trace.modified('U1', 'v2', { spec: { a: 2 }, status: { s: 1 } });
    trace.modified('U1', 'v3', { spec: { a: 2 }, status: { s: 2 } });
    trace.seen(trace.object('U1', 'v4', { spec: { a: 2 }, status: { s: 2 } }, { labels: { x: 'y' } }), {
      change: 'MODIFIED',
    });
    assert.deepEqual(labels(trace), ['unknown', 'spec', 'status', 'metadata']);
    assert.deepEqual(
      trace.at.incarnations[0]?.versions.map(({ changed }) => changed?.paths),
      [undefined, ['.spec.a'], ['.status.s'], ['.metadata.labels']],
    );
  });

  it('E3: a kind without generation has none, and its changes are versions all the same', () => {
    const trace = new TraceBuilder();
    trace.name = { group: '', resource: 'configmaps', namespace: 'lab', name: 'demo' };
    trace.kind = 'ConfigMap';
    trace.modified('U1', 'v1', { data: { a: '1' } });
    trace.modified('U1', 'v2', { data: { a: '2' } });
    assert.deepEqual(
      trace.at.incarnations[0]?.versions.map(({ generation }) => generation),
      [undefined, undefined],
    );
    assert.deepEqual(labels(trace), ['unknown', 'spec']);
  });

  it('E3: a status write that raises the generation is a status change', () => {
    for (const keepBody of [true, false]) {
      const trace = new TraceBuilder();
      trace.seen(trace.object('U1', 'v1', { spec: { a: 1 }, status: { s: 1 } }, { generation: 3 }), {
        change: 'MODIFIED',
        keepBody,
      });
      trace.seen(trace.object('U1', 'v2', { spec: { a: 1 }, status: { s: 2 } }, { generation: 4 }), {
        change: 'MODIFIED',
        keepBody,
      });
      assert.deepEqual(labels(trace), ['unknown', 'status'], `bodies kept: ${keepBody}`);
    }
  });

  it('from metadata alone, what cannot be told is unknown', () => {
    const trace = new TraceBuilder();
    const partial = (token: string, metadata: object): void => {
      const object = {
        ...trace.object('U1', token, {}, metadata as never),
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
      };
      trace.seen(object, { change: 'MODIFIED' });
    };
    const status = (time: string) => fields('ctl', time, { 'f:status': {} }, { subresource: 'status' });
    const both = (time: string) => fields('old', time, { 'f:spec': {}, 'f:status': {} });
    partial('v1', { generation: 1, managedFields: [status('1')] });
    partial('v2', { generation: 1, managedFields: [status('2')] });
    partial('v3', { generation: 2, managedFields: [status('2')] });
    partial('v4', { generation: 2, labels: { a: 'b' }, managedFields: [status('2')] });
    partial('v5', { generation: 2, labels: { a: 'b' }, managedFields: [status('2')] });
    partial('v6', { generation: 2, labels: { a: 'b' }, managedFields: [both('6')] });
    partial('v7', { generation: 3, labels: { a: 'b' }, managedFields: [both('7')] });
    assert.deepEqual(labels(trace), ['unknown', 'status', 'spec', 'metadata', 'unknown', 'unknown', 'unknown']);
    assert.equal(trace.at.incarnations[0]?.kind, 'Toy');
    assert.equal(trace.at.incarnations[0]?.versions[0]?.body, undefined);
  });

  it('J3: runs of status changes of one manager fold to one row; a spec change never does', () => {
    const trace = new TraceBuilder();
    const node = (token: string, beat: number, taint: string, manager = 'kubelet'): void => {
      const managedFields = [
        fields('kubelet', manager === 'kubelet' ? `t${beat}` : 't599', { 'f:status': {} }, { subresource: 'status' }),
        fields('us', manager === 'us' ? 't-us' : 't0', { 'f:spec': {} }),
      ];
      trace.seen(trace.object('U1', token, { spec: { taint }, status: { beat } }, { managedFields }), {
        change: 'MODIFIED',
      });
    };
    node('v0', 0, 'no');
    for (let beat = 1; beat < 600; beat += 1) node(`v${beat}`, beat, 'no');
    node('taint', 599, 'yes', 'us');
    const [incarnation] = trace.at.incarnations;
    assert.ok(incarnation !== undefined);
    const rows = foldVersions(incarnation).map(({ label, count, actor }) => [label, count, actor]);
    assert.deepEqual(rows, [
      ['unknown', 1, undefined],
      ['status', 599, 'kubelet'],
      ['spec', 1, 'us'],
    ]);
  });
});

describe('gaps and writes of a history', () => {
  it('a gap is closed by its id', () => {
    const trace = new TraceBuilder();
    const open = trace.gap();
    assert.ok(open.type === 'gap');
    trace.push({ ...open, at: trace.tick(), to: trace.tick() });
    assert.equal(trace.history.gaps.length, 1);
    assert.equal(trace.history.gaps[0]?.from, open.from);
    assert.ok((trace.history.gaps[0]?.to ?? 0) > open.from);
  });

  it('writes of a name that was never seen are kept', () => {
    const trace = new TraceBuilder();
    trace.write({ outcome: 'not-found', code: 404 });
    assert.equal(trace.at.writes.length, 1);
    assert.deepEqual(trace.rows, []);
  });
});
