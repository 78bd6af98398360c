import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject, setOwn } from '../../codec/json.ts';
import type { ListTypeSchema, Schema } from '../schema/schema.ts';
import { fieldElement, itemElement, type Element } from './element.ts';
import type { FieldSet } from './fieldSet.ts';
import { fieldSchema, shapeOf } from './shape.ts';

/**
 * Lays an applied configuration over an object. Leaves, atomic maps and atomic lists of the configuration replace what is
 * there; maps and structs merge by field, lists by the identity of their items. Nothing is removed by this.
 */
export function mergeApplied(schema: Schema, live: Json | undefined, config: Json | undefined): Json | undefined {
  if (config === undefined) return live;
  const shape = shapeOf(schema, config);
  const bothEmpty = partsOf(live) === 0 && partsOf(config) === 0;
  if (shape.kind === 'leaf' || shape.atomic || bothEmpty) return config;
  if (shape.kind === 'list')
    return mergeLists(shape.schema, Array.isArray(live) ? live : [], Array.isArray(config) ? config : []);
  return mergeKeyed(shape.schema, isJsonObject(live) ? live : {}, isJsonObject(config) ? config : {});
}

function partsOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  return value === undefined || value === null ? 0 : 1;
}

function mergeKeyed(schema: Schema, live: JsonObject, config: JsonObject): Json | undefined {
  const out: JsonObject = {};
  for (const name of new Set([...Object.keys(live), ...Object.keys(config)])) {
    const child = fieldSchema(schema, name);
    const [mine, theirs] = [live[name], config[name]];
    const merged = child === undefined ? (theirs ?? mine) : mergeApplied(child, mine, theirs);
    if (merged !== undefined) setOwn(out, name, merged);
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

/**
 * Merges by identity. The order: items that both have follow the configuration; items that only one has keep their place
 * relative to their neighbours, those of the live list first.
 */
function mergeLists(schema: ListTypeSchema, live: readonly Json[], config: readonly Json[]): Json | undefined {
  const mine = identify(schema, live);
  const theirs = identify(schema, config);
  const liveByElement = firstByElement(mine);
  const configByElement = firstByElement(theirs);
  const shared = theirs.map(({ element }) => element).filter((element) => liveByElement.has(element));
  const out: Json[] = [];
  const done = new Set<Element>();
  const take = (element: Element): void => {
    done.add(element);
    const merged = mergeApplied(schema.items, liveByElement.get(element) ?? undefined, configByElement.get(element));
    if (merged !== undefined) out.push(merged);
    if (shared[0] === element) shared.shift();
  };
  let left = 0;
  for (let right = 0; left < mine.length || right < theirs.length;) {
    const [a, b] = [mine[left], theirs[right]];
    if (a !== undefined && b !== undefined) {
      if (a.element === b.element) {
        take(a.element);
        left += 1;
        right += 1;
        continue;
      }
      if (configByElement.has(a.element) && shared[0] !== undefined && shared[0] !== a.element) {
        left += 1;
        continue;
      }
    }
    if (a !== undefined && !configByElement.has(a.element)) {
      out.push(a.item);
      left += 1;
      continue;
    }
    if (a !== undefined && done.has(a.element)) left += 1;
    if (b !== undefined) {
      take(b.element);
      right += 1;
    }
  }
  return out.length === 0 ? undefined : out;
}

interface Identified {
  readonly element: Element;
  readonly item: Json;
}

function identify(schema: ListTypeSchema, list: readonly Json[]): Identified[] {
  return list.flatMap((item) => {
    const element = itemElement(schema, item);
    return typeof element === 'string' ? [{ element, item }] : [];
  });
}

/** Items by identity; an identity that several live items share merges with none of them. */
function firstByElement(items: readonly Identified[]): Map<Element, Json | undefined> {
  const found = new Map<Element, Json | undefined>();
  for (const { element, item } of items) found.set(element, found.has(element) ? undefined : item);
  return found;
}

/**
 * Removes the places of a set from an object: fields, keys and items. What loses its last part becomes null, as it does on
 * the real server; decoding then drops it.
 */
export function removeFields(schema: Schema, value: Json, toRemove: FieldSet): Json {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf') return value;
  if (partsOf(value) === 0 || shape.atomic) return null;
  if (shape.kind === 'list') return Array.isArray(value) ? removeItems(shape.schema, value, toRemove) : null;
  if (!isJsonObject(value)) return null;
  const out: JsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    const element = fieldElement(name);
    if (toRemove.members.has(element)) continue;
    const below = toRemove.children.get(element);
    const child = fieldSchema(shape.schema, name);
    setOwn(
      out,
      name,
      below === undefined || below.isEmpty || child === undefined ? part : removeFields(child, part, below),
    );
  }
  return Object.keys(out).length === 0 ? null : out;
}

function removeItems(schema: ListTypeSchema, list: readonly Json[], toRemove: FieldSet): Json {
  const kept: Json[] = [];
  for (const item of list) {
    const element = itemElement(schema, item);
    if (typeof element !== 'string') continue;
    if (toRemove.members.has(element)) continue;
    const below = toRemove.children.get(element);
    kept.push(below === undefined || below.isEmpty ? item : removeFields(schema.items, item, below));
  }
  return kept.length === 0 ? null : kept;
}
