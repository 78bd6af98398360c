import type { Words } from '../base/message.ts';

/**
 * How a safe write ended. Closed: everything a server or a network can answer ends in one of these.
 * `docs/safe-write.md` has a row for each with what to do.
 */
export const finalOutcomes = [
  'written',
  'unchanged',
  'needs-decision',
  'field-conflict',
  'contended',
  'recreated',
  'gone',
  'already-exists',
  'terminating',
  'partly-written',
  'unauthenticated',
  'forbidden',
  'invalid',
  'unsupported',
  'too-large',
  'throttled',
  'unavailable',
  'unknown',
  'timed-out',
  'cancelled',
] as const;

/** How a safe write ended. */
export type FinalOutcome = (typeof finalOutcomes)[number];

/**
 * How one attempt ended. Three of these never end a write: a version conflict is read again, a UID mismatch becomes
 * `recreated` or `gone`, and an uncertain answer is settled by reading.
 */
export type AttemptOutcome = FinalOutcome | 'version-conflict' | 'uid-mismatch' | 'uncertain';

/** A strategy: what is sent for a change. All are conditional on UID and token unless a person said yes to losing updates. */
export const strategies = ['replace', 'apply', 'json-patch', 'merge-patch', 'strategic'] as const;

/** A strategy: what is sent for a change. */
export type Strategy = (typeof strategies)[number];

/** One cause of a refusal, as the server's Status gives it. */
export interface Cause {
  readonly reason?: string;
  readonly message?: Words;
  /** The server's spelling of the field, such as `spec.ports[0].port` or `.data.k`. */
  readonly field?: string;
}

/** Causes as a trace keeps them. */
export function inEnglish(causes: readonly Cause[]): { reason?: string; message?: string; field?: string }[] {
  return causes.map(({ message, ...cause }) =>
    message === undefined ? cause : { ...cause, message: String(message) },
  );
}

/** One field that another manager owns and that an apply wanted otherwise. */
export interface FieldConflict {
  /** As the server prints it: `.spec.replicas`. */
  readonly path: string;
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly apiVersion?: string;
  /** When that owner last changed its fields, where `managedFields` says so. */
  readonly time?: string;
}
