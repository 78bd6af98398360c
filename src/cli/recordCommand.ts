import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { AppError, messageOf } from '../base/appError.ts';

const PASSED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** What a terminal's keys send to all that run in it, so that the command has it already. */
const KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/**
 * Runs a command with this process's terminal and passes signals on to it (once: a second one makes many programs give up
 * their clean-up); resolves with its exit code, or with 128 and the number of the signal that ended it. With `stdoutToStderr` the command's output leaves standard output free.
 * @throws AppError `usage` where there is no such command
 */
export function runCommand(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  options: { stdoutToStderr: boolean },
): Promise<number> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['inherit', options.stdoutToStderr ? 2 : 'inherit', 'inherit'] });
    const handlers = PASSED.map((signal) => {
      const handler = (): void => {
        if (!process.stdin.isTTY || !KEYS.includes(signal)) child.kill(signal);
      };
      process.on(signal, handler);
      return { signal, handler };
    });
    const release = (): void => {
      for (const { signal, handler } of handlers) process.off(signal, handler);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      release();
      const why = error.code === 'ENOENT' ? 'there is no such program' : messageOf(error);
      reject(new AppError('usage', `${program} cannot be run: ${why}`, { cause: error }));
    });
    child.once('close', (code, signal) => {
      release();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
