import { message } from '../base/message.ts';
import { createReadStream } from 'node:fs';
import { AppError, isAppError, wordsOf } from '../base/appError.ts';
import { throwIfAborted } from '../base/clock.ts';
import type { TraceReader } from '../core/trace.ts';
import type { TraceEvent } from '../core/traceEvent.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Reads a trace from a file, in batches as its pieces come, into `reader`, which then also has the header and the problems.
 * @throws AppError `trace-unreadable` (no such file, not a trace), `trace-newer`, `cancelled`
 */
export async function* readTraceFile(
  path: string,
  reader: TraceReader,
  signal?: AbortSignal,
): AsyncGenerator<TraceEvent[], void, undefined> {
  const decoder = new TextDecoder();
  try {
    for await (const piece of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      throwIfAborted(signal);
      const events = reader.push(decoder.decode(piece as Buffer, { stream: true }));
      if (reader.failure !== undefined) throw reader.failure;
      if (events.length > 0) yield events;
    }
  } catch (error) {
    if (isAppError(error)) throw error;
    const advice = 'Check the path and that you may read it.';
    throw new AppError('trace-unreadable', message`${path} cannot be read: ${wordsOf(error)}.`, {
      advice,
      cause: error,
    });
  }
  const events = [...reader.push(decoder.decode()), ...reader.end()];
  if (reader.failure !== undefined) throw reader.failure;
  if (events.length > 0) yield events;
}
