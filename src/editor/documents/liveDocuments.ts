import { EventEmitter, workspace, type TextDocument, type Uri } from 'vscode';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { JsonObject } from '../../codec/json.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import { identityOf } from '../../write/target.ts';
import { scheme } from '../app/ids.ts';
import { limited } from '../app/signal.ts';
import { throttle } from '../app/throttle.ts';
import type { Session } from '../session/session.ts';
import type { ObjectAddress } from './address.ts';
import { keepPlaces } from './keptPlaces.ts';
import type { Drafts } from './drafts.ts';
import { LiveDocument } from './liveDocument.ts';

const READ_LIMIT_MS = 20_000;
const REFRESH_INTERVAL_MS = 500;

/** Reads the object of an address as it is now, with how its lists are declared; no object where nothing has its name. */
type ReadAddress = (
  address: ObjectAddress,
  signal: AbortSignal,
) => Promise<{ readonly object: JsonObject | undefined; readonly schema: ListSchema }>;

/** What live documents need of the rest. */
interface LiveDocumentsOptions {
  readonly session: Session;
  readonly drafts: Drafts;
  readonly clock: Clock;
  readonly read: ReadAddress;
  readonly onError: (error: unknown) => void;
}

/**
 * The open documents on living objects. Follows the log for news of them and the editor for what their texts are based on:
 * a text without unsaved changes follows the object; one with unsaved changes stays as it is, and so does its base.
 */
export class LiveDocuments implements Disposable {
  private readonly options: LiveDocumentsOptions;
  private readonly documents = new Map<string, Promise<LiveDocument>>();
  private readonly known = new Map<string, LiveDocument>();
  private readonly shown = new EventEmitter<Uri>();
  private readonly stateChanged = new EventEmitter<LiveDocument>();
  private readonly store = new DisposableStore();
  private readonly closing = new AbortController();
  private readonly stale = new Set<LiveDocument>();
  /** Documents that were typed into while they were saved: until the next change VS Code tells extensions that all is saved. */
  private readonly typedInto = new Set<LiveDocument>();

  /** Fires when VS Code should read a document anew. */
  readonly onDidShow = this.shown.event;
  /** Fires when the object of a document changed, was deleted or was replaced. */
  readonly onDidChangeState = this.stateChanged.event;

  constructor(options: LiveDocumentsOptions) {
    this.options = options;
    const refresher = this.store.add(throttle(REFRESH_INTERVAL_MS, () => this.refreshStale()));
    this.store.add(this.shown);
    this.store.add(this.stateChanged);
    this.store.add(
      options.session.onDidChange(({ events }) => {
        for (const event of events) {
          if (event.type !== 'observed' && event.type !== 'absent') continue;
          for (const document of this.known.values()) if (isAbout(document, event.name)) this.stale.add(document);
        }
        if (this.stale.size > 0) refresher.request();
      }),
    );
    this.store.add(keepPlaces((uri) => this.find(uri)?.shownText));
    this.store.add(workspace.onDidOpenTextDocument((text) => this.followText(text, true)));
    this.store.add(
      workspace.onDidChangeTextDocument(({ document, contentChanges }) =>
        this.followText(document, contentChanges.length > 0),
      ),
    );
    this.store.add(workspace.onDidSaveTextDocument((text) => this.followText(text)));
    this.store.add(workspace.onDidCloseTextDocument((text) => this.close(text)));
  }

  /** The document at an address, read when it is first asked for. */
  get(uri: Uri, address: ObjectAddress): Promise<LiveDocument> {
    const key = uri.toString();
    const there = this.documents.get(key);
    if (there !== undefined) return there;
    const opening = this.open(uri, address);
    this.documents.set(key, opening);
    opening.then(
      (document) => this.known.set(key, document),
      () => this.documents.delete(key),
    );
    return opening;
  }

  /** An open document, if it was read. */
  find(uri: Uri): LiveDocument | undefined {
    return this.known.get(uri.toString());
  }

  /** The stored object changed by our own write: what the person typed is based on `base` now. */
  async written(document: LiveDocument, text: string, base: JsonObject, stored: JsonObject): Promise<void> {
    document.stored = stored;
    document.base = base;
    document.remember(text, base);
    document.show(text, this.options.clock.now());
    document.hold();
    await this.options.drafts.forget(document.uri.toString());
    this.stateChanged.fire(document);
  }

  /** Lets the text follow the stored object, once VS Code has taken note of a save. */
  showStored(document: LiveDocument): void {
    if (this.isDirty(document)) return;
    const shows = document.objectOfText(document.shownText);
    const text =
      shows === undefined
        ? document.render(document.stored)
        : document.carry(document.shownText, shows, document.stored);
    if (text === document.shownText) return;
    document.show(text, this.options.clock.now());
    this.shown.fire(document.uri);
  }

