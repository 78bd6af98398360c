import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject, stringifyCanonical, stringifyJson } from '../../codec/json.ts';
import { parseGoJson } from '../goJson.ts';
import type { Kind } from '../kinds/kind.ts';
import { isFormerVersion, otherVersion } from '../kinds/versions.ts';
import { normalize, DecodeError } from '../schema/normalize.ts';
import { badRequest, internalError, invalid, invalidValue, type StatusError } from '../status.ts';
import { completeObject } from './complete.ts';
import { foreignKind } from './foreignKind.ts';
import { strictProblems } from './strictFields.ts';
import { apiVersionOf } from './track.ts';
import { readYaml } from './yamlBody.ts';

/** What to do about fields that the schema does not know and fields that are there twice. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** A body read: typed, pruned and defaulted; the warnings are the texts of `Warning` headers. */
export interface Decoded {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/**
 * Reads the body of a POST or PUT for a kind. kind and apiVersion may be missing for built-in kinds.
 * @throws StatusError 400 (and 422 for a custom resource of another kind) with the real server's text
 */
export function decodeBody(kind: Kind, text: string, contentType: string, fieldValidation: FieldValidation): Decoded {
  if (!isYaml(contentType)) return decodeJsonText(kind, text, text, [], fieldValidation);
  const yaml = readYaml(text);
  if ('problem' in yaml) throw unrecognized(kind, yaml.problem, text);
  const known = yaml.duplicates;
  return decodeJsonText(kind, stringifyJson(yaml.value), text, known, fieldValidation);
}

function isYaml(contentType: string): boolean {
  return /^application\/(x-)?yaml\b/.test(contentType.trim());
}

function decodeJsonText(
  kind: Kind,
  json: string,
  body: string,
  known: readonly string[],
  fieldValidation: FieldValidation,
): Decoded {
  const value = parseGoJson(json, (problem) =>
    unrecognized(kind, `couldn't get version/kind; json parse error: ${problem}`, body),
  );
  checkRecognized(kind, value, json, body);
  const strict = (): string[] => strictProblems(json, strictSchema(kind), value);
  return decodeValue(kind, value, strict, fieldValidation, known);
}

/**
 * Reads an already parsed body (a protobuf request) for a kind.
 * @throws StatusError as `decodeBody`
 */
export function decodeJson(kind: Kind, value: Json, fieldValidation: FieldValidation): Decoded {
  const json = stringifyJson(value);
  checkRecognized(kind, value, json, json);
  return decodeValue(kind, value, () => strictProblems(json, strictSchema(kind)), fieldValidation);
}

/** `ofYaml`: keys that are there twice, as the reader of YAML says it. */
function decodeValue(
  kind: Kind,
  value: Json,
  strict: () => string[],
  fieldValidation: FieldValidation,
  ofYaml: readonly string[] = [],
): Decoded {
  const given = isJsonObject(value) ? withClaims(value) : {};
  const shown = handledAs(kind, given);
  checkKind(kind, given, shown);
  let completed: ReturnType<typeof completeObject>;
  try {
    completed = completeObject(kind, given);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${shown}: ${error.message}`);
    throw error;
  }
  if (fieldValidation === 'Ignore') return { object: completed.object, warnings: [] };
  const warnings = [...strict(), ...completed.dropped.map((path) => `unknown field "${path}"`)];
  if (fieldValidation === 'Strict' && warnings.length + ofYaml.length > 0) {
    const lines = ofYaml.length === 0 ? [] : [['yaml: unmarshal errors:', ...ofYaml].join('\n  ')];
    throw badRequest(`${shown}: strict decoding error: ${[...lines, ...warnings].join(', ')}`);
  }
  return { object: completed.object, warnings: [...ofYaml, ...warnings] };
}

const CLAIMS: ReadonlyMap<string, string> = new Map(Object.entries({ kind: 'kind', apiversion: 'apiVersion' }));

/** What kind a body claims to be is read by Go's own decoder, which takes keys in any case. */
function withClaims(value: JsonObject): JsonObject {
  const claims: JsonObject = {};
  for (const name of Object.keys(value)) {
    const claimed = CLAIMS.get(name.toLowerCase());
    if (claimed !== undefined && claimed !== name) claims[claimed] = value[name] ?? null;
  }
  return Object.keys(claims).length === 0 ? value : { ...value, ...claims };
}

/** Custom resources are read without a schema first; what their schema drops is known after pruning. */
function strictSchema(kind: Kind): Kind['schema'] | undefined {
  return kind.origin === 'custom' ? undefined : kind.schema;
}

/** `ConfigMap in version "v1" cannot be handled as a ConfigMap`, of the kind and version that the body claims. */
function handledAs(kind: Kind, given: JsonObject): string {
  const claimed = textOr(given['kind'], kind.kind);
  const version = textOr(given['apiVersion'], apiVersionOf(kind)).split('/').at(-1) ?? '';
  return `${claimed} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}`;
}

function textOr(value: Json | undefined, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

/** Whether the body is an object at all whose kind and apiVersion are texts. */
function checkRecognized(kind: Kind, value: Json, json: string, body: string): void {
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  if (value !== null && !isJsonObject(value)) {
    throw unrecognized(
      kind,
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${nameOf(value)} into Go value of type ${target}`,
      body,
    );
  }
  for (const field of ['apiVersion', 'kind']) {
    const given = value === null ? undefined : value[field];
    if (!isTextOrNothing(given)) throw unrecognized(kind, wrongClaim(field, given ?? null), body);
  }
  if (kind.origin === 'custom' && textOr(value === null ? undefined : value['kind'], '') === '') {
    throw unrecognized(kind, `Object 'Kind' is missing in '${json}'`, body);
  }
}

function isTextOrNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function wrongClaim(field: string, value: Json): string {
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${nameOf(value)} into Go struct field .${field} of type string`;
}

function nameOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return typeof value === 'number' || typeof value === 'bigint' ? 'number' : 'object';
}

/** The refusal of a body that is no object, with its first bytes: as text if it looks like JSON, in hex otherwise. */
export function unrecognized(kind: Kind, why: string, body: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summarize(body)})`);
}

const SHOWN_BYTES = 30;

function summarize(body: string): string {
  const bytes = Buffer.from(body, 'utf8');
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, SHOWN_BYTES);
  const text = bytes[0] === '{'.charCodeAt(0) ? shown.toString('utf8') : shown.toString('hex');
  return bytes.length > SHOWN_BYTES ? `${text} ...` : text;
}

function checkKind(kind: Kind, given: JsonObject, shown: string): void {
  const claimedKind = textOr(given['kind'], kind.kind);
  const expected = apiVersionOf(kind);
  if (kind.origin === 'custom') {
    const claimed = textOr(given['apiVersion'], '');
    if (claimed !== expected)
      throw badRequest(
        `the API version in the data (${claimed}) does not match the expected API version (${expected})`,
      );
    if (claimedKind === kind.kind) return;
    const metadata = isJsonObject(given['metadata']) ? given['metadata'] : {};
    throw invalid({ group: kind.group, kind: claimedKind }, textOr(metadata['name'], ''), [
      invalidValue('kind', claimedKind, `must be ${kind.kind}`),
    ]);
  }
  const claimed = textOr(given['apiVersion'], expected);
  if (claimed === expected && claimedKind === kind.kind) return;
  if (claimedKind === kind.kind && (otherVersion(kind, claimed) !== undefined || isFormerVersion(kind, claimed)))
    throw badRequest(`the API version in the data (${claimed}) does not match the expected API version (${expected})`);
  throw badRequest(`${shown}: ${foreignProblem(kind, given, claimed, claimedKind)}`);
}

