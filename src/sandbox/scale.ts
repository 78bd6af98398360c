import { cloneJson, isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { textOf } from './goText.ts';
import { parseApplyBody } from './fields/yamlBody.ts';
import { goJsonError } from './goJson.ts';
import type { Kind } from './kinds/kind.ts';
import { checkName, settleNamespace } from './namespaces.ts';
import { applyConfig, patchDocument, type PatchType } from './patching.ts';
import type { WriteOptions } from './queryOptions.ts';
import { apiVersionOf } from './registry.ts';
import { ownersAfterScale } from './scaleOwners.ts';
import { metadataOf, metaString, type ApiState, type Call } from './state.ts';
import { badRequest, bareError, internalError, invalid, invalidValue, noSuchResource } from './status.ts';
import { updateObject } from './update.ts';

/** The /scale of an object: its replicas, with the identity and version of the object itself. Throws 500 where there are none, unless they may lack. */
export function scaleOf(kind: Kind, object: JsonObject, mayLack = false): JsonObject {
  const paths = kind.subresources.scale;
  if (paths === undefined) throw noSuchResource();
  const replicas = at(object, paths.specReplicas);
  if (replicas === undefined && kind.origin === 'custom' && !mayLack) {
    throw internalError(`the spec replicas field ${JSON.stringify(`.${paths.specReplicas.join('.')}`)} does not exist`);
  }
  const selector =
    kind.origin === 'built-in'
      ? selectorText(at(object, ['spec', 'selector']))
      : paths.selector === undefined
        ? ''
        : at(object, paths.selector);
  const metadata = metadataOf(object);
  const kept = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'].filter(
    (field) => metadata[field] !== undefined,
  );
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(kept.map((field) => [field, metadata[field] ?? null])),
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: Number(at(object, paths.statusReplicas) ?? 0),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  };
}

/** Writes replicas through PUT on /scale. The version is optional for every kind. */
export function replaceScale(state: ApiState, call: Call, text: string): JsonObject {
  const scale = decodeScale(text);
  settleNamespace(call, scale);
  checkName(call, scale);
  const uid = metaString(scale, 'uid');
  return writeScale(state, call, uid, () => scale);
}

/** Writes replicas through PATCH on /scale. */
export function patchScale(
  state: ApiState,
  call: Call,
  type: PatchType,
  text: string,
  options: WriteOptions,
): JsonObject {
  if (type === 'apply') return applyScale(state, call, text, options);
  return writeScale(state, call, '', (live) => {
    const { value } = patchDocument(call.kind, scaleOf(call.kind, live, true), type, text);
    if (!isJsonObject(value)) throw badRequest('the patched object is not a Scale');
    checkReplicasType(value);
    const scale = completed(value);
    settleNamespace(call, scale);
    checkName(call, scale);
    return scale;
  });
}

function writeScale(state: ApiState, call: Call, uid: string, make: (live: JsonObject) => JsonObject): JsonObject {
  const { kind, manager } = call;
  const { object } = updateObject(state, call, {
    uid,
    mayCreate: false,
    produce: (live) => {
      const before = live ?? {};
      const scale = make(before);
      const replicas = checkReplicas(call, scale);
      const next = cloneJson(before);
      put(next, kind.subresources.scale?.specReplicas ?? [], replicas);
      const version = metaString(scale, 'resourceVersion');
      if (version !== '') metadataOf(next)['resourceVersion'] = version;
      const metadata = metadataOf(next);
      const entries = metadata['managedFields'];
      if (!Array.isArray(entries) || entries.length === 0) return next;
      const path = kind.subresources.scale?.specReplicas ?? [];
      const changed = Number(at(before, path) ?? 0) !== replicas;
      metadata['managedFields'] = ownersAfterScale(entries, { manager, changed, apiVersion: apiVersionOf(kind), path });
      return next;
    },
  });
  return scaleOf(kind, object);
}

/** Entries that came through /scale carry no time: they lose it on the way from the Scale to its parent. */
function withoutTimes(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const entries = metadata['managedFields'];
  if (!Array.isArray(entries)) return object;
  const timeless = (entry: Json): Json => {
    if (!isJsonObject(entry) || entry['subresource'] !== 'scale') return entry;
    const { time: _time, ...rest } = entry;
    return rest;
  };
  const rank = (entry: Json): number =>
    isJsonObject(entry) ? (entry['operation'] === 'Apply' ? 0 : 2) + (entry['time'] === undefined ? 0 : 1) : 4;
  const managedFields = entries.map(timeless).sort((a, b) => rank(a) - rank(b));
  return { ...object, metadata: { ...metadata, managedFields } };
}

/** An apply of a Scale owns the parent's replicas. */
function applyScale(state: ApiState, call: Call, text: string, options: WriteOptions): JsonObject {
  const { config } = parseApplyBody(text, 'Ignore');
  if (config['kind'] !== 'Scale')
    throw badRequest(`invalid object type: ${textOf(config['apiVersion'])}, Kind=${textOf(config['kind'])}`);
  const { object } = updateObject(state, call, {
    uid: '',
    mayCreate: false,
    produce: (live) => {
      checkOwned(call, live ?? {}, config);
      const parent: JsonObject = {
        apiVersion: apiVersionOf(call.kind),
        kind: call.kind.kind,
        metadata: { ...metadataOf(config) },
      };
      put(parent, call.kind.subresources.scale?.specReplicas ?? [], checkReplicas(call, config));
      return withoutTimes(applyConfig(state, call, live, parent, options, 'autoscaling/v1'));
    },
  });
  return scaleOf(call.kind, object);
}

