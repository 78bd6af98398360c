import type { Clock } from '../base/clock.ts';

/**
 * What a command may touch of the process. `stdout` takes the result (one JSON document, JSON Lines, or text),
 * `stderr` messages to a person. The signal aborts on SIGINT, SIGTERM and SIGHUP.
 */
export interface CliIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Whether a person sees stderr at a terminal, where a line may be drawn over. */
  readonly hasLiveStderr?: boolean;
  readonly stdin: NodeJS.ReadableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The command's exit code, decided once; 0 unless set. */
  exit(code: number): void;
}

/** Options that every command which talks to a cluster has, as kubectl names them. */
export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}
