/**
 * Finds the oldest key of a map again and again, in constant time. The map's keys may be deleted and set anew at its end,
 * and each key that is found must be deleted or set anew before the next is asked for. (Asking the map for its first key each
 * time walks over all that was deleted before it.)
 */
export class Oldest<K> {
  private readonly map: ReadonlyMap<K, unknown>;
  private keys: Iterator<K>;

  constructor(map: ReadonlyMap<K, unknown>) {
    this.map = map;
    this.keys = map.keys();
  }

  /** The oldest key; undefined where the map is empty. */
  next(): K | undefined {
    const found = this.keys.next();
    if (found.done !== true) return found.value;
    this.keys = this.map.keys();
    const again = this.keys.next();
    return again.done === true ? undefined : again.value;
  }
}
