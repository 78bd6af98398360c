import type { AnnotationInfo } from './model.ts';
import { markOfEvent } from './navigate.ts';
import type { TimelineStore } from './store.ts';

/** What the findings are to an actor. */
export interface ActorFindings {
  /** How many findings, besides mere information, rest on what it did. */
  count: number;
  /** Those that it brought about: whose last evidence is its own. */
  readonly own: AnnotationInfo[];
}

/** The findings by the actors whose marks prove them. */
export function findingsByActor(store: TimelineStore): ReadonlyMap<number, ActorFindings> {
  const all = new Map<number, ActorFindings>();
  const of = (actor: number): ActorFindings => {
    const known = all.get(actor) ?? { count: 0, own: [] };
    all.set(actor, known);
    return known;
  };
  for (const annotation of store.annotations) {
    const marks = annotation.events.flatMap((event) => markOfEvent(store, event) ?? []);
    const actors = new Set(marks.map((mark) => store.marks.actor.at(mark)));
    if (annotation.severity !== 'info') for (const actor of actors) of(actor).count += 1;
    const last = marks.findLast((mark) => store.marks.at.at(mark) === annotation.to);
    if (last !== undefined) of(store.marks.actor.at(last)).own.push(annotation);
  }
  return all;
}
