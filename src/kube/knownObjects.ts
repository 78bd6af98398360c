import type { ObjectName, Token } from '../core/traceEvent.ts';

/** What is known to be there. */
export interface KnownObject {
  readonly name: ObjectName;
  readonly uid: string;
  readonly token: Token;
}

/** What a new sight of an object means. */
export type Sight = 'new' | 'changed' | 'same' | 'recreated';

const SEPARATOR = '\0';

/**
 * What one watch of one resource knows to be there, by namespace and name, so that a new list can be compared with it. Of
 * each object it keeps one text of UID and token: large watches are many.
 */
export class KnownObjects {
  private readonly resource: Pick<ObjectName, 'group' | 'resource'>;
  private readonly namespaces = new Map<string, Map<string, string>>();
  private count = 0;

  constructor(resource: Pick<ObjectName, 'group' | 'resource'>) {
    this.resource = resource;
  }

  get size(): number {
    return this.count;
  }

  get({ namespace, name }: ObjectName): KnownObject | undefined {
    const text = this.namespaces.get(namespace)?.get(name);
    return text === undefined ? undefined : this.unpack(namespace, name, text);
  }

  /** Remembers a sight, and says what it means; for `recreated`, `before` is the incarnation that is gone. */
  see(object: KnownObject): { sight: Sight; before?: KnownObject } {
    const { namespace, name } = object.name;
    let names = this.namespaces.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.namespaces.set(namespace, names);
    }
    const known = names.get(name);
    names.set(name, [object.uid, object.token].join(SEPARATOR));
    if (known === undefined) {
      this.count += 1;
      return { sight: 'new' };
    }
    const before = this.unpack(namespace, name, known);
    if (before.uid !== object.uid) return { sight: 'recreated', before };
    return { sight: before.token === object.token ? 'same' : 'changed', before };
  }

  /** Forgets an object; false if it was not known under this UID. */
  forget(name: ObjectName, uid: string): boolean {
    if (this.get(name)?.uid !== uid) return false;
    this.namespaces.get(name.namespace)?.delete(name.name);
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
      for (const [name, text] of objects) if (still?.has(name) !== true) gone.push(this.unpack(namespace, name, text));
    }
    return gone;
  }

  private unpack(namespace: string, name: string, text: string): KnownObject {
    const end = text.indexOf(SEPARATOR);
    const { group, resource } = this.resource;
    return { name: { group, resource, namespace, name }, uid: text.slice(0, end), token: text.slice(end + 1) };
  }
}
