import type { Command } from 'commander';
import type { CliIo } from './io.ts';

/** Registers every command of the product, in the order in which help lists them. */
export function registerCommands(program: Command, io: CliIo): void {
  void program;
  void io;
}
