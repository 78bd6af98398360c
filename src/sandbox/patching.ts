import { cloneJson, type Json, type JsonObject } from '../codec/json.ts';
import type { ApiRequest } from './apiRequest.ts';
import { applyFields } from './fields/apply.ts';
import { decodePatched } from './fields/decode.ts';
import { jsonPatch } from './fields/jsonPatch.ts';
import { mergePatch } from './fields/mergePatch.ts';
import { strategicMerge } from './fields/strategicMerge.ts';
import { trackUpdate } from './fields/track.ts';
import { parseApplyBody } from './fields/yamlBody.ts';
import type { Kind } from './kinds/kind.ts';
import { checkName, settleNamespace } from './namespaces.ts';
import type { WriteOptions } from './queryOptions.ts';
import { metaString, resourceOf, type ApiState, type Call } from './state.ts';
import { conflict, failure, notFound } from './status.ts';
import { updateObject, type Written } from './update.ts';

/** The patch types by their media types. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const TYPES: ReadonlyMap<string, PatchType> = new Map(
  Object.entries({
    'application/json-patch+json': 'json',
    'application/merge-patch+json': 'merge',
    'application/strategic-merge-patch+json': 'strategic',
    'application/apply-patch+yaml': 'apply',
  }),
);

/** The type of a patch. Throws 415; custom resources have no strategic merge and say what they take. */
export function readPatchType(request: ApiRequest, kind: Kind): PatchType {
  const type = TYPES.get(request.contentType?.split(';')[0] ?? '');
  if (kind.origin === 'built-in') {
    if (type === undefined) throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
    return type;
  }
  if (type === undefined || type === 'strategic') {
    const accepted = 'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';
    throw failure(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
    );
  }
  return type;
}

/** Patches an object; an apply may create it. */
export function patchObject(
  state: ApiState,
  call: Call,
  type: PatchType,
  text: string,
  options: WriteOptions,
): Written {
  const produce = (live: JsonObject | undefined): JsonObject => {
    const next =
      type === 'apply' ? applied(state, call, live, text, options) : patched(state, call, live, type, text, options);
    if (live === undefined && metaString(next, 'uid') !== '') {
      const why = `uid mismatch: the provided object specified uid ${metaString(next, 'uid')}, and no existing object was found`;
      throw conflict(resourceOf(call.kind), call.name, why);
    }
    settleNamespace(call, next);
    checkName(call, next);
    return next;
  };
  return updateObject(state, call, { produce, uid: '', mayCreate: type === 'apply' });
}

/** What a patch made of a document, before it is decoded. */
export interface Patched {
  readonly value: Json;
  readonly warnings: readonly string[];
  /** The result as a refusal shows it, where that is not its JSON. */
  readonly shown?: string;
}

/** Applies a patch that is not an apply to a document. Throws 400, 422 or 500. */
export function patchDocument(
  kind: Kind,
  document: JsonObject,
  type: Exclude<PatchType, 'apply'>,
  text: string,
): Patched {
  switch (type) {
    case 'json':
      return jsonPatch(document, text);
    case 'merge':
      return mergePatch(document, text);
    case 'strategic':
      return strategicMerge(kind, document, text);
    default:
      return type satisfies never;
  }
}

function patched(
  state: ApiState,
  call: Call,
  live: JsonObject | undefined,
  type: Exclude<PatchType, 'apply'>,
  text: string,
  options: WriteOptions,
): JsonObject {
  if (live === undefined) throw notFound(resourceOf(call.kind), call.name);
  const result = patchDocument(call.kind, cloneJson(live), type, text);
  const decoded = decodePatched(call.kind, result.value, options.fieldValidation, result.warnings, result.shown);
  call.warnings.push(...decoded.warnings);
  const { kind, manager, subresource } = call;
  return trackUpdate({ kind, live, next: decoded.object, manager, subresource, nowMs: state.clock.now() });
}

function applied(
  state: ApiState,
  call: Call,
  live: JsonObject | undefined,
  text: string,
  options: WriteOptions,
): JsonObject {
  const { config, warnings, refusal } = parseApplyBody(text, options.fieldValidation);
  const merged = applyConfig(state, call, live, config, options);
  if (refusal !== undefined) throw refusal;
  call.warnings.push(...warnings);
  return merged;
}

/** Merges an applied configuration. Throws the 409 of its conflicts, which name updaters as of version `seenAs` if given. */
export function applyConfig(
  state: ApiState,
  call: Call,
  live: JsonObject | undefined,
  config: JsonObject,
  options: WriteOptions,
  seenAs?: string,
): JsonObject {
  const { kind, manager, subresource } = call;
  const write = { kind, live, config, manager, subresource, force: options.force, nowMs: state.clock.now() };
  return applyFields(seenAs === undefined ? write : { ...write, seenAs });
}
