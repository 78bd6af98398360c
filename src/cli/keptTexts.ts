import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { KeptTexts } from '../kube/schema.ts';
import type { CliIo } from './io.ts';

/**
 * Keeps texts as files of the person's cache folder (`XDG_CACHE_HOME`, else `~/.cache`). A folder that cannot be written
 * only means that nothing is kept.
 */
export function keptTexts(folder: string, io: Pick<CliIo, 'env'>): KeptTexts {
  const home = io.env['HOME'] ?? homedir();
  const cache = io.env['XDG_CACHE_HOME'] ?? '';
  const place = join(cache === '' ? join(home, '.cache') : cache, 'object-versions', folder);
  const fileOf = (key: string): string => join(place, `${createHash('sha256').update(key).digest('hex')}.json`);
  return {
    async read(key) {
      try {
        return await readFile(fileOf(key), 'utf8');
      } catch {
        // Not kept yet, or not readable: the caller fetches it.
        return undefined;
      }
    },
    async write(key, text) {
      const { writeNamedFile } = await import('../storage/namedFile.ts');
      try {
        await mkdir(place, { recursive: true, mode: 0o700 });
        await writeNamedFile({ path: fileOf(key), what: 'The cache', mayReplace: true }, text);
      } catch {
        // A cache on a full or read-only disk saves nothing; the command goes on without it.
      }
    },
  };
}
