import { message } from '../base/message.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { decodeMessage } from './protoMessage.ts';
import { readEnvelope } from './proto.ts';
import { protoError, textOf, wireFields } from './protoWire.ts';

/** What can be said of an object in protobuf without knowing its kind: the envelope and ObjectMeta, which is field 1 of every kind. */
export interface ProtobufMetadata {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject;
}

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const noExtension = (): Json => null;

/**
 * Reads only the metadata of one object.
 * @throws AppError `invalid-protobuf`
 */
export function readMetadata(bytes: Uint8Array): ProtobufMetadata {
  const { apiVersion, kind, raw } = readEnvelope(bytes);
  return { apiVersion, kind, metadata: metadataOf(raw, 'ObjectMeta') };
}

/**
 * Reads only the metadata of an item of a list, which stands without an envelope.
 * @throws AppError `invalid-protobuf`
 */
export function readItemMetadata(bytes: Uint8Array): JsonObject {
  return metadataOf(bytes, 'ObjectMeta');
}

function metadataOf(raw: Uint8Array, name: 'ObjectMeta'): JsonObject {
  for (const { id, value } of wireFields(raw)) {
    if (id !== 1 || typeof value === 'bigint') continue;
    const metadata = decodeMessage({ package: META, name }, value, noExtension);
    return isJsonObject(metadata) ? metadata : {};
  }
  return {};
}

/** One event of a watch in protobuf: its type, and the object's bytes with their envelope. */
export interface ProtobufWatchEvent {
  readonly type: string;
  readonly object: Uint8Array;
}

/**
 * Reads one frame's payload, which stands without the envelope that its object has.
 * @throws AppError `invalid-protobuf`
 */
export function readWatchEvent(payload: Uint8Array): ProtobufWatchEvent {
  let type = '';
  let object: Uint8Array = new Uint8Array();
  for (const { id, value } of wireFields(payload)) {
    if (typeof value === 'bigint') continue;
    if (id === 1) type = textOf(value);
    else if (id === 2) {
      for (const part of wireFields(value)) if (part.id === 1 && typeof part.value !== 'bigint') object = part.value;
    }
  }
  if (type === '') throw protoError(message`a watch event has no type`);
  return { type, object };
}

/** Splits a watch body into its frames, each of which a big-endian length of four bytes precedes; chunks may end anywhere. */
export class FrameSplitter {
  private parts: Uint8Array[] = [];
  private held = 0;
  private readonly maxFrameBytes: number;

  /** A frame longer than `maxFrameBytes` is an error, so that garbage cannot make us hold memory. */
  constructor(maxFrameBytes = 32 * 1024 * 1024) {
    this.maxFrameBytes = maxFrameBytes;
  }

  /** Bytes that wait for the rest of their frame: above 0 at the end of a stream, the last frame was torn. */
  get pending(): number {
    return this.held;
  }

  /**
   * Adds a chunk and returns the frames that are complete now.
   * @throws AppError `invalid-protobuf` where a frame claims to be longer than allowed
   */
  push(chunk: Uint8Array): Uint8Array[] {
    this.parts.push(chunk);
    this.held += chunk.length;
    const frames: Uint8Array[] = [];
    for (let length = this.nextLength(); length !== undefined && this.held >= length + 4; length = this.nextLength()) {
      const joined = this.join();
      frames.push(joined.subarray(4, length + 4));
      this.parts = [joined.subarray(length + 4)];
      this.held = joined.length - length - 4;
    }
    return frames;
  }

  private nextLength(): number | undefined {
    if (this.held < 4) return undefined;
    if ((this.parts[0]?.length ?? 0) < 4) this.join();
    const head = this.parts[0];
    if (head === undefined) return undefined;
    const length = new DataView(head.buffer, head.byteOffset, 4).getUint32(0);
    if (length > this.maxFrameBytes) throw protoError(message`a frame claims ${length} bytes`);
    return length;
  }

  private join(): Uint8Array {
    const [only] = this.parts;
    if (this.parts.length === 1 && only !== undefined) return only;
    const joined = new Uint8Array(this.held);
    let at = 0;
    for (const part of this.parts) {
      joined.set(part, at);
      at += part.length;
    }
    this.parts = [joined];
    return joined;
  }
}
