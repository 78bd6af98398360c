import { equalJson, isJsonObject, type Json, type JsonObject } from '../../src/codec/json.ts';

type Entry = { manager: string; operation: 'Apply' | 'Update'; subresource: string; time: string; leaves: Set<string> };

/** Field ownership of two-level maps of plain values (`data`, `status`), enough for a writer to see who wrote what. */
export class FakeFields {
  /** `managedFields` after a write. */
  after(
    before: JsonObject | undefined,
    desired: JsonObject,
    actor: { manager: string; operation: 'Apply' | 'Update'; subresource?: string; body?: JsonObject },
    time: string,
  ): Json[] {
    const old = leavesOf(before ?? {});
    const young = leavesOf(desired);
    const changed = [...young].filter(([leaf, value]) => !equalJson(old.get(leaf), value)).map(([leaf]) => leaf);
    const claimed = actor.body === undefined ? changed : [...leavesOf(actor.body).keys()];
    const subresource = actor.subresource ?? '';
    const isOwn = (entry: Entry): boolean =>
      entry.manager === actor.manager && entry.operation === actor.operation && entry.subresource === subresource;
    const entries = entriesOf(before).map((entry) => ({
      ...entry,
      leaves: new Set([...entry.leaves].filter((leaf) => young.has(leaf) && (isOwn(entry) || !changed.includes(leaf)))),
    }));
    const own = entries.find(isOwn) ?? {
      manager: actor.manager,
      operation: actor.operation,
      subresource,
      time,
      leaves: new Set<string>(),
    };
    own.time = time;
    own.leaves = actor.body === undefined ? new Set([...own.leaves, ...claimed]) : new Set(claimed);
    if (!entries.includes(own)) entries.push(own);
    return entries.filter(({ leaves }) => leaves.size > 0).map(printed);
  }

  /** The causes of an apply's conflict. */
  conflicts(current: JsonObject, body: JsonObject, manager: string): JsonObject[] {
    const now = leavesOf(current);
    const differing = [...leavesOf(body)].filter(([leaf, value]) => now.has(leaf) && !equalJson(now.get(leaf), value));
    return entriesOf(current)
      .filter((entry) => entry.manager !== manager || entry.operation !== 'Apply')
      .flatMap((entry) =>
        differing
          .filter(([leaf]) => entry.leaves.has(leaf))
          .map(([leaf]) => ({
            reason: 'FieldManagerConflict',
            message: `conflict with "${entry.manager}"${entry.operation === 'Update' ? ' using v1' : ''}`,
            field: `.${leaf}`,
          })),
      );
  }

  /** What an apply makes of the object: its fields set, and those gone that its manager applied before and no longer sends. */
  merge(current: JsonObject, body: JsonObject, manager: string): JsonObject {
    const merged: JsonObject = { ...current };
    const entries = entriesOf(current);
    const own = entries.find((entry) => entry.manager === manager && entry.operation === 'Apply');
    const sent = leavesOf(body);
    for (const leaf of own?.leaves ?? []) {
      if (sent.has(leaf) || entries.some((entry) => entry !== own && entry.leaves.has(leaf))) continue;
      const [map = '', key = ''] = split(leaf);
      const { [key]: _gone, ...rest } = merged[map] as JsonObject;
      merged[map] = rest;
    }
    for (const [leaf, value] of sent) {
      const [map = '', key = ''] = split(leaf);
      const parent = merged[map];
      merged[map] = { ...(isJsonObject(parent) ? parent : {}), [key]: value };
    }
    return merged;
  }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function split(leaf: string): string[] {
  const at = leaf.indexOf('.');
  return [leaf.slice(0, at), leaf.slice(at + 1)];
}

function leavesOf(object: JsonObject): Map<string, Json> {
  const leaves = new Map<string, Json>();
  for (const map of ['data', 'status', 'spec']) {
    const members = object[map];
    if (isJsonObject(members)) for (const [key, value] of Object.entries(members)) leaves.set(`${map}.${key}`, value);
  }
  return leaves;
}

function entriesOf(object: JsonObject | undefined): Entry[] {
  const metadata = object?.['metadata'];
  const fields = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  return (Array.isArray(fields) ? fields : []).filter(isJsonObject).map((entry) => ({
    manager: text(entry['manager']),
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    subresource: text(entry['subresource']),
    time: text(entry['time']),
    leaves: new Set(
      Object.entries(entry['fieldsV1'] as Record<string, JsonObject>).flatMap(([map, keys]) =>
        Object.keys(keys).map((key) => `${map.slice(2)}.${key.slice(2)}`),
      ),
    ),
  }));
}

function printed({ manager, operation, subresource, time, leaves }: Entry): JsonObject {
  const fieldsV1: Record<string, JsonObject> = {};
  for (const leaf of leaves) {
    const [map = '', key = ''] = split(leaf);
    fieldsV1[`f:${map}`] = { ...fieldsV1[`f:${map}`], [`f:${key}`]: {} };
  }
  return {
    manager,
    operation,
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource === '' ? {} : { subresource }),
  };
}
