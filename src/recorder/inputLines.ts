import { message } from '../base/message.ts';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { AppError, wordsOf } from '../base/appError.ts';

const NEWLINE = 0x0a;
/** Below half a page of V8's heap, so that the text of a chunk lies where short-lived values do. */
const CHUNK_BYTES = 96 * 1024;
const MAX_LINE_BYTES = 256 * 1024 * 1024;

/**
 * The lines of a file (or of standard input for `-`), gzip or plain, in batches as they are read; never the whole of it.
 * A last line without its line feed is marked: it may be torn.
 * @throws AppError `trace-unreadable`, `cancelled`
 */
export async function* inputLines(
  path: string,
  stdin: Readable,
  signal: AbortSignal,
): AsyncGenerator<{ lines: string[]; torn?: string }> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  try {
    for await (const chunk of await bytesOf(path, stdin, signal)) {
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      const lines: string[] = [];
      if (end > 0) {
        const first = held.length === 0 ? 0 : chunk.indexOf(NEWLINE) + 1;
        const begun = Buffer.concat([...held, chunk.subarray(0, first)]).toString('utf8');
        held = [];
        heldBytes = 0;
        if (begun.length > 2) lines.push(begun.slice(0, -1));
        for (const line of chunk.toString('utf8', first, end).split('\n')) if (line.length > 1) lines.push(line);
      }
      if (end < chunk.length) {
        held.push(Buffer.from(chunk.subarray(end)));
        heldBytes += chunk.length - end;
        if (heldBytes > MAX_LINE_BYTES)
          throw new AppError('trace-unreadable', message`${path} has a line of more than 256 MiB.`);
      }
      if (lines.length > 0) yield { lines };
    }
  } catch (error) {
    if (signal.aborted) throw new AppError('cancelled', message`Cancelled.`, { cause: error });
    if (error instanceof AppError) throw error;
    throw new AppError('trace-unreadable', message`${path} cannot be read: ${wordsOf(error)}`, { cause: error });
  }
  const rest = Buffer.concat(held).toString('utf8').trim();
  if (rest !== '') yield { lines: [], torn: rest };
}

async function bytesOf(path: string, stdin: Readable, signal: AbortSignal): Promise<AsyncGenerator<Buffer>> {
  if (path === '-') return unzipped(stdin);
  // A pipe gives what is read of it only once, and one that is opened and closed ends what writes to it.
  const isPlain = (await stat(path)).isFile() && !(await isPacked(path));
  return isPlain ? plainFile(path, signal) : unzipped(createReadStream(path, { signal }));
}

/**
 * The bytes of a plain file in one buffer, so that a long file costs no more memory than a short one: a chunk is gone when the
 * next one is asked for. What the system reads ahead is there at once; other work has its turn between two chunks.
 */
async function* plainFile(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const file = openSync(path, 'r');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    for (;;) {
      const length = readSync(file, buffer, 0, CHUNK_BYTES, null);
      if (length === 0) return;
      yield buffer.subarray(0, length);
      await setImmediate();
      signal.throwIfAborted();
    }
  } finally {
    closeSync(file);
  }
}

async function isPacked(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && isGzip(buffer);
  } finally {
    await file.close();
  }
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** The bytes of a stream as they are, or unpacked where the first two are gzip's. */
async function* unzipped(source: Readable): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const head = first.value as Buffer;
  if (!isGzip(head)) {
    yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value as Buffer;
    return;
  }
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const feed = async (): Promise<void> => {
    try {
      gunzip.write(head);
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        if (!gunzip.write(next.value)) await new Promise((resolve) => gunzip.once('drain', resolve));
      }
      gunzip.end();
    } catch (error) {
      gunzip.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  void feed();
  for await (const chunk of gunzip) yield chunk as Buffer;
}
