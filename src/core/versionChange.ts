import type { Json, JsonObject } from '../codec/json.ts';
import { equalJson, isJsonObject } from '../codec/json.ts';
import { diffObjects } from './diff.ts';
import type { Version } from './history.ts';
import type { ListSchema } from './listSchema.ts';
import { noListSchema } from './listSchema.ts';
import { changedEntries, ownedParts } from './managerChange.ts';
import { formatPath } from '../codec/path.ts';
import type { ObservedEvent } from './traceEvent.ts';

/** Which parts of an object changed. `spec` is everything outside metadata and status: the desired state, whatever its name. */
export interface ChangedParts extends NonNullable<Version['changed']> {
  /** Works out the paths, so that the contents can be dropped. */
  settle(): void;
}

/** Metadata that the server keeps for itself: changes of it alone are no change of the object. */
const BOOKKEEPING = new Set(['resourceVersion', 'managedFields', 'generation', 'selfLink']);

/**
 * What changed between two versions, or undefined where not enough of both was seen. Decided by content and never by
 * `generation` alone: a status write of a kind without a status subresource raises the generation too, and kinds without
 * a generation change as well.
 */
export function changedParts(before: ObservedEvent, after: ObservedEvent): ChangedParts | undefined {
  if (before.body !== undefined && after.body !== undefined) return new BodyChange(before.body, after.body);
  if (before.leaves !== undefined && after.leaves !== undefined) return leafChange(before.leaves, after.leaves);
  return metadataChange(before, after);
}

/** Flags at once, because every mark needs them; paths when somebody asks. */
class BodyChange implements ChangedParts {
  readonly spec: boolean;
  readonly status: boolean;
  readonly metadata: boolean;
  private source: { readonly before: JsonObject; readonly after: JsonObject } | undefined;
  private known: readonly string[] = [];

  constructor(before: JsonObject, after: JsonObject) {
    this.status = !equalJson(before['status'], after['status']);
    this.metadata = !equalMembers(before['metadata'], after['metadata'], BOOKKEEPING);
    this.spec = !equalMembers(before, after, ROOT_PARTS);
    this.source = { before, after };
  }

  get paths(): readonly string[] {
    this.settle();
    return this.known;
  }

  settle(): void {
    if (this.source !== undefined) {
      const changes = diffObjects(this.source.before, this.source.after, noListSchema);
      this.known = changes.map(({ path }) => formatPath(path)).filter((path) => !isBookkeepingPath(path));
      this.source = undefined;
    }
  }
}

const ROOT_PARTS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function equalMembers(a: Json | undefined, b: Json | undefined, except: ReadonlySet<string>): boolean {
  if (a === b) return true;
  if (!isJsonObject(a) || !isJsonObject(b)) return equalJson(a, b);
  let surplus = 0;
  for (const name in a) {
    if (except.has(name)) continue;
    surplus += 1;
    if (!Object.hasOwn(b, name) || !equalJson(a[name], b[name])) return false;
  }
  for (const name in b) if (!except.has(name)) surplus -= 1;
  return surplus === 0;
}

function isBookkeepingPath(path: string): boolean {
  return path.startsWith('.metadata.') && BOOKKEEPING.has(/^\.metadata\.(\w+)/.exec(path)?.[1] ?? '');
}

function leafChange(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): ChangedParts {
  const paths = [
    ...Object.keys(before).filter((path) => before[path] !== after[path]),
    ...Object.keys(after).filter((path) => !Object.hasOwn(before, path)),
  ].filter((path) => !isBookkeepingPath(path));
  return partsOf(paths);
}

/** Parts by the first step of printed paths. */
function partsOf(paths: readonly string[]): ChangedParts {
  const starts = (path: string, part: string): boolean =>
    path === part || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
  const metadata = paths.some((path) => starts(path, '.metadata'));
  const status = paths.some((path) => starts(path, '.status'));
  const ofType = (path: string): boolean => path === '.kind' || path === '.apiVersion';
  const spec = paths.some((path) => !starts(path, '.metadata') && !starts(path, '.status') && !ofType(path));
  return parts(spec, status, metadata, paths);
}

function parts(spec: boolean, status: boolean, metadata: boolean, paths: readonly string[]): ChangedParts {
  return { spec, status, metadata, paths, settle() {} };
}

/**
 * From metadata alone. What lies outside metadata is told only where managed fields name one writer of the change, or where
 * nothing else can have changed.
 */
function metadataChange(before: ObservedEvent, after: ObservedEvent): ChangedParts | undefined {
  const paths: string[] = [];
  const compare = (member: 'labels' | 'annotations' | 'finalizers' | 'ownerReferences' | 'deletionTimestamp'): void => {
    const changes = diffObjects(before[member], after[member], noListSchema);
    for (const { path } of changes) paths.push(formatPath([{ field: 'metadata' }, { field: member }, ...path]));
  };
  compare('labels');
  compare('annotations');
  compare('finalizers');
  compare('ownerReferences');
  compare('deletionTimestamp');
  const metadata = paths.length > 0;
  const writers = changedEntries(before.managedFields, after.managedFields).map(ownedParts);
  const raised = before.generation !== after.generation && before.deletionTimestamp === after.deletionTimestamp;
  if (writers.length > 0) {
    const status = writers.every((writer) => writer.status && !writer.spec);
    if (status) return parts(false, true, metadata, paths);
    if (writers.every((writer) => writer.spec && !writer.status)) {
      if (before.generation === undefined || raised) return parts(!metadata || raised, false, metadata, paths);
      if (metadata) return parts(false, false, metadata, paths);
    }
  }
  if (raised) return raisedBySpec(after) ? parts(true, false, metadata, paths) : undefined;
  return metadata ? parts(false, false, true, paths) : undefined;
}

/** Whether only desired state can have raised the generation: status has an endpoint of its own, or nobody owns any of it. */
function raisedBySpec(after: ObservedEvent): boolean {
  const entries = (after.managedFields ?? []).filter(isJsonObject);
  const ownsStatus = (entry: JsonObject): boolean =>
    isJsonObject(entry['fieldsV1']) && Object.hasOwn(entry['fieldsV1'], 'f:status');
  return entries.some((entry) => entry['subresource'] === 'status') || !entries.some(ownsStatus);
}

/**
 * The one word for a row: desired state before status before metadata. A version in which only the status changed is
 * `status`, whatever its generation does.
 */
export function changeLabel(changed: Version['changed']): 'spec' | 'status' | 'metadata' | 'none' | 'unknown' {
  if (changed === undefined) return 'unknown';
  if (changed.spec) return 'spec';
  if (changed.status) return 'status';
  return changed.metadata ? 'metadata' : 'none';
}

/** The changed paths of two versions by a schema, for details and diffs; undefined where a body is missing. */
export function changedPaths(before: Version, after: Version, schema: ListSchema): string[] | undefined {
  if (before.body === undefined || after.body === undefined) return undefined;
  return diffObjects(before.body, after.body, schema)
    .map(({ path }) => formatPath(path))
    .filter((path) => !isBookkeepingPath(path));
}
