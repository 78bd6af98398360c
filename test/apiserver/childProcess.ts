import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** A program that is stopped with TERM, then KILL, and never outlives this process. */
export interface Running {
  /** The last 8,000 characters of what it printed. */
  output(): string;
  hasExited(): boolean;
  stop(): Promise<void>;
}

const KILL_AFTER_MS = 8000;
const KEPT_OUTPUT = 8000;

/** Starts a program without a shell. */
export function startProgram(command: string, args: readonly string[]): Running {
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-KEPT_OUTPUT);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.on('error', (error) => keep(Buffer.from(error.message)));
  const closed = once(child, 'close');
  const killOnExit = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', killOnExit);
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  return {
    output: () => output,
    hasExited,
    async stop() {
      process.off('exit', killOnExit);
      if (hasExited()) return;
      child.kill('SIGTERM');
      const killing = new AbortController();
      await Promise.race([
        closed,
        delay(KILL_AFTER_MS, undefined, { signal: killing.signal }).then(() => child.kill('SIGKILL')),
      ]);
      killing.abort();
      await closed;
    },
  };
}
