import type { Json } from '../codec/json.ts';
import type { ObservedEvent } from '../core/traceEvent.ts';

const MAX_VALUES = 4096;

/**
 * Lets the events of one list share what is equal in them. Objects made by one program carry the same labels and the same
 * managed fields but for the time, which without sharing is most of what a large list takes in memory. Events are
 * read-only once they are made, so that sharing shows nowhere.
 */
export class Sharing {
  private readonly values = new Map<string, Json>();
  /** Those that are shared already, so that they need not be printed to be found. */
  private readonly shared = new Set<Json>();
  private readonly texts = new Map<string, string>();

  /** Replaces parts of an event by equal ones of earlier events. */
  share(event: Omit<ObservedEvent, 'seq'>): void {
    if (event.labels !== undefined) event.labels = this.value(event.labels);
    if (event.managedFields !== undefined) event.managedFields = this.value(event.managedFields);
    if (event.ownerReferences !== undefined) event.ownerReferences = this.value(event.ownerReferences);
    if (event.finalizers !== undefined) event.finalizers = this.value(event.finalizers);
    if (event.creationTimestamp !== undefined) event.creationTimestamp = this.text(event.creationTimestamp);
    if (event.name.namespace !== '') event.name.namespace = this.text(event.name.namespace);
    if (event.apiVersion !== undefined) event.apiVersion = this.text(event.apiVersion);
  }

  private value<T extends Json>(value: T): T {
    if (this.shared.has(value)) return value;
    const key = keyOf(value);
    const known = key === undefined ? undefined : this.values.get(key);
    if (known !== undefined) return known as T;
    if (key === undefined) return value;
    if (this.values.size >= MAX_VALUES) this.forget();
    this.values.set(key, value);
    this.shared.add(value);
    return value;
  }

  private forget(): void {
    this.values.clear();
    this.shared.clear();
  }

  private text(text: string): string {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    if (this.texts.size >= MAX_VALUES) this.texts.clear();
    this.texts.set(text, text);
    return text;
  }
}

/** Undefined for what plain JSON cannot print (an integer beyond 2^53): that is not shared. */
function keyOf(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
