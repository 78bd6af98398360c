import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, Script } from 'node:vm';
import { AppError, messageOf } from '../base/appError.ts';
import { cancelled } from '../base/clock.ts';
import type { JsonObject } from '../codec/json.ts';

/** What a script's default export is: the desired object, from the current one. */
export type Compute = (current: JsonObject) => JsonObject | Promise<JsonObject>;

/**
 * The default export of a script, which is called anew on every attempt. A call that does not give control back is ended
 * after `limitMs`, and by an interrupt; one that gives a promise back is its caller's to bound.
 * @throws AppError `script-failed`; from a call `timed-out` and `cancelled`
 */
export async function loadScript(file: string, limitMs: number): Promise<Compute> {
  // stdout is the report's; what a script prints is for a person.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  // A script that ends the process would end it between a write and what is said of it.
  process.exit = () => {
    throw new AppError('script-failed', `${file} called process.exit, which would hide what was done.`, {
      advice: 'Return the object unchanged to do nothing, or throw an error.',
    });
  };
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new AppError('script-failed', `${file} cannot be loaded: ${messageOf(error)}`, { cause: error });
  }
  const exported = defaultOf(module);
  // A CommonJS file that was made from an ES module has its default export in the default export.
  const compute = typeof exported === 'function' ? exported : defaultOf(exported);
  if (typeof compute !== 'function') {
    throw new AppError('script-failed', `${file} has no function as its default export.`, {
      advice: 'Such as: export default (object) => ({ ...object, … })',
    });
  }
  const call = watchedCalls(limitMs);
  return (current) => call(() => (compute as Compute)(current));
}

function defaultOf(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
}

/**
 * Calls functions that may never return: Node's watchdog for scripts covers all that they call. What it needs is made here
 * and not with the call, which stands between a read and its write.
 */
function watchedCalls(limitMs: number): <T>(work: () => T) => T {
  const context: { call?: () => unknown } = {};
  createContext(context);
  const script = new Script('call()');
  const options = { timeout: Math.ceil(limitMs), breakOnSigint: true };
  return <T>(work: () => T) => {
    context.call = work;
    try {
      return script.runInContext(context, options) as T;
    } catch (error) {
      // These two are errors of the other context: no instances of this one's Error.
      const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
      if (code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw cancelled();
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw new AppError('timed-out', 'The script did not come to an end within the time limit.', {
        advice: 'Nothing was written. Look for a loop in it, or give it more time with --timeout.',
        cause: error,
      });
    }
  };
}
