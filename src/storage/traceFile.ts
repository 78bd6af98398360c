import { createReadStream } from 'node:fs';
import { AppError, isAppError, messageOf } from '../base/appError.ts';
import { throwIfAborted } from '../base/clock.ts';
import { printTraceLine, type TraceReader } from '../core/trace.ts';
import type { TraceEvent, TraceHeader } from '../core/traceEvent.ts';
import { LineFile, type LineFileOptions } from './lineFile.ts';

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
    throw new AppError('trace-unreadable', `${path} cannot be read: ${messageOf(error)}.`, { advice, cause: error });
  }
  const events = [...reader.push(decoder.decode()), ...reader.end()];
  if (reader.failure !== undefined) throw reader.failure;
  if (events.length > 0) yield events;
}

/** A trace that is being written. */
export interface TraceFile {
  /** Never waits and never fails; a disk that does is told to `onProblem`, once. */
  append(event: TraceEvent): void;
  /** Resolves when all that was appended is in the file. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates a trace, or replaces the file that is there. After a failure of the disk nothing more is written, and what uses
 * the trace goes on.
 * @throws AppError `storage-failed` where the file cannot be created
 */
export async function createTraceFile(
  path: string,
  header: TraceHeader,
  onProblem: (error: AppError) => void,
  options: LineFileOptions = {},
): Promise<TraceFile> {
  let told = false;
  const tell = (error: AppError): void => {
    if (told) return;
    told = true;
    onProblem(error);
  };
  const file = await LineFile.create(path, false, tell, options);
  file.append(printTraceLine(header));
  return {
    append(event) {
      if (file.append(printTraceLine(event))) return;
      tell(
        new AppError('storage-failed', `${path} is written more slowly than events come; some are left out.`, {
          advice: 'Use a faster disk.',
        }),
      );
    },
    flush: () => file.flush(),
    close: () => file.close(),
  };
}
