import { isJsonObject, type JsonObject } from '../codec/json.ts';
import type { ApiRequest } from './apiRequest.ts';
import { bodyText, checkBodySize, checkBodyType, readObjectBody, textType } from './bodies.ts';
import { createObject } from './creation.ts';
import { readDeleteOptions, type DeleteOptions } from './deleteOptions.ts';
import { deleteObject } from './deletion.ts';
import { trackUpdate } from './fields/track.ts';
import { parseGoJson } from './goJson.ts';
import type { Kind } from './kinds/kind.ts';
import { checkName, checkNamespaceTakesNew, settleNamespace } from './namespaces.ts';
import { negotiate } from './negotiate.ts';
import { dedupOwnerReferences } from './ownerReferences.ts';
import { patchObject, readPatchType } from './patching.ts';
import { bindPod, evictPod } from './podActions.ts';
import { managerOf, readListOptions, readWriteOptions, type WriteOptions } from './queryOptions.ts';
import { newestView, readPage, type Page } from './reading.ts';
import type { ListMeta } from './render.ts';
import { patchScale, replaceScale } from './scale.ts';
import { readFilter } from './selectors.ts';
import { liveObject, metadataOf, metaString, type ApiState, type Call } from './state.ts';
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
  checkNamespaceTakesNew(state, call, call.name);
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
  const value = parseGoJson(text, (problem) => badRequest(`couldn't get version/kind; json parse error: ${problem}`));
  return isJsonObject(value) ? value : {};
}

/** PUT on an object or a subresource. */
export function put(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  negotiate(request.accept, { transforms: true });
  checkBodySize(request);
  const options = readWriteOptions('UpdateOptions', request.query);
  checkBodyType(request);
  const call = callOf(request, kind, options, warnings);
  if (call.subresource === 'scale') {
    const body = { text: bodyText(request), type: textType(request) };
    return { status: 200, object: replaceScale(state, call, body, options) };
  }
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

function warnOfOrphans(kind: Kind, options: DeleteOptions, warnings: string[]): void {
  if (options.propagation === undefined && kind.defaultPropagation === 'Orphan') warnings.push(ORPHANS_BY_DEFAULT);
}

/** DELETE of one object. */
export function remove(state: ApiState, request: ApiRequest, kind: Kind, warnings: string[]): WriteAnswer {
  negotiate(request.accept, { transforms: true });
  checkBodySize(request);
  const options = readDeleteOptions(bodyText(request), textType(request), request.query);
  const call = callOf(request, kind, { fieldManager: '', dryRun: options.dryRun }, warnings);
  warnOfOrphans(kind, options, warnings);
  const { answer, gone } = deleteObject(state, call, options);
  return { status: !gone && options.orphanDependents === false ? 202 : 200, object: answer };
}

/** How many objects a deletecollection without a limit reads at a time. */
const DELETE_PAGE = 10_000;

/** DELETE of a collection: one page of it, or all; what was selected, as it was before, in key order. */
export async function removeCollection(
  state: ApiState,
  request: ApiRequest,
  kind: Kind,
  warnings: string[],
): Promise<{ items: Stored[]; meta: ListMeta }> {
  negotiate(request.accept, { transforms: true });
  const listOptions = readListOptions(request.query, false);
  const filter = readFilter(kind, listOptions.labelSelector, listOptions.fieldSelector);
  checkBodySize(request);
  const options = readDeleteOptions(bodyText(request), textType(request), request.query);
  const call = callOf(request, kind, { fieldManager: '', dryRun: options.dryRun }, warnings);
  warnOfOrphans(kind, options, warnings);
  const items: Stored[] = [];
  let asked = { ...listOptions, limit: listOptions.limit > 0 ? listOptions.limit : DELETE_PAGE };
  let first: Page | undefined;
  for (;;) {
    const page = await readPage(state, newestView, call, asked, filter);
    first ??= page;
    items.push(...page.items);
    for (const { object } of page.items) {
      const own = { ...call, namespace: metaString(object, 'namespace'), name: metaString(object, 'name') };
      if (liveObject(state, own) !== undefined) deleteObject(state, own, options);
    }
    if (listOptions.limit > 0 || page.continueToken === undefined) break;
    asked = { ...asked, resourceVersion: '', resourceVersionMatch: '', continueToken: page.continueToken };
  }
  const { revision, continueToken, remaining } = first;
  return { items, meta: { resourceVersion: state.store.tokens.print(revision), continueToken, remaining } };
}
