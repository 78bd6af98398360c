import { inWords, type Translation, type Words } from './message.ts';

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
 * Both are English; `inWords` gives them in a reader's language.
 * Throw it for failures; return a value for expected outcomes.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  // Not seen where the error is printed: they say what `message` and `advice` say.
  readonly #words: Words;
  readonly #advises: Words;

  constructor(
    code: ErrorCode,
    sentence: Words,
    options: { advice?: Words; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(String(sentence), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.#words = sentence;
    this.#advises = options.advice ?? '';
    this.details = options.details ?? {};
  }

  /** What `message` says, to stand in a message. */
  get words(): Words {
    return this.#words;
  }

  get advice(): string {
    return String(this.#advises);
  }

  /** Both in the words of `translate`; the advice is empty where there is none. */
  inWords(translate: Translation): { readonly sentence: string; readonly advice: string } {
    return { sentence: inWords(this.#words, translate), advice: inWords(this.#advises, translate) };
  }
}

/** Whether a caught value is an AppError, of one of the given codes if any are given. */
export function isAppError(value: unknown, ...codes: ErrorCode[]): value is AppError {
  return value instanceof AppError && (codes.length === 0 || codes.includes(value.code));
}

/** The sentence of any caught value, to stand in a message. */
export function wordsOf(value: unknown): Words {
  return value instanceof AppError ? value.words : messageOf(value);
}

/** What any caught value says and, of an AppError, advises, in the words of `translate`. */
export function sentenceOf(value: unknown, translate: Translation): string {
  if (!(value instanceof AppError)) return messageOf(value);
  const { sentence, advice } = value.inWords(translate);
  return advice === '' ? sentence : `${sentence} ${advice}`;
}

/** The sentence of any caught value, in English. */
export function messageOf(value: unknown): string {
  return value instanceof Error ? value.message : String(value);
}
