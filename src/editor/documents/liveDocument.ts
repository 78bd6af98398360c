import type { Uri } from 'vscode';
import type { JsonObject } from '../../codec/json.ts';
import { AppError } from '../../base/appError.ts';
import { editYaml } from '../../codec/yamlEdit.ts';
import { printYaml } from '../../codec/yamlPrint.ts';
import { diffObjects } from '../../core/diff.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import type { ObjectAddress } from './address.ts';
import { hidesValues, shownOf } from './hiddenValues.ts';

/** How the object of a document is. */
type LiveState = 'live' | 'terminating' | 'gone' | 'recreated';

/** How many texts of a document are remembered with the object they showed. */
const TEXTS_KEPT = 20;

/**
 * A document on a living object, as plain state. There are three contents: what the server holds (`stored`), what VS Code
 * was given to show (`shownText`), and what the text in the editor is based on (`base`); the last one is what a person's
 * edits are compared with.
 */
export class LiveDocument {
  readonly uri: Uri;
  readonly address: ObjectAddress;
  /** Set while a Secret's values are hidden: the key of their stand-ins. */
  hideKey: string | undefined;
  state: LiveState = 'live';
  /** The newest whole object that was read. */
  stored: JsonObject;
  /** The object that the text in the editor is based on; undefined where text was restored and its base is not known. */
  base: JsonObject | undefined;
  /** What VS Code gets when it reads. */
  shownText: string;
  /** Rising, so that VS Code sees that there is something new. */
  mtime: number;
  size: number;
  /** The `mtime` and `size` of what the text in the editor was made from: older than these where there is news that it did not take. */
  held: { readonly mtime: number; readonly size: number };
  /** The UID that holds the name now, where it is not this one. */
  holder: string | undefined;
  private readonly secretKey: string | undefined;
  private readonly schema: ListSchema;
  private readonly texts = new Map<string, JsonObject>();

  constructor(
    uri: Uri,
    address: ObjectAddress,
    stored: JsonObject,
    schema: ListSchema,
    secretKey: string,
    now: number,
  ) {
    this.uri = uri;
    this.address = address;
    this.schema = schema;
    this.secretKey = hidesValues(address) ? secretKey : undefined;
    this.hideKey = this.secretKey;
    this.stored = stored;
    this.mtime = now;
    this.shownText = this.render(stored);
    this.size = Buffer.byteLength(this.shownText);
    this.held = { mtime: now, size: this.size };
  }

  /** What the object looks like in the document. */
  shown(object: JsonObject): JsonObject {
    return shownOf(object, this.hideKey === undefined ? undefined : { key: this.hideKey });
  }

  /** What of an object may be kept on disk: never a Secret's values, whether they are shown or not. */
  shownForDisk(object: JsonObject): JsonObject {
    return shownOf(object, this.secretKey === undefined ? undefined : { key: this.secretKey });
  }

  /** Prints an object and remembers which object that text shows. */
  render(object: JsonObject): string {
    const text = printYaml(this.shown(object));
    this.remember(text, object);
    return text;
  }

  /**
   * The text that shows an object, made from a text that shows another one: only what differs is replaced, so that comments
   * and spelling stay. Printed anew where that cannot be done.
   */
  carry(text: string, from: JsonObject, to: JsonObject): string {
    try {
      const changes = diffObjects(this.shown(from), this.shown(to), this.schema);
      const carried = editYaml(
        text,
        changes.map(({ path, after }) => (after === undefined ? { path, remove: true } : { path, value: after })),
      );
      this.remember(carried, to);
      return carried;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return this.render(to);
    }
  }

  /** Remembers that a text shows an object. */
  remember(text: string, object: JsonObject): void {
    this.texts.delete(text);
    this.texts.set(text, object);
    const oldest = this.texts.keys().next();
    if (this.texts.size > TEXTS_KEPT && oldest.done !== true) this.texts.delete(oldest.value);
  }

  /** The object that exactly this text shows, if it is one that was rendered. */
  objectOfText(text: string): JsonObject | undefined {
    return this.texts.get(text);
  }

  /** The editor holds what there is to read now. */
  hold(): void {
    this.held = { mtime: this.mtime, size: this.size };
  }

  /** Gives VS Code something new to read. */
  show(text: string, now: number): void {
    this.shownText = text;
    this.size = Buffer.byteLength(text);
    this.mtime = Math.max(now, this.mtime + 1);
  }
}
