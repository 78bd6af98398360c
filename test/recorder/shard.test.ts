import assert from 'node:assert/strict';
import type { NewTraceEvent, ObjectName } from '../../src/core/traceEvent.ts';
import { isForeignLine, isInShard, shardEvent } from '../../src/recorder/shard.ts';

const name = (index: number): ObjectName => ({
  group: 'apps',
  resource: 'deployments',
  namespace: 'n',
  name: `d${index}`,
});
const shards = [0, 1, 2].map((index) => ({ index, count: 3 }));

describe('shards of an analysis', () => {
  it('have each object once, and each has some', () => {
    for (let index = 0; index < 100; index += 1)
      assert.equal(shards.filter((shard) => isInShard(name(index), shard)).length, 1);
    for (const shard of shards)
      assert.ok(Array.from({ length: 100 }, (_item, index) => name(index)).some((item) => isInShard(item, shard)));
  });

  it('all see what an actor was given, whatever it is of: that may be why it wrote', () => {
    const given = [1, 2, 3, 4, 5].map((index) => ({ namespace: 'n', name: `d${index}`, uid: `u${index}`, token: '1' }));
    const read: NewTraceEvent = {
      type: 'read',
      at: 1,
      via: 'recorder',
      cluster: 'c',
      actor: { client: 'a' },
      verb: 'watch',
      scope: { group: 'apps', resource: 'deployments' },
      given,
      cacheAllowed: true,
    };
    for (const shard of shards) assert.equal(shardEvent(read, shard), read);
  });

  it('tell a line of another shard without parsing it, and never one of their own', () => {
    for (let index = 0; index < 50; index += 1) {
      const ref = { resource: 'deployments', namespace: 'n', name: `d${index}`, apiGroup: 'apps', apiVersion: 'v1' };
      const line = JSON.stringify({ kind: 'Event', objectRef: ref, requestObject: { a: '"objectRef":{}' } });
      for (const shard of shards) assert.equal(isForeignLine(line, shard), !isInShard(name(index), shard));
    }
  });
});
