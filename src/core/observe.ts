import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject, isTooDeep, stringifyJson } from '../codec/json.ts';
import { hashText } from './hash.ts';
import type { PathStep } from '../codec/path.ts';
import { formatPath } from '../codec/path.ts';
import { hideSecrets, isSecretResource } from './secrets.ts';
import type { AbsentEvent, ObjectName, ObservedEvent, Token, Via } from './traceEvent.ts';

/** The kind in which a server gives metadata alone. */
const METADATA_ONLY = 'PartialObjectMetadata';

/** How and when something was seen. */
export interface ObserveContext {
  readonly cluster: string;
  readonly via: Via;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The resource that was asked; kind and version fill in what items of a list leave out. */
  readonly resource: {
    readonly group: string;
    readonly resource: string;
    readonly version?: string;
    readonly kind?: string;
  };
  readonly stream?: string;
  readonly change?: 'ADDED' | 'MODIFIED';
  /** Keep the whole object; otherwise hashes of its leaves. */
  readonly keepBody: boolean;
  /** The key of the hashes that stand in for a Secret's values: 32 random hexadecimal digits, never stored or shown. */
  readonly secretKey: string;
  /** The answer of a dry run, or of the write that released the last finalizer. */
  readonly notStored?: boolean;
}

/** An event without its `seq`, of one type. */
type New<E> = Omit<E, 'seq'>;

/**
 * The event of an object that was seen, from the server's JSON. Nothing is converted: times stay strings. A Secret's values
 * are never in it, only keyed hashes. An object without a name or UID yields undefined. Of one that is nested too deeply only
 * what its metadata says is told, as of one whose content was not asked for; `tooDeep` says so where it is known already.
 */
export function observedFrom(
  object: JsonObject,
  context: ObserveContext,
  tooDeep = isTooDeep(object),
): New<ObservedEvent> | undefined {
  if (tooDeep) return observedFrom(shallow(object), context, false);
  const { group, resource } = context.resource;
  const safe = isSecretResource(context.resource) || isSecret(object) ? hideSecrets(object, context.secretKey) : object;
  const metadata = safe['metadata'];
  if (!isJsonObject(metadata)) return undefined;
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  if (typeof name !== 'string' || typeof uid !== 'string') return undefined;
  const event: New<ObservedEvent> = {
    type: 'observed',
    at: context.at,
    via: context.via,
    cluster: context.cluster,
    name: { group, resource, namespace: typeof namespace === 'string' ? namespace : '', name },
    uid,
    token: typeof resourceVersion === 'string' ? resourceVersion : '',
  };
  const apiVersion = typeOf(safe, 'apiVersion') ?? apiVersionOf(context.resource);
  const kind = typeOf(safe, 'kind') ?? context.resource.kind;
  if (apiVersion !== undefined) event.apiVersion = apiVersion;
  if (kind !== undefined) event.kind = kind;
  if (context.stream !== undefined) event.stream = context.stream;
  if (context.change !== undefined) event.change = context.change;
  if (typeof metadata['generation'] === 'number') event.generation = metadata['generation'];
  const observedGeneration = isJsonObject(safe['status']) ? safe['status']['observedGeneration'] : undefined;
  if (typeof observedGeneration === 'number') event.observedGeneration = observedGeneration;
  if (typeof creationTimestamp === 'string') event.creationTimestamp = creationTimestamp;
  if (typeof deletionTimestamp === 'string') event.deletionTimestamp = deletionTimestamp;
  copyMetadata(event, metadata);
  if (!isMetadataOnly(object)) {
    if (context.keepBody) event.body = withType(safe, apiVersion, kind);
    else event.leaves = leafHashes(safe);
  }
  if (context.notStored === true) event.notStored = true;
  return event;
}

/** What identifies an object, in the form in which a server gives metadata alone. */
function shallow(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isJsonObject(metadata)) return {};
  const kept = Object.entries(metadata).filter(([, value]) => !isTooDeep(value));
  return { kind: METADATA_ONLY, metadata: Object.fromEntries(kept) };
}