/** Of a custom resource whose replicas nobody owns the server cannot make the Scale that an apply starts from. */
function checkOwned(call: Call, live: JsonObject, config: JsonObject): void {
  const entries = metadataOf(live)['managedFields'];
  const path = (call.kind.subresources.scale?.specReplicas ?? []).map((name) => `f:${name}`);
  const isOwned =
    Array.isArray(entries) && entries.some((entry) => isJsonObject(entry) && at(entry['fieldsV1'], path) !== undefined);
  if (isOwned || call.kind.origin !== 'custom') return;
  const version = textOf(config['apiVersion']);
  const gvk = `${version}, Kind=${textOf(config['kind'])}`;
  throw bareError(
    `failed to create manager for existing fields: failed to convert live object (/; ${gvk}) to proper version: request to convert CR to an invalid group/version: ${version}`,
  );
}

function checkReplicasType(scale: JsonObject): void {
  const replicas = at(scale, ['spec', 'replicas']);
  if (replicas === undefined || replicas === null || typeof replicas === 'number') return;
  const name = Array.isArray(replicas) ? 'array' : typeof replicas === 'boolean' ? 'bool' : typeof replicas;
  const why = `json: cannot unmarshal ${name} into Go struct field ScaleSpec.spec.replicas of type int32`;
  throw invalid({ group: '', kind: '' }, '', [
    { reason: 'FieldValueInvalid', field: 'patch', message: `Invalid value: "<object>": ${why}` },
  ]);
}

function checkReplicas(call: Call, scale: JsonObject): number {
  const replicas = Number(at(scale, ['spec', 'replicas']) ?? 0);
  if (replicas >= 0 || call.kind.origin === 'custom') return replicas;
  const error = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, call.name, [error]);
}

function decodeScale(text: string): JsonObject {
  const problem = goJsonError(text);
  if (problem !== undefined) {
    const start = text === '' ? '<empty>' : text.length > 30 ? `${text.slice(0, 30)} ...` : text;
    throw badRequest(
      `the object provided is unrecognized (must be of type Scale): couldn't get version/kind; json parse error: ${problem} (${start})`,
    );
  }
  const value = parseJson(text);
  const scale = completed(isJsonObject(value) ? value : {});
  const kind = scale['kind'];
  const version = scale['apiVersion'];
  if (kind !== 'Scale')
    throw badRequest(
      `${textOf(kind)} in version ${JSON.stringify(version)} cannot be handled as a Scale: no kind ${JSON.stringify(kind)} is registered`,
    );
  if (
    version !== 'autoscaling/v1' &&
    version !== 'apps/v1beta1' &&
    version !== 'apps/v1beta2' &&
    version !== 'extensions/v1beta1'
  ) {
    throw badRequest(
      `Scale in version ${JSON.stringify(version)} cannot be handled as a Scale: no kind "Scale" is registered for version ${JSON.stringify(version)}`,
    );
  }
  return scale;
}

function completed(scale: JsonObject): JsonObject {
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    ...scale,
    metadata: isJsonObject(scale['metadata']) ? { ...scale['metadata'] } : {},
  };
}

function at(object: Json | undefined, path: readonly string[]): Json | undefined {
  let value = object;
  for (const field of path) value = isJsonObject(value) ? value[field] : undefined;
  return value;
}

function put(object: JsonObject, path: readonly string[], value: number): void {
  let parent = object;
  for (const field of path.slice(0, -1)) {
    const child = parent[field];
    const next: JsonObject = isJsonObject(child) ? child : {};
    parent[field] = next;
    parent = next;
  }
  const last = path[path.length - 1];
  if (last !== undefined) parent[last] = value;
}

/** A selector as text, `app=d,tier in (a,b)`; a ReplicationController's is a plain map. */
function selectorText(selector: Json | undefined): string {
  if (!isJsonObject(selector)) return '';
  const structured = isJsonObject(selector['matchLabels']) || Array.isArray(selector['matchExpressions']);
  const labels = (structured ? (selector['matchLabels'] ?? {}) : selector) as JsonObject;
  const terms = Object.keys(labels).map((key): [string, string] => [key, `${key}=${textOf(labels[key])}`]);
  for (const expression of (structured ? (selector['matchExpressions'] ?? []) : []) as JsonObject[])
    terms.push(expressionText(expression));
  return terms
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

function expressionText(expression: JsonObject): [string, string] {
  const key = textOf(expression['key']);
  const values = ((expression['values'] ?? []) as string[]).toSorted().join(',');
  switch (textOf(expression['operator'])) {
    case 'In':
      return [key, `${key} in (${values})`];
    case 'NotIn':
      return [key, `${key} notin (${values})`];
    case 'DoesNotExist':
      return [key, `!${key}`];
    default:
      return [key, key];
  }
}