/** Why an object of another kind cannot be taken: it does not even decode as what it claims, or it is not this kind. */
function foreignProblem(kind: Kind, given: JsonObject, apiVersion: string, claimedKind: string): string {
  const foreign = foreignKind(apiVersion, claimedKind);
  if (foreign === undefined) {
    const version = apiVersion.split('/').at(-1) ?? '';
    const named = apiVersion.includes('/') ? apiVersion : version;
    return `no kind "${claimedKind}" is registered for version "${named}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  }
  if (foreign.schema !== undefined) {
    try {
      normalize(foreign.schema, given);
    } catch (error) {
      if (error instanceof DecodeError) return error.message;
      throw error;
    }
  }
  return `converting (${foreign.goName}) to (${internalName(kind)}): unknown conversion`;
}

function internalName(kind: Kind): string {
  const group = kind.group === '' ? 'core' : (kind.group.split('.')[0] ?? '');
  return `${group}.${kind.kind}`;
}

/**
 * Reads what a patch made of an object.
 * @param shownResult of a strategic merge, the result as the refusal shows it; others are shown as JSON
 * @throws StatusError 422 without a name: the patched object does not decode
 */
export function decodePatched(
  kind: Kind,
  value: Json,
  fieldValidation: FieldValidation,
  patchWarnings: readonly string[] = [],
  shownResult?: string,
): Decoded {
  const refused = (why: string): StatusError =>
    invalid({ group: '', kind: '' }, '', [invalidValue('patch', shownResult ?? stringifyCanonical(value), why)]);
  const isStrategic = shownResult !== undefined;
  const given: JsonObject = isJsonObject(value) ? value : {};
  if (!isStrategic) {
    const wrong = ['apiVersion', 'kind'].find((field) => !isTextOrNothing(given[field]));
    if (wrong !== undefined) throw refused(wrongClaim(wrong, given[wrong] ?? null));
    checkPatchedKind(kind, given, refused);
  }
  // The server's decoder then fills an object of its own, and the one that it goes on with stays empty.
  if (!isStrategic && textOr(given['apiVersion'], '') === '') return { object: { metadata: {} }, warnings: [] };
  let completed: ReturnType<typeof completeObject>;
  try {
    completed = completeObject(kind, given, isStrategic ? 'converter' : 'json');
  } catch (error) {
    if (error instanceof DecodeError) throw refused(error.message);
    throw error;
  }
  if (fieldValidation === 'Ignore') return { object: completed.object, warnings: [] };
  const unknown = strictProblems(stringifyCanonical(value), strictSchema(kind));
  const warnings = [...patchWarnings, ...unknown, ...completed.dropped.map((path) => `unknown field "${path}"`)];
  if (fieldValidation === 'Strict' && warnings.length > 0)
    throw refused(`strict decoding error: ${warnings.join(', ')}`);
  return { object: completed.object, warnings };
}

function checkPatchedKind(kind: Kind, given: JsonObject, refused: (why: string) => StatusError): void {
  const isCustom = kind.origin === 'custom';
  const claimedKind = textOr(given['kind'], isCustom ? '' : kind.kind);
  const claimed = textOr(given['apiVersion'], isCustom ? '' : apiVersionOf(kind));
  if (claimedKind === kind.kind && (claimed === apiVersionOf(kind) || isFormerVersion(kind, claimed))) return;
  if (!isCustom) throw refused(foreignProblem(kind, given, claimed, claimedKind));
  if (claimedKind === '') throw refused(`Object 'Kind' is missing in '${stringifyCanonical(given)}'`);
  if (claimed === '') throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const errors = [
    ...(claimedKind === kind.kind ? [] : [invalidValue('kind', claimedKind, `must be ${kind.kind}`)]),
    ...(claimed === apiVersionOf(kind) ? [] : [invalidValue('apiVersion', claimed, `must be ${apiVersionOf(kind)}`)]),
  ];
  const metadata = isJsonObject(given['metadata']) ? given['metadata'] : {};
  const group = claimed.includes('/') ? (claimed.split('/')[0] ?? '') : '';
  throw invalid({ group, kind: claimedKind }, textOr(metadata['name'], ''), errors);
}
