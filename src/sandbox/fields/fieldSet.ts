import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject, setOwn } from '../../codec/json.ts';
import type { Schema } from '../schema/schema.ts';
import { canonicalElement, compareElements, fieldName, type Element } from './element.ts';
import { childSchema } from './shape.ts';

/**
 * A set of places in an object: what one manager owns, what a write changed. A tree, in which a node may be in the set
 * itself (`member`), be on the way to others, or both: owning `data` with its key `k` is not the same as owning only `k`.
 * Sets are not changed after they are built; the operations make new ones, or answer one of the two where it is the
 * result: most writes change few places, and what they leave alone is then shared by all versions.
 */
export class FieldSet {
  readonly members = new Set<Element>();
  readonly children = new Map<Element, FieldSet>();
  private printed: JsonObject | undefined;

  /** Adds one place, not its parents. The object itself (no steps) is never in a set. Only for building a set. */
  insert(path: readonly Element[], at = 0): void {
    const element = path[at];
    if (element === undefined) return;
    if (at === path.length - 1) this.members.add(element);
    else this.descend(element).insert(path, at + 1);
  }

  private descend(element: Element): FieldSet {
    const known = this.children.get(element);
    if (known !== undefined) return known;
    const child = new FieldSet();
    this.children.set(element, child);
    return child;
  }

  get isEmpty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.isEmpty) return false;
    return true;
  }

  has(path: readonly Element[]): boolean {
    const [first, ...rest] = path;
    if (first === undefined) return false;
    return rest.length === 0 ? this.members.has(first) : (this.children.get(first)?.has(rest) ?? false);
  }

  /** Whether all that is there is here. */
  private includes(other: FieldSet): boolean {
    if (other === this) return true;
    for (const element of other.members) if (!this.members.has(element)) return false;
    for (const [element, theirs] of other.children) {
      const mine = this.children.get(element);
      if (mine === undefined ? !theirs.isEmpty : !mine.includes(theirs)) return false;
    }
    return true;
  }

  /** Whether any place is both here and there. */
  private meets(other: FieldSet): boolean {
    for (const element of this.members) if (other.members.has(element)) return true;
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (theirs !== undefined && child.meets(theirs)) return true;
    }
    return false;
  }

  union(other: FieldSet): FieldSet {
    if (this.includes(other)) return this;
    if (other.includes(this)) return other;
    const result = new FieldSet();
    for (const set of [this, other]) for (const element of set.members) result.members.add(element);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      result.addChild(element, theirs === undefined ? child : child.union(theirs));
    }
    for (const [element, child] of other.children) if (!this.children.has(element)) result.addChild(element, child);
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const element of this.members) if (other.members.has(element)) result.members.add(element);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (theirs !== undefined) result.addChild(element, child.intersection(theirs));
    }
    return result;
  }

  /** What is here and not there. A parent there does not take its children along. */
  difference(other: FieldSet): FieldSet {
    if (!this.meets(other)) return this;
    const result = new FieldSet();
    for (const element of this.members) if (!other.members.has(element)) result.members.add(element);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      result.addChild(element, theirs === undefined ? child : child.difference(theirs));
    }
    return result;
  }

  /** What is here and neither there nor below what is there. */
  without(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const result = new FieldSet();
    for (const element of this.members) if (!other.members.has(element)) result.members.add(element);
    for (const [element, child] of this.children) {
      if (other.members.has(element)) continue;
      const theirs = other.children.get(element);
      result.addChild(element, theirs === undefined ? child : child.without(theirs));
    }
    return result;
  }

  /**
   * The set with every struct field on the way to a member added: `spec.replicas` brings `spec`, but the map key `data.k`
   * does not bring more than `data`. Removing by such a set takes a struct field away together with its last part.
   */
  withNamedFields(schema: Schema | undefined): FieldSet {
    const result = new FieldSet();
    for (const element of this.members) result.members.add(element);
    for (const [element, child] of this.children) {
      const name = fieldName(element);
      if (name !== undefined && schema?.type === 'struct' && schema.fields.has(name)) result.members.add(element);
      result.children.set(
        element,
        child.withNamedFields(schema === undefined ? undefined : childSchema(schema, element)),
      );
    }
    return result;
  }

  private addChild(element: Element, child: FieldSet | undefined): void {
    if (child !== undefined && !child.isEmpty) this.children.set(element, child);
  }

  /** Every place in the set, in the server's order: at each level what is in the set, then what is below. */
  *paths(prefix: readonly Element[] = []): Generator<readonly Element[]> {
    for (const element of [...this.members].sort(compareElements)) yield [...prefix, element];
    for (const element of [...this.children.keys()].sort(compareElements)) {
      const child = this.children.get(element);
      if (child !== undefined) yield* child.paths([...prefix, element]);
    }
  }

  private sortedElements(): Element[] {
    return [...new Set([...this.members, ...this.children.keys()])].sort(compareElements);
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** Prints the set as `fieldsV1`, once. A node that is in the set beside its children shows as `.`. */
  toFieldsV1(): JsonObject {
    this.printed ??= this.print();
    return this.printed;
  }

  private print(): JsonObject {
    const out: JsonObject = {};
    for (const element of this.sortedElements()) {
      const child = this.children.get(element);
      const isMember = this.members.has(element);
      if (child === undefined || child.isEmpty) {
        if (isMember) setOwn(out, element, {});
      } else setOwn(out, element, isMember ? { '.': {}, ...child.toFieldsV1() } : child.toFieldsV1());
    }
    return out;
  }

  /** Reads `fieldsV1`; undefined where it is malformed. */
  static fromFieldsV1(fields: Json | undefined): FieldSet | undefined {
    const set = new FieldSet();
    if (fields === undefined || fields === null) return set;
    if (!isJsonObject(fields)) return undefined;
    for (const [key, value] of Object.entries(fields)) {
      if (key === '.') continue;
      const element = canonicalElement(key);
      if (element === undefined || !isJsonObject(value)) return undefined;
      const child = FieldSet.fromFieldsV1(value);
      if (child === undefined) return undefined;
      if (child.isEmpty || Object.hasOwn(value, '.')) set.members.add(element);
      if (!child.isEmpty) set.children.set(element, child);
    }
    return set;
  }

  /** The set of the given places. */
  static of(...paths: readonly (readonly Element[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }
}
