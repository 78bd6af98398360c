import type { Json, JsonObject } from '../codec/json.ts';
import { stringifyJson } from '../codec/json.ts';
import { goQuote } from './goText.ts';

/** A resource's place in messages: the core group is ''. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** Why one field is refused: `details.causes[]` of a 422. `message` is complete, such as `Required value`. */
export interface FieldError {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotFound'
    | 'InternalError';
  readonly field: string;
  readonly message: string;
}

/** A refusal, thrown anywhere below the router and answered as a `Status` object. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly status: JsonObject;

  constructor(status: JsonObject) {
    super(typeof status['message'] === 'string' ? status['message'] : '');
    this.status = status;
    this.code = Number(status['code']);
  }
}

/** A `Status` of kind Failure; what is undefined is left out, as it matters to clients whether `details` is there. */
export function failure(code: number, reason: string | undefined, message: string, details?: JsonObject): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** `configmaps` or `deployments.apps`. */
export function resourceText({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

function subject(of: GroupResource, name: string): JsonObject {
  return { ...(name === '' ? {} : { name }), ...(of.group === '' ? {} : { group: of.group }), kind: of.resource };
}

/** 400 BadRequest, which has no details. */
export function badRequest(message: string): StatusError {
  return failure(400, 'BadRequest', message);
}

/** 401: the token is not known. */
export function unauthorized(): StatusError {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

/** 403 with a text of its own behind `R "N" is forbidden: `. */
export function forbidden(of: GroupResource, name: string, why: string, causes?: JsonObject[]): StatusError {
  const named = name === '' ? '' : ` ${goQuote(name)}`;
  const text = of.resource === '' ? `forbidden: ${why}` : `${resourceText(of)}${named} is forbidden: ${why}`;
  const details = of.resource === '' ? {} : { ...subject(of, name), ...(causes === undefined ? {} : { causes }) };
  return failure(403, 'Forbidden', text, details);
}

/** 404 of an object. */
export function notFound(of: GroupResource, name: string): StatusError {
  return failure(404, 'NotFound', `${resourceText(of)} ${goQuote(name)} not found`, subject(of, name));
}

/** 404 of a resource type, version or subresource. */
export function noSuchResource(): StatusError {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 405. */
export function methodNotAllowed(): StatusError {
  return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** 409 of a create. */
export function alreadyExists(of: GroupResource, name: string, terminating: boolean): StatusError {
  const text = `${resourceText(of)} ${goQuote(name)} already exists`;
  return failure(409, 'AlreadyExists', terminating ? `object is being deleted: ${text}` : text, subject(of, name));
}

/** 409 Conflict with its reason in words. For preconditions of DELETE, `of.resource` is the Kind. */
export function conflict(of: GroupResource, name: string, why: string): StatusError {
  const text = `Operation cannot be fulfilled on ${resourceText(of)} ${goQuote(name)}: ${why}`;
  return failure(409, 'Conflict', text, subject(of, name));
}

/** 409 of a write whose version is not the stored one. */
export function staleVersion(of: GroupResource, name: string): StatusError {
  return conflict(
    of,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** 409 of a write whose uid is not the stored one; `stored` is '' where nothing is stored. */
export function uidMismatch(of: GroupResource, name: string, key: string, given: string, stored: string): StatusError {
  return conflict(
    of,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
      `Precondition failed: UID in precondition: ${given}, UID in object meta: ${stored}`,
  );
}

/** 410 Expired. */
export function expired(message: string, continueToken?: string): StatusError {
  const error = failure(410, 'Expired', message);
  if (continueToken !== undefined) error.status['metadata'] = { continue: continueToken };
  return error;
}

/** 413: the body is above the limit. */
export function tooLarge(limit: number): StatusError {
  return failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
}

/** 422 Invalid of a kind (`ConfigMap`, group ''), or of a resource where the store itself refuses. */
export function invalid(of: { group: string; kind: string }, name: string, errors: readonly FieldError[]): StatusError {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  return failure(422, 'Invalid', `${kind} ${goQuote(name)} is invalid: ${joinErrors(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    ...(of.kind === '' ? {} : { kind: of.kind }),
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** `E`, or `[E1, E2]` with equal ones named once. */
export function joinErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

/** 500 without a reason: an error of the server's program that reached the client as it is. */
export function bareError(message: string): StatusError {
  return failure(500, undefined, message);
}

/** 500 InternalError. */
export function internalError(message: string): StatusError {
  return failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** 504: a version from the future was asked for. */
export function tooLargeVersion(asked: string, current: string): StatusError {
  return failure(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** The answer of a DELETE that removed the object of most kinds. */
export function deleted(of: GroupResource, name: string, uid: string): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { ...subject(of, name), uid } };
}

/** The answer of a binding or an eviction. */
export function created(): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

const detailed = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

/** A value as messages show it: strings quoted as Go does, all else as JSON; nothing is `"null"`. */
export function shownValue(value: Json | undefined): string {
  if (value === undefined || value === null) return '"null"';
  return typeof value === 'string' ? goQuote(value) : stringifyJson(value);
}

/** `Required value: detail`. */
export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, message: detailed('Required value', detail) };
}

/** `Invalid value: V: detail`. */
export function invalidValue(field: string, value: Json | undefined, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: detailed(`Invalid value: ${shownValue(value)}`, detail) };
}

/** `Invalid value: V: detail` for a value of the wrong type. */
export function typeInvalid(field: string, value: Json | undefined, detail: string): FieldError {
  return { reason: 'FieldValueTypeInvalid', field, message: detailed(`Invalid value: ${shownValue(value)}`, detail) };
}

/** `Duplicate value: V`. */
export function duplicateValue(field: string, value: Json): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${shownValue(value)}` };
}

/** `Forbidden: detail`. */
export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

/** `Unsupported value: V: supported values: "A", "B"`, in the order given. */
export function notSupported(field: string, value: Json | undefined, supported: readonly string[]): FieldError {
  const list = supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`;
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: detailed(`Unsupported value: ${shownValue(value)}`, list),
  };
}

/** `Too long: may not be more than N bytes`. */
export function tooLong(field: string, maxBytes: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${maxBytes} bytes` };
}

/** `Too many: N: must have at most M items`. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  };
}
