import type { JsonObject } from '../../codec/json.ts';
import type { ApiClient } from './apiClient.ts';

/** One writer among others: a user with a token and a field manager of its own, who knows only the HTTP API. */
export interface Actor {
  readonly name: string;
  /** Does the next thing, if it has one to do; answers what it did in a sentence. */
  step(): Promise<string | undefined>;
}

/** What an actor is made with. */
export interface ActorContext {
  readonly client: ApiClient;
  /** A number in [0, 1), from the scenario's seed. */
  readonly random: () => number;
  readonly now: () => number;
}

/** A seeded random source (mulberry32): the same seed, the same story. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A member of nested objects; undefined where any of them is missing. */
export function dig(object: JsonObject, ...path: readonly string[]): JsonObject[string] | undefined {
  let value: JsonObject[string] | undefined = object;
  for (const field of path) {
    value = typeof value === 'object' && value !== null && !Array.isArray(value) ? value[field] : undefined;
  }
  return value;
}

/** A string member of an object's metadata; '' if absent. */
export function meta(object: JsonObject, field: string): string {
  const value = dig(object, 'metadata', field);
  return typeof value === 'string' ? value : '';
}
