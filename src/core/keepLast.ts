/**
 * Puts an entry last in a map of at most `max` entries: there, what was put longest ago makes room for it. As long as nothing
 * is near to that, an entry stays where it is, which takes less time.
 */
export function keepLast<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  if (2 * map.size > max) map.delete(key);
  map.set(key, value);
  if (map.size > max) dropFirst(map);
}

/** Takes out what was put into a map longest ago. */
export function dropFirst<K, V>(map: Map<K, V>): void {
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}
