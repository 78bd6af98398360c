import { isJsonObject, parseJson, type Json } from '../codec/json.ts';
import { decodeKubernetesProtobuf, decodeListItem, PROTOBUF_TYPE } from '../codec/proto.ts';
import { ProtobufListSplitter } from '../codec/protoListSplitter.ts';
import { FrameSplitter, readItemMetadata, readMetadata, readWatchEvent } from '../codec/protoMetadata.ts';
import { protoError } from '../codec/protoWire.ts';
import { LineSplitter } from '../kube/lineSplitter.ts';
import { bodyForm, readBody, type BodyRead } from './bodyText.ts';
import { givenByEvent, givenByLine, givenObject, type GivenObject } from './given.ts';
import { ItemScanner } from './itemScanner.ts';

/** Reads the body of an answer as it streams. */
export interface AnswerReader {
  /** What this chunk completes. @throws where the body is not what its type says */
  push(chunk: Buffer): GivenObject[];
  /** What the end completes, and the whole body where it was collected. @throws where the last part is torn */
  end(): { given: GivenObject[]; body?: BodyRead };
}

/** A single object, or an item, beyond this is passed on but not read. */
export const MAX_OBJECT_BYTES = 8 * 1024 * 1024;

/** The reader for an answer: of a watch, a list, or one object, in JSON or protobuf. */
export function answerReader(verb: 'watch' | 'list' | 'single', contentType: string | undefined): AnswerReader {
  const form = bodyForm(contentType);
  if (verb === 'watch') return form === 'protobuf' ? new FrameReader() : new LineReader();
  if (verb === 'list' && form === 'json') return new ListReader();
  if (verb === 'list' && form === 'protobuf') return new ProtobufListReader();
  return new WholeReader(contentType);
}

class LineReader implements AnswerReader {
  private readonly lines = new LineSplitter();

  push(chunk: Buffer): GivenObject[] {
    return this.lines.push(chunk).flatMap(givenByLine);
  }

  end(): { given: GivenObject[] } {
    const rest = this.lines.rest().trim();
    return { given: rest === '' ? [] : givenByLine(rest) };
  }
}

class FrameReader implements AnswerReader {
  private readonly frames = new FrameSplitter();

  push(chunk: Buffer): GivenObject[] {
    return this.frames.push(chunk).flatMap((frame) => {
      const event = readWatchEvent(frame);
      if (event.type === 'BOOKMARK' || event.type === 'ERROR') return [];
      return givenByEvent(event.type, objectOf(event.object));
    });
  }

  end(): { given: GivenObject[] } {
    if (this.frames.pending > 0) throw protoError('the last frame is torn');
    return { given: [] };
  }
}

/** The object in protobuf: whole where its kind is a built-in one, else its metadata, marked as such. */
function objectOf(bytes: Uint8Array): Json {
  try {
    return decodeKubernetesProtobuf(bytes).object;
  } catch {
    // A kind that no published file declares still has its metadata where every kind has it.
    return { kind: 'PartialObjectMetadata', metadata: readMetadata(bytes).metadata };
  }
}

class ListReader implements AnswerReader {
  private found: GivenObject[] = [];
  private kind: string | undefined;
  private readonly scanner = new ItemScanner((text) => this.onItem(text), MAX_OBJECT_BYTES);

  push(chunk: Buffer): GivenObject[] {
    this.scanner.push(chunk);
    return this.found.splice(0);
  }

  end(): { given: GivenObject[]; body: BodyRead } {
    const rest = this.scanner.end();
    const body: BodyRead = this.scanner.overflowed
      ? { notAnalysed: `more than ${MAX_OBJECT_BYTES} bytes in one part of a list` }
      : { value: rest === '' ? null : parseJson(rest) };
    return { given: this.found.splice(0), body };
  }

  private onItem(text: string): void {
    this.kind ??= /"kind"\s*:\s*"(\w+?)List"/.exec(this.scanner.head)?.[1] ?? '';
    const item = parseJson(text);
    const named =
      isJsonObject(item) && item['kind'] === undefined && this.kind !== '' && item['cells'] === undefined
        ? { kind: this.kind, ...item }
        : item;
    const given = givenObject(named);
    if (given !== undefined) this.found.push(given);
  }
}

class ProtobufListReader implements AnswerReader {
  private found: GivenObject[] = [];
  private readonly splitter = new ProtobufListSplitter((bytes) => this.onItem(bytes), MAX_OBJECT_BYTES);

  push(chunk: Buffer): GivenObject[] {
    this.splitter.push(chunk);
    return this.found.splice(0);
  }

  end(): { given: GivenObject[]; body: BodyRead } {
    const other = this.splitter.end();
    if (this.splitter.overflowed)
      return { given: [], body: { notAnalysed: `more than ${MAX_OBJECT_BYTES} bytes in one part of a list` } };
    const { kind, apiVersion } = this.splitter;
    return {
      given: [],
      body: other === undefined ? { value: { kind, apiVersion } } : readBody(other, PROTOBUF_TYPE, () => null),
    };
  }

  private onItem(bytes: Buffer): void {
    const given = givenObject(
      decodeListItem(this.splitter, bytes) ?? { kind: 'PartialObjectMetadata', metadata: readItemMetadata(bytes) },
    );
    if (given !== undefined) this.found.push(given);
  }
}

class WholeReader implements AnswerReader {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private readonly contentType: string | undefined;

  constructor(contentType: string | undefined) {
    this.contentType = contentType;
  }

  push(chunk: Buffer): GivenObject[] {
    this.bytes += chunk.length;
    if (this.bytes > MAX_OBJECT_BYTES) this.chunks = [];
    else this.chunks.push(chunk);
    return [];
  }

  end(): { given: GivenObject[]; body: BodyRead } {
    if (this.bytes > MAX_OBJECT_BYTES)
      return { given: [], body: { notAnalysed: `${this.contentType ?? 'no media type'}, ${this.bytes} bytes` } };
    const body = readBody(Buffer.concat(this.chunks), this.contentType, () => null);
    const given = [givenObject(body.value)].filter((item) => item !== undefined);
    return { given: 'notAnalysed' in body ? given.map((item) => ({ ...item, whole: false })) : given, body };
  }
}
