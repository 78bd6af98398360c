import type { PatchOp } from './exchange.ts';

/** Whether a value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const segmentsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : value.map((item) => childOf(item, key));
  return isRecord(value) ? value[key] : undefined;
}

/** `/a/b/list[name=x]/c`: a filter yields the list of matching items, a key of a list maps over it. */
export function lookup(root: unknown, path: string): unknown {
  let value = root;
  for (const segment of segmentsOf(path)) {
    const filter = /^(.*)\[(\w+)=(.*)\]$/.exec(segment);
    value = childOf(value, filter?.[1] ?? segment);
    if (filter === null) continue;
    const items = Array.isArray(value) ? value : [];
    value = items.filter((item) => String(childOf(item, filter[2] ?? '')) === filter[3]);
  }
  return value;
}

/** Only these parts of a body, by their pointers; nothing at all for an empty list. */
export function selectParts(body: unknown, only: readonly string[]): unknown {
  return only.length === 0 ? undefined : Object.fromEntries(only.map((path) => [path, lookup(body, path) ?? null]));
}

/** Changes a document in place by the operations; missing parents are made. */
export function editDocument(
  document: Record<string, unknown>,
  operations: readonly PatchOp[],
): Record<string, unknown> {
  for (const { op, path, value } of operations) {
    const segments = segmentsOf(path);
    const last = segments.pop() ?? '';
    let target: unknown = document;
    for (const segment of segments) target = madeChild(target, segment);
    if (Array.isArray(target)) {
      const index = last === '-' ? target.length : Number(last);
      if (op === 'add') target.splice(index, 0, value);
      else if (op === 'remove') target.splice(index, 1);
      else target[index] = value;
    } else if (isRecord(target)) {
      if (op === 'remove') delete target[last];
      else target[last] = value;
    }
  }
  return document;
}

function madeChild(parent: unknown, key: string): unknown {
  const known = Array.isArray(parent) ? parent[Number(key)] : isRecord(parent) ? parent[key] : undefined;
  if (typeof known === 'object' && known !== null) return known;
  const made: Record<string, unknown> = {};
  if (isRecord(parent)) parent[key] = made;
  return made;
}
