import { equalJson, isJsonObject, setOwn, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';
import { hashText } from '../hash.ts';
import { LateLeaves, layered, touchedPaths } from './layeredLeaves.ts';

/**
 * What an object says, flat: printed path to value (or its hash). Items of lists stand under their identity, not their
 * position, so that a shifted list is no change; nulls and empty maps and lists are absent, as they are to the server.
 */
export type Leaves = Pick<ReadonlyMap<string, string>, 'get' | 'has' | 'keys' | 'size'> & Iterable<[string, string]>;

/** A content with its leaves. */
export interface Content {
  readonly body: JsonObject;
  readonly leaves: Leaves;
}

/** Marks the leaf that keeps the order of a list's items; it is no content of its own. */
const ORDER = '\u0000';
const PRESENT = '+';
const MAX_VALUE = 128;
const MAX_ORDER = 200;
const METADATA = '.metadata';
const SKIPPED_METADATA = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'selfLink',
  'generation',
  'name',
  'namespace',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
]);
const KEYS: readonly (readonly string[])[] = [
  ['name'],
  ['type'],
  ['uid'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['containerPort'],
  ['port'],
  ['key'],
  ['mountPath'],
  ['devicePath'],
  ['ip'],
  ['id'],
];
const KEY_OF: Readonly<Record<string, readonly (readonly string[])[]>> = {
  conditions: [['type']],
  ownerReferences: [['uid']],
  volumeMounts: [['mountPath']],
};
const SIMPLE = /^[\w .:/@+=-]{0,128}$/;
const PLAIN = /^[A-Za-z_$][\w$-]*$/;
const TIMEKEEPING =
  /\.(last\w*(Time|Timestamp|Seen|Heartbeat)|renewTime|observedGeneration|heartbeatTime|lastUpdated|timestamp|probeTime)$/;
const LAST_APPLIED = '.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]';

/** The leaves of a whole object. What the server alone sets in metadata is left out. */
export function leavesOf(object: JsonObject): Map<string, string> {
  const leaves = new Map<string, string>();
  for (const [field, value] of Object.entries(object))
    if (field !== 'apiVersion' && field !== 'kind') visitMember(leaves, field, child('', field), value);
  return leaves;
}

/** The content of an object that nothing like it was seen of; its leaves are worked out when the first of them is asked for. */
export function contentOf(body: JsonObject): Content {
  return { body, leaves: new LateLeaves(() => leavesOf(body)) };
}

/**
 * The content of an object that is mostly the same as another one: only the leaves that differ are worked out, and what is
 * the same is shared, the body's parts too.
 */
export function contentAfter(before: Content, body: JsonObject): Content {
  const own = new Map<string, string | undefined>();
  const shared: JsonObject = {};
  for (const field in body) {
    const now = body[field] ?? null;
    if (field === 'apiVersion' || field === 'kind') setOwn(shared, field, now);
    else setOwn(shared, field, after(own, '', field, valueOf(before.body, field), now));
  }
  for (const field in before.body)
    if (!Object.hasOwn(body, field) && field !== 'apiVersion' && field !== 'kind')
      after(own, '', field, before.body[field], undefined);
  return { body: shared, leaves: layered(before.leaves, own) };
}

/** Notes what differs beneath a field, and returns its value with the parts of the old one that are the same. */
function after(
  own: Map<string, string | undefined>,
  parent: string,
  field: string,
  old: Json | undefined,
  now: Json | undefined,
): Json {
  if (now !== undefined && old !== undefined && equalJson(old, now)) return old;
  const path = child(parent, field);
  if (isJsonObject(old) && isJsonObject(now)) {
    const shared: JsonObject = {};
    for (const name in now) {
      const value = now[name] ?? null;
      const skipped = path === METADATA && SKIPPED_METADATA.has(name);
      setOwn(shared, name, skipped ? value : after(own, path, name, valueOf(old, name), value));
    }
    for (const name in old)
      if (!Object.hasOwn(now, name) && !(path === METADATA && SKIPPED_METADATA.has(name)))
        after(own, path, name, old[name], undefined);
    return shared;
  }
  const [gone, there] = [new Map<string, string>(), new Map<string, string>()];
  if (old !== undefined) visitMember(gone, field, path, old);
  if (now !== undefined) visitMember(there, field, path, now);
  for (const one of gone.keys()) if (!there.has(one)) own.set(one, undefined);
  for (const [one, value] of there) if (gone.get(one) !== value) own.set(one, value);
  return now ?? null;
}

/** A member that is the object's own. */
function valueOf(object: JsonObject, name: string): Json | undefined {
  return name === '__proto__' && !Object.hasOwn(object, name) ? undefined : object[name];
}

/** The leaves of hashes by path, as `observed` events have them where bodies are not kept. */
export function leavesOfHashes(hashes: Readonly<Record<string, string>>): Map<string, string> {
  const leaves = new Map<string, string>();
  for (const [path, hash] of Object.entries(hashes)) {
    const name = /^\.metadata\.(\w+)/.exec(path)?.[1];
    if (path !== '.apiVersion' && path !== '.kind' && (name === undefined || !SKIPPED_METADATA.has(name)))
      leaves.set(path, hash);
  }
  return leaves;
}

function child(path: string, field: string): string {
  return PLAIN.test(field) ? `${path}.${field}` : `${path}[${JSON.stringify(field)}]`;
}

/** What the server alone sets in an object's metadata is no content. */
function visitMember(leaves: Map<string, string>, field: string, path: string, value: Json): void {
  if (path !== METADATA || !isJsonObject(value)) visit(leaves, path, field, value);
  else
    for (const [name, item] of Object.entries(value))
      if (!SKIPPED_METADATA.has(name)) visit(leaves, child(METADATA, name), name, item);
}

function visit(leaves: Map<string, string>, path: string, field: string, value: Json): void {
  if (value === null) return;
  if (Array.isArray(value)) visitList(leaves, path, field, value);
  else if (isJsonObject(value))
    for (const [name, item] of Object.entries(value)) visit(leaves, child(path, name), name, item);
  else leaves.set(path, shown(value));
}

function visitList(leaves: Map<string, string>, path: string, field: string, list: readonly Json[]): void {
  if (list.length === 0) return;
  const steps = stepsOf(field, list);
  if (list.length <= MAX_ORDER) leaves.set(`${ORDER}${path}`, JSON.stringify(steps));
  for (const [index, item] of list.entries()) {
    const itemPath = path + (steps[index] ?? '');
    if (isJsonObject(item)) {
      leaves.set(itemPath, PRESENT);
      for (const [name, inner] of Object.entries(item)) visit(leaves, child(itemPath, name), name, inner);
    } else if (Array.isArray(item)) visitList(leaves, itemPath, '', item);
    else leaves.set(itemPath, steps[index]?.startsWith('[=') === true ? PRESENT : shown(item));
  }
}

/** How each item of a list is told from the others: by key, by value, or, where neither is unique, by position. */
export function stepsOf(field: string, list: readonly Json[]): string[] {
  if (list.every((item) => !isJsonObject(item) && !Array.isArray(item))) {
    const steps = list.map((item) => `[=${printed(item)}]`);
    return isUnique(steps) ? steps : positions(list);
  }
  if (!list.every(isJsonObject)) return positions(list);
  for (const keys of [...(Object.hasOwn(KEY_OF, field) ? (KEY_OF[field] ?? []) : []), ...KEYS]) {
    const steps = list.map((item) => keyStep(item, keys));
    if (steps.every((step) => step !== undefined) && isUnique(steps)) return steps;
  }
  return positions(list);
}

function keyStep(item: JsonObject, keys: readonly string[]): string | undefined {
  const parts: string[] = [];
  for (const key of keys) {
    const value = item[key] ?? (key === 'protocol' ? 'TCP' : null);
    if (value === null || typeof value === 'object') return undefined;
    parts.push(`${key}=${printed(value)}`);
  }
  return `[${parts.join(',')}]`;
}

function positions(list: readonly Json[]): string[] {
  return list.map((_item, index) => `[${index}]`);
}

function isUnique(values: readonly (string | undefined)[]): boolean {
  return new Set(values).size === values.length;
}

/** A scalar as text that tells it from every other one; long text by its hash. */
function shown(value: Json): string {
  if (typeof value !== 'string') return typeof value === 'object' ? stringifyJson(value) : String(value);
  return value.length <= MAX_VALUE ? `"${value}"` : shownHash(value);
}

function shownHash(text: string): string {
  return `#${hashText(text)}${hashText(text, 1)}`;
}

/** A scalar as it stands in a printed path. */
function printed(value: Json): string {
  return typeof value === 'string' && SIMPLE.test(value) ? `"${value}"` : stringifyJson(value);
}

/** A field that keeps time or counts, whose change says nothing about anyone's intent. */
export function isTimekeeping(path: string): boolean {
  return TIMEKEEPING.test(path) || path === LAST_APPLIED;
}

/** Paths whose value differs, order and timekeeping left out. */
export function changedPaths(before: Leaves, after: Leaves): string[] {
  return differing(before, after, isContent);
}

/** Paths of what keeps time, whose value differs. */
export function changedTimes(before: Leaves, after: Leaves): string[] {
  return differing(before, after, (path) => TIMEKEEPING.test(path));
}

/** Lists in both contents whose items are the same, in another order. */
export function changedOrders(before: Leaves, after: Leaves): string[] {
  const orders = differing(before, after, (path) => path.startsWith(ORDER));
  return orders.map((path) => path.slice(ORDER.length)).filter((list) => hasList(before, list) && hasList(after, list));
}

function differing(before: Leaves, after: Leaves, isWanted: (path: string) => boolean): string[] {
  const touched = touchedPaths(before, after);
  if (touched !== undefined) return touched.filter(isWanted);
  const paths: string[] = [];
  const [old, now] = [new Map(before), new Map(after)];
  for (const [path, value] of now) if (old.get(path) !== value && isWanted(path)) paths.push(path);
  for (const path of old.keys()) if (!now.has(path) && isWanted(path)) paths.push(path);
  return paths;
}

function isContent(path: string): boolean {
  return !path.startsWith(ORDER) && !isTimekeeping(path);
}

/** Whether two contents are the same in everything, order of lists included. */
export function sameLeaves(a: Leaves, b: Leaves): boolean {
  const touched = touchedPaths(a, b);
  if (touched !== undefined) return touched.length === 0;
  if (a.size !== b.size) return false;
  for (const [path, value] of a) if (b.get(path) !== value) return false;
  return true;
}

/** The paths of a list's items in their order, or undefined where there is no list (or it is too long to be kept). */
export function itemsOf(leaves: Leaves, path: string): string[] | undefined {
  const order = leaves.get(`${ORDER}${path}`);
  return order === undefined ? undefined : (JSON.parse(order) as string[]).map((step) => path + step);
}

/**
 * What an item is known by wherever it stands in its list: by its path, which has its key or value, or, where only its place
 * tells it from the others, by all that it says.
 */
export function itemIdentity(leaves: Leaves, item: string): string {
  if (!isByPlace(item)) return item;
  const inner = [...leaves].filter(([path]) => path.startsWith(item));
  return inWords(inner.map(([path, value]) => [path.slice(item.length), value])) ?? item;
}

/** The items of a list by their paths, each with its identity (see `itemIdentity`), in one pass over the leaves. */
export function identitiesOf(leaves: Leaves, list: string): ReadonlyMap<string, string> {
  const items = itemsOf(leaves, list) ?? [];
  const placed = new Map<string, [string, string][]>(items.filter(isByPlace).map((item) => [item, []]));
  if (placed.size > 0)
    for (const [path, value] of leaves) {
      const end = path.startsWith(list) ? path.indexOf(']', list.length) + 1 : 0;
      placed.get(path.slice(0, end))?.push([path.slice(end), value]);
    }
  return new Map(items.map((item) => [item, inWords(placed.get(item)) ?? item]));
}

function inWords(inner: [string, string][] | undefined): string | undefined {
  return inner === undefined ? undefined : JSON.stringify(inner.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What was asked for of contents that are still there: many paths of one list ask in turn. */
const listContents = new WeakMap<Leaves, Map<string, string | undefined>>();

/** All that a list says whatever the order of its items, hashed; undefined where there is none (or it is too long to be kept). */
export function contentOfList(leaves: Leaves, list: string): string | undefined {
  const known = listContents.get(leaves) ?? new Map<string, string | undefined>();
  if (!known.has(list)) {
    const content = JSON.stringify([...identitiesOf(leaves, list).values()].sort());
    known.set(list, hasList(leaves, list) ? shownHash(content) : undefined);
    listContents.set(leaves, known);
  }
  return known.get(list);
}

/** Whether a path is in a list without keys that says the same in both contents, in whatever order. */
export function isReordered(before: Leaves, after: Leaves, path: string): boolean {
  const list = /^(.*?)\[\d+\]/.exec(path)?.[1];
  if (list === undefined) return false;
  const content = contentOfList(after, list);
  return content !== undefined && content === contentOfList(before, list);
}

/** The path of the map or list that holds a field. */
export function mapOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('[')));
}

/** Whether a path ends in an item that only its place tells from the others. */
export function isByPlace(path: string): boolean {
  return /\[\d+\]$/.test(path);
}

/** Whether a path leads through a list whose items only their places tell apart: another one may stand there now. */
export function isPlaced(path: string): boolean {
  return /\[\d+\]/.test(path);
}

/** Whether a list stands at the path. */
export function hasList(leaves: Leaves, path: string): boolean {
  return leaves.has(`${ORDER}${path}`);
}

/** Drops paths that lie beneath another one of them: a removed item is one path, not each of its fields. */
export function outermost(paths: readonly string[]): string[] {
  const sorted = [...new Set(paths)].sort();
  const kept: string[] = [];
  for (const path of sorted) {
    const above = kept.at(-1);
    const beneath = above !== undefined && path.startsWith(above) && /^[.[]/.test(path.slice(above.length));
    if (!beneath) kept.push(path);
  }
  return kept;
}

/** The list that an item's path belongs to, the outermost one: `.spec.ports[port=80].name` is in `.spec.ports`. */
export function listOf(path: string): string | undefined {
  const at = path.search(/\[(=|\d+\]|[A-Za-z_]\w*=)/);
  return at < 0 ? undefined : path.slice(0, at);
}
