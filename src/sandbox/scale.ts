import { cloneJson, isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { checkTypes } from './fields/applyChecks.ts';
import { decodeBody, decodePatched } from './fields/decode.ts';
import { parseApplyBody } from './fields/yamlBody.ts';
import { goJsonError } from './goJson.ts';
import { textOf } from './goText.ts';
import { ageOf } from './kinds/cells.ts';
import type { Kind, TableColumn } from './kinds/kind.ts';
import { checkName, settleNamespace } from './namespaces.ts';
import { applyConfig, patchDocument, type PatchType } from './patching.ts';
import type { WriteOptions } from './queryOptions.ts';
import { apiVersionOf } from './registry.ts';
import { ownersAfterScale } from './scaleOwners.ts';
import { components, structOf } from './schema/builtInTypes.ts';
import { normalize } from './schema/normalize.ts';
import { metadataOf, metaString, type ApiState, type Call } from './state.ts';
import {
  badRequest,
  bareError,
  conflict,
  internalError,
  invalid,
  invalidValue,
  noSuchResource,
  StatusError,
} from './status.ts';
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
export function replaceScale(
  state: ApiState,
  call: Call,
  body: { text: string; type: string },
  options: WriteOptions,
): JsonObject {
  const scale = decodeScale(call, body, options);
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
    const kind = scaleKind(call.kind);
    const { value, warnings, shown } = patchDocument(kind, scaleOf(call.kind, live, true), type, text);
    const decoded = decodePatched(kind, value, options.fieldValidation, warnings, shown);
    call.warnings.push(...decoded.warnings);
    const scale = decoded.object;
    settleNamespace(call, scale);
    checkName(call, scale);
    if (call.kind.origin === 'built-in') checkUid(call, metaString(scale, 'uid'), metaString(live, 'uid'));
    return scale;
  });
}

/** What is at /scale is a kind of its own: it reads, merges and shows by its own schema. */
export function scaleKind(parent: Kind): Kind {
  const schema = structOf('io.k8s.api.autoscaling.v1.Scale');
  return {
    ...parent,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    origin: 'built-in',
    schema,
    coerce: (object) => ({ object: normalize(schema, object) as JsonObject, dropped: [] }),
    applyDefaults: () => undefined,
    tableColumns: scaleColumns(parent.origin),
    tableCells: (scale, nowMs) => [
      metaString(scale, 'name'),
      at(scale, ['spec', 'replicas']) ?? 0,
      at(scale, ['status', 'replicas']) ?? 0,
      ageOf(scale, nowMs),
    ],
  };
}

/** The columns of a Scale; those of custom resources come from another printer. */
function scaleColumns(origin: Kind['origin']): TableColumn[] {
  const custom = origin === 'custom';
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  const described = (component: string, field: string): string =>
    textOf(at(components(), [component, 'properties', field, 'description']));
  const count = (name: string, part: string, words: string): TableColumn => ({
    name,
    type: 'integer',
    format: '',
    description: custom ? words : described(`io.k8s.api.autoscaling.v1.${part}`, 'replicas'),
    priority: 0,
  });
  return [
    { name: 'Name', type: 'string', format: custom ? 'name' : '', description: described(meta, 'name'), priority: 0 },
    count('Desired', 'ScaleSpec', 'Number of desired replicas'),
    count('Available', 'ScaleStatus', 'Number of actual replicas'),
    {
      name: 'Age',
      type: custom ? 'date' : 'string',
      format: '',
      description: described(meta, 'creationTimestamp'),
      priority: 0,
    },
  ];
}

/** Custom resources cannot even say why a Scale does not decode. */
function decodeScale(call: Call, { text, type }: { text: string; type: string }, options: WriteOptions): JsonObject {
  try {
    checkScaleVersion(text);
    const { object, warnings } = decodeBody(scaleKind(call.kind), text, type, options.fieldValidation);
    call.warnings.push(...warnings);
    return object;
  } catch (error) {
    if (call.kind.origin === 'built-in' || !(error instanceof StatusError)) throw error;
    throw badRequest('no kind is registered for the type v1.Scale in scheme "sandbox"');
  }
}

/** A Scale of a group where it once was is known, but not taken. Throws 400. */
const FORMER_VERSIONS: readonly unknown[] = ['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1'];

function checkScaleVersion(text: string): void {
  if (goJsonError(text) !== undefined) return;
  const value = parseJson(text);
  if (!isJsonObject(value) || value['kind'] !== 'Scale' || !FORMER_VERSIONS.includes(value['apiVersion'])) return;
  throw badRequest(
    `the API version in the data (${textOf(value['apiVersion'])}) does not match the expected API version (autoscaling/v1)`,
  );
}

function checkUid(call: Call, given: string, stored: string): void {
  if (given === '' || given === stored) return;
  const of = { group: call.kind.group, resource: `${call.kind.plural}/scale` };
  const why = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${stored}`;
  throw conflict(of, call.name, why);
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
      metadata['managedFields'] = ownersAfterScale(entries, {
        manager,
        changed,
        replicas,
        apiVersion: apiVersionOf(kind),
        path,
      });
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
  const { object } = updateObject(state, call, {
    uid: '',
    mayCreate: false,
    produce: (live) => {
      checkOwned(call, live ?? {}, config);
      checkTypes(scaleKind(call.kind), config);
      const parent: JsonObject = {
        apiVersion: apiVersionOf(call.kind),
        kind: call.kind.kind,
        metadata: { ...metadataOf(config) },
      };
      put(parent, call.kind.subresources.scale?.specReplicas ?? [], checkReplicas(call, config));
      const base = live === undefined ? undefined : withOwner(live, call.kind);
      return withoutTimes(applyConfig(state, call, base, parent, options, 'autoscaling/v1'));
    },
  });
  return scaleOf(call.kind, object);
}

/** Replicas that nobody owns belong, for the apply of a Scale, to whoever was there before. */
function withOwner(live: JsonObject, kind: Kind): JsonObject {
  const path = kind.subresources.scale?.specReplicas ?? [];
  const fields = path.map((name) => `f:${name}`);
  const metadata = metadataOf(live);
  const entries = metadata['managedFields'];
  const hasReplicas = Number(at(live, path) ?? 0) > 0;
  if (!Array.isArray(entries) || entries.length === 0 || !hasReplicas) return live;
  if (entries.some((entry) => isJsonObject(entry) && at(entry['fieldsV1'], fields) !== undefined)) return live;
  const entry: JsonObject = {
    manager: 'before-first-apply',
    operation: 'Update',
    apiVersion: apiVersionOf(kind),
    fieldsType: 'FieldsV1',
    fieldsV1: fields.reduceRight<JsonObject>((inner, field) => ({ [field]: inner }), {}),
    subresource: 'scale',
  };
  return { ...live, metadata: { ...metadata, managedFields: [...entries, entry] } };
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

function checkReplicas(call: Call, scale: JsonObject): number {
  const replicas = Number(at(scale, ['spec', 'replicas']) ?? 0);
  if (replicas >= 0 || call.kind.origin === 'custom') return replicas;
  const error = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, call.name, [error]);
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
