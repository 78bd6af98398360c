import type { WriteStream } from 'node:fs';
import { printTraceLine, traceHeader } from '../core/trace.ts';
import type { TraceEvent, TraceHeader } from '../core/traceEvent.ts';
import { openNamedFile } from '../storage/namedFile.ts';

const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Writes a trace to a file as events come. A disk that fails costs the trace, never the traffic; what was lost is counted. */
export class TraceWriter {
  private readonly stream: WriteStream;
  private readonly onProblem: (message: string) => void;
  private failed = false;
  private waiting: string[] = [];
  /** How many bytes were handed over. */
  private given = 0;
  /** Events that are not in the file. */
  lost = 0;

  private constructor(stream: WriteStream, onProblem: (message: string) => void) {
    this.stream = stream;
    this.onProblem = onProblem;
  }

  /**
   * Opens the file (mode 0600: a trace holds what objects hold) and writes the header. A file that holds something is
   * replaced only with `overwrite`.
   * @throws AppError `usage` where something is there, `storage-failed`
   */
  static async open(
    path: string,
    header: { creator: string; clusters: TraceHeader['clusters']; at: number },
    onProblem: (message: string) => void,
    overwrite = false,
  ): Promise<TraceWriter> {
    const file = await openNamedFile({ path, what: 'The trace', mayReplace: overwrite });
    const stream = file.createWriteStream();
    const writer = new TraceWriter(stream, onProblem);
    stream.on('error', (error) => writer.fail(path, error));
    writer.write([printTraceLine(traceHeader(header.creator, header.clusters, header.at))], 0);
    return writer;
  }

  add(event: TraceEvent): void {
    if (this.failed || this.stream.writableLength > MAX_WAITING_BYTES) {
      this.lost += 1;
      return;
    }
    this.waiting.push(printTraceLine(event));
    if (this.waiting.length === 1) setImmediate(() => this.flush());
  }

  async close(): Promise<void> {
    this.flush();
    if (this.failed) return;
    await new Promise<void>((resolve) => {
      this.stream.once('error', () => resolve());
      this.stream.end(() => resolve());
    });
    if (this.lost > 0 && !this.failed)
      this.onProblem(`${this.lost} events are missing from the trace: the disk did not keep up.`);
  }

  /** What came in one turn goes out in one write. */
  private flush(): void {
    const lines = this.waiting.splice(0);
    if (lines.length === 0) return;
    if (this.failed) this.lost += lines.length;
    else this.write(lines, lines.length);
  }

  /** Writes lines, `events` of which are events; of a write that fails, those that came out whole are not lost. */
  private write(lines: readonly string[], events: number): void {
    const start = this.given;
    const text = lines.join('');
    this.given += Buffer.byteLength(text);
    this.stream.write(text, (error) => {
      if (error === null || error === undefined) return;
      const written = Math.max(0, this.stream.bytesWritten - start);
      this.lost += Math.max(0, events - Buffer.from(text).subarray(0, written).toString().split('\n').length + 1);
    });
  }

  private fail(path: string, error: Error): void {
    if (this.failed) return;
    this.failed = true;
    this.onProblem(
      `The trace ${path} cannot be written any more (${error.message}); the traffic and the findings go on without it.`,
    );
  }
}
