import { matchFilter } from '../../src/core/timeline/filterMatch.ts';
import { layOut } from '../../src/core/timeline/layout.ts';
import type { TimelineModel } from '../../src/core/timeline/model.ts';
import { pictureOf, type Picture } from '../../src/core/timeline/picture.ts';
import { TimelineStore } from '../../src/core/timeline/store.ts';
import { openKey, type Track } from '../../src/core/timeline/tracks.ts';
import { Painter } from './painter.ts';
import type { ScreenPalette } from './palette.ts';
import { sceneInput } from './sceneInput.ts';
import type { TimelineView } from './view.ts';

const LABEL_PX = 200;
/** Pixels of a PNG for each CSS pixel: first twice the size. */
const PNG_RATIOS = [2, 1];
/** A canvas of more pixels, of 4 bytes each, is more than a page should ask for. */
const MAX_PNG_PIXELS = 2 ** 27;
const PNG_PREFIX = 'data:image/png;base64,';

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

/** A picture as a PNG in base64, as fine as the browser can make it; undefined where it is too large for that. */
export function pngBase64(picture: Picture, palette: ScreenPalette): string | undefined {
  const canvas = document.createElement('canvas');
  for (const ratio of PNG_RATIOS) {
    canvas.width = Math.round(picture.width * ratio);
    canvas.height = Math.round(picture.height * ratio);
    const context = canvas.width * canvas.height > MAX_PNG_PIXELS ? null : canvas.getContext('2d');
    if (context === null) continue;
    context.scale(ratio, ratio);
    new Painter(context, palette, ratio).paintPicture(context, picture);
    // A canvas beyond the browser's own limits gives `data:,`.
    const [, data] = canvas.toDataURL('image/png').split(PNG_PREFIX);
    if (data !== undefined) return data;
  }
  return undefined;
}
