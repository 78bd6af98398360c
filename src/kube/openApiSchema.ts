import { isJsonObject, setOwn, type Json, type JsonObject } from '../codec/json.ts';
import type { ListSchema, ListType } from '../core/listSchema.ts';
import type { Path, PathStep } from '../codec/path.ts';

const REFERENCE = '#/components/schemas/';
const MAX_INDIRECTIONS = 20;

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * The list types of one kind in an OpenAPI v3 document of the API server; undefined if the document does not have the kind.
 * Schemas are followed only as far as a path goes, so that those which contain themselves do no harm.
 * Source: Kubernetes documentation, "Server-Side Apply: Merge strategy", and the patch markers of strategic merge.
 */
export function schemaFromOpenApi(document: JsonObject, kind: Kind): ListSchema | undefined {
  const components = object(document['components']);
  const schemas = object(components['schemas']);
  const root = Object.values(schemas).find((schema) => isOfKind(schema, kind));
  if (!isJsonObject(root)) return undefined;
  const at = (path: Path): Node | undefined => nodeAt(schemas, root, path);
  return {
    listTypeAt: (path) => {
      const node = at(path);
      return node === undefined ? undefined : listTypeOf(schemas, node);
    },
    isAtomicMapAt: (path) => at(path)?.some((part) => part['x-kubernetes-map-type'] === 'atomic') ?? false,
  };
}

/**
 * What a document says about one kind: its schema and all that it refers to, without prose. `schemaFromOpenApi` finds in it
 * what it finds in the whole document.
 */
export function partForKind(document: JsonObject, kind: Kind): JsonObject {
  const schemas = object(object(document['components'])['schemas']);
  const part: JsonObject = {};
  const waiting = Object.keys(schemas).filter((name) => isOfKind(schemas[name] ?? null, kind));
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const schema = schemas[name];
    if (Object.hasOwn(part, name) || schema === undefined) continue;
    setOwn(part, name, schema);
    waiting.push(...referencesIn(schema));
  }
  return { components: { schemas: part } };
}

function referencesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isJsonObject(value)) return [];
  const reference = value['$ref'];
  return [
    ...(typeof reference === 'string' ? [reference.replace(REFERENCE, '')] : []),
    ...Object.values(value).flatMap(referencesIn),
  ];
}

/** A schema with all that it refers to: a member counts from the first part that has it. */
type Node = readonly JsonObject[];

function isOfKind(schema: Json, { group, version, kind }: Kind): boolean {
  const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
  if (!Array.isArray(kinds)) return false;
  return kinds.some(
    (entry) =>
      isJsonObject(entry) && entry['group'] === group && entry['version'] === version && entry['kind'] === kind,
  );
}

function nodeAt(schemas: JsonObject, root: JsonObject, path: Path): Node | undefined {
  let node: Node = resolve(schemas, root);
  for (const step of path) {
    const next = stepInto(node, step);
    if (next === undefined) return undefined;
    node = resolve(schemas, next);
  }
  return node;
}

/** The schema itself, what it refers to, and all parts of its `allOf`. */
function resolve(schemas: JsonObject, schema: JsonObject): Node {
  const parts: JsonObject[] = [];
  let waiting: JsonObject[] = [schema];
  for (let turn = 0; waiting.length > 0 && turn < MAX_INDIRECTIONS; turn += 1) {
    const next: JsonObject[] = [];
    for (const part of waiting) {
      parts.push(part);
      const reference = part['$ref'];
      const target = typeof reference === 'string' ? schemas[reference.replace(REFERENCE, '')] : undefined;
      if (isJsonObject(target)) next.push(target);
      if (Array.isArray(part['allOf'])) next.push(...part['allOf'].filter(isJsonObject));
    }
    waiting = next;
  }
  return parts;
}

function stepInto(node: Node, step: PathStep): JsonObject | undefined {
  if ('field' in step) return property(node, step.field);
  return member(node, 'items');
}

function property(node: Node, name: string): JsonObject | undefined {
  for (const part of node) {
    const properties = part['properties'];
    const found = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isJsonObject(found)) return found;
  }
  return member(node, 'additionalProperties');
}

function member(node: Node, name: string): JsonObject | undefined {
  for (const part of node) {
    const value = part[name];
    if (isJsonObject(value)) return value;
  }
  return undefined;
}

function listTypeOf(schemas: JsonObject, node: Node): ListType | undefined {
  const declared = first(node, 'x-kubernetes-list-type');
  const keys = texts(first(node, 'x-kubernetes-list-map-keys'));
  if (declared === 'atomic' || declared === 'set') return { type: declared };
  if (declared === 'map' && keys.length > 0) return mapOf(schemas, node, keys);
  if (declared !== undefined || !isMerged(node)) return undefined;
  const mergeKey = first(node, 'x-kubernetes-patch-merge-key');
  return typeof mergeKey === 'string' ? mapOf(schemas, node, [mergeKey]) : { type: 'set' };
}

/** Strategic merge: `merge` alone or among others (`merge,retainKeys`), on a list. */
function isMerged(node: Node): boolean {
  const strategy = first(node, 'x-kubernetes-patch-strategy');
  return typeof strategy === 'string' && strategy.split(',').includes('merge') && first(node, 'type') === 'array';
}

function mapOf(schemas: JsonObject, node: Node, keys: readonly string[]): ListType {
  const items = member(node, 'items');
  const item = items === undefined ? [] : resolve(schemas, items);
  const required = new Set(item.flatMap((part) => texts(part['required'])));
  const defaults: Record<string, string | number> = {};
  for (const key of keys) {
    const schema = property(item, key);
    const value = schema === undefined ? undefined : first(resolve(schemas, schema), 'default');
    // A required key has no default; the document still carries Go's empty value for it.
    if (!required.has(key) && (typeof value === 'string' || typeof value === 'number') && value !== '' && value !== 0)
      defaults[key] = value;
  }
  return { type: 'map', keys, ...(Object.keys(defaults).length === 0 ? {} : { defaults }) };
}

function first(node: Node, name: string): Json | undefined {
  for (const part of node) if (part[name] !== undefined) return part[name];
  return undefined;
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
