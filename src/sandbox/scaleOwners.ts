import { cloneJson, isJsonObject, type Json, type JsonObject } from '../codec/json.ts';

/**
 * How a write through /scale changes the owners of an object. The API server tracks it on the Scale, whose one field is
 * the replicas (which it does not have where they are 0, so that nobody owns them), and carries that back to the parent (its ScaleHandler). On the way entries lose their time, and an owner
 * by a plain Update gets an entry for the replicas apart from its other fields; of two entries with one identity, the next
 * write through /scale reads only the last. Replicas that nobody owns stay so: the Scale is then not tracked.
 */
export function ownersAfterScale(
  entries: readonly Json[],
  write: { manager: string; changed: boolean; replicas: number; apiVersion: string; path: readonly string[] },
): JsonObject[] {
  const fields = write.path.map((name) => `f:${name}`);
  const parents = [...new Map(entries.filter(isJsonObject).map((entry) => [identityOf(entry), entry])).values()];
  const owners = parents.filter((entry) => owns(entry, fields));
  const stays = (entry: JsonObject): boolean => !write.changed && entry['operation'] === 'Apply';
  const kept = parents
    .map((entry) => (stays(entry) ? entry : without(entry, fields)))
    .filter((entry) => entry !== undefined);
  const replicas = fields.reduceRight<JsonObject>((inner, field) => ({ [field]: inner }), {});
  const scaleEntry = (entry: JsonObject): JsonObject => ({
    ...pick(entry, ['manager', 'operation']),
    apiVersion: write.apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1: replicas,
    ...pick(entry, ['subresource']),
  });
  const writer = { manager: write.manager, operation: 'Update', subresource: 'scale' };
  const changers = owners.length === 0 || write.replicas === 0 ? [] : [writer];
  const scaled = (write.changed ? changers : owners.filter((entry) => !stays(entry))).map(scaleEntry);
  return [...scaled, ...kept].sort((a, b) => rank(a) - rank(b));
}

/** Entries of Apply come before those of Update, and entries without a time before those with one. */
function rank(entry: JsonObject): number {
  return (entry['operation'] === 'Apply' ? 0 : 2) + (entry['time'] === undefined ? 0 : 1);
}

function identityOf(entry: JsonObject): string {
  const version = entry['operation'] === 'Apply' ? null : (entry['apiVersion'] ?? null);
  return JSON.stringify([entry['manager'], entry['operation'], entry['subresource'] ?? '', version]);
}

function pick(entry: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name] ?? null]),
  );
}

function owns(entry: JsonObject, fields: readonly string[]): boolean {
  let set: Json | undefined = entry['fieldsV1'];
  for (const field of fields) set = isJsonObject(set) ? set[field] : undefined;
  return set !== undefined;
}

/** The entry without the replicas; undefined if nothing else is left in it. */
function without(entry: JsonObject, fields: readonly string[]): JsonObject | undefined {
  if (!owns(entry, fields)) return entry;
  const set = cloneJson(entry['fieldsV1'] ?? {});
  if (isJsonObject(set)) drop(set, fields);
  return isJsonObject(set) && Object.keys(set).length > 0 ? { ...entry, fieldsV1: set } : undefined;
}

function drop(set: JsonObject, [field, ...rest]: readonly string[]): void {
  const child = field === undefined ? undefined : set[field];
  if (field === undefined || !isJsonObject(child)) return;
  if (rest.length > 0) drop(child, rest);
  if (rest.length === 0 || Object.keys(child).length === 0) delete set[field];
}
