import { message, type Words } from '../base/message.ts';
import { setOwn, type JsonObject } from '../codec/json.ts';
import { diffObjects, type Change } from '../core/diff.ts';
import type { WriteContext } from './context.ts';
import type { Cause } from './outcome.ts';
import { identityOf, metadataOf } from './target.ts';

/** What one attempt is going to do with a desire. */
export type Plan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refused'; readonly message: Words; readonly causes: readonly Cause[] }
  | {
      readonly kind: 'write';
      readonly subresource: string | undefined;
      readonly current: JsonObject;
      readonly desired: JsonObject;
      readonly changes: readonly Change[];
      readonly uid: string;
      readonly token: string;
      /** The whole desire, where its status is to be written after this. */
      readonly whole?: JsonObject;
    };

/**
 * Where a desire goes. An edit of status goes to the status endpoint where discovery offers one: alone if it is all, as a
 * second write if there is more. What an endpoint would ignore, and what would name another object, is refused before
 * anything is sent.
 */
export function planOf(
  context: WriteContext,
  subresource: string | undefined,
  current: JsonObject,
  desired: JsonObject,
): Plan {
  const renamed = identityCauses(current, desired);
  if (renamed.length > 0) {
    return {
      kind: 'refused',
      message: message`The change names another object: what locates an object cannot be edited.`,
      causes: renamed,
    };
  }
  const changes = diffObjects(current, desired, context.schema);
  if (changes.length === 0) return { kind: 'nothing' };
  const { uid, token } = identityOf(current);
  const write = { kind: 'write', subresource, current, desired, changes, uid, token } as const;
  if (subresource === 'status') {
    const ignored = changes.filter((change) => !isIn(change, 'status') && !isIn(change, 'metadata'));
    if (ignored.length === 0) return write;
    return {
      kind: 'refused',
      message: message`The status endpoint ignores all but status and metadata: write the rest without it.`,
      causes: [],
    };
  }
  if (subresource !== undefined || !context.hasStatusEndpoint) return write;
  const status = changes.filter((change) => isIn(change, 'status'));
  if (status.length === 0) return write;
  if (status.length === changes.length) return { ...write, subresource: 'status' };
  return {
    ...write,
    desired: withStatusOf(current, desired),
    changes: changes.filter((change) => !isIn(change, 'status')),
    whole: desired,
  };
}

/** `object` with the status of `source`, or without one where `source` has none. */
export function withStatusOf(source: JsonObject, object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(object)) if (key !== 'status') setOwn(copy, key, value);
  const status = source['status'];
  if (status !== undefined) copy['status'] = status;
  return copy;
}

function isIn(change: Change, field: string): boolean {
  const first = change.path[0];
  return first !== undefined && 'field' in first && first.field === field;
}

function identityCauses(current: JsonObject, desired: JsonObject): Cause[] {
  const own = (['apiVersion', 'kind'] as const).filter((field) => current[field] !== desired[field]);
  const located = (['name', 'namespace'] as const).filter(
    (field) => metadataOf(current)[field] !== metadataOf(desired)[field],
  );
  return [...own, ...located.map((field) => `metadata.${field}`)].map((field) => ({
    reason: 'FieldValueForbidden',
    message: message`It cannot be changed.`,
    field,
  }));
}
