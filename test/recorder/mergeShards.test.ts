import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeShards } from '../../src/recorder/mergeShards.ts';

describe('putting shards together', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'object-versions-merge-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  const merge = async (parts: object) => {
    const file = join(folder, 'shard.json');
    await writeFile(file, JSON.stringify({ shard: { index: 0, count: 1 }, events: 1, findings: [], ...parts }));
    return mergeShards([file], AbortSignal.timeout(10_000));
  };

  it('takes an empty shard, and one without what was added later', async () => {
    assert.deepEqual((await merge({})).findings, []);
  });

  for (const [what, parts] of [
    ['findings', { findings: [1] }],
    ['findings', { findings: [{}] }],
    ['marks', { marks: [{ seq: 1 }] }],
    ['notes', { notes: [3] }],
  ] as const)
    it(`says so where ${what} are ${JSON.stringify(parts)}`, () =>
      assert.rejects(merge(parts), { code: 'trace-unreadable', message: /is not the JSON of a shard/ }));
});
