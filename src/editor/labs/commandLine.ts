import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a terminal of ours finds `object-versions`: on its PATH, by the `path` that it is to have, or nowhere. */
export type CommandLine =
  | { readonly kind: 'there' }
  | { readonly kind: 'beside'; readonly path: string }
  | { readonly kind: 'missing' };

/**
 * Looks for the command line. A package of the extension does not hold it; a clone does, in `bin`.
 * @param env whose PATH a terminal gets
 */
export function findCommandLine(extensionPath: string, env: NodeJS.ProcessEnv): CommandLine {
  const program = process.platform === 'win32' ? 'object-versions.cmd' : 'object-versions';
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  if (folders.some((folder) => existsSync(join(folder, program)))) return { kind: 'there' };
  const bin = join(extensionPath, 'bin');
  if (!existsSync(join(bin, program))) return { kind: 'missing' };
  return { kind: 'beside', path: [bin, ...folders].join(delimiter) };
}
