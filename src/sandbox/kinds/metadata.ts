import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson } from '../../codec/json.ts';
import { goQuote } from '../goText.ts';
import { forbiddenField, invalidValue, required, tooLong, type FieldError } from '../status.ts';
import { objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { labelValue, qualifiedName, type NameCheck } from './names.ts';
import { plainText } from '../schema/plainText.ts';

const IMMUTABLE = 'field is immutable';
const ANNOTATION_BYTES = 256 * 1024;
const MANAGER_BYTES = 128;
const SUBRESOURCE_BYTES = 256;
const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** What is wrong with the metadata of an object, on its own. `isBuiltIn`: finalizers must be standard or qualified. */
export function metadataErrors(
  object: JsonObject,
  namespaced: boolean,
  checkName: NameCheck,
  isBuiltIn: boolean,
  shared: readonly FieldError[] = sharedErrors(objectAt(object, 'metadata')),
): FieldError[] {
  const metadata = objectAt(object, 'metadata');
  const name = textAt(metadata, 'name');
  const generateName = textAt(metadata, 'generateName');
  const errors: FieldError[] = [];
  if (generateName !== '') errors.push(...checkGenerateName(generateName, checkName));
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...checkName(name).map((text) => invalidValue('metadata.name', name, text)));
  if (!namespaced && textAt(metadata, 'namespace') !== '')
    errors.push(forbiddenField('metadata.namespace', 'not allowed on this type'));
  errors.push(...shared, ...finalizerErrors(textsAt(metadata, 'finalizers'), isBuiltIn));
  return errors;
}

/** A prefix may end in a dash, which stands for the suffix to come. */
function checkGenerateName(prefix: string, checkName: NameCheck): FieldError[] {
  const stem = prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;
  return checkName(stem).map((text) => invalidValue('metadata.generateName', prefix, text));
}

/** Labels, annotations and owners: checked on create and on every update. */
function sharedErrors(metadata: JsonObject): FieldError[] {
  return [
    ...labelErrors(objectAt(metadata, 'labels'), 'metadata.labels'),
    ...annotationErrors(objectAt(metadata, 'annotations'), 'metadata.annotations'),
    ...ownerErrors(objectsAt(metadata, 'ownerReferences')),
    ...managerErrors(objectsAt(metadata, 'managedFields')),
  ];
}

/** What is wrong with labels. */
export function labelErrors(labels: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const text of qualifiedName(key)) errors.push(invalidValue(field, key, text));
    for (const text of labelValue(plainText(value))) errors.push(invalidValue(field, value, text));
  }
  return errors;
}

/** What is wrong with annotations; their keys are compared without regard to case. */
export function annotationErrors(annotations: JsonObject, field: string): FieldError[] {
  const errors = Object.keys(annotations).flatMap((key) =>
    qualifiedName(key.toLowerCase()).map((text) => invalidValue(field, key, text)),
  );
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(plainText(value)),
    0,
  );
  return bytes > ANNOTATION_BYTES ? [...errors, tooLong(field, ANNOTATION_BYTES)] : errors;
}

/** Entries of managedFields that a client wrote by hand. */
function managerErrors(entries: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const check = (index: number, name: string, limit: number): void => {
    if (isLongerThan(textAt(entries[index], name), limit))
      errors.push(tooLong(`metadata.managedFields[${index}].${name}`, limit));
  };
  for (let index = 0; index < entries.length; index += 1) {
    check(index, 'manager', MANAGER_BYTES);
    check(index, 'subresource', SUBRESOURCE_BYTES);
  }
  return errors;
}

/** A character is at most three bytes for each of its UTF-16 units. */
function isLongerThan(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

function ownerErrors(owners: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const owner of owners) {
    const field = 'metadata.ownerReferences';
    const version = textAt(owner, 'apiVersion').split('/');
    if (version.length > 2 || (version.at(-1) ?? '') === '') {
      errors.push(invalidValue(`${field}.apiVersion`, textAt(owner, 'apiVersion'), 'version must not be empty'));
    }
    for (const name of ['kind', 'name', 'uid']) {
      if (textAt(owner, name) === '') errors.push(invalidValue(`${field}.${name}`, '', 'must not be empty'));
    }
    if (textAt(owner, 'apiVersion') === 'v1' && textAt(owner, 'kind') === 'Event') {
      errors.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner['controller'] !== true) continue;
    const current = `${textAt(owner, 'kind')}/${textAt(owner, 'name')}`;
    if (controller === '') controller = current;
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(invalidValue(field, [...owners], why));
    }
  }
  return errors;
}

