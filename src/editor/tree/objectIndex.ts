import { nameKey, type History, type NameHistory } from '../../core/history.ts';
import type { ObjectName, TraceEvent } from '../../core/traceEvent.ts';

/** How rows are ordered. */
export type Order = 'name' | 'last-change';

/** What a list of names is asked for. */
export interface Scope {
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What the contention lab and the replay call the object that they make: their name and a word of the run's own. */
const MADE_BY_LAB = /^versions-(contention|replay)-[a-z0-9]{8}$/;

interface Shelf {
  /** Names by key, the one that changed last at the end. */
  readonly recent: Map<string, ObjectName>;
  sorted: string[];
  isSorted: boolean;
}

/**
 * The names of the log by resource, in the orders that the tree shows: one pass over each new event, whatever the number of
 * objects. Sorting is put off until somebody looks.
 */
export class ObjectIndex {
  private readonly shelves = new Map<string, Shelf>();
  private readonly labs = new Set<string>();

  /** Keys of the names that labs gave to what they made. */
  get madeByLabs(): ReadonlySet<string> {
    return this.labs;
  }

  /** Takes the next events of the log. */
  add(events: readonly TraceEvent[]): void {
    for (const event of events) {
      if (event.type !== 'observed' && event.type !== 'absent' && event.type !== 'write') continue;
      this.touch(event.cluster, event.name);
    }
  }

  /** Takes a whole history, such as a log read from disk. */
  addHistory(history: History): void {
    for (const { cluster, name } of history.names.values()) this.touch(cluster, name);
  }

  clear(): void {
    this.shelves.clear();
    this.labs.clear();
  }

  /** Keys of the names in a scope, by name, or with the newest change first. */
  keys(scope: Scope, order: Order): readonly string[] {
    const shelf = this.shelves.get(shelfKey(scope.cluster, scope));
    if (shelf === undefined) return [];
    const keys = order === 'last-change' ? [...shelf.recent.keys()].reverse() : byName(shelf);
    if (scope.namespace === undefined && scope.name === undefined) return keys;
    return keys.filter((key) => {
      const name = shelf.recent.get(key);
      return (
        name !== undefined &&
        (scope.namespace === undefined || name.namespace === scope.namespace) &&
        (scope.name === undefined || name.name === scope.name)
      );
    });
  }

  private touch(cluster: string, name: ObjectName): void {
    const place = shelfKey(cluster, name);
    let shelf = this.shelves.get(place);
    if (shelf === undefined) {
      shelf = { recent: new Map(), sorted: [], isSorted: true };
      this.shelves.set(place, shelf);
    }
    const key = nameKey(cluster, name);
    if (!shelf.recent.delete(key)) {
      if (MADE_BY_LAB.test(name.name)) this.labs.add(key);
      shelf.sorted.push(key);
      shelf.isSorted = false;
    }
    shelf.recent.set(key, name);
  }
}

function byName(shelf: Shelf): readonly string[] {
  if (!shelf.isSorted) {
    shelf.sorted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    shelf.isSorted = true;
  }
  return shelf.sorted;
}

function shelfKey(cluster: string, name: { readonly group: string; readonly resource: string }): string {
  return [cluster, name.group, name.resource].join('\0');
}

/** Whether a name's history matches what a person typed: every word is part of its name, namespace, or an UID of it. */
export function matchesFilter(history: NameHistory, filter: string): boolean {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return true;
  const { namespace, name, resource } = history.name;
  const text = `${namespace}/${name} ${resource}`.toLowerCase();
  return words.every(
    (word) => text.includes(word) || history.incarnations.some((incarnation) => incarnation.uid.includes(word)),
  );
}
