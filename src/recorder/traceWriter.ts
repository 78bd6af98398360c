import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import { AppError, messageOf } from '../base/appError.ts';
import { printTraceLine, traceHeader } from '../core/trace.ts';
import type { TraceEvent, TraceHeader } from '../core/traceEvent.ts';

const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Writes a trace to a file as events come. A disk that fails costs the trace, never the traffic; what was lost is counted. */
export class TraceWriter {
  private readonly stream: WriteStream;
  private readonly onProblem: (message: string) => void;
  private failed = false;
  /** Events that are not in the file. */
  lost = 0;

  private constructor(stream: WriteStream, onProblem: (message: string) => void) {
    this.stream = stream;
    this.onProblem = onProblem;
  }

  /**
   * Opens the file (mode 0600: a trace holds what objects hold) and writes the header.
   * @throws AppError `storage-failed`
   */
  static async open(
    path: string,
    header: { creator: string; clusters: TraceHeader['clusters']; at: number },
    onProblem: (message: string) => void,
  ): Promise<TraceWriter> {
    const stream = createWriteStream(path, { mode: 0o600 });
    try {
      await once(stream, 'open');
    } catch (error) {
      throw new AppError('storage-failed', `The trace ${path} cannot be written: ${messageOf(error)}`, {
        cause: error,
      });
    }
    const writer = new TraceWriter(stream, onProblem);
    stream.on('error', (error) => writer.fail(path, error));
    stream.write(printTraceLine(traceHeader(header.creator, header.clusters, header.at)));
    return writer;
  }

  add(event: TraceEvent): void {
    if (this.failed || this.stream.writableLength > MAX_WAITING_BYTES) this.lost += 1;
    else this.stream.write(printTraceLine(event));
  }

  async close(): Promise<void> {
    if (this.failed) return;
    await new Promise<void>((resolve) => {
      this.stream.once('error', () => resolve());
      this.stream.end(() => resolve());
    });
    if (this.lost > 0) this.onProblem(`${this.lost} events are missing from the trace: the disk did not keep up.`);
  }

  private fail(path: string, error: Error): void {
    if (this.failed) return;
    this.failed = true;
    this.onProblem(
      `The trace ${path} cannot be written any more (${error.message}); the traffic and the findings go on without it.`,
    );
  }
}
