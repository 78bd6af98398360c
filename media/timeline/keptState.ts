import type { Sort } from '../../src/core/timeline/layout.ts';

/** What the person chose: kept while the view is hidden. */
export interface KeptState {
  readonly from?: number;
  readonly to?: number;
  readonly top?: number;
  readonly filter?: string;
  readonly sort?: Sort;
  readonly compact?: boolean;
  readonly collapsed?: readonly string[];
  readonly opened?: readonly string[];
  readonly live?: boolean;
  readonly table?: boolean;
  readonly event?: number;
}
