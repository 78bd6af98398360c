import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'golden');

/** Compares with a file that was looked at and kept; `UPDATE_GOLDENS=1` writes it anew. */
export function assertGolden(name: string, actual: string): void {
  const path = join(FOLDER, name);
  if (process.env['UPDATE_GOLDENS'] === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(path, actual);
    return;
  }
  assert.equal(
    actual,
    readFileSync(path, 'utf8'),
    `${name} differs; if that is wanted, run once with UPDATE_GOLDENS=1 and look at the change`,
  );
}
