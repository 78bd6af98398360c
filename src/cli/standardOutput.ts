import { messageOf } from '../base/appError.ts';

/** Codes of a reader that has gone away; anything else is a failure, such as a disk that is full. */
const READER_GONE = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'];

/** Why nothing more can be printed. */
export type OutputEnd = 'reader-gone' | 'failed';

/**
 * Standard output. When its reader goes away or it cannot be written, `onEnd` is told once, nothing more is written, and the
 * command ends the way it does when interrupted: whatever it opened is closed.
 */
export class StandardOutput {
  /** Set when nothing more can be printed. */
  end: OutputEnd | undefined;
  private readonly writeOut: NodeJS.WriteStream['write'];
  private readonly onEnd: (end: OutputEnd, sentence: string) => void;

  constructor(stream: NodeJS.WriteStream, onEnd: (end: OutputEnd, sentence: string) => void) {
    // Kept from the start: a person's script gets another one.
    this.writeOut = stream.write.bind(stream);
    this.onEnd = onEnd;
    stream.on('error', (error) => this.ended(error));
  }

  write(text: string): void {
    if (this.end === undefined) this.writeOut(text, (error) => this.ended(error));
  }

  /** Resolves when all that was written is out, or cannot be. */
  async finished(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.writeOut('', () => resolve());
    });
  }

  private ended(error: NodeJS.ErrnoException | null | undefined): void {
    if (this.end !== undefined || error === null || error === undefined) return;
    this.end = READER_GONE.includes(error.code ?? '') ? 'reader-gone' : 'failed';
    this.onEnd(this.end, `The output could not be written: ${messageOf(error)}.`);
  }
}
