import { message } from '../base/message.ts';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { AppError, wordsOf } from '../base/appError.ts';

/** Tuning of a file of lines; all have defaults. */
export interface LineFileOptions {
  /** Write at the latest this long after a line came, in milliseconds. Default 200. */
  readonly flushMs?: number;
  /** Write at once when this many characters wait. Default 1 MiB. */
  readonly flushChars?: number;
  /** Characters that may wait for a disk that is slow or full; what comes beyond is dropped and counted. Default 16 MiB. */
  readonly maxWaitingChars?: number;
  /** Ask the disk to keep what was written at most this often, in milliseconds. Default 5,000. */
  readonly syncMs?: number;
}

/**
 * A new file that lines are appended to. Appending never waits and never fails: lines are buffered and written in order in
 * the background. A write that fails ends this file (it may hold half a line now); what had not been written is handed back
 * by `unwritten`. A killed process loses at most what waited; a file then ends in a torn line at worst.
 */
export class LineFile {
  /** Characters handed to the file so far, its head included; UTF-8 makes the file at least as long in bytes. */
  chars = 0;
  private readonly handle: FileHandle;
  private readonly path: string;
  private readonly options: Required<LineFileOptions>;
  private readonly onFailure: (error: AppError) => void;
  private waiting: string[] = [];
  private waitingChars = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private syncedAt = 0;
  private failure: AppError | undefined;

  private constructor(
    handle: FileHandle,
    path: string,
    options: LineFileOptions,
    onFailure: (error: AppError) => void,
  ) {
    this.handle = handle;
    this.path = path;
    this.onFailure = onFailure;
    this.options = {
      flushMs: options.flushMs ?? 200,
      flushChars: options.flushChars ?? 1024 * 1024,
      maxWaitingChars: options.maxWaitingChars ?? 16 * 1024 * 1024,
      syncMs: options.syncMs ?? 5_000,
    };
  }

  /**
   * Creates the file. `exclusive`: it must not be there; otherwise what is there is replaced.
   * @throws AppError `storage-failed`; its cause is the system's error
   */
  static async create(
    path: string,
    exclusive: boolean,
    onFailure: (error: AppError) => void,
    options: LineFileOptions = {},
  ): Promise<LineFile> {
    try {
      return new LineFile(await open(path, exclusive ? 'wx' : 'w', 0o600), path, options, onFailure);
    } catch (error) {
      throw storageFailed(path, error);
    }
  }

  /** Appends a line that ends in a line feed. False: it was dropped, because the disk cannot keep up or has failed. */
  append(line: string): boolean {
    if (this.failure !== undefined || this.waitingChars + line.length > this.options.maxWaitingChars) return false;
    this.waiting.push(line);
    this.waitingChars += line.length;
    this.chars += line.length;
    if (this.waitingChars >= this.options.flushChars) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), this.options.flushMs).unref();
    return true;
  }

  /** Writes what waits. Never rejects: a failure is told to `onFailure`. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  /** Lines that were taken and never written, after a failure. */
  unwritten(): string[] {
    const lines = this.waiting;
    this.waiting = [];
    this.waitingChars = 0;
    return lines;
  }

  /** Writes what waits, asks the disk to keep it, closes the file. */
  async close(): Promise<void> {
    await this.flush();
    try {
      if (this.failure === undefined) await this.handle.datasync();
    } catch (error) {
      this.fail(error);
    }
    try {
      await this.handle.close();
    } catch (error) {
      this.fail(error);
    }
  }

  private async write(): Promise<void> {
    const lines = this.waiting;
    if (lines.length === 0 || this.failure !== undefined) return;
    this.waiting = [];
    const chars = this.waitingChars;
    const bytes = Buffer.from(lines.join(''));
    let written = 0;
    try {
      while (written < bytes.length) written += (await this.handle.write(bytes, written)).bytesWritten;
      this.waitingChars -= chars;
      const now = performance.now();
      if (now - this.syncedAt < this.options.syncMs) return;
      this.syncedAt = now;
      await this.handle.datasync();
    } catch (error) {
      this.waiting = [...afterBytes(lines, written), ...this.waiting];
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = storageFailed(this.path, error);
    this.onFailure(this.failure);
  }
}

/** The lines that are not whole within the first bytes of their text. */
function afterBytes(lines: readonly string[], bytes: number): string[] {
  let end = 0;
  const first = lines.findIndex((line) => {
    end += Buffer.byteLength(line);
    return end > bytes;
  });
  return first < 0 ? [] : lines.slice(first);
}

/** The error of a disk that did not do what was asked. */
export function storageFailed(path: string, error: unknown): AppError {
  return new AppError('storage-failed', message`${path} cannot be written: ${wordsOf(error)}.`, {
    advice: message`Free some space or choose another folder. What is recorded in between is lost; everything else goes on.`,
    cause: error,
  });
}
