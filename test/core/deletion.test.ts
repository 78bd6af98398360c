import assert from 'node:assert/strict';
import { plannedDeletion } from '../../src/core/deletion.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import { nameKey } from '../../src/core/history.ts';
import { TraceBuilder } from './traceBuilder.ts';

describe('a deletion that a person is asked about', () => {
  const uid = '5a63075b-67b4-4f77-9bcc-0c6410c374aa';

  it('stays at the version that was shown, though the history goes on', () => {
    const builder = new TraceBuilder();
    const log = new EventLog();
    log.append(builder.list(uid, 'first', { data: { x: '1' } }));
    const incarnation = log.history.names.get(nameKey(builder.cluster, builder.name))?.incarnations[0];
    assert.ok(incarnation);
    const deletion = plannedDeletion(incarnation, incarnation.versions.at(-1), 'prod');
    log.append(builder.seen(builder.object(uid, 'second', { data: { x: '2' } }), { change: 'MODIFIED' }));
    assert.equal(incarnation.versions.at(-1)?.token, 'second');
    assert.equal(deletion.token, 'first');
  });

  it('is said with kind, name, UID and cluster', () => {
    const builder = new TraceBuilder();
    const log = new EventLog();
    log.append(builder.list(uid, 'first'));
    const incarnation = log.history.names.get(nameKey(builder.cluster, builder.name))?.incarnations[0];
    assert.ok(incarnation);
    assert.equal(plannedDeletion(incarnation, undefined, 'prod').line, 'Toy lab/demo (5a63075b) · prod');
    assert.equal(plannedDeletion(incarnation, undefined, '').line, 'Toy lab/demo (5a63075b)');
  });
});
