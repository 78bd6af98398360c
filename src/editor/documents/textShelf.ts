import { EventEmitter, type Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { DocumentAddress } from './address.ts';

/** A text and when it last changed, ms since the epoch. */
interface ShelvedText {
  readonly text: string;
  readonly mtime: number;
}

/** How many made texts are kept; the oldest are forgotten first. */
const KEPT = 200;

/**
 * Texts that are shown as they are: reports, decisions and their sides, put here when they come about; and versions, made
 * from the log when they are asked for.
 */
export class TextShelf implements Disposable {
  private readonly versionText: (address: Extract<DocumentAddress, { type: 'version' }>) => string;
  private readonly now: () => number;
  private readonly texts = new Map<string, ShelvedText>();
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  constructor(versionText: (address: Extract<DocumentAddress, { type: 'version' }>) => string, now: () => number) {
    this.versionText = versionText;
    this.now = now;
  }

  /** Puts a text at an address. */
  put(uri: Uri, text: string): void {
    const key = uri.toString();
    const before = this.texts.get(key);
    this.texts.delete(key);
    this.texts.set(key, { text, mtime: Math.max(this.now(), (before?.mtime ?? 0) + 1) });
    const oldest = this.texts.keys().next();
    if (this.texts.size > KEPT && oldest.done !== true) this.texts.delete(oldest.value);
    if (before !== undefined) this.changed.fire(uri);
  }

  has(uri: Uri): boolean {
    return this.texts.has(uri.toString());
  }

  /**
   * The text at an address.
   * @throws AppError `not-found` where it was not put here or the version is not known any more
   */
  async read(uri: Uri, address: DocumentAddress): Promise<ShelvedText> {
    const there = this.texts.get(uri.toString());
    if (there !== undefined) return there;
    if (address.type === 'version') {
      const made = { text: this.versionText(address), mtime: this.now() };
      this.texts.set(uri.toString(), made);
      return made;
    }
    throw new AppError('not-found', 'This document belongs to an earlier session and is not kept.', {
      advice: 'Close it.',
    });
  }

  dispose(): void {
    this.changed.dispose();
    this.texts.clear();
  }
}
