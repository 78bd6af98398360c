import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptTexts } from '../../src/cli/keptTexts.ts';

describe('texts that the command line keeps', () => {
  let cache: string;
  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), 'kept-texts-test-'));
  });
  afterEach(() => rm(cache, { recursive: true, force: true }));

  const kept = (): ReturnType<typeof keptTexts> => keptTexts('schemas', { env: { XDG_CACHE_HOME: cache } });
  const place = (): string => join(cache, 'object-versions', 'schemas');

  it('are there again, the newest of a key, for their owner only', async () => {
    await kept().write('a', 'first');
    await kept().write('a', 'second');
    await kept().write('b', 'other');
    assert.deepEqual(
      [await kept().read('a'), await kept().read('b'), await kept().read('c')],
      ['second', 'other', undefined],
    );
    const files = await readdir(place());
    assert.equal(files.length, 2);
    for (const file of files) assert.equal((await stat(join(place(), file))).mode & 0o077, 0);
  });

  it('are left out where they cannot be written, and nothing unfinished stays behind', async () => {
    await kept().write('a', 'first');
    const [file = ''] = await readdir(place());
    await rm(join(place(), file));
    await mkdir(join(place(), file));
    await kept().write('a', 'second');
    assert.equal(await kept().read('a'), undefined);
    assert.deepEqual(await readdir(place()), [file]);
  });
});
