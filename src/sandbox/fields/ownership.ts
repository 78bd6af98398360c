import type { JsonObject } from '../../codec/json.ts';
import type { Path } from '../../codec/path.ts';
import type { Kind } from '../kinds/kind.ts';
import { otherVersion } from '../kinds/versions.ts';
import { emptyOf } from '../schema/normalize.ts';
import type { Schema } from '../schema/schema.ts';
import { typingProblem } from './checkTypes.ts';
import { compareObjects, type Comparison } from './compare.ts';
import { fieldElement } from './element.ts';
import { FieldSet } from './fieldSet.ts';
import type { Managed, ManagedFields } from './managedFields.ts';

/** Fields of metadata that nobody owns: they are the server's, or they are the object's name. */
const NEVER_OWNED = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

/** Removes what nobody owns from a writer's set. */
export function ownable(set: FieldSet): FieldSet {
  return set.difference(NEVER_OWNED);
}

/** The fields that an endpoint resets, as a set; writes through it neither own nor take them. */
export function resetSet(paths: readonly Path[]): FieldSet {
  return FieldSet.of(...paths.map((path) => path.map((step) => fieldElement('field' in step ? step.field : ''))));
}

/** Compares two versions as a write through an endpoint sees them: without what the endpoint resets. */
export function compareWrite(schema: Schema, before: JsonObject, after: JsonObject, reset: FieldSet): Comparison {
  const { added, modified, removed } = compareObjects(schema, before, after);
  if (reset.isEmpty) return { added, modified, removed };
  return { added: added.without(reset), modified: modified.without(reset), removed: removed.without(reset) };
}

/** What an object is compared with that did not exist before: the value structs of built-in kinds are always there. */
export function emptyObject(
  kind: { readonly origin: 'built-in' | 'custom'; readonly schema: Schema },
  apiVersion: string,
  kindName: string,
): JsonObject {
  return { ...(kind.origin === 'built-in' ? emptyOf(kind.schema) : {}), apiVersion, kind: kindName };
}

/** An entry whose version cannot express the object: the server then gives up tracking, and forgets all entries. */
export class UntypableVersion extends Error {
  override readonly name = 'UntypableVersion';
}

/**
 * Drops the entries of versions that are not served any more.
 * @throws UntypableVersion where the object has fields that the version of an entry does not know, or a custom resource's
 *   entry is of another group
 */
export function servedEntries(entries: ManagedFields, kind: Kind, objects: readonly JsonObject[]): ManagedFields {
  const own = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  if ([...entries.values()].every((entry) => entry.apiVersion === own)) return entries;
  if (kind.origin === 'built-in')
    return new Map(
      [...entries].filter(
        ([, entry]) => entry.apiVersion === own || otherVersion(kind, entry.apiVersion) !== undefined,
      ),
    );
  const left: ManagedFields = new Map();
  for (const [key, entry] of entries) {
    if (entry.apiVersion.split('/')[0] !== kind.group) throw new UntypableVersion();
    const schema = entry.apiVersion === own ? kind.schema : kind.schemaOf(entry.apiVersion);
    if (schema === undefined) continue;
    const isTypable =
      entry.apiVersion === own ||
      objects.every((object) => typingProblem(schema, object, 'allow-duplicates') === undefined);
    if (!isTypable) throw new UntypableVersion();
    left.set(key, entry);
  }
  return left;
}

/** What a write changed, in the terms of the version that an entry speaks. */
export type Changes = (apiVersion: string) => Comparison;

/** Compares two versions of an object in each API version asked for; `own` is the comparison in the writer's. */
export function changesByVersion(
  kind: Kind,
  before: JsonObject,
  after: JsonObject,
  own: Comparison,
  reset: FieldSet,
): Changes {
  const known = new Map<string, Comparison>();
  return (apiVersion) => {
    const found = known.get(apiVersion);
    if (found !== undefined) return found;
    const other = otherVersion(kind, apiVersion);
    const change =
      other === undefined ? own : compareWrite(other.schema, other.convert(before), other.convert(after), reset);
    known.set(apiVersion, change);
    return change;
  };
}

/**
 * What a change takes from the other managers. Fields they own which got another value or came anew conflict; what is
 * gone from the object is gone from every entry, without conflict.
 */
export function conflictsWith(entries: ManagedFields, writer: string, change: Changes): Map<string, FieldSet> {
  const conflicts = new Map<string, FieldSet>();
  for (const [key, entry] of entries) {
    if (key === writer) continue;
    const { modified, added } = change(entry.apiVersion);
    const conflict = entry.set.intersection(modified.union(added));
    if (!conflict.isEmpty) conflicts.set(key, conflict);
  }
  return conflicts;
}

/** The entries after a change by `writer` that wins all conflicts. Entries that own nothing any more are gone. */
export function takeFields(
  entries: ManagedFields,
  writer: string,
  change: Changes,
  conflicts: ReadonlyMap<string, FieldSet>,
): ManagedFields {
  const left: ManagedFields = new Map();
  for (const [key, entry] of entries) {
    const set =
      key === writer
        ? entry.set
        : entry.set.difference(conflicts.get(key) ?? new FieldSet()).difference(change(entry.apiVersion).removed);
    if (!set.isEmpty) left.set(key, set === entry.set ? entry : { ...entry, set });
  }
  return left;
}

/**
 * Carries entries over a change of the schema: where a list or map has become atomic since, who owned parts of it owns
 * the whole now. (Only custom resources change their schema.)
 */
export function reconcile(entries: ManagedFields, kind: Kind): ManagedFields {
  const result: ManagedFields = new Map();
  for (const [key, entry] of entries) {
    const schema = otherVersion(kind, entry.apiVersion)?.schema ?? kind.schema;
    const set = reconcileSet(entry.set, schema);
    result.set(key, set === entry.set ? entry : ({ ...entry, set } satisfies Managed));
  }
  return result;
}

/** Whether a set names parts of what the schema now takes as a whole. */
function dividesAtomic(set: FieldSet, schema: Schema): boolean {
  for (const [element, child] of set.children) {
    const below = schemaBelow(schema, element);
    if (below !== undefined && (isAtomic(below) ? !child.isEmpty : dividesAtomic(child, below))) return true;
  }
  return false;
}

function reconcileSet(set: FieldSet, schema: Schema): FieldSet {
  if (!dividesAtomic(set, schema)) return set;
  const result = new FieldSet();
  for (const element of set.members) result.members.add(element);
  for (const [element, child] of set.children) {
    const below = schemaBelow(schema, element);
    if (below !== undefined && isAtomic(below) && !child.isEmpty) {
      result.members.add(element);
      continue;
    }
    result.children.set(element, below === undefined ? child : reconcileSet(child, below));
  }
  return result;
}

function schemaBelow(schema: Schema, element: string): Schema | undefined {
  if (schema.type === 'struct') return schema.fields.get(element.slice(2))?.schema;
  if (schema.type === 'map') return schema.values;
  return schema.type === 'list' ? schema.items : undefined;
}

function isAtomic(schema: Schema): boolean {
  return schema.type === 'list'
    ? schema.merge === 'atomic'
    : (schema.type === 'map' || schema.type === 'struct') && schema.atomic;
}
