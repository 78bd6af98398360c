import { AppError } from '../base/appError.ts';
import { cancelled } from '../base/clock.ts';
import { stringifyJson, type Json } from '../codec/json.ts';
import { isProtected } from '../write/protect.ts';
import { isInteractive, startAsking } from './asking.ts';
import type { CliIo } from './io.ts';

const CHANGES_SHOWN = 20;

/** The variable that names protected contexts: patterns with `*`, separated by commas or spaces. */
const protectedVariable = 'OBJECT_VERSIONS_PROTECTED_CONTEXTS';

/** Whether every write to a context asks first. */
export function isProtectedContext(context: string, io: CliIo): boolean {
  const patterns = (io.env[protectedVariable] ?? '').split(/[\s,]+/).filter((pattern) => pattern !== '');
  return isProtected(context, patterns);
}

/**
 * Says what a write to a protected context would do, and asks whether it is to be done. `yes`: the person said so on the
 * command line, having seen it.
 * @throws AppError `usage` where nobody is there to be asked, `cancelled` where the answer is no
 */
export async function confirmProtected(
  context: string,
  lines: readonly string[],
  yes: boolean,
  io: CliIo,
): Promise<void> {
  io.stderr(`The context ${context} is protected.\n${lines.map((line) => `  ${line}\n`).join('')}`);
  if (yes) return;
  if (!isInteractive(io)) {
    throw new AppError('usage', 'A write to a protected context needs a yes.', {
      advice: 'Look at what would be stored, and repeat the command with --yes.',
    });
  }
  if (!(await confirm('Write it?', io))) throw cancelled();
}

/** Asks a person at a terminal; anything but a yes is a no. */
export async function confirm(question: string, io: CliIo): Promise<boolean> {
  const asking = startAsking(io);
  try {
    return /^y(es)?$/i.test((await asking.line(`${question} [yes/no] `)).trim());
  } finally {
    asking.close();
  }
}

/** One change in words: a path, and the values where they may be shown. */
export function changeLine(path: string, before: Json | undefined, after: Json | undefined): string {
  return before === undefined && after === undefined ? path : `${path}: ${shown(before)} → ${shown(after)}`;
}

/** The first of many lines, and how many more there are. */
export function shortList(lines: readonly string[]): string[] {
  const more = lines.length - CHANGES_SHOWN;
  return more <= 0 ? [...lines] : [...lines.slice(0, CHANGES_SHOWN), `… and ${more} more`];
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'nothing' : stringifyJson(value);
}
