import { message } from '../base/message.ts';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError, wordsOf } from '../base/appError.ts';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;
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
        const part = chunk.subarray(0, end);
        const whole = held.length === 0 ? part : Buffer.concat([...held, part]);
        held = [];
        heldBytes = 0;
        for (const line of whole.toString('utf8').split('\n')) if (line.length > 1) lines.push(line);
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
  return (await isPacked(path)) ? unzipped(createReadStream(path, { signal })) : plainFile(path, signal);
}

/**
 * The bytes of a plain file in two buffers in turns, so that a long file costs no more memory than a short one: while a chunk
 * is worked on, the next one is read; it is gone when the one after the next is asked for.
 */
async function* plainFile(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const file = await open(path);
  const buffers = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)] as const;
  const read = async (buffer: Buffer): Promise<Buffer> =>
    buffer.subarray(0, (await file.read(buffer, 0, CHUNK_BYTES)).bytesRead);
  let next = read(buffers[0]);
  try {
    for (let turn: 0 | 1 = 1; ; turn = turn === 0 ? 1 : 0) {
      signal.throwIfAborted();
      const chunk = await next;
      if (chunk.length === 0) return;
      next = read(buffers[turn]);
      yield chunk;
    }
  } finally {
    await Promise.allSettled([next]);
    await file.close();
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
