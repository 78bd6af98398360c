import type { Path } from '../codec/path.ts';

/**
 * How a list is merged, as the server's schema declares it (`x-kubernetes-list-type`, `x-kubernetes-list-map-keys`, and for
 * built-in kinds `x-kubernetes-patch-merge-key`). `defaults` are the declared defaults of key fields (a Service port's
 * protocol is TCP), to be assumed where an item leaves the key field out.
 */
export type ListType =
  | {
      readonly type: 'map';
      readonly keys: readonly string[];
      readonly defaults?: Readonly<Record<string, string | number>>;
    }
  | { readonly type: 'set' }
  | { readonly type: 'atomic' };

/** What is known of an object's lists and maps. Undefined: the schema says nothing, or there is none. */
export interface ListSchema {
  /** The declared type of the list at this path (positions and keys in the path stand for any item). */
  listTypeAt(path: Path): ListType | undefined;
  /** Whether the map at this path is declared atomic (`x-kubernetes-map-type: atomic`). */
  isAtomicMapAt(path: Path): boolean;
}

/** The schema that declares nothing. */
export const noListSchema: ListSchema = { listTypeAt: () => undefined, isAtomicMapAt: () => false };
