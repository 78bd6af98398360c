import { mediaTypeOf } from './apiRequest.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { parseYaml } from '../codec/yaml.ts';
import { parseGoJson } from './goJson.ts';
import { goQuote } from './goText.ts';
import { dryRunErrors, invalidOptions, readInteger } from './queryOptions.ts';
import { isTrue } from './requestInfo.ts';
import { badRequest, failure, invalidValue, notSupported, type FieldError } from './status.ts';

/** How to delete. */
export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly propagation: 'Foreground' | 'Background' | 'Orphan' | undefined;
  /** The deprecated form was used with `false`: an object that stays is then answered with 202. */
  readonly orphanDependents: boolean | undefined;
  readonly dryRun: boolean;
}

/** A body, if there is one, else the query; never both. Throws 400, 415 or 422. */
export function readDeleteOptions(body: string, contentType: string, query: URLSearchParams): DeleteOptions {
  const raw = body === '' ? fromQuery(query) : fromBody(body, contentType);
  const errors = validate(raw);
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const preconditions = (raw['preconditions'] ?? {}) as JsonObject;
  const orphan = raw['orphanDependents'] as boolean | undefined;
  return {
    gracePeriodSeconds: raw['gracePeriodSeconds'] as number | undefined,
    uid: preconditions['uid'] as string | undefined,
    resourceVersion: preconditions['resourceVersion'] as string | undefined,
    propagation: propagationOf(raw, orphan),
    orphanDependents: orphan,
    dryRun: ((raw['dryRun'] ?? []) as string[]).length > 0,
  };
}

function propagationOf(raw: JsonObject, orphan: boolean | undefined): DeleteOptions['propagation'] {
  if (orphan === true) return 'Orphan';
  if (orphan === false) return 'Background';
  return raw['propagationPolicy'] as DeleteOptions['propagation'];
}

function fromQuery(query: URLSearchParams): JsonObject {
  const raw: JsonObject = {};
  const grace = readInteger(query, 'gracePeriodSeconds');
  if (grace !== undefined) raw['gracePeriodSeconds'] = grace;
  if (query.has('orphanDependents')) raw['orphanDependents'] = isTrue(query.get('orphanDependents'));
  const policy = query.get('propagationPolicy');
  if (policy !== null) raw['propagationPolicy'] = policy;
  const dryRun = query.getAll('dryRun');
  if (dryRun.length > 0) raw['dryRun'] = dryRun;
  const preconditions: JsonObject = {};
  for (const field of ['uid', 'resourceVersion']) {
    const value = query.get(field) ?? '';
    if (value !== '') preconditions[field] = value;
  }
  if (Object.keys(preconditions).length > 0) raw['preconditions'] = preconditions;
  return raw;
}

const ACCEPTED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

function fromBody(body: string, contentType: string): JsonObject {
  const type = mediaTypeOf(contentType);
  if (type !== '' && !ACCEPTED.includes(type)) {
    const accepted = ACCEPTED.join(', ');
    throw failure(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
    );
  }
  const value = type === 'application/yaml' ? parseYaml(body).value : parseBody(body);
  if (!isJsonObject(value)) {
    if (value === null) return {};
    const what = Array.isArray(value)
      ? 'array'
      : typeof value === 'string'
        ? 'string'
        : typeof value === 'boolean'
          ? 'bool'
          : 'number';
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type struct ` +
        '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    );
  }
  checkKind(value);
  checkTypes(value);
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null));
}

function parseBody(body: string): Json {
  return parseGoJson(body, (problem) => badRequest(`couldn't get version/kind; json parse error: ${problem}`));
}

/** Kinds that are known without a group wherever options are read. */
const UNVERSIONED = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'];

/** Any API version may call them DeleteOptions; another kind is unknown here. */
function checkKind(value: JsonObject): void {
  const kind = value['kind'];
  const version = value['apiVersion'];
  if (typeof kind === 'string' && kind !== '' && kind !== 'DeleteOptions') {
    const named = typeof version === 'string' && version !== '' ? version : 'meta.k8s.io/v1';
    if (named === 'v1' && UNVERSIONED.includes(kind))
      throw badRequest(`converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`);
    throw badRequest(`no kind ${goQuote(kind)} is registered for version ${goQuote(named)} in scheme "sandbox"`);
  }
}

const GO_TYPES: Readonly<Record<string, { type: string; fits: (value: unknown) => boolean }>> = {
  gracePeriodSeconds: { type: 'int64', fits: (value) => typeof value === 'number' && Number.isInteger(value) },
  orphanDependents: { type: 'bool', fits: (value) => typeof value === 'boolean' },
  propagationPolicy: { type: 'v1.DeletionPropagation', fits: (value) => typeof value === 'string' },
  dryRun: { type: '[]string', fits: (value) => Array.isArray(value) },
  preconditions: { type: 'v1.Preconditions', fits: isJsonObject },
};

function checkTypes(value: JsonObject): void {
  for (const [field, { type, fits }] of Object.entries(GO_TYPES))
    wantType(value[field], `DeleteOptions.${field}`, type, fits);
  const preconditions = value['preconditions'];
  if (!isJsonObject(preconditions)) return;
  const isText = (item: unknown): boolean => typeof item === 'string';
  wantType(preconditions['uid'], 'Preconditions.preconditions.uid', 'types.UID', isText);
  wantType(preconditions['resourceVersion'], 'Preconditions.preconditions.resourceVersion', 'string', isText);
}

function wantType(
  value: JsonObject[string] | undefined,
  field: string,
  type: string,
  fits: (value: unknown) => boolean,
): void {
  if (value === undefined || value === null || fits(value)) return;
  const shown =
    typeof value === 'number'
      ? `number${Number.isInteger(value) ? '' : ` ${value}`}`
      : typeof value === 'boolean'
        ? 'bool'
        : Array.isArray(value)
          ? 'array'
          : typeof value;
  throw badRequest(`json: cannot unmarshal ${shown} into Go struct field ${field} of type ${type}`);
}

function validate(raw: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const policy = raw['propagationPolicy'];
  if (raw['orphanDependents'] !== undefined && policy !== undefined) {
    errors.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (policy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(policy as string)) {
    errors.push(notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  return [...errors, ...dryRunErrors((raw['dryRun'] ?? []) as string[])];
}
