import { Command, CommanderError } from 'commander';
import { registerCommands } from './cli/commands.ts';
import { exitCodes } from './cli/exitCodes.ts';
import type { CliIo } from './cli/io.ts';
import { reportFailure } from './cli/reportFailure.ts';
import { registerVersion } from './cli/version.ts';
import { StandardOutput } from './cli/standardOutput.ts';
import { isAppError, messageOf } from './base/appError.ts';
import { systemClock } from './base/clock.ts';

/** How long a command has to end after an error that nobody waits for. */
const ENDING_MS = 5000;
/** A person's script gets another one. */
const exit = process.exit.bind(process);

/** The command line: builds the commands, runs one, and turns whatever happens into an exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const interrupted = new AbortController();
  let code: number = exitCodes.done;
  const onSignal = (): void => {
    code = exitCodes.cancelled;
    interrupted.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onSignal);
  let strayed = false;
  // An error that nobody waits for, such as one in a timer of a person's script: the command ends as when it is interrupted.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`error: ${messageOf(error)}\n`);
    strayed = true;
    interrupted.abort();
    setTimeout(() => exit(exitCodes.failed), ENDING_MS).unref();
  });
  const output = new StandardOutput(process.stdout, (end, sentence) => {
    if (end === 'failed') process.stderr.write(`error: ${sentence}\n`);
    interrupted.abort();
  });
  const io: CliIo = {
    stdout: (text) => output.write(text),
    stderr: (text) => void process.stderr.write(text),
    hasLiveStderr: process.stderr.isTTY,
    stdin: process.stdin,
    env: process.env,
    clock: systemClock,
    signal: interrupted.signal,
    exit: (value) => {
      code = value;
    },
  };
  const program = new Command('object-versions')
    .description('Know which Kubernetes object you look at, which version of it you read, and who else writes to it.')
    .showHelpAfterError('(add --help for the options)')
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout(text), writeErr: (text) => io.stderr(text) });
  registerVersion(program, io);
  registerCommands(program, io);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) code = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    // A reader that goes away (`object-versions watch | head`) ends the command; it is no failure.
    else if (isAppError(error, 'cancelled') && output.end !== undefined) code = exitCodes.done;
    else code = reportFailure(error, io);
  }
  await output.finished();
  if (strayed) return exitCodes.failed;
  return output.end === 'failed' && code === exitCodes.done ? exitCodes.failed : code;
}

// What is said to a person decides nothing: a stderr that is closed or full changes neither what is done nor the exit code.
process.stderr.on('error', () => undefined);

process.exitCode = await main(process.argv.slice(2));
// Nothing keeps a finished command alive but what it has still to print.
process.stderr.write('', () => exit());
