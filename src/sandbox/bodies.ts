import { stringifyJson, type JsonObject } from '../codec/json.ts';
import { decodeKubernetesProtobuf, PROTOBUF_TYPE } from '../codec/proto.ts';
import { MAX_BODY_BYTES, mediaTypeOf, type ApiRequest } from './apiRequest.ts';
import { decodeBody, decodeJson, unrecognized } from './fields/decode.ts';
import type { Kind } from './kinds/kind.ts';
import { badRequest, failure, StatusError, tooLarge } from './status.ts';

/** What every Kubernetes protobuf begins with. */
const PREFIX = Buffer.from('k8s\0');

const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF_TYPE];

/** Throws 415 for a POST or PUT body in a form that is not known; none at all is JSON. */
export function checkBodyType(request: ApiRequest): void {
  const type = mediaTypeOf(request.contentType);
  if (type === '' || ACCEPTED.includes(type)) return;
  const accepted = ACCEPTED.join(', ');
  throw failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}

/** Throws 413 for a body above the limit. */
export function checkBodySize(request: ApiRequest): void {
  if (request.tooLarge) throw tooLarge(MAX_BODY_BYTES);
}

/** Decodes the object of a POST or PUT into normal form with defaults; warnings go to `warnings`. Throws 400 or 422. */
export function readObjectBody(
  request: ApiRequest,
  kind: Kind,
  fieldValidation: 'Strict' | 'Warn' | 'Ignore',
  warnings: string[],
): JsonObject {
  const decoded =
    mediaTypeOf(request.contentType) === PROTOBUF_TYPE
      ? decodeJson(kind, objectFromProtobuf(kind, request.body), fieldValidation)
      : decodeBody(kind, request.body.toString('utf8'), request.contentType ?? 'application/json', fieldValidation);
  warnings.push(...decoded.warnings);
  return decoded.object;
}

function objectFromProtobuf(kind: Kind, bytes: Buffer): JsonObject {
  try {
    return fromProtobuf(bytes);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw unrecognized(kind, error.message, bytes.toString('utf8'));
  }
}

/** The JSON of a protobuf body. Throws 400. */
export function fromProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, PREFIX.length).equals(PREFIX))
    throw badRequest(`provided data does not appear to be a protobuf message, expected prefix [${PREFIX.join(' ')}]`);
  try {
    const { apiVersion, kind, object } = decodeKubernetesProtobuf(bytes);
    return { ...object, apiVersion, kind };
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

/** The body as text; a protobuf body as the JSON it stands for. */
export function bodyText(request: ApiRequest): string {
  if (request.body.length > 0 && mediaTypeOf(request.contentType) === PROTOBUF_TYPE)
    return stringifyJson(fromProtobuf(request.body));
  return request.body.toString('utf8');
}

/** The Content-Type that fits `bodyText`. */
export function textType(request: ApiRequest): string {
  return mediaTypeOf(request.contentType) === PROTOBUF_TYPE ? 'application/json' : (request.contentType ?? '');
}
