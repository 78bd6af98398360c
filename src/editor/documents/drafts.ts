import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../codec/json.ts';

/** What unsaved text was based on, as it is kept for the case that the window goes away with the text unsaved. */
export interface Draft {
  /** What the document showed when the person began to type; a Secret's values hidden. */
  readonly shown: JsonObject;
  readonly mtime: number;
  readonly size: number;
}

/**
 * Keeps, for every document with unsaved text, the version that it is based on. VS Code restores the text after a crash or a
 * reload; without its base a save could take other actors' changes back.
 */
export class Drafts {
  private readonly folder: string;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.folder = folder;
  }

  keep(uri: string, draft: Draft): Promise<void> {
    const text = stringifyJson({ shown: draft.shown, mtime: draft.mtime, size: draft.size });
    return this.after(async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await writeFile(this.fileOf(uri), text, { mode: 0o600 });
    });
  }

  forget(uri: string): Promise<void> {
    return this.after(() => rm(this.fileOf(uri), { force: true }));
  }

  /** The draft of a document; undefined where none was kept or it cannot be read. */
  async find(uri: string): Promise<Draft | undefined> {
    await this.queue;
    const text = await readFile(this.fileOf(uri), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const value = parseJson(text);
    if (!isJsonObject(value) || !isJsonObject(value['shown'])) return undefined;
    const { shown, mtime, size } = value;
    return typeof mtime === 'number' && typeof size === 'number' ? { shown, mtime, size } : undefined;
  }

  private fileOf(uri: string): string {
    return join(this.folder, `${createHash('sha256').update(uri).digest('hex').slice(0, 32)}.json`);
  }

  private after(work: () => Promise<void>): Promise<void> {
    const next = this.queue.then(work, work);
    this.queue = next.catch(() => undefined);
    return next;
  }
}
