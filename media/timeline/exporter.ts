import { matchFilter } from '../../src/core/timeline/filterMatch.ts';
import { layOut } from '../../src/core/timeline/layout.ts';
import type { TimelineModel } from '../../src/core/timeline/model.ts';
import { pictureOf, type Picture } from '../../src/core/timeline/picture.ts';
import { TimelineStore } from '../../src/core/timeline/store.ts';
import { svgOf } from '../../src/core/timeline/svg.ts';
import { openKey, type Track } from '../../src/core/timeline/tracks.ts';
import { Painter } from './painter.ts';
import type { ScreenPalette } from './palette.ts';
import { sceneInput } from './sceneInput.ts';
import type { TimelineView } from './view.ts';

const LABEL_PX = 200;
const PNG_RATIO = 2;

/** The lanes as they are shown (time, filter, order, folded groups), but all of them, as a picture. */
export function currentPicture(view: TimelineView): Picture {
  return pictureOf(sceneInput(view), LABEL_PX);
}

/** The same of a model whose names were replaced: the filter's words are the person's own, so all lanes are in it. */
export function sharedPicture(view: TimelineView, model: TimelineModel): Picture {
  const store = new TimelineStore(model);
  const match = matchFilter(store, { terms: [] });
  const { sort, compact, grouping } = view;
  const expanded = openIn(store, view);
  const layout = layOut(store, match, { sort, compact, grouping, expanded, collapsed: new Set() });
  return pictureOf({ ...sceneInput(view), store, match, layout, annotationDim: () => false }, LABEL_PX);
}

/** What is open in a view, in a store of the same events under other names. */
function openIn(store: TimelineStore, view: TimelineView): Set<string> {
  const isOpen = (of: Partial<Track>): boolean => view.expanded.has(openKey(view.store, of));
  const open = new Set<string>();
  if (view.expanded.size === 0) return open;
  view.store.lanes.forEach((_, lane) => {
    if (isOpen({ lane })) open.add(openKey(store, { lane }));
  });
  const known = new Set<number>();
  for (let mark = 0; mark < Math.min(view.store.marks.length, store.marks.length); mark += 1) {
    const actor = view.store.marks.actor.at(mark);
    if (known.has(actor)) continue;
    known.add(actor);
    if (isOpen({ actor })) open.add(openKey(store, { actor: store.marks.actor.at(mark) }));
  }
  return open;
}

/** A picture as the text of an SVG. */
export function svgText(picture: Picture, palette: ScreenPalette): string {
  return svgOf(picture, palette);
}

/** A picture as a PNG in base64, at twice the size. */
export function pngBase64(picture: Picture, palette: ScreenPalette): string {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(picture.width * PNG_RATIO);
  canvas.height = Math.round(picture.height * PNG_RATIO);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser has no canvas.');
  context.scale(PNG_RATIO, PNG_RATIO);
  new Painter(context, palette, PNG_RATIO).paintPicture(context, picture);
  return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}
