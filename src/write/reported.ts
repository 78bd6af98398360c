import type { Server } from '../base/server.ts';
import { contextOf, type WriteContext } from './context.ts';
import type { PartReport } from './endings.ts';
import { defaultFieldManager, type ModifyOptions } from './options.ts';
import type { Report } from './report.ts';
import { Session } from './session.ts';
import type { Target } from './target.ts';
import { WriteLog } from './writeLog.ts';

const defaultTimeoutMs = 30_000;

/**
 * What every kind of write has around it: its time, its log, whose events are told however it ends, and the report with all
 * attempts.
 */
export async function reported(
  server: Server,
  target: Target,
  options: ModifyOptions,
  write: (context: WriteContext) => Promise<PartReport>,
): Promise<Report> {
  const session = new Session(server, options.clock, options.timeoutMs ?? defaultTimeoutMs, options.signal);
  const log = new WriteLog(target, options, options.fieldManager ?? defaultFieldManager);
  const context = contextOf(target, options, session, log);
  try {
    const report = await write(context);
    return { ...report, ...(options.dryRun === true ? { dryRun: true } : {}), attempts: context.attempts.all };
  } finally {
    log.flush();
  }
}
