import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import type { JsonObject } from '../../src/codec/json.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import type { NewTraceEvent, ObjectName } from '../../src/core/traceEvent.ts';
import { analyse } from '../../src/recorder/analysis.ts';
import { isInShard, ShardView } from '../../src/recorder/shard.ts';
import { detect, detectInShards, findingsOf, shortOf } from '../findings/scenario.ts';
import { Play } from '../findings/play.ts';

const name = (index: number): ObjectName => ({
  group: 'apps',
  resource: 'deployments',
  namespace: 'n',
  name: `d${index}`,
});
const shards = [0, 1, 2].map((index) => ({ index, count: 3 }));

const seen = (index: number): NewTraceEvent & { type: 'observed' } => ({
  type: 'observed',
  at: 1,
  via: 'audit',
  cluster: 'c',
  name: name(index),
  uid: `u${index}`,
  token: '1',
  body: { spec: { replicas: 2, image: 'a:1' } },
});

describe('shards of an analysis', () => {
  it('have each object once, and each has some', () => {
    for (let index = 0; index < 100; index += 1)
      assert.equal(shards.filter((shard) => isInShard(name(index), shard)).length, 1);
    for (const shard of shards)
      assert.ok(Array.from({ length: 100 }, (_item, index) => name(index)).some((item) => isInShard(item, shard)));
  });

  it('have one object together that a server shows as several resources', () => {
    for (let index = 0; index < 100; index += 1)
      for (const shard of shards) {
        const own = name(index);
        assert.equal(isInShard({ ...own, group: 'extensions' }, shard), isInShard(own, shard));
        const [namespace, project] = ['namespaces', 'projects'].map((resource) => ({
          ...own,
          resource,
          namespace: '',
        }));
        assert.ok(namespace !== undefined && project !== undefined);
        assert.equal(isInShard({ ...project, group: 'project.openshift.io' }, shard), isInShard(namespace, shard));
      }
  });

  it('all see every event: their own and the first of each object as it is, of others only the largest number of its spec', () => {
    for (let index = 0; index < 20; index += 1) {
      for (const shard of shards) {
        const view = new ShardView(shard);
        assert.deepEqual(view.of(seen(index)), seen(index));
        const again = view.of(seen(index));
        const { body: _left, ...slim } = seen(index);
        assert.deepEqual(
          again,
          isInShard(name(index), shard) ? seen(index) : { ...slim, leaves: { '.spec.largest': '2' } },
        );
      }
    }
  });

  it('find together, in 2, 3 and 5 parts, what one run finds between objects, whatever happens in which order', () => {
    const found = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const p = play(steps);
        for (const events of [
          p.trace('watch-first'),
          p.trace('unfollowed'),
          p.audit('RequestResponse'),
          p.audit('Request'),
        ])
          for (const told of shortOf(findingsOf(events))) found.add(told);
      }),
      {
        numRuns: 60,
        seed: 7,
        examples: [
          [
            [
              { actor: 'A', what: 'read', parent: 0, child: 0 },
              { actor: 'A', what: 'recreate', parent: 0, child: 0 },
              { actor: 'B', what: 'child', parent: 0, child: 1 },
              { actor: 'A', what: 'remove', parent: 0, child: 1 },
            ],
          ],
          // One child too many, twice.
          [
            [
              { actor: 'A', what: 'child', parent: 1, child: 0 },
              { actor: 'A', what: 'read', parent: 1, child: 0 },
              { actor: 'A', what: 'child', parent: 1, child: 2 },
              { actor: 'A', what: 'child', parent: 1, child: 1 },
            ],
          ],
        ],
      },
    );
    for (const between of [
      'stale-reference',
      'stale-incarnation-write/delete',
      'stale-read/duplicate-create',
      'recreated',
    ])
      assert.ok(found.has(between), `${between} was among what was found: ${[...found].join()}`);
  });

  it('find the same where the times of a log go back', () => {
    let found = 0;
    const late = fc.array(fc.constantFrom(0, 0, 0, 1_000, 20_000, 40_000), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), late, (steps, lates) => {
        const trace = play(steps).trace('unfollowed');
        const events = trace.map((event, index) => ({ ...event, at: event.at - (lates[index % lates.length] ?? 0) }));
        const whole = textsOf(detect(events));
        found += whole.length;
        for (const count of [2, 3, 5])
          assert.deepEqual(textsOf(detectInShards(events, count)), whole, `${count} shards`);
      }),
      { numRuns: 100, seed: 1 },
    );
    assert.ok(found > 100, String(found));
  });

  it('find the same in the lines of an audit log, most of which they do not parse', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shard-test-'));
    try {
      const path = join(folder, 'audit.log');
      let found = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
          const p = play(steps);
          for (const level of ['RequestResponse', 'Request', 'Metadata'] as const) {
            // Between two lines is so much that few are read at a time: what was seen before is known by then.
            await writeFile(path, p.auditLog(level).replaceAll('\n', `\n${BEGUN}\n`));
            const whole = await findingsIn(path, 1);
            found += whole.length;
            for (const count of [2, 3, 5]) assert.deepEqual(await findingsIn(path, count), whole, `${level}, ${count}`);
          }
        }),
        { numRuns: 15, seed: 3 },
      );
      assert.ok(found > 15, String(found));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Tells of a request's beginning only, at length. */
