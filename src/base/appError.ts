/**
 * Every code with which this product fails. Each has a row in `docs/errors.md` with its meaning and what to do.
 * Expected outcomes (a conflict, a refused write) are values, not errors: see `write/outcome.ts`.
 */
export type ErrorCode =
  | 'cancelled'
  | 'usage'
  | 'kubeconfig-missing'
  | 'kubeconfig-malformed'
  | 'kubeconfig-unknown-name'
  | 'credentials-failed'
  | 'unreachable'
  | 'timed-out'
  | 'connection-lost'
  | 'tls-untrusted'
  | 'unauthenticated'
  | 'forbidden'
  | 'unknown-resource'
  | 'not-found'
  | 'invalid-request'
  | 'bad-answer'
  | 'throttled'
  | 'unavailable'
  | 'server-error'
  | 'invalid-yaml'
  | 'invalid-json'
  | 'invalid-protobuf'
  | 'invalid-path'
  | 'script-failed'
  | 'trace-unreadable'
  | 'trace-newer'
  | 'storage-failed'
  | 'port-in-use'
  | 'internal';

/** What an error may say besides its sentence: facts safe to log and show, never a credential or a Secret's value. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

/**
 * The one error class. `message` is one sentence a person understands; `advice` says what to do next.
 * Throw it for failures; return a value for expected outcomes.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly advice: string;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    options: { advice?: string; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.advice = options.advice ?? '';
    this.details = options.details ?? {};
  }
}

/** Whether a caught value is an AppError, of one of the given codes if any are given. */
export function isAppError(value: unknown, ...codes: ErrorCode[]): value is AppError {
  return value instanceof AppError && (codes.length === 0 || codes.includes(value.code));
}

/** The sentence of any caught value. */
export function messageOf(value: unknown): string {
  return value instanceof Error ? value.message : String(value);
}
