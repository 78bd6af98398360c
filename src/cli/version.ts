import { readFileSync } from 'node:fs';
import { CommanderError, type Command } from 'commander';
import type { CliIo } from './io.ts';

/** Registers `--version`. The manifest is read only when somebody asks; bundle and source are at the same depth below it. */
export function registerVersion(program: Command, io: CliIo): void {
  program.option('--version', 'prints the version').on('option:version', () => {
    const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
    io.stdout(`${String(version)}\n`);
    throw new CommanderError(0, 'commander.version', '');
  });
}
