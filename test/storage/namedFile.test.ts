import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNamedFile, writeNamedFile, type NamedFile } from '../../src/storage/namedFile.ts';

describe('a file that a person names', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'named-file-'));
    path = join(folder, 'file');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const mode = async (file: string): Promise<string> => ((await stat(file)).mode & 0o777).toString(8);
  const streamed = async (file: NamedFile, text: string): Promise<void> => {
    const handle = await openNamedFile(file);
    await handle.writeFile(text);
    await handle.close();
  };

  for (const [how, write] of Object.entries({ streamed, whole: writeNamedFile })) {
    const file = (mayReplace: NamedFile['mayReplace']): NamedFile => ({
      path,
      what: 'The thing',
      mayReplace: mayReplace ?? false,
    });

    it(`${how}: is made for its owner only`, async () => {
      await write(file(false), 'new');
      assert.deepEqual([await readFile(path, 'utf8'), await mode(path)], ['new', '600']);
      assert.deepEqual(await readdir(folder), ['file']);
    });

    it(`${how}: stays as it is where it holds something, behind a link too`, async () => {
      await writeFile(path, 'precious', { mode: 0o644 });
      await assert.rejects(write(file(false), 'new'), { code: 'usage', message: /^The thing cannot go into .*file: / });
      await symlink(path, join(folder, 'link'));
      await assert.rejects(write({ path: join(folder, 'link'), what: 'The thing' }, 'new'), { code: 'usage' });
      assert.deepEqual([await readFile(path, 'utf8'), await mode(path)], ['precious', '644']);
      assert.deepEqual(await readdir(folder), ['file', 'link']);
    });

    it(`${how}: an empty one is written to, and becomes its owner's`, async () => {
      await writeFile(path, '');
      await chmod(path, 0o644);
      await write(file(false), 'new');
      assert.deepEqual([await readFile(path, 'utf8'), await mode(path)], ['new', '600']);
    });

    it(`${how}: is replaced where it may be, and a link is not followed`, async () => {
      const other = join(folder, 'other');
      await writeFile(other, 'old, and longer', { mode: 0o644 });
      await symlink(other, path);
      await write(file(true), 'new');
      assert.deepEqual([await readFile(path, 'utf8'), await mode(path)], ['new', '600']);
      assert.equal(await readFile(other, 'utf8'), 'old, and longer');
    });

    it(`${how}: what it holds decides where it is asked`, async () => {
      await writeFile(path, 'ours', { mode: 0o644 });
      await assert.rejects(
        write(
          file((text) => text !== 'ours'),
          'new',
        ),
        { code: 'usage' },
      );
      await write(
        file((text) => text === 'ours'),
        'new',
      );
      assert.deepEqual([await readFile(path, 'utf8'), await mode(path)], ['new', '600']);
    });

    it(`${how}: a folder, or one that is missing, is a clear error`, async () => {
      await assert.rejects(write({ path: folder, what: 'The thing' }, 'new'), { code: 'storage-failed' });
      await assert.rejects(write({ path: join(folder, 'no', 'file'), what: 'The thing' }, 'new'), {
        code: 'storage-failed',
      });
      await write({ path: '/dev/null', what: 'The thing' }, 'new');
    });
  }
});
