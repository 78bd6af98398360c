import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject, parseJson } from '../codec/json.ts';
import type { Path, PathStep } from '../codec/path.ts';
import { formatPath, startsWith } from '../codec/path.ts';
import { english, type Translate } from './timeline/translate.ts';

/**
 * One entry of `metadata.managedFields`: a field manager and what it owns. A manager is a name that a client chose, not an
 * identity. Source: "Field management" in the Kubernetes documentation of Server-Side Apply.
 */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: string;
  /** Such as `status` or `scale`; absent for the main endpoint. */
  readonly subresource?: string;
  readonly apiVersion: string;
  /** When the entry last changed, as the server wrote it (whole seconds). */
  readonly time?: string;
  /** What is owned: values, and maps, structs and list items themselves (the `.` of FieldsV1). */
  readonly paths: readonly Path[];
  /** Those of `paths`, printed, that are owned as containers only: what lies beneath may belong to anyone. */
  readonly containers: ReadonlySet<string>;
}

/** The owners of an object's fields, in the server's order. Entries that are not understood are left out. */
export function ownersOf(managedFields: readonly Json[] | undefined): FieldOwner[] {
  const owners: FieldOwner[] = [];
  for (const entry of managedFields ?? []) {
    if (!isJsonObject(entry)) continue;
    const { manager, operation, subresource, apiVersion, time, fieldsV1 } = entry;
    if (typeof operation !== 'string') continue;
    owners.push({
      manager: typeof manager === 'string' ? manager : '',
      operation,
      ...(typeof subresource === 'string' && subresource !== '' ? { subresource } : {}),
      apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
      ...(typeof time === 'string' ? { time } : {}),
      ...parseFieldsV1(fieldsV1),
    });
  }
  return owners;
}

/** The paths of a FieldsV1 value; steps that are not understood are left out with all beneath them. */
function parseFieldsV1(fields: Json | undefined): { paths: Path[]; containers: Set<string> } {
  const paths: Path[] = [];
  const containers = new Set<string>();
  if (isJsonObject(fields)) collect(fields, [], paths, containers);
  return { paths, containers };
}

function collect(fields: JsonObject, path: Path, paths: Path[], containers: Set<string>): void {
  for (const [name, below] of Object.entries(fields)) {
    if (name === '.') {
      paths.push(path);
      containers.add(formatPath(path));
      continue;
    }
    const step = parseStep(name);
    if (step === undefined) continue;
    const next = [...path, step];
    if (isJsonObject(below) && Object.keys(below).length > 0) collect(below, next, paths, containers);
    else paths.push(next);
  }
}

function parseStep(name: string): PathStep | undefined {
  const rest = name.slice(2);
  try {
    switch (name.slice(0, 2)) {
      case 'f:':
        return { field: rest };
      case 'v:':
        return { value: parseJson(rest) };
      case 'k:': {
        const key = parseJson(rest);
        return isJsonObject(key) ? { key } : undefined;
      }
      case 'i:':
        return /^\d+$/.test(rest) ? { index: Number(rest) } : undefined;
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

/**
 * Who owns the value at a path: owners of the path itself, of something beneath it, or of a value that holds it as a whole
 * (an atomic list or map). Owning a map as a container does not make its other members one's own.
 */
export function ownersAt(owners: readonly FieldOwner[], path: Path): FieldOwner[] {
  return owners.filter((owner) =>
    owner.paths.some((owned) =>
      owned.length >= path.length
        ? startsWith(owned, path)
        : startsWith(path, owned) && !owner.containers.has(formatPath(owned)),
    ),
  );
}

/** A few words for people: `helm (Apply)`, `kube-controller-manager (Update, status)`. */
export function describeOwner(
  owner: Pick<FieldOwner, 'manager' | 'operation' | 'subresource'>,
  translate: Translate = english,
): string {
  const how = owner.subresource === undefined ? owner.operation : `${owner.operation}, ${owner.subresource}`;
  return `${owner.manager === '' ? translate('unnamed manager') : owner.manager} (${how})`;
}
