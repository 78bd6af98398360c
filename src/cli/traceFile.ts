import { createReadStream } from 'node:fs';
import { AppError, messageOf } from '../base/appError.ts';
import { TraceReader } from '../core/trace.ts';
import type { TraceEvent } from '../core/traceEvent.ts';
import type { CliIo } from './io.ts';

/**
 * Reads a trace. What is wrong with single lines is said on stderr, and the rest is read.
 * @throws AppError `trace-unreadable`, `trace-newer`
 */
export async function readTraceFile(file: string, io: CliIo): Promise<TraceEvent[]> {
  const reader = new TraceReader();
  const events: TraceEvent[] = [];
  try {
    for await (const chunk of createReadStream(file, { encoding: 'utf8', signal: io.signal }))
      events.push(...reader.push(String(chunk)));
  } catch (error) {
    throw new AppError('trace-unreadable', `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  events.push(...reader.end());
  if (reader.failure !== undefined) throw reader.failure;
  for (const problem of reader.problems) io.stderr(`${file}:${problem.line}: ${problem.message}\n`);
  return events;
}
