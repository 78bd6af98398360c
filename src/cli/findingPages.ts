import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the pages that come with this program, one for each finding (`<id>.md`); undefined where they were left out. */
export function findingPages(): string | undefined {
  // From a bundle, which has them beside it, or from the source.
  return ['../docs/findings/', '../../docs/findings/']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}