function copyMetadata(event: New<ObservedEvent>, metadata: JsonObject): void {
  const { finalizers, managedFields, ownerReferences, labels, annotations } = metadata;
  if (Array.isArray(finalizers))
    event.finalizers = finalizers.filter((item): item is string => typeof item === 'string');
  if (Array.isArray(managedFields)) event.managedFields = managedFields;
  if (Array.isArray(ownerReferences)) event.ownerReferences = ownerReferences;
  if (isJsonObject(labels)) event.labels = labels as Record<string, string>;
  if (isJsonObject(annotations)) event.annotations = annotations as Record<string, string>;
}

/** The event of an object that is known to be gone. */
export function absentFrom(
  name: ObjectName,
  context: Pick<ObserveContext, 'cluster' | 'via' | 'at' | 'stream'>,
  facts: {
    readonly how: AbsentEvent['how'];
    readonly uid?: string;
    readonly token?: Token;
    readonly body?: JsonObject;
  },
): New<AbsentEvent> {
  const event: New<AbsentEvent> = {
    type: 'absent',
    at: context.at,
    via: context.via,
    cluster: context.cluster,
    name,
    how: facts.how,
  };
  if (facts.uid !== undefined) event.uid = facts.uid;
  if (facts.token !== undefined) event.token = facts.token;
  if (context.stream !== undefined) event.stream = context.stream;
  if (facts.body !== undefined) event.body = facts.body;
  return event;
}

/** The event of a watch's DELETED: the object is the last stored content with the version of the deletion. */
export function deletedFrom(object: JsonObject, context: ObserveContext): New<AbsentEvent> | undefined {
  const seen = observedFrom(object, context);
  if (seen === undefined) return undefined;
  const { name, uid, token, body } = seen;
  return absentFrom(name, context, { how: 'event', uid, token, ...(body === undefined ? {} : { body }) });
}

function isSecret(object: JsonObject): boolean {
  return object['kind'] === 'Secret' && object['apiVersion'] === 'v1';
}

function isMetadataOnly(object: JsonObject): boolean {
  return object['kind'] === METADATA_ONLY;
}

/** Kind and version of the object itself; those of PartialObjectMetadata are the wrapper's and say nothing. */
function typeOf(object: JsonObject, member: 'apiVersion' | 'kind'): string | undefined {
  const value = object[member];
  return typeof value === 'string' && !isMetadataOnly(object) ? value : undefined;
}

function apiVersionOf(resource: ObserveContext['resource']): string | undefined {
  if (resource.version === undefined) return undefined;
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** Items of a list come without their type; a watch of the same version has it. Both become the same. */
function withType(object: JsonObject, apiVersion: string | undefined, kind: string | undefined): JsonObject {
  if (typeof object['kind'] === 'string' && typeof object['apiVersion'] === 'string') return object;
  return { ...(apiVersion === undefined ? {} : { apiVersion }), ...(kind === undefined ? {} : { kind }), ...object };
}

function isBookkeeping(path: readonly PathStep[], field: string): boolean {
  const [first] = path;
  if (path.length !== 1 || first === undefined || !('field' in first) || first.field !== 'metadata') return false;
  return field === 'managedFields' || field === 'resourceVersion';
}

/** A hash for each leaf of an object by its printed path; `managedFields` and the token are left out. */
function leafHashes(object: JsonObject): Record<string, string> {
  const leaves: Record<string, string> = {};
  const visit = (path: readonly PathStep[], value: Json): void => {
    if (Array.isArray(value) && value.length > 0) {
      for (const [index, item] of value.entries()) visit([...path, { index }], item);
    } else if (isJsonObject(value) && Object.keys(value).length > 0) {
      for (const [field, item] of Object.entries(value)) {
        if (!isBookkeeping(path, field)) visit([...path, { field }], item);
      }
    } else leaves[formatPath(path)] = hashText(stringifyJson(value));
  };
  visit([], object);
  return leaves;
}
