import { message } from '../base/message.ts';
import { isJsonObject, setOwn, type Json, type JsonObject } from './json.ts';
import { afterMagic, readEnvelope } from './proto.ts';
import { decodeMessage } from './protoMessage.ts';
import { protoError, WireReader } from './protoWire.ts';

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const OBJECT_META = { package: META, name: 'ObjectMeta' };
const LIST_META = { package: META, name: 'ListMeta' };
const MAX_KNOWN = 4096;
const noExtension = (): Json => null;

/** The texts of ObjectMeta by their number on the wire. Source: generated.proto of k8s.io/apimachinery, meta/v1. */
const TEXTS: Readonly<Record<number, string>> = {
  1: 'name',
  2: 'generateName',
  4: 'selfLink',
  5: 'uid',
  6: 'resourceVersion',
};
const NAMESPACE = 3;
const ANNOTATIONS = 12;

/**
 * Decodes a PartialObjectMetadataList into the JSON that the API server prints for it (with `[]` where nothing is listed
 * and the server writes null). Most of such a list are labels and managed fields, and most of those are the same bytes
 * again: each run of bytes is decoded once, and the objects share what it says, also those of later pages.
 */
export class MetadataListDecoder {
  private readonly runs = new Map<string, JsonObject>();
  private readonly texts = new Map<string, string>();

  /** @throws AppError `invalid-protobuf` where the bytes are torn or are another kind */
  decode(bytes: Buffer): JsonObject {
    const { apiVersion, kind, raw } = readEnvelope(bytes);
    if (kind !== 'PartialObjectMetadataList')
      throw protoError(message`it is a ${kind === '' ? message`nameless kind` : kind}`);
    let metadata: Json = {};
    const items: Json[] = [];
    const reader = new WireReader(raw);
    for (let id = reader.next(); id !== 0; id = reader.next()) {
      if (id === 1) metadata = decodeMessage(LIST_META, reader.value(), noExtension);
      else if (id === 2)
        items.push({ kind: 'PartialObjectMetadata', apiVersion, metadata: this.itemMetadata(reader.inside()) });
    }
    return { kind, apiVersion, metadata, items };
  }

  private itemMetadata(item: WireReader): JsonObject {
    let metadata: JsonObject = {};
    for (let id = item.next(); id !== 0; id = item.next()) if (id === 1) metadata = this.objectMeta(item.inside());
    return metadata;
  }

  private objectMeta(reader: WireReader): JsonObject {
    const metadata: JsonObject = {};
    for (let id = reader.next(); id !== 0;) {
      const text = TEXTS[id];
      if (text !== undefined || id === NAMESPACE) {
        const value = text === undefined ? this.sharedText(reader) : reader.text();
        if (value !== '') metadata[text ?? 'namespace'] = value;
        id = reader.next();
      } else if (id === ANNOTATIONS) {
        const annotations = (metadata['annotations'] ??= {}) as JsonObject;
        this.takeEntry(annotations, reader.inside());
        id = reader.next();
      } else {
        const start = reader.tagAt;
        const run = id;
        for (id = reader.next(); id === run;) id = reader.next();
        Object.assign(metadata, this.run(reader, start, id === 0 ? reader.end : reader.tagAt));
      }
    }
    return metadata;
  }

  private takeEntry(map: JsonObject, entry: WireReader): void {
    let key = '';
    let value = '';
    for (let id = entry.next(); id !== 0; id = entry.next()) {
      if (id === 1) key = this.sharedText(entry);
      else if (id === 2) value = entry.text();
    }
    setOwn(map, key, value);
  }

  /** What the bytes of all entries of one field say. */
  private run(reader: WireReader, start: number, end: number): JsonObject {
    const key = reader.bytes.toString('latin1', start, end);
    const known = this.runs.get(key);
    if (known !== undefined) return known;
    const decoded = decodeMessage(OBJECT_META, reader.bytes.subarray(start, end), noExtension);
    const said = isJsonObject(decoded) ? decoded : {};
    if (this.runs.size >= MAX_KNOWN) this.runs.clear();
    this.runs.set(key, said);
    return said;
  }

  private sharedText(reader: WireReader): string {
    const key = reader.key();
    const known = this.texts.get(key);
    if (known !== undefined) return known;
    const text = reader.text();
    if (this.texts.size >= MAX_KNOWN) this.texts.clear();
    this.texts.set(key, text);
    return text;
  }
}

/**
 * The continue token of a list of which only the first bytes have come; undefined where it is not among them, or where
 * there is none.
 */
export function continueTokenAt(beginning: Buffer): string | undefined {
  const raw = 2;
  const token = 3;
  try {
    const envelope = new WireReader(beginning, afterMagic(beginning), Number.POSITIVE_INFINITY);
    for (let id = envelope.next(); id !== raw;) id = envelope.next();
    const list = envelope.inside();
    // The list's own metadata stands before the objects.
    if (list.next() !== 1 || list.stop > beginning.length) return undefined;
    const metadata = list.inside();
    for (let id = metadata.next(); id !== 0; id = metadata.next())
      if (id === token) return metadata.text() || undefined;
  } catch {
    // Too little has come, or it is something else: whoever has the whole says which.
  }
  return undefined;
}
