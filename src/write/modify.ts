import type { Server } from '../base/server.ts';
import type { Intent } from './intent.ts';
import type { ModifyOptions } from './options.ts';
import type { Report } from './report.ts';
import { runModify } from './run.ts';
import type { Target } from './target.ts';

/**
 * The safe read-modify-write: reads the object, computes what is desired from *that* read, and writes it on the condition
 * that the object is still that incarnation at that version. A refused attempt starts again from a new read. The contract,
 * with all outcomes, is `docs/safe-write.md`.
 *
 * Whatever the server or the network answers is an outcome in the report.
 * @throws AppError `script-failed` when a function intent fails; AppErrors of the connection that are no answer (bad credentials
 * of an exec plugin, for one) pass through.
 */
export async function modify(server: Server, target: Target, intent: Intent, options: ModifyOptions): Promise<Report> {
  return runModify(server, target, intent, options);
}
