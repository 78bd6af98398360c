import type { Json, JsonObject } from '../codec/json.ts';
import type { Path } from '../codec/path.ts';

/**
 * What a person or a program wants changed; never a whole stale object.
 *
 * - `function`: computed anew from every read, always. `compute` gets a copy that it may change and returns the desired
 *   object; integers beyond 2^53 are bigints. What it throws ends the write with AppError `script-failed`.
 * - `edits`: what a person made of an object that was read; carried to every newer read by three-way merge.
 * - `changes`: single values set and removed; they become edits of the first read.
 */
export type Intent =
  | { readonly kind: 'function'; readonly compute: (current: JsonObject) => JsonObject | Promise<JsonObject> }
  | { readonly kind: 'edits'; readonly base: JsonObject; readonly desired: JsonObject }
  | { readonly kind: 'changes'; readonly set: readonly (readonly [Path, Json])[]; readonly remove: readonly Path[] };