const BEGUN = `{"kind":"Event","stage":"RequestReceived","requestURI":"${'/'.repeat(30_000)}"}`;

/** The findings of an audit log, as all shards of it or one run tell them. */
async function findingsIn(path: string, count: number): Promise<string[]> {
  const parts = Array.from({ length: count }, (_item, index) => ({ index, count }));
  const found = await Promise.all(
    parts.map((shard) =>
      analyse({
        files: [path],
        stdin: Readable.from([]),
        signal: new AbortController().signal,
        ...(count === 1 ? {} : { shard }),
      }),
    ),
  );
  for (const { events, notes } of found) assert.deepEqual([events, notes], [found[0]?.events, found[0]?.notes]);
  return textsOf(found.flatMap(({ findings }) => findings));
}

function textsOf(findings: readonly Finding[]): string[] {
  return findings.map((finding) => JSON.stringify(finding)).sort();
}

/** What may happen next: parents are made anew, children are made for them, and actors act by what they were given. */
interface Step {
  readonly actor: 'A' | 'B';
  readonly what: 'list' | 'read' | 'recreate' | 'child' | 'remove' | 'update' | 'mention' | 'wait';
  readonly parent: 0 | 1;
  readonly child: 0 | 1 | 2 | 3;
}

const step: fc.Arbitrary<Step> = fc.record({
  actor: fc.constantFrom('A', 'B'),
  what: fc.constantFrom('list', 'read', 'recreate', 'child', 'child', 'remove', 'update', 'mention', 'wait'),
  parent: fc.constantFrom(0, 1),
  child: fc.constantFrom(0, 1, 2, 3),
});

const parentName = (index: number): ObjectName => ({ ...name(0), name: `parent-${index}` });
const childName = (parent: number, index: number): ObjectName => ({
  group: '',
  resource: 'pods',
  namespace: 'n',
  name: `child-${parent}-a${index}`,
});

/** What the first parent desires has a number, what the other one does has none. */
function asking(parent: number, replicas: number, note: string): JsonObject {
  return parent === 0 ? { replicas, note } : { note };
}

/** Plays steps on parents whose names change hands, and on children that belong to one of them. */
function play(steps: readonly Step[]): Play {
  const p = new Play();
  for (const index of [0, 1]) p.create('user', parentName(index), { spec: asking(index, 1, 'x') });
  p.watch('B', parentName(0));
  for (const { actor, what, parent, child } of steps) {
    const [mine, its] = [parentName(parent), childName(parent, child)];
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: mine.name, uid: p.uidOf(mine) };
    p.wait(40);
    if (what === 'wait') p.wait(20_000);
    else if (what === 'list') p.list(actor, its);
    else if (what === 'read') p.get(actor, mine);
    else if (what === 'recreate') {
      p.remove('user', mine);
      p.create('user', mine, { spec: asking(parent, 1 + child, 'y') });
    } else if (what === 'child') p.create(actor, its, { metadata: { ownerReferences: [owner] }, spec: { image: 'a' } });
    else if (what === 'remove') p.remove(actor, its);
    else if (what === 'update')
      p.put(actor, mine, { spec: asking(parent, child, 'z') }, { rv: p.tokenOf(mine), uid: p.uidOf(mine) });
    else if (p.stored(its) !== undefined)
      p.put(actor, its, { spec: { image: 'a', target: p.uidOf(mine) } }, { rv: p.tokenOf(its), uid: p.uidOf(its) });
  }
  p.wait(60_000);
  p.get('user', parentName(0));
  return p;
}
