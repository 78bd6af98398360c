import { message } from '../base/message.ts';
import { AppError, type ErrorCode } from '../base/appError.ts';
import { cancelled } from '../base/clock.ts';
import type { Report } from '../write/report.ts';

/** The outcomes that are codes of failures by the same name. */
const codes: ReadonlySet<string> = new Set<ErrorCode>([
  'unauthenticated',
  'forbidden',
  'throttled',
  'unavailable',
  'timed-out',
]);

/** Why a lab cannot go on: its safe write ended neither written nor, where that is to be expected, contended. */
export function endedOtherwise({ outcome, message: said }: Report): AppError {
  if (outcome === 'cancelled') return cancelled();
  const sentence = message`The safe write of the lab ended ${outcome}.${said === undefined ? '' : message` ${said}`}`;
  return new AppError(codes.has(outcome) ? (outcome as ErrorCode) : 'bad-answer', sentence);
}
