import {
  EventEmitter,
  FileChangeType,
  FilePermission,
  FileSystemError,
  FileType,
  l10n,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from 'vscode';
import { parseAddress } from './address.ts';
import type { LiveDocuments } from './liveDocuments.ts';
import { refusal } from './refusal.ts';
import type { SaveReasons } from './saveReasons.ts';
import type { TextShelf } from './textShelf.ts';
import { sentenceOf } from '../app/translated.ts';

/** Saves the text of a live document or of a decision; resolves when it is stored, rejects when it is not. */
export interface Saver {
  save(uri: Uri, text: string): Promise<void>;
}

/** What the file system is made of. */
interface ObjectFileSystemParts {
  readonly live: LiveDocuments;
  /** Versions, sides of decisions, decisions and reports: texts that are there already or can be made. */
  readonly shelf: TextShelf;
  readonly reasons: SaveReasons;
  readonly saver: Saver;
  isReadOnly(): boolean;
}

/**
 * The documents of our scheme as VS Code's file system sees them. It shows no message itself: a refused save is an error
 * whose sentence VS Code shows, and the text stays in the editor.
 */
export class ObjectFileSystem implements FileSystemProvider {
  private readonly parts: ObjectFileSystemParts;
  private readonly changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;

  constructor(parts: ObjectFileSystemParts) {
    this.parts = parts;
    parts.live.onDidShow((uri) => this.changed.fire([{ type: FileChangeType.Changed, uri }]));
    parts.shelf.onDidChange((uri) => this.changed.fire([{ type: FileChangeType.Changed, uri }]));
  }

  watch(): { dispose(): void } {
    return { dispose: () => undefined };
  }

  async stat(uri: Uri): Promise<FileStat> {
    return this.guarded(async () => {
      const address = parseAddress(uri);
      if (address.type === 'live') {
        const document = await this.parts.live.get(uri, address.object);
        const lives = document.state === 'live' || document.state === 'terminating';
        // Unsaved text of an object that is gone stays writable: saving it is answered by what became of the object.
        const isDirty = this.parts.live.isDirty(document);
        const writable = (lives || isDirty) && !this.parts.isReadOnly();
        // VS Code refuses to save over a file that is newer than what it read. News that came just before the first key is no
        // reason: a save carries the change over it.
        const { mtime, size } = isDirty ? document.held : document;
        return stat(mtime, size, writable);
      }
      const text = await this.parts.shelf.read(uri, address);
      return stat(text.mtime, Buffer.byteLength(text.text), address.type === 'decision');
    });
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return this.guarded(async () => {
      const address = parseAddress(uri);
      const text =
        address.type === 'live'
          ? (await this.parts.live.get(uri, address.object)).shownText
          : (await this.parts.shelf.read(uri, address)).text;
      return Buffer.from(text);
    });
  }

  async writeFile(uri: Uri, content: Uint8Array): Promise<void> {
    if (!this.parts.reasons.takeIsPersons(uri)) {
      throw refusal(
        l10n.t('Only a save by a person writes to a cluster. The text is kept; save it yourself to write it.'),
      );
    }
    if (this.parts.isReadOnly()) {
      throw refusal(l10n.t('Writing is switched off. Run "Object Versions: Toggle Read Only" to switch it on.'));
    }
    await this.parts.saver.save(uri, Buffer.from(content).toString('utf8'));
  }

  readDirectory(): never {
    throw FileSystemError.Unavailable(l10n.t('Objects are listed in the tree "Watched Objects".'));
  }

  createDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  delete(): never {
    throw FileSystemError.NoPermissions(l10n.t('Delete objects from the tree, where their incarnation is checked.'));
  }

  rename(): never {
    throw FileSystemError.NoPermissions(l10n.t('The name of an object cannot be changed.'));
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FileSystemError) throw error;
      throw FileSystemError.Unavailable(sentenceOf(error));
    }
  }
}

function stat(mtime: number, size: number, writable: boolean): FileStat {
  return { type: FileType.File, ctime: 0, mtime, size, ...(writable ? {} : { permissions: FilePermission.Readonly }) };
}
