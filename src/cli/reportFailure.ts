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

const namesFile = ' A file is named with --kubeconfig or in the KUBECONFIG variable.';
/** What only the command line has to say to an advice. */
const besides: Partial<Record<ErrorCode, string>> = {
  'kubeconfig-missing': namesFile,
  'kubeconfig-malformed': namesFile,
};

/** Tells a person what failed and what to do next, on stderr, and returns the exit code. */
export function reportFailure(error: unknown, io: CliIo): ExitCode {
  if (!isAppError(error)) {
    io.stderr(`error: ${messageOf(error)}\n`);
    if (error instanceof Error && io.env['OBJECT_VERSIONS_DEBUG'] !== undefined) io.stderr(`${error.stack ?? ''}\n`);
    return exitCodes.failed;
  }
  if (error.code !== 'cancelled')
    io.stderr(`error: ${error.message}${error.advice === '' ? '' : ` ${error.advice}`}${besides[error.code] ?? ''}\n`);
  return codes[error.code] ?? exitCodes.failed;
}
