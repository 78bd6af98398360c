import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { root } from './bootstrap.mjs';

/**
 * Writes the sandbox's data into the folder `data` beside that of a bundle, as `src/sandbox/data/data.ts` reads it there.
 * Brotli makes it a third smaller than the package's own compression.
 */
export function packData(data) {
  const recorded = join(root, 'src/sandbox/data');
  mkdirSync(data, { recursive: true });
  for (const name of readdirSync(recorded).filter((item) => item.endsWith('.json')))
    writeFileSync(join(data, `${name}.br`), brotliCompressSync(readFileSync(join(recorded, name))));
}
