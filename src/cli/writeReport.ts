import { stringifyJson } from '../codec/json.ts';
import { isAppError } from '../base/appError.ts';
import type { FinalOutcome } from '../write/outcome.ts';
import { printReport, type Attempt, type Report } from '../write/report.ts';
import { exitCodeOf } from './outcomeExit.ts';
import { reportFailure } from './reportFailure.ts';
import type { CliIo } from './io.ts';

/** Prints a report in the format that was asked for and sets the exit code of its outcome. */
export function tellReport(report: Report, format: 'text' | 'json', what: string, io: CliIo): void {
  io.stdout(format === 'json' ? `${printReport(report)}\n` : textOf(report, what));
  io.exit(exitCodeOf(report.outcome));
}

/**
 * What an error before the first request of a write amounts to: the outcome that the same answer would have had later.
 * Undefined for errors of usage and for what is no answer.
 */
function outcomeOf(error: unknown): FinalOutcome | undefined {
  if (isAppError(error, 'unauthenticated', 'credentials-failed')) return 'unauthenticated';
  if (isAppError(error, 'forbidden')) return 'forbidden';
  if (isAppError(error, 'unknown-resource')) return 'unsupported';
  if (isAppError(error, 'invalid-yaml', 'invalid-json', 'invalid-request')) return 'invalid';
  if (isAppError(error, 'throttled')) return 'throttled';
  if (isAppError(error, 'unreachable', 'connection-lost', 'tls-untrusted', 'server-error', 'bad-answer', 'unavailable'))
    return 'unavailable';
  if (isAppError(error, 'timed-out')) return 'timed-out';
  return isAppError(error, 'cancelled') ? 'cancelled' : undefined;
}

/** Tells an error of a write: as a report where it is an outcome, so that programs find it where they look for it. */
export function tellWriteError(error: unknown, format: 'text' | 'json', io: CliIo): void {
  const outcome = outcomeOf(error);
  const code = reportFailure(error, io);
  if (outcome === undefined) {
    io.exit(code);
    return;
  }
  const message = isAppError(error) ? error.message : '';
  if (format === 'json') io.stdout(`${printReport({ outcome, attempts: [], message })}\n`);
  io.exit(exitCodeOf(outcome));
}

/** One line for an attempt that did not end the write. */
export function attemptLine(attempt: Attempt): string {
  const code = attempt.code === undefined ? '' : ` (${attempt.code})`;
  const part = attempt.part === undefined ? '' : ` of ${attempt.part}`;
  const settled = attempt.settled === undefined ? '' : `, settled by reading: ${attempt.settled}`;
  const won = (attempt.wonBy ?? []).map((one) => `${one.manager} changed ${one.fields.join(', ') || 'it'}`).join('; ');
  return `attempt ${attempt.attempt}${part}: ${attempt.outcome}${code}${settled}${won === '' ? '' : `; ${won}`}\n`;
}

function textOf(report: Report, what: string): string {
  const lines = [`${what}: ${report.outcome}${report.dryRun === true ? ' (dry run)' : ''}\n`];
  const { fieldConflicts = [] } = report;
  if (fieldConflicts.length === 0) {
    if (report.message !== undefined) lines.push(`  ${String(report.message)}\n`);
    for (const cause of report.causes ?? [])
      lines.push(`  ${cause.field ?? ''}: ${String(cause.message ?? cause.reason ?? '')}\n`);
  }
  for (const { path, base, theirs, yours } of report.conflicts ?? []) {
    lines.push(`  ${path}: base ${shown(base)}, theirs ${shown(theirs)}, yours ${shown(yours)}\n`);
  }
  for (const { path, manager, operation, time } of fieldConflicts) {
    lines.push(`  ${path} is owned by ${manager} (${operation}${time === undefined ? '' : `, ${time}`})\n`);
  }
  if (report.outcome === 'field-conflict') lines.push(...waysOn(report));
  for (const { path, asked, stored, was, keptBy } of report.storedOtherwise ?? []) {
    const kept = keptBy === undefined ? '' : `, kept by ${keptBy.join(', ')}`;
    const before = was === undefined ? '' : ` (it was ${shown(was)})`;
    lines.push(`  ${path}: asked ${shown(asked)}, stored ${shown(stored)}${before}${kept}\n`);
  }
  if (report.observed !== undefined) lines.push(`  ${observedLine(report.observed)}\n`);
  if (report.accepted !== undefined) lines.push(`  accepted: ${report.accepted.join(', ')}\n`);
  if (report.desiredStateChanged === false && report.outcome === 'written')
    lines.push('  The desired state is unchanged.\n');
  if (report.attempts.length > 1 || report.attempts.some(({ settled }) => settled !== undefined))
    lines.push(...report.attempts.map((attempt) => `  ${attemptLine(attempt)}`));
  return lines.join('');
}

/** What a person adds to the command to go on: a choice for each field, at the version that this report shows. */
function waysOn({ fieldConflicts = [], token }: Report): string[] {
  const paths = [...new Set(fieldConflicts.map(({ path }) => path))];
  const options = paths.map((path) => `--on-field-conflict ${quoted(`${path}=take-over`)}`).join(' ');
  if (token === undefined || paths.length === 0) return [];
  return [
    '  To take over what others own at this version, add to the command:\n',
    `    ${options} --shown-token ${quoted(token)}\n`,
    '  Or write give-up (leave it to them) or co-own (keep their value, own it too) in the place of take-over.\n',
  ];
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function observedLine({ outcome, missing, message }: NonNullable<Report['observed']>): string {
  if (outcome === 'unsupported') return String(message ?? 'There is nothing to wait for.');
  const lacks = missing.length === 0 ? '' : `; missing ${missing.join(', ')}`;
  return `waiting for it to be observed: ${outcome}${lacks}${message === undefined ? '' : `. ${String(message)}`}`;
}

function shown(value: Parameters<typeof stringifyJson>[0] | undefined): string {
  return value === undefined ? 'nothing' : stringifyJson(value);
}
