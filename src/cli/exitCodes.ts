/** Exit codes of the command line; documented in `docs/command-line.md`. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  needsDecision: 3,
  contended: 4,
  refused: 5,
  invalid: 6,
  unknown: 7,
  gone: 8,
  unavailable: 9,
  findings: 10,
  labDidNotHold: 11,
  cancelled: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