function finalizerErrors(finalizers: readonly string[], isBuiltIn: boolean): FieldError[] {
  const errors = finalizers.flatMap((name) =>
    qualifiedName(name).map((text) => invalidValue('metadata.finalizers', name, text)),
  );
  if (finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND)) {
    errors.push(
      invalidValue('metadata.finalizers', [...finalizers], `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`),
    );
  }
  return isBuiltIn ? [...errors, ...unqualifiedErrors(finalizers)] : errors;
}

function unqualifiedErrors(finalizers: readonly string[]): FieldError[] {
  return finalizers.flatMap((name, index) =>
    name.includes('/') || STANDARD_FINALIZERS.has(name)
      ? []
      : [
          invalidValue(
            `metadata.finalizers[${index}]`,
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

/**
 * What an update may not do to metadata. `metadata.resourceVersion` and `generation` are the server's business by then.
 * `isBuiltIn`: finalizers must be standard or qualified.
 */
export function metadataUpdateErrors(
  next: JsonObject,
  live: JsonObject,
  isBuiltIn: boolean,
  shared: readonly FieldError[] = sharedErrors(objectAt(next, 'metadata')),
): FieldError[] {
  const [mine, stored] = [objectAt(next, 'metadata'), objectAt(live, 'metadata')];
  const errors: FieldError[] = [];
  if (stored['deletionTimestamp'] !== undefined) {
    const known = new Set(textsAt(stored, 'finalizers'));
    const added = textsAt(mine, 'finalizers').filter((name) => !known.has(name));
    if (added.length > 0) errors.push(noNewFinalizers(added));
  }
  for (const name of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ]) {
    errors.push(...immutable(mine[name], stored[name], `metadata.${name}`));
  }
  return [...errors, ...shared, ...(isBuiltIn ? unqualifiedErrors(textsAt(mine, 'finalizers')) : [])];
}

/**
 * The errors of any update: the server first checks metadata in general, what changed and then the whole, before the kind
 * checks them again. That is why they come repeated.
 */
export function generalUpdateErrors(
  next: JsonObject,
  live: JsonObject,
  shared: readonly FieldError[] = sharedErrors(objectAt(next, 'metadata')),
): FieldError[] {
  const metadata = objectAt(next, 'metadata');
  return [
    ...metadataUpdateErrors(next, live, false, shared),
    ...shared,
    ...finalizerErrors(textsAt(metadata, 'finalizers'), false),
  ];
}

/**
 * All errors of the metadata of a built-in kind's update: the general ones, then those that the kind repeats, `changes`
 * times of what changed and `whole` times of the new metadata on its own.
 */
export function updateErrors(
  next: JsonObject,
  live: JsonObject,
  checks: { namespaced: boolean; checkName: NameCheck; isBuiltIn: boolean; changes: number; whole: number },
): FieldError[] {
  const shared = sharedErrors(objectAt(next, 'metadata'));
  const errors = generalUpdateErrors(next, live, shared);
  for (let count = 0; count < checks.changes; count += 1)
    errors.push(...metadataUpdateErrors(next, live, checks.isBuiltIn, shared));
  for (let count = 0; count < checks.whole; count += 1)
    errors.push(...metadataErrors(next, checks.namespaced, checks.checkName, true, shared));
  return errors;
}

function noNewFinalizers(added: readonly string[]): FieldError {
  const shown = `[]string{${[...new Set(added)].sort().map(goQuote).join(', ')}}`;
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
  return forbiddenField('metadata.finalizers', why);
}

/** The error of a field that may not change, if it did. */
export function immutable(next: Json | undefined, live: Json | undefined, field: string): FieldError[] {
  if (equalJson(next ?? null, live ?? null)) return [];
  if (next !== undefined && next !== null) return [invalidValue(field, next, IMMUTABLE)];
  return [{ reason: 'FieldValueInvalid', field, message: `Invalid value: null: ${IMMUTABLE}` }];
}
