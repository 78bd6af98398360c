import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Transform } from 'node:stream';
import { isJsonObject, isTooDeep, parseJson, TOO_DEEP, type Json } from '../codec/json.ts';
import { decodeKubernetesProtobuf, isKubernetesProtobuf, PROTOBUF_TYPE } from '../codec/proto.ts';
import { readMetadata } from '../codec/protoMetadata.ts';
import { isAppError, messageOf } from '../base/appError.ts';

/** What a body's media type says, without parameters. */
export type BodyForm = 'json' | 'yaml' | 'protobuf' | 'other';

/** The form of a body by its Content-Type; every `+json` type is JSON, and so is a body that says nothing. */
export function bodyForm(contentType: string | undefined): BodyForm {
  if (contentType === undefined) return 'json';
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === PROTOBUF_TYPE) return 'protobuf';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  return type.endsWith('yaml') ? 'yaml' : 'other';
}

/** A body that was read, or in words why it was not. */
export type BodyRead = { readonly value: Json } | { readonly notAnalysed: string; readonly value?: Json };

/** Reads a whole body. What cannot be decoded is said with its type and size; protobuf then still gives its metadata. */
export function readBody(bytes: Buffer, contentType: string | undefined, parseYaml: (text: string) => Json): BodyRead {
  if (bytes.length === 0) return { value: null };
  const read = readForm(bytes, contentType, parseYaml);
  return isTooDeep(read.value) ? { notAnalysed: String(TOO_DEEP), value: identityOf(read.value) } : read;
}

/** What identifies an object whose content is not read. */
function identityOf(value: Json | undefined): Json {
  if (!isJsonObject(value)) return null;
  const { apiVersion = '', kind = '', metadata } = value;
  if (!isJsonObject(metadata)) return { apiVersion, kind };
  const kept = Object.entries(metadata).filter(([, item]) => !isTooDeep(item));
  return { apiVersion, kind, metadata: Object.fromEntries(kept) };
}

function readForm(bytes: Buffer, contentType: string | undefined, parseYaml: (text: string) => Json): BodyRead {
  const form = bodyForm(contentType);
  try {
    if (form === 'protobuf' || isKubernetesProtobuf(bytes)) return readProtobuf(bytes);
    if (form === 'json') return { value: parseJson(bytes.toString('utf8')) };
    if (form === 'yaml') return { value: parseYaml(bytes.toString('utf8')) };
    return { notAnalysed: `${contentType ?? 'no media type'}, ${bytes.length} bytes` };
  } catch (error) {
    return {
      notAnalysed: `${contentType ?? 'no media type'}, ${bytes.length} bytes: ${isAppError(error) ? error.code : 'unreadable'}`,
    };
  }
}

function readProtobuf(bytes: Buffer): BodyRead {
  try {
    return { value: decodeKubernetesProtobuf(bytes).object };
  } catch (error) {
    const { apiVersion, kind, metadata } = readMetadata(bytes);
    return {
      notAnalysed: `protobuf of ${apiVersion} ${kind}: ${messageOf(error)}`,
      value: { apiVersion, kind, metadata },
    };
  }
}

/** A stream that undoes a content coding, or undefined where there is none. */
export function decoder(encoding: string | undefined): Transform | undefined {
  switch ((encoding ?? 'identity').toLowerCase()) {
    case 'gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
