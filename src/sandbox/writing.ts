import { isJsonObject, parseJson, type JsonObject } from '../codec/json.ts';
import type { ApiRequest } from './apiRequest.ts';
import { bodyText, checkBodySize, checkBodyType, readObjectBody, textType } from './bodies.ts';
import { createObject } from './creation.ts';
import { readDeleteOptions } from './deleteOptions.ts';
import { deleteObject } from './deletion.ts';
import { trackUpdate } from './fields/track.ts';
import { goJsonError } from './goJson.ts';
import type { Kind } from './kinds/kind.ts';
import { checkName, settleNamespace } from './namespaces.ts';
import { negotiate } from './negotiate.ts';
import { dedupOwnerReferences } from './ownerReferences.ts';
import { patchObject, readPatchType } from './patching.ts';
import { bindPod, evictPod } from './podActions.ts';
import { managerOf, readListOptions, readWriteOptions, type WriteOptions } from './queryOptions.ts';
import { bucketOf } from './registry.ts';
import type { ListMeta } from './render.ts';
import { patchScale, replaceScale } from './scale.ts';
import { readFilter } from './selectors.ts';
import { metadataOf, metaString, type ApiState, type Call } from './state.ts';
import { badRequest, methodNotAllowed } from './status.ts';
import type { Stored } from './store.ts';
import { updateObject } from './update.ts';

/** What a write answers, before it is put into the form asked for. */
export interface WriteAnswer {
  readonly status: number;
  readonly object: JsonObject;
}

/** The call that a request makes, with the manager its options and User-Agent give. */
export function callOf(
  request: ApiRequest,
  kind: Kind,
  options: { fieldManager: string; dryRun: boolean },
  warnings: string[],
): Call {
  const { namespace, pathName, subresource } = request.info;
  const manager = managerOf(options, request.userAgent);
  return {
    kind,
    namespace: kind.namespaced ? namespace : '',
    name: pathName,
    subresource,
    user: request.user,
    manager,
    dryRun: options.dryRun,
    warnings,
  };
}

/** POST on a collection. */
export function post(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  negotiate(request.accept, { transforms: true });
  checkBodyType(request);
  checkBodySize(request);
  const options = readWriteOptions('CreateOptions', request.query);
  const object = readObjectBody(request, kind, options.fieldValidation, warnings);
  const call = callOf(request, kind, options, warnings);
  settleNamespace(call, object);
  dedupOwnerReferences(object, warnings);
  const { manager, subresource } = call;
  delete metadataOf(object)['deletionTimestamp'];
  const tracked = trackUpdate({ kind, live: undefined, next: object, manager, subresource, nowMs: state.clock.now() });
  return { status: 201, object: createObject(state, call, tracked) };
}

/** POST on a subresource: binding and eviction of a Pod. */
export function postSubresource(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  checkBodyType(request);
  checkBodySize(request);
  const options = readWriteOptions('CreateOptions', request.query);
  const body = plainBody(request);
  const call = callOf(request, kind, options, warnings);
  switch (request.info.subresource) {
    case 'binding':
      return { status: 201, object: bindPod(state, call, body) };
    case 'eviction':
      return { status: 201, object: evictPod(state, call, body) };
    default:
      throw methodNotAllowed();
  }
}

/** A body that is read as it is, such as a Binding. Throws 400. */
export function plainBody(request: ApiRequest): JsonObject {
  const text = bodyText(request);
  const problem = goJsonError(text);
  if (problem !== undefined) throw badRequest(`couldn't get version/kind; json parse error: ${problem}`);
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

/** PUT on an object or a subresource. */
export function put(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  negotiate(request.accept, { transforms: true });
  checkBodySize(request);
  const options = readWriteOptions('UpdateOptions', request.query);
  checkBodyType(request);
  const call = callOf(request, kind, options, warnings);
  if (call.subresource === 'scale') return { status: 200, object: replaceScale(state, call, bodyText(request)) };
  const object = readObjectBody(request, kind, options.fieldValidation, warnings);
  settleNamespace(call, object);
  checkName(call, object);
  dedupOwnerReferences(object, warnings);
  const { manager, subresource } = call;
  const written = updateObject(state, call, {
    uid: metaString(object, 'uid'),
    mayCreate: false,
    produce: (live) => trackUpdate({ kind, live, next: object, manager, subresource, nowMs: state.clock.now() }),
  });
  return { status: written.created ? 201 : 200, object: written.object };
}

/** PATCH on an object or a subresource. */
export function patch(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  const type = readPatchType(request, kind);
  negotiate(request.accept, { transforms: true });
  checkBodySize(request);
  const options: WriteOptions = readWriteOptions('PatchOptions', request.query, type === 'apply');
  const call = callOf(request, kind, options, warnings);
  const text = request.body.toString('utf8');
  if (call.subresource === 'scale') return { status: 200, object: patchScale(state, call, type, text, options) };
  const written = patchObject(state, call, type, text, options);
  return { status: written.created ? 201 : 200, object: written.object };
}

/** Jobs are of a time when deleting orphaned; the server says so to whoever does not choose. */
const ORPHANS_BY_DEFAULT =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

/** DELETE of one object. */
export function remove(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  negotiate(request.accept, { transforms: true });
  checkBodySize(request);
  const options = readDeleteOptions(bodyText(request), textType(request), request.query);
  const call = callOf(request, kind, { fieldManager: '', dryRun: options.dryRun }, warnings);
  if (options.propagation === undefined && kind.defaultPropagation === 'Orphan') warnings.push(ORPHANS_BY_DEFAULT);
  const { answer, gone } = deleteObject(state, call, options);
  return { status: !gone && options.orphanDependents === false ? 202 : 200, object: answer };
}

/** DELETE of a collection: what was selected, as it was before, in key order. */
export function removeCollection(
  state: ApiState,
  request: ApiRequest,
  kind: Kind,
  warnings: string[],
): { items: Stored[]; meta: ListMeta } {
  negotiate(request.accept, { transforms: true });
  const listOptions = readListOptions(request.query, false);
  const filter = readFilter(kind, listOptions.labelSelector, listOptions.fieldSelector);
  checkBodySize(request);
  const options = readDeleteOptions(bodyText(request), textType(request), request.query);
  const prefix = kind.namespaced && request.info.namespace !== '' ? `${request.info.namespace}/` : '';
  const revision = state.store.revision;
  const items = state.store.list(bucketOf(kind), prefix).filter((stored) => filter.matches(stored.object));
  for (const { object } of items) {
    const call = callOf(request, kind, { fieldManager: '', dryRun: options.dryRun }, warnings);
    deleteObject(
      state,
      { ...call, namespace: metaString(object, 'namespace'), name: metaString(object, 'name') },
      options,
    );
  }
  return {
    items,
    meta: { resourceVersion: state.store.tokens.print(revision), continueToken: undefined, remaining: undefined },
  };
}
