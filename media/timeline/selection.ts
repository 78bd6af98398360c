import type { AnnotationInfo } from '../../src/core/timeline/model.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';

/** What is selected: a mark, perhaps as what proves a finding (its rule), or a finding on a lane. */
export type Selection =
  | { readonly type: 'mark'; readonly lane: number; readonly mark: number; readonly finding?: string }
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
