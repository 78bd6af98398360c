import { isAppError, messageOf, type ErrorCode } from '../base/appError.ts';
import { exitCodes, type ExitCode } from './exitCodes.ts';
import type { CliIo } from './io.ts';

/** The exit code of each error code that has one of its own; all others are `failed`. */
const codes: Partial<Record<ErrorCode, ExitCode>> = {
  cancelled: exitCodes.cancelled,
  usage: exitCodes.usage,
  'invalid-path': exitCodes.usage,
  unauthenticated: exitCodes.refused,
  forbidden: exitCodes.refused,
  'credentials-failed': exitCodes.refused,
  'unknown-resource': exitCodes.invalid,
  'invalid-request': exitCodes.invalid,
  'invalid-yaml': exitCodes.invalid,
  'not-found': exitCodes.gone,
  unreachable: exitCodes.unavailable,
  'tls-untrusted': exitCodes.unavailable,
  'server-error': exitCodes.unavailable,
  'bad-answer': exitCodes.unavailable,
  'timed-out': exitCodes.unavailable,
  'connection-lost': exitCodes.unavailable,
  throttled: exitCodes.unavailable,
  unavailable: exitCodes.unavailable,
};

/** Tells a person what failed and what to do next, on stderr, and returns the exit code. */
export function reportFailure(error: unknown, io: CliIo): ExitCode {
  if (!isAppError(error)) {
    io.stderr(`error: ${messageOf(error)}\n`);
    if (error instanceof Error && io.env['OBJECT_VERSIONS_DEBUG'] !== undefined) io.stderr(`${error.stack ?? ''}\n`);
    return exitCodes.failed;
  }
  if (error.code !== 'cancelled')
    io.stderr(`error: ${error.message}${error.advice === '' ? '' : ` ${error.advice}`}\n`);
  return codes[error.code] ?? exitCodes.failed;
}
