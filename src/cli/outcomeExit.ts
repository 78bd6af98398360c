import type { FinalOutcome } from '../write/outcome.ts';
import { exitCodes, type ExitCode } from './exitCodes.ts';

/** The exit code of a write's outcome, as documented in `docs/command-line.md`. */
export function exitCodeOf(outcome: FinalOutcome): ExitCode {
  switch (outcome) {
    case 'written':
    case 'unchanged':
      return exitCodes.done;
    case 'needs-decision':
    case 'field-conflict':
    case 'already-exists':
    case 'partly-written':
      return exitCodes.needsDecision;
    case 'contended':
      return exitCodes.contended;
    case 'unauthenticated':
    case 'forbidden':
      return exitCodes.refused;
    case 'invalid':
    case 'unsupported':
    case 'too-large':
      return exitCodes.invalid;
    case 'unknown':
      return exitCodes.unknown;
    case 'gone':
    case 'recreated':
    case 'terminating':
      return exitCodes.gone;
    case 'unavailable':
    case 'throttled':
    case 'timed-out':
      return exitCodes.unavailable;
    case 'cancelled':
      return exitCodes.cancelled;
  }
}
