import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { AppError, messageOf } from '../base/appError.ts';

const PASSED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/**
 * Runs a command with this process's terminal and passes signals on to it; resolves with its exit code, or with 128 and the
 * number of the signal that ended it. With `stdoutToStderr` the command's output leaves standard output free.
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
      const handler = (): void => void child.kill(signal);
      process.on(signal, handler);
      return { signal, handler };
    });
    const release = (): void => {
      for (const { signal, handler } of handlers) process.off(signal, handler);
    };
    child.once('error', (error) => {
      release();
      reject(new AppError('usage', `${program} cannot be run: ${messageOf(error)}`, { cause: error }));
    });
    child.once('close', (code, signal) => {
      release();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
