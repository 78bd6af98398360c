import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { FieldSet } from './fieldSet.ts';

/**
 * Who an entry of managedFields belongs to. Two writes share an entry when all of this is the same; an applier keeps its
 * entry over API versions, an updater has one for each.
 */
export interface ManagerId {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** '' for appliers. */
  readonly apiVersion: string;
  readonly subresource: string;
}

/** What one manager owns, in the terms of which version, and when it last changed something. */
export interface Managed {
  readonly id: ManagerId;
  readonly apiVersion: string;
  readonly set: FieldSet;
  /** In whole seconds; an applier that only agreed with what was there has none. */
  readonly time: string | undefined;
}

/** All entries of an object by the text of their ManagerId. */
export type ManagedFields = Map<string, Managed>;

/** The identity as the server spells it; conflicts are listed in the order of these texts. */
export function managerKey(id: ManagerId): string {
  return JSON.stringify({
    manager: id.manager,
    operation: id.operation,
    ...(id.apiVersion === '' ? {} : { apiVersion: id.apiVersion }),
    ...(id.subresource === '' ? {} : { subresource: id.subresource }),
  });
}

/** The identity of a writer. */
export function managerId(
  manager: string,
  operation: 'Apply' | 'Update',
  apiVersion: string,
  subresource: string,
): ManagerId {
  return {
    manager: manager === '' ? 'unknown' : manager,
    operation,
    apiVersion: operation === 'Apply' ? '' : apiVersion,
    subresource,
  };
}

/** What was printed last, and what it says: who wrote an object once often writes it again. */
const printed = new Map<Json[], ManagedFields>();
const MAX_PRINTED = 500;

function remember(list: Json[], entries: ManagedFields): void {
  printed.set(list, entries);
  if (printed.size <= MAX_PRINTED) return;
  const [oldest] = printed.keys();
  if (oldest !== undefined) printed.delete(oldest);
}

/** Reads `metadata.managedFields`; undefined where any entry is malformed. What it answers is not to be changed. */
export function readManagedFields(value: Json | undefined): ManagedFields | undefined {
  const entries: ManagedFields = new Map();
  if (value === undefined || value === null) return entries;
  if (!Array.isArray(value)) return undefined;
  const known = printed.get(value);
  if (known !== undefined) return known;
  for (const item of value) {
    const entry = readEntry(item);
    if (entry === undefined) return undefined;
    entries.set(managerKey(entry.id), entry);
  }
  return entries;
}

function readEntry(item: Json): Managed | undefined {
  if (!isJsonObject(item)) return undefined;
  const { operation } = item;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  const apiVersion = text(item['apiVersion']);
  if (apiVersion === '' || item['fieldsType'] !== 'FieldsV1') return undefined;
  const set = FieldSet.fromFieldsV1(item['fieldsV1']);
  if (set === undefined) return undefined;
  const subresource = text(item['subresource']);
  const id: ManagerId = {
    manager: text(item['manager']),
    operation,
    apiVersion: operation === 'Apply' ? '' : apiVersion,
    subresource,
  };
  return { id, apiVersion, set, time: typeof item['time'] === 'string' ? item['time'] : undefined };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Prints entries as `metadata.managedFields`: appliers first, then by time, manager, version, subresource. */
function printManagedFields(entries: ManagedFields): JsonObject[] {
  const sorted = [...entries].sort(([, a], [, b]) => compareEntries(a, b));
  const list = sorted.map(([, entry]) => printEntry(entry));
  remember(list, new Map(sorted));
  return list;
}

function printEntry({ id, apiVersion, set, time }: Managed): JsonObject {
  const entry: JsonObject = {};
  if (id.manager !== '') entry['manager'] = id.manager;
  entry['operation'] = id.operation;
  entry['apiVersion'] = apiVersion;
  if (time !== undefined) entry['time'] = time;
  entry['fieldsType'] = 'FieldsV1';
  entry['fieldsV1'] = set.toFieldsV1();
  if (id.subresource !== '') entry['subresource'] = id.subresource;
  return entry;
}

function compareEntries(a: Managed, b: Managed): number {
  return (
    compareText(a.id.operation, b.id.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.id.manager, b.id.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.id.subresource, b.id.subresource)
  );
}

/** The order of two texts, as a comparer answers it. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Whether a client asks to forget all ownership: a list of one empty entry, or an empty list, which custom resources
 * cannot tell from none.
 */
export function asksForReset(value: Json | undefined, origin: 'built-in' | 'custom'): boolean {
  if (!Array.isArray(value)) return false;
  const [only] = value;
  return (
    (value.length === 0 && origin === 'built-in') ||
    (value.length === 1 && isJsonObject(only) && Object.keys(only).length === 0)
  );
}

/** The managedFields of an object. */
export function managedFieldsOf(object: JsonObject | undefined): Json | undefined {
  const metadata = object?.['metadata'];
  return isJsonObject(metadata) ? metadata['managedFields'] : undefined;
}

/** The object without its managedFields, or with others. The object given is not changed. */
export function withManagedFields(object: JsonObject, entries: ManagedFields | undefined): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { managedFields: _, ...rest } = metadata;
  if (entries !== undefined && entries.size > 0) rest['managedFields'] = printManagedFields(entries);
  return { ...object, metadata: rest };
}
