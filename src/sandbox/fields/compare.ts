import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import type { ListTypeSchema, Schema } from '../schema/schema.ts';
import { fieldElement, itemElement, type Element } from './element.ts';
import { FieldSet } from './fieldSet.ts';
import { fieldSchema, isNamedField, shapeOf, type Shape } from './shape.ts';

/** What differs between two versions of an object, by place. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/**
 * Compares two versions of an object as ownership sees them: leaf by leaf, items of lists by their keys, atomic maps and
 * lists as one leaf. A map, list or struct that did not exist before is itself added, beside its parts: that is the `.`
 * of managedFields.
 */
export function compareObjects(schema: Schema, before: JsonObject, after: JsonObject): Comparison {
  const comparer = new Comparer();
  comparer.compare(schema, before, after);
  return comparer;
}

class Comparer implements Comparison {
  readonly added = new FieldSet();
  readonly modified = new FieldSet();
  readonly removed = new FieldSet();

  /** The place that is being compared. */
  private readonly path: Element[] = [];

  compare(schema: Schema, before: Json | undefined, after: Json | undefined): void {
    if (before === after) return;
    const [was, is] = [shapeOf(schema, before), shapeOf(schema, after)];
    const changesShape = before !== undefined && after !== undefined && was.kind !== is.kind;
    if (changesShape) this.byShape(was, before, after);
    const isLeaf = this.byShape(after === undefined ? was : is, before, after);
    if (isLeaf) return;
    if (before === undefined) this.added.insert(this.path);
    else if (after === undefined) this.removed.insert(this.path);
  }

  private below(element: Element, compare: () => void): void {
    this.path.push(element);
    compare();
    this.path.pop();
  }

  /** Compares the parts; returns true where the whole is one leaf, which is then compared here. */
  private byShape(shape: Shape, before: Json | undefined, after: Json | undefined): boolean {
    if (shape.kind === 'leaf' || shape.atomic || (isEmptyOrNull(before) && isEmptyOrNull(after))) {
      this.leaf(before, after);
      return true;
    }
    if (shape.kind === 'list') this.items(shape.schema, before, after);
    else this.parts(shape.schema, isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {});
    return false;
  }

  private leaf(before: Json | undefined, after: Json | undefined): void {
    if (before === undefined) this.added.insert(this.path);
    else if (after === undefined) this.removed.insert(this.path);
    else if (!equalJson(before, after)) this.modified.insert(this.path);
  }

  private parts(schema: Schema, before: JsonObject, after: JsonObject): void {
    for (const name of Object.keys(before)) this.part(schema, name, before[name], own(after, name));
    for (const name of Object.keys(after))
      if (!Object.hasOwn(before, name)) this.part(schema, name, undefined, after[name]);
  }

  private part(schema: Schema, name: string, before: Json | undefined, after: Json | undefined): void {
    if (before === after) return;
    const child = fieldSchema(schema, name);
    if (child !== undefined) this.below(fieldElement(name), () => this.compare(child, before, after));
  }

  private items(schema: ListTypeSchema, before: Json | undefined, after: Json | undefined): void {
    const [was, is] = [groupItems(schema, before), groupItems(schema, after)];
    for (const element of new Set([...was.keys(), ...is.keys()])) {
      this.below(element, () => this.item(schema, was.get(element) ?? [], is.get(element) ?? []));
    }
  }

  /** Items that share an identity (kinds that allow it, such as duplicate env names) are compared as one leaf. */
  private item(schema: ListTypeSchema, before: readonly Json[], after: readonly Json[]): void {
    if (before.length <= 1 && after.length <= 1) {
      this.compare(schema.items, before[0], after[0]);
    } else if (before.length > 1 && after.length > 1) {
      if (!equalJson([...before], [...after])) this.modified.insert(this.path);
    } else if (before.length > 1) {
      if (after[0] !== undefined) this.compare(schema.items, undefined, after[0]);
      this.removed.insert(this.path);
    } else {
      if (before[0] !== undefined) this.compare(schema.items, before[0], undefined);
      this.added.insert(this.path);
    }
  }
}

/**
 * Every place that an applied configuration names: its leaves, the items of its lists and the keys of its maps. Structs
 * on the way are not named: whoever applies `spec.replicas` does not own `spec`.
 */
export function fieldSetOf(schema: Schema, value: Json): FieldSet {
  const set = new FieldSet();
  collect(schema, value, [], set);
  return set;
}

function collect(schema: Schema, value: Json, path: readonly Element[], set: FieldSet): void {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf' || shape.atomic) {
    set.insert(path);
  } else if (shape.kind === 'list') {
    for (const [element, items] of groupItems(shape.schema, value)) {
      const itemPath = [...path, element];
      const [only] = items;
      if (items.length === 1 && only !== undefined) collect(shape.schema.items, only, itemPath, set);
      set.insert(itemPath);
    }
  } else if (isJsonObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      const child = fieldSchema(shape.schema, name);
      if (child === undefined) continue;
      const partPath = [...path, fieldElement(name)];
      collect(child, part, partPath, set);
      const isEmpty = part === null || (isJsonObject(part) && Object.keys(part).length === 0);
      if (isEmpty || !isNamedField(shape.schema, name)) set.insert(partPath);
    }
  }
}

/** The items of a set or keyed list by identity, in order; items without one are left out. */
function groupItems(schema: ListTypeSchema, value: Json | undefined): Map<Element, Json[]> {
  const groups = new Map<Element, Json[]>();
  if (!Array.isArray(value)) return groups;
  for (const item of value) {
    const element = itemElement(schema, item);
    if (typeof element !== 'string') continue;
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isEmptyOrNull(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
