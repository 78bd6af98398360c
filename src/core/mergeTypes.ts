import type { Json } from '../codec/json.ts';
import type { ListSchema } from './listSchema.ts';
import type { Path } from '../codec/path.ts';

/** Why two sides could not be brought together. */
export type MergeConflictReason =
  /** Both changed the value, differently. */
  | 'both-changed'
  /** One removed what the other changed. */
  | 'removed-and-changed'
  /** Both added the same name, with different values. */
  | 'both-added'
  /** Both brought the items of a list into different orders. */
  | 'order'
  /** Both gave the same item of a keyed list different keys, or one a new key while the other changed or removed it. */
  | 'key-changed'
  /** Both changed a list whose items have no declared identity, and positions do not tell which is meant. */
  | 'no-identity';

/** One place where two sides disagree. A side without the member is where nothing is. */
export interface MergeConflict {
  readonly path: Path;
  readonly reason: MergeConflictReason;
  readonly base?: Json;
  readonly theirs?: Json;
  readonly yours?: Json;
}

/** What a merge gives: `merged` holds their value wherever there is a conflict. */
export interface Merge<T> {
  readonly merged: T;
  readonly conflicts: readonly MergeConflict[];
}

/** A value that may be absent, which is neither null nor empty. */
export type Maybe = Json | undefined;

/** Where conflicts go, made with the sides that exist. */
export class ConflictList {
  readonly conflicts: MergeConflict[] = [];

  add(path: Path, reason: MergeConflictReason, base: Maybe, theirs: Maybe, yours: Maybe): void {
    this.conflicts.push({
      path,
      reason,
      ...(base === undefined ? {} : { base }),
      ...(theirs === undefined ? {} : { theirs }),
      ...(yours === undefined ? {} : { yours }),
    });
  }
}

/** What every step of one merge shares. `mergeValue` is handed on so that values and lists can merge each other. */
export interface MergeContext {
  readonly schema: ListSchema;
  readonly out: ConflictList;
  readonly mergeValue: (path: Path, base: Maybe, theirs: Maybe, yours: Maybe, context: MergeContext) => Maybe;
}
