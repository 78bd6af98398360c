import { equalJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { formatPath } from '../codec/path.ts';
import type { Change } from '../core/diff.ts';
import { besides } from '../core/mergeList.ts';

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

/** An entry of a keyed list that has another key afterwards, by what tells it from the others, such as `80/TCP`. */
export interface ReplacedEntry {
  /** The list, printed: `.spec.ports`. */
  readonly list: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Sorts the changes into entries that only got another key, and all others. Entries are one where they are alike in all but
 * the key, or where one alone leaves a list and one alone comes; what else differs between those two stays a change.
 */
export function replacedEntries(changes: readonly Change[]): {
  readonly replaced: readonly ReplacedEntry[];
  readonly others: readonly Change[];
} {
  const entries = changes.flatMap((change) => entryOf(change) ?? []);
  const left = entries.filter(({ change }) => change.kind === 'removed');
  const came = new Set(entries.filter(({ change }) => change.kind === 'added'));
  const of = (list: string, all: Iterable<Entry>): Entry[] => [...all].filter((entry) => entry.list === list);
  const replaced: ReplacedEntry[] = [];
  const told = new Set<Change>();
  for (const old of left) {
    const others = of(old.list, came);
    const alike = others.find((young) => equalJson(old.rest, young.rest));
    const only = of(old.list, left).length === 1 && others.length === 1 ? others[0] : undefined;
    const young = alike ?? only;
    if (young === undefined) continue;
    came.delete(young);
    replaced.push({ list: old.list, before: nameOf(old.key), after: nameOf(young.key) });
    if (alike !== undefined) told.add(old.change).add(young.change);
  }
  return { replaced, others: changes.filter((change) => !told.has(change)) };
}

interface Entry {
  readonly change: Change;
  readonly list: string;
  readonly key: JsonObject;
  readonly rest: Json | undefined;
}

function entryOf(change: Change): Entry | undefined {
  const last = change.path.at(-1);
  if (last === undefined || !('key' in last) || change.kind === 'changed') return undefined;
  const item = change.before ?? change.after;
  const rest = item === undefined ? undefined : besides(item, Object.keys(last.key));
  return { change, list: formatPath(change.path.slice(0, -1)), key: last.key, rest };
}

/** The values of the key fields, in the order in which paths print them. */
function nameOf(key: JsonObject): string {
  return Object.keys(key)
    .sort()
    .map((field) => wordOf(key[field] ?? null))
    .join('/');
}

function wordOf(value: Json): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
