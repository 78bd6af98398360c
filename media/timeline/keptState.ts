import type { Grouping, Sort } from '../../src/core/timeline/layout.ts';
import type { TimelineView } from './view.ts';

/** What the person chose: kept while the view is hidden. */
export interface KeptState {
  readonly from?: number;
  readonly to?: number;
  readonly top?: number;
  readonly filter?: string;
  readonly sort?: Sort;
  readonly grouping?: Grouping;
  readonly expanded?: readonly string[];
  readonly compact?: boolean;
  readonly collapsed?: readonly string[];
  readonly opened?: readonly string[];
  readonly live?: boolean;
  readonly table?: boolean;
  readonly event?: number;
  readonly finding?: string;
}

/** What is kept of a view. */
export function keptState(view: TimelineView): KeptState {
  const event = view.selectedEvent() ?? view.awaited?.event;
  const finding = view.selectedFinding() ?? view.awaited?.finding;
  return {
    ...(view.hasData ? { from: view.scale.from, to: view.scale.to } : {}),
    top: view.awaited?.top ?? view.top,
    filter: view.filterText,
    sort: view.sort,
    grouping: view.grouping,
    expanded: Array.from(view.expanded),
    compact: view.compact,
    collapsed: Array.from(view.collapsed),
    opened: Array.from(view.opened),
    live: view.live,
    table: view.table,
    ...(event === undefined ? {} : { event }),
    ...(finding === undefined ? {} : { finding }),
  };
}
