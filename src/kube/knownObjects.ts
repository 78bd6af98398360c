import type { ObjectName, Token } from '../core/traceEvent.ts';

/** What is known to be there. */
export interface KnownObject {
  readonly name: ObjectName;
  readonly uid: string;
  readonly token: Token;
}

/** What a new sight of an object means. */
export type Sight = 'new' | 'changed' | 'same' | 'recreated';

/**
 * What one watch knows to be there, by namespace and name, so that a new list can be compared with it. It keeps nothing of
 * an object but what its event keeps anyway.
 */
export class KnownObjects {
  private readonly namespaces = new Map<string, Map<string, KnownObject>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(name: ObjectName): KnownObject | undefined {
    return this.namespaces.get(name.namespace)?.get(name.name);
  }

  /** Remembers a sight, and says what it means; for `recreated`, `before` is the incarnation that is gone. */
  see(object: KnownObject): { sight: Sight; before?: KnownObject } {
    const { namespace, name } = object.name;
    let names = this.namespaces.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.namespaces.set(namespace, names);
    }
    const before = names.get(name);
    names.set(name, object);
    if (before === undefined) {
      this.count += 1;
      return { sight: 'new' };
    }
    if (before.uid !== object.uid) return { sight: 'recreated', before };
    return { sight: before.token === object.token ? 'same' : 'changed', before };
  }

  /** Forgets an object; false if it was not known under this UID. */
  forget(name: ObjectName, uid: string): boolean {
    const names = this.namespaces.get(name.namespace);
    if (names?.get(name.name)?.uid !== uid) return false;
    names.delete(name.name);
    this.count -= 1;
    return true;
  }

  /** What is known but not among these names. */
  missing(names: Iterable<ObjectName>): KnownObject[] {
    if (this.count === 0) return [];
    const present = new Map<string, Set<string>>();
    for (const { namespace, name } of names) {
      const within = present.get(namespace);
      if (within === undefined) present.set(namespace, new Set([name]));
      else within.add(name);
    }
    const gone: KnownObject[] = [];
    for (const [namespace, objects] of this.namespaces) {
      const still = present.get(namespace);
      for (const [name, object] of objects) if (still?.has(name) !== true) gone.push(object);
    }
    return gone;
  }
}
