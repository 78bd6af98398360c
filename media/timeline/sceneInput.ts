import { annotationMatches } from '../../src/core/timeline/filterMatch.ts';
import type { SceneInput } from '../../src/core/timeline/scene.ts';
import type { TimelineView } from './view.ts';

/** What the drawing of a view is made from. */
export function sceneInput(view: TimelineView): SceneInput {
  const { store, layout, match, scale, top, height, settings, translate, textWidth, namesWidth, filter } = view;
  return {
    store,
    layout,
    match,
    annotationDim: (annotation) => filter.terms.length > 0 && !annotationMatches(store, filter, annotation),
    scale,
    top,
    height,
    timeZoneOffsetMin: settings.timeZoneOffsetMin,
    translate,
    measure: textWidth,
    namesWidth,
    now: view.end(),
  };
}
