import type { ObjectName, Token } from '../core/traceEvent.ts';

/** What is known to be there. */
export interface KnownObject {
  readonly name: ObjectName;
  readonly uid: string;
  readonly token: Token;
}

/** What a new sight of an object means. */
export type Sight = 'new' | 'changed' | 'same' | 'recreated';

/** What one watch knows to be there, by name, so that a new list can be compared with it. */
export class KnownObjects {
  private readonly objects = new Map<string, KnownObject>();

  get size(): number {
    return this.objects.size;
  }

  get(name: ObjectName): KnownObject | undefined {
    return this.objects.get(keyOf(name));
  }

  /** Remembers a sight, and says what it means; for `recreated`, `before` is the incarnation that is gone. */
  see(object: KnownObject): { sight: Sight; before?: KnownObject } {
    const key = keyOf(object.name);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    if (before === undefined) return { sight: 'new' };
    if (before.uid !== object.uid) return { sight: 'recreated', before };
    return { sight: before.token === object.token ? 'same' : 'changed', before };
  }

  /** Forgets an object; false if it was not known under this UID. */
  forget(name: ObjectName, uid: string): boolean {
    const key = keyOf(name);
    return this.objects.get(key)?.uid === uid && this.objects.delete(key);
  }

  /** What is known but not among these names. */
  missing(names: Iterable<ObjectName>): KnownObject[] {
    const present = new Set<string>();
    for (const name of names) present.add(keyOf(name));
    return [...this.objects].filter(([key]) => !present.has(key)).map(([, object]) => object);
  }
}

function keyOf(name: ObjectName): string {
  return `${name.namespace}/${name.name}`;
}