  /** Shows or hides a Secret's values in a document without unsaved changes. */
  setHidden(document: LiveDocument, hideKey: string | undefined): void {
    document.hideKey = hideKey;
    document.show(document.render(document.stored), this.options.clock.now());
    this.shown.fire(document.uri);
  }

  /** Whether the text in the editor has unsaved changes. */
  isDirty(document: LiveDocument): boolean {
    return textOf(document.uri)?.isDirty === true || this.typedInto.has(document);
  }

  /** Reads the object anew. */
  async refresh(document: LiveDocument): Promise<void> {
    const signal = limited(READ_LIMIT_MS, this.closing.signal);
    const { object } = await this.options.read(document.address, signal);
    this.take(document, object);
  }

  dispose(): void {
    this.closing.abort();
    this.store.dispose();
  }

  private async open(uri: Uri, address: ObjectAddress): Promise<LiveDocument> {
    const { session, clock, drafts, read } = this.options;
    const draft = await drafts.find(uri.toString());
    const { object, schema } = await read(address, limited(READ_LIMIT_MS, this.closing.signal));
    const same = object !== undefined && identityOf(object).uid === address.uid;
    const document = new LiveDocument(
      uri,
      address,
      same ? object : (lastSeen(session, address) ?? {}),
      schema,
      session.secretKey,
      clock.now(),
    );
    if (!same) this.take(document, object);
    if (draft !== undefined) {
      document.base = draft.shown;
      document.mtime = draft.mtime;
      document.size = draft.size;
      document.hold();
    }
    const text = textOf(uri);
    if (text !== undefined) this.follow(document, text);
    return document;
  }

  /** Takes what a read gave: the same incarnation, another one, or nothing. */
  private take(document: LiveDocument, object: JsonObject | undefined): void {
    const identity = object === undefined ? undefined : identityOf(object);
    const before = document.state;
    const token = identityOf(document.stored).token;
    if (object === undefined || identity === undefined) document.state = 'gone';
    else if (identity.uid !== document.address.uid) {
      document.state = 'recreated';
      document.holder = identity.uid;
    } else {
      document.state = identity.terminating ? 'terminating' : 'live';
      document.stored = object;
      this.showStored(document);
    }
    if (document.state !== before || identityOf(document.stored).token !== token) {
      this.stateChanged.fire(document);
      if (document.state !== before) this.shown.fire(document.uri);
    }
  }

  private refreshStale(): void {
    const documents = [...this.stale];
    this.stale.clear();
    for (const document of documents) {
      if (!this.known.has(document.uri.toString())) continue;
      this.refresh(document).catch((error: unknown) => this.options.onError(error));
    }
  }

  private followText(text: TextDocument, isNewText = false): void {
    const document = text.uri.scheme === scheme ? this.known.get(text.uri.toString()) : undefined;
    if (document === undefined) return;
    // Saved, and yet neither what was saved nor what was shown: this text came after the one that was saved.
    if (!isNewText && !text.isDirty && document.objectOfText(text.getText()) === undefined)
      this.typedInto.add(document);
    else this.typedInto.delete(document);
    this.follow(document, text);
  }

  /** Works out what the text in the editor is based on. */
  private follow(document: LiveDocument, text: TextDocument): void {
    const uri = document.uri.toString();
    const { drafts, onError } = this.options;
    if (!this.isDirty(document)) {
      if (text.getText() === document.shownText) document.hold();
      // A text that shows no known object is one that was restored; its base is then the draft's, or not known.
      document.base = document.objectOfText(text.getText()) ?? document.base;
      // What changed on the server while there was unsaved text, or what a save made of it, can be shown now.
      this.showStored(document);
      return;
    }
    const { base } = document;
    if (base === undefined) return;
    drafts.keep(uri, { shown: document.shownForDisk(base), mtime: document.mtime, size: document.size }).catch(onError);
  }

  private close(text: TextDocument): void {
    const uri = text.uri.toString();
    if (text.uri.scheme !== scheme || !this.documents.has(uri)) return;
    this.documents.delete(uri);
    const document = this.known.get(uri);
    if (document !== undefined) this.typedInto.delete(document);
    this.known.delete(uri);
    this.options.drafts.forget(uri).catch((error: unknown) => this.options.onError(error));
  }
}

function textOf(uri: Uri): TextDocument | undefined {
  const wanted = uri.toString();
  return workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}

function isAbout(
  document: LiveDocument,
  name: { group: string; resource: string; namespace: string; name: string },
): boolean {
  const { address } = document;
  return (
    address.name === name.name &&
    address.namespace === name.namespace &&
    address.resource === name.resource &&
    address.group === name.group
  );
}

/** The last content of an incarnation that is gone, where the log has it. */
function lastSeen(session: Session, address: ObjectAddress): JsonObject | undefined {
  for (const incarnation of session.history.uids.values()) {
    if (incarnation.uid === address.uid)
      return incarnation.versions.findLast((version) => version.body !== undefined)?.body;
  }
  return undefined;
}
