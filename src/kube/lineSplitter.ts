import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';

const NEWLINE = 0x0a;
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Cuts a stream of bytes into lines, wherever its chunks begin and end: a character may be split between two chunks, a line
 * between many. Empty lines are left out.
 */
export class LineSplitter {
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  /**
   * The lines that this chunk completes.
   * @throws AppError `bad-answer` where a line outgrows 64 MiB
   */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.take(chunk.subarray(start, end));
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.keep(chunk.subarray(start));
    return lines;
  }

  /** What stands after the last line end: a line that was cut off, or the last line of a server that does not end it. */
  rest(): string {
    return this.take(new Uint8Array(0));
  }

  private keep(part: Uint8Array): void {
    this.pending.push(part);
    this.pendingBytes += part.length;
    if (this.pendingBytes > MAX_LINE_BYTES) {
      throw new AppError('bad-answer', message`The API server sent one line of more than 64 MiB.`, {
        advice: message`Look at proxies between here and the API server.`,
      });
    }
  }

  private take(last: Uint8Array): string {
    const whole = this.pending.length === 0 ? last : Buffer.concat([...this.pending, last]);
    this.pending = [];
    this.pendingBytes = 0;
    return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8').trim();
  }
}
