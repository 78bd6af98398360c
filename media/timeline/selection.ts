import type { AnnotationInfo } from '../../src/core/timeline/model.ts';
import type { Layout } from '../../src/core/timeline/layout.ts';
import { markOfEvent, rowOfMark, type MarkPlace } from '../../src/core/timeline/navigate.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';

/** What is selected: a mark, perhaps as what proves a finding (its rule), or a finding on a lane. */
export type Selection =
  | (MarkPlace & { readonly type: 'mark'; readonly finding?: string })
  | { readonly type: 'annotation'; readonly lane: number; readonly annotation: AnnotationInfo };

/** The time of what is selected, ms since the epoch. */
export function timeOf({ marks }: TimelineStore, selection: Selection | undefined): number | undefined {
  return selection?.type === 'mark' ? marks.at.at(selection.mark) : selection?.annotation.to;
}

/** The event of what is selected. */
export function eventOf({ marks }: TimelineStore, selection: Selection | undefined): number | undefined {
  return selection?.type === 'mark' ? marks.event.at(selection.mark) : selection?.annotation.events.at(-1);
}

/** The rule of the finding that a person came from. */
export function findingOf(selection: Selection | undefined): string | undefined {
  return selection?.type === 'annotation' ? selection.annotation.id : selection?.finding;
}

/** The row that a selection is on: a finding on that of its object, else of the actor whose mark proves it last. */
export function rowOf(store: TimelineStore, layout: Layout, selection: Selection | undefined): number | undefined {
  if (selection === undefined) return undefined;
  if (selection.type === 'mark') return rowOfMark(store, layout, selection);
  const { events } = selection.annotation;
  const proof = events.map((event) => markOfEvent(store, event)).findLast((mark) => mark !== undefined);
  return rowOfMark(store, layout, { lane: selection.lane, mark: proof });
}
