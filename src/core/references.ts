import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject } from '../codec/json.ts';
import type { Path } from '../codec/path.ts';

/** How one object points at another. By UID it means one incarnation, by name alone whatever holds the name. */
export interface Reference {
  /** Where the reference is, such as `.spec.claimRef`. */
  readonly path: Path;
  /**
   * `owner`: ownerReferences. `object`: an object reference (kind and name, often UID), such as claimRef, targetRef,
   * involvedObject, scaleTargetRef. `name`: a field whose kind is fixed by its place, such as a volume's secret.
   */
  readonly sort: 'owner' | 'object' | 'name';
  readonly kind: string;
  readonly apiVersion?: string;
  /** Absent: the referring object's own namespace, or none for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** Fields that name an object of a fixed kind; the value is a string, or an object with `name`. */
const BY_FIELD: Readonly<Record<string, string>> = {
  secretName: 'Secret',
  claimName: 'PersistentVolumeClaim',
  serviceAccountName: 'ServiceAccount',
  storageClassName: 'StorageClass',
  volumeName: 'PersistentVolume',
  nodeName: 'Node',
  ingressClassName: 'IngressClass',
  priorityClassName: 'PriorityClass',
  runtimeClassName: 'RuntimeClass',
  configMapRef: 'ConfigMap',
  configMapKeyRef: 'ConfigMap',
  secretRef: 'Secret',
  secretKeyRef: 'Secret',
  configMap: 'ConfigMap',
  secret: 'Secret',
};

/** Lists of `{name}` of a fixed kind. */
const BY_LIST: Readonly<Record<string, string>> = { imagePullSecrets: 'Secret', secrets: 'Secret' };

/**
 * The references that an object holds, in its own order: ownerReferences, everything shaped like an object reference, and
 * the well-known fields that name an object (volumes, environment, pull secrets, service account, storage class and the like).
 */
export function referencesOf(object: JsonObject): Reference[] {
  const found: Reference[] = [];
  const metadata = object['metadata'];
  const owners = isJsonObject(metadata) ? metadata['ownerReferences'] : undefined;
  if (Array.isArray(owners)) {
    for (const [index, owner] of owners.entries()) {
      const path: Path = [{ field: 'metadata' }, { field: 'ownerReferences' }, { index }];
      const reference = isJsonObject(owner) ? objectReference(path, owner, 'owner') : undefined;
      if (reference !== undefined) found.push(reference);
    }
  }
  for (const [field, value] of Object.entries(object)) {
    if (field !== 'metadata' && field !== 'kind' && field !== 'apiVersion') visit([{ field }], field, value, found);
  }
  return found;
}

function visit(path: Path, field: string, value: Json, found: Reference[]): void {
  if (typeof value === 'string') {
    const kind = Object.hasOwn(BY_FIELD, field) ? BY_FIELD[field] : undefined;
    if (kind !== undefined && value !== '' && field.endsWith('Name'))
      found.push({ path, sort: 'name', kind, name: value });
  } else if (Array.isArray(value)) {
    const kind = Object.hasOwn(BY_LIST, field) ? BY_LIST[field] : undefined;
    for (const [index, item] of value.entries()) {
      const here = [...path, { index }];
      if (kind !== undefined && isJsonObject(item) && typeof item['kind'] !== 'string') named(here, kind, item, found);
      else visit(here, '', item, found);
    }
  } else if (isJsonObject(value)) {
    const reference = objectReference(path, value, 'object');
    const kind = Object.hasOwn(BY_FIELD, field) ? BY_FIELD[field] : undefined;
    if (reference !== undefined) found.push(reference);
    else if (kind !== undefined) named(path, kind, value, found);
    if (field === 'template' && isJsonObject(value['metadata']))
      visit([...path, { field: 'spec' }], 'spec', value['spec'] ?? null, found);
    else for (const [name, item] of Object.entries(value)) visit([...path, { field: name }], name, item, found);
  }
}

function named(path: Path, kind: string, value: JsonObject, found: Reference[]): void {
  const name = value['name'];
  const namespace = value['namespace'];
  if (typeof name !== 'string' || name === '') return;
  found.push({
    path,
    sort: 'name',
    kind,
    name,
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
  });
}

/** A value with kind and name (or UID) is a reference to an object. */
function objectReference(path: Path, value: JsonObject, sort: 'owner' | 'object'): Reference | undefined {
  const { kind, name, apiVersion, namespace, uid } = value;
  if (typeof kind !== 'string' || typeof name !== 'string' || kind === '' || name === '') return undefined;
  return {
    path,
    sort,
    kind,
    name,
    ...(typeof apiVersion === 'string' && apiVersion !== '' ? { apiVersion } : {}),
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
  };
}

/** A string somewhere in an object that holds a UID. */
export interface UidMention {
  readonly path: Path;
  readonly uid: string;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const WORD = /[A-Za-z0-9][A-Za-z0-9-]*/g;

const ONE_UUID = new RegExp(UUID.source, 'i');

/**
 * A quick look whether any string may hold a UID at all; all UIDs are UUIDs, but for those of tests and odd servers. What a
 * value shares with one that is known to hold none is not looked at again.
 */
export function mayMentionUid(value: Json, odd: boolean, without?: Json, field = ''): boolean {
  if (typeof value === 'string') return odd || (value.length >= 36 && value.includes('-') && ONE_UUID.test(value));
  if (typeof value !== 'object' || value === null || value === without) return false;
  if (Array.isArray(value)) {
    const old = Array.isArray(without) ? without : undefined;
    for (let index = 0; index < value.length; index += 1)
      if (mayMentionUid(value[index] ?? null, odd, old?.[index])) return true;
    return false;
  }
  const old = isJsonObject(without) ? without : undefined;
  for (const name in value) {
    if (field === 'metadata' && (name === 'uid' || name === 'managedFields')) continue;
    const item = value[name];
    if (item !== undefined && item !== null && mayMentionUid(item, odd, old?.[name], name)) return true;
  }
  return false;
}

/**
 * Every string of an object that is, or holds as a word, a UID of which `isKnown` says yes: an outside thing's label, a
 * status, an annotation. The object's own `metadata.uid` and managed fields are not looked at.
 */
export function uidMentions(object: JsonObject, isKnown: (uid: string) => boolean): UidMention[] {
  const found: UidMention[] = [];
  const search = (path: Path, value: Json): void => {
    if (typeof value === 'string') {
      const words = new Set([value, ...(value.match(UUID) ?? []), ...(value.match(WORD) ?? [])]);
      for (const uid of words) if (uid !== '' && isKnown(uid)) found.push({ path, uid });
    } else if (Array.isArray(value)) for (const [index, item] of value.entries()) search([...path, { index }], item);
    else if (isJsonObject(value)) {
      for (const [field, item] of Object.entries(value)) {
        if (!isOwn(path, field)) search([...path, { field }], item);
      }
    }
  };
  search([], object);
  return found;
}

function isOwn(path: Path, field: string): boolean {
  const [first] = path;
  if (path.length !== 1) return false;
  return (
    first !== undefined &&
    'field' in first &&
    first.field === 'metadata' &&
    (field === 'uid' || field === 'managedFields')
  );
}
