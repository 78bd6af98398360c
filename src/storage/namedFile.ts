import { message } from '../base/message.ts';
import { constants, type Stats } from 'node:fs';
import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { AppError, isAppError, wordsOf } from '../base/appError.ts';

/** A file that a person named to be written. */
export interface NamedFile {
  readonly path: string;
  /** What goes into it, as a sentence begins with it: "The trace". */
  readonly what: string;
  /** Whether what is there may go: asked for in so many words, or by what it holds, where that tells that it is ours. */
  readonly mayReplace?: boolean | ((text: string) => boolean);
}

/** More than any file that is replaced by what it holds. */
const MAX_KNOWN_BYTES = 1024 * 1024;

/**
 * Opens a named file to be written from its beginning, for its owner's eyes only (mode 0600). What holds something stays as
 * it is unless it may be replaced, and then another takes its place: a link is not followed. An empty file, a pipe or a
 * device is written to as it is.
 * @throws AppError `usage` where it is there and may not be replaced, `storage-failed`
 */
export async function openNamedFile(file: NamedFile): Promise<FileHandle> {
  try {
    if (await isReplaced(file)) await rm(file.path);
    const handle = await open(file.path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return open(file.path, constants.O_WRONLY);
    });
    const found = await handle.stat();
    if (found.isFile() && found.size === 0) await handle.chmod(0o600);
    else if (found.isFile()) {
      await handle.close();
      throw isThere(file);
    }
    return handle;
  } catch (error) {
    throw failed(file, error);
  }
}

/**
 * Writes a named file whole: whoever reads it meanwhile sees what was there, or all of the new. Otherwise as `openNamedFile`.
 * @throws AppError `usage` where it is there and may not be replaced, `storage-failed`
 */
export async function writeNamedFile(file: NamedFile, text: string): Promise<void> {
  const unfinished = `${file.path}.${randomUUID()}`;
  try {
    const found = await statOf(file.path);
    if (found !== undefined && !found.isFile()) {
      await writeAll(await openNamedFile(file), text);
      return;
    }
    await isReplaced(file);
    await writeAll(await open(unfinished, 'wx', 0o600), text);
    await rename(unfinished, file.path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw failed(file, error);
  }
}

/**
 * Whether something is there that may go.
 * @throws AppError `usage` where it may not
 */
export async function isReplaced(file: NamedFile): Promise<boolean> {
  const { path, mayReplace = false } = file;
  const found = await statOf(path);
  if (found?.isFile() !== true || found.size === 0) return false;
  if (mayReplace === true) return true;
  if (mayReplace === false || found.size > MAX_KNOWN_BYTES) throw isThere(file);
  if (!mayReplace(await readFile(path, 'utf8'))) throw isThere(file);
  return true;
}

async function writeAll(handle: FileHandle, text: string): Promise<void> {
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

function isThere({ path, what }: NamedFile): AppError {
  return new AppError(
    'usage',
    message`${what} cannot go into ${path}: something else is there, and it stays as it is.`,
    {
      advice: message`Name another file, or remove that one first.`,
      details: { path },
    },
  );
}

function failed({ path, what }: NamedFile, error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError('storage-failed', message`${what} cannot be written to ${path}: ${wordsOf(error)}`, {
    advice: message`Name another file.`,
    details: { path },
    cause: error,
  });
}
