import { message } from '../base/message.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from './json.ts';
import { decodeMessage } from './protoMessage.ts';
import { messageOfKind } from './protoSchema.ts';
import { protoError, textOf, wireFields } from './protoWire.ts';

/** The media type with which Kubernetes marks its protobuf, without parameters. */
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/** The envelope of every object: what it is, and its bytes, still undecoded. Source: runtime.Unknown of k8s.io/apimachinery. */
export interface ProtobufEnvelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  /** '' for protobuf; another media type where the envelope carries, say, JSON. */
  readonly contentType: string;
}

/** Whether bytes begin as Kubernetes protobuf does (`k8s` and a zero byte). */
export function isKubernetesProtobuf(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

/**
 * Where the envelope stands: behind the magic bytes.
 * @throws AppError `invalid-protobuf` where there are none
 */
export function afterMagic(bytes: Uint8Array): number {
  if (!isKubernetesProtobuf(bytes)) throw protoError(message`it does not begin with k8s and a zero byte`);
  return MAGIC.length;
}

/**
 * Reads the envelope.
 * @throws AppError `invalid-protobuf`
 */
export function readEnvelope(bytes: Uint8Array): ProtobufEnvelope {
  let apiVersion = '';
  let kind = '';
  let contentType = '';
  let raw: Uint8Array = new Uint8Array();
  for (const { id, value } of wireFields(bytes.subarray(afterMagic(bytes)))) {
    if (typeof value === 'bigint') continue;
    if (id === 1) ({ apiVersion, kind } = readType(value));
    else if (id === 2) raw = value;
    else if (id === 4) contentType = textOf(value);
  }
  return { apiVersion, kind, raw, contentType };
}

/**
 * The type in an envelope, '' for what it leaves out. Source: runtime.TypeMeta of k8s.io/apimachinery.
 * @throws AppError `invalid-protobuf`
 */
export function readType(bytes: Uint8Array): { apiVersion: string; kind: string } {
  const type = { apiVersion: '', kind: '' };
  for (const { id, value } of wireFields(bytes)) {
    if (typeof value === 'bigint') continue;
    if (id === 1) type.apiVersion = textOf(value);
    else if (id === 2) type.kind = textOf(value);
  }
  return type;
}

/**
 * Decodes a whole object of a built-in kind (a list, an options object and a Status too) into the JSON that the server
 * prints for it, apiVersion and kind included. A list's items carry none, as the server's do not.
 * @throws AppError `invalid-protobuf` where the bytes are torn or the kind is not a built-in one
 */
export function decodeKubernetesProtobuf(bytes: Uint8Array): { apiVersion: string; kind: string; object: JsonObject } {
  const envelope = readEnvelope(bytes);
  const { apiVersion, kind } = envelope;
  if (/json/.test(envelope.contentType)) {
    const object = parseJson(textOf(envelope.raw));
    if (isJsonObject(object)) return { apiVersion, kind, object };
  }
  const name = messageOfKind(apiVersion, kind);
  if (name === undefined) throw protoError(message`the kind ${kind} of ${apiVersion} is not a built-in one`);
  const content = decodeMessage(name, envelope.raw, decodeRaw);
  if (!isJsonObject(content)) throw protoError(message`${kind} is not an object`);
  return {
    apiVersion,
    kind,
    object: { ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }), ...content },
  };
}

/**
 * Decodes an item of a list of a built-in kind, which stands without an envelope; undefined where the kind is another one.
 * @throws AppError `invalid-protobuf`
 */
export function decodeListItem(list: { apiVersion: string; kind: string }, bytes: Uint8Array): JsonObject | undefined {
  const kind = list.kind.replace(/List$/, '');
  const name = messageOfKind(list.apiVersion, kind);
  const content = name === undefined ? undefined : decodeMessage(name, bytes, decodeRaw);
  return isJsonObject(content) ? { kind, apiVersion: list.apiVersion, ...content } : undefined;
}

/** What a RawExtension holds: an object in protobuf, or JSON. */
function decodeRaw(raw: Uint8Array): Json {
  return isKubernetesProtobuf(raw) ? decodeKubernetesProtobuf(raw).object : parseJson(textOf(raw));
}
