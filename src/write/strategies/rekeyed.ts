import type { Change } from '../../core/diff.ts';
import { formatPath } from '../../codec/path.ts';

/**
 * The keyed list in which a change removes one item and adds another, printed, or undefined. That is how a new key of an
 * item looks, and key fields are an item's identity: apply and strategic merge would leave the old item beside the new one.
 */
export function rekeyedList(changes: readonly Change[]): string | undefined {
  const kinds = new Map<string, Set<string>>();
  for (const { path, kind } of changes) {
    const last = path.at(-1);
    if (last === undefined || !('key' in last) || kind === 'changed') continue;
    const list = formatPath(path.slice(0, -1));
    kinds.set(list, (kinds.get(list) ?? new Set()).add(kind));
  }
  return [...kinds].find(([, seen]) => seen.size > 1)?.[0];
}
