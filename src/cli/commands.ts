import type { Command } from 'commander';
import type { CliIo } from './io.ts';
import { registerAnalyze } from './analyze.ts';
import { registerCompletion } from './completion.ts';
import { registerDelete } from './delete.ts';
import { registerGet } from './get.ts';
import { addExamples } from './helpExamples.ts';
import { registerLab } from './lab.ts';
import { registerModify } from './modify.ts';
import { registerRecord } from './record.ts';
import { registerSandbox } from './sandbox.ts';
import { registerWatch } from './watch.ts';

/** Registers every command of the product, in the order in which help lists them. */
export function registerCommands(program: Command, io: CliIo): void {
  registerSandbox(program, io);
  registerGet(program, io);
  registerWatch(program, io);
  registerModify(program, io);
  registerDelete(program, io);
  registerRecord(program, io);
  registerAnalyze(program, io);
  registerLab(program, io);
  registerCompletion(program, io);
  addExamples(program);
}
