import type { AnnotationInfo } from '../../src/core/timeline/model.ts';
import type { Layout } from '../../src/core/timeline/layout.ts';
import {
  eventOfStop,
  markOfEvent,
  readOfEvent,
  rowOfMark,
  rowOfRead,
  timeOfStop,
  type Stop,
} from '../../src/core/timeline/navigate.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';

/** What is selected: a mark or a read, perhaps as what proves a finding (its rule), or a finding on a lane. */
export type Selection =
  | (Stop & { readonly finding?: string })
  | { readonly type: 'annotation'; readonly lane: number; readonly annotation: AnnotationInfo };

/** The mark of an event, or the read, as what proves a finding where one is named; else the finding that rests on it. */
export function selectionOfEvent(store: TimelineStore, event: number, finding?: string): Selection | undefined {
  const proof = finding === undefined ? {} : { finding };
  const mark = markOfEvent(store, event);
  if (mark !== undefined) return { type: 'mark', lane: store.marks.lane.at(mark), mark, ...proof };
  const proved = store.annotations.filter((one) => one.events.includes(event));
  const annotation = proved.find(({ id }) => id === finding) ?? proved[0];
  const read = readOfEvent(store, event, annotation?.lane);
  if (read !== undefined) return { type: 'read', lane: store.reads.lane.at(read), read, onTrack: true, ...proof };
  return annotation === undefined ? undefined : { type: 'annotation', lane: annotation.lane, annotation };
}

/** The time of what is selected, ms since the epoch. */
export function timeOf(store: TimelineStore, selection: Selection | undefined): number | undefined {
  if (selection === undefined) return undefined;
  return selection.type === 'annotation' ? selection.annotation.to : timeOfStop(store, selection);
}

/** The event of what is selected. */
export function eventOf(store: TimelineStore, selection: Selection | undefined): number | undefined {
  if (selection === undefined) return undefined;
  return selection.type === 'annotation' ? selection.annotation.events.at(-1) : eventOfStop(store, selection);
}

/** The rule of the finding that a person came from. */
export function findingOf(selection: Selection | undefined): string | undefined {
  return selection?.type === 'annotation' ? selection.annotation.id : selection?.finding;
}

/** The row that a selection is on: a finding on that of its object, else of the actor whose mark proves it last. */
export function rowOf(store: TimelineStore, layout: Layout, selection: Selection | undefined): number | undefined {
  if (selection === undefined) return undefined;
  if (selection.type === 'mark') return rowOfMark(store, layout, selection);
  if (selection.type === 'read') return rowOfRead(store, layout, selection);
  const { events } = selection.annotation;
  const proof = events.map((event) => markOfEvent(store, event)).findLast((mark) => mark !== undefined);
  return rowOfMark(store, layout, { lane: selection.lane, mark: proof });
}
