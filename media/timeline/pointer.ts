import type { Hit } from '../../src/core/timeline/hitTest.ts';
import { timeAt } from '../../src/core/timeline/scale.ts';
import type { Chart } from './chart.ts';
import type { TimelineView } from './view.ts';

/** A drag shorter than this is a click, in pixels. */
const DRAG_PX = 4;
/** How far the lanes move for a line of a mouse's wheel, in pixels. */
const LINE_PX = 32;

/**
 * The pointer on the lanes: the wheel scrolls them, with Ctrl it zooms at the pointer, with Shift it pans; dragging
 * measures a stretch, with the middle button or Alt it pans; a click selects, a double click opens a block.
 */
export function listenToPointer(chart: Chart, view: TimelineView): void {
  const { root } = chart;
  const placeOf = (event: MouseEvent): { x: number; y: number } => {
    const box = root.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  root.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'touch') return;
    view.pointer = placeOf(event);
    view.touch('overlay', 'toolbar');
  });
  root.addEventListener('pointerleave', () => {
    view.pointer = undefined;
    view.follow();
    view.touch('overlay', 'toolbar');
  });
  root.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      onWheel(view, event, placeOf(event).x);
    },
    { passive: false },
  );
  root.addEventListener('dblclick', (event) => {
    const { x, y } = placeOf(event);
    openCluster(view, chart.hitAt(x, y), x);
  });
  root.addEventListener('pointerdown', (down) => {
    if (down.button > 1) return;
    if (down.button === 1) down.preventDefault();
    root.setPointerCapture(down.pointerId);
    const start = placeOf(down);
    if (down.button === 1 || down.altKey || down.pointerType === 'touch')
      dragToPan(root, view, start, placeOf, () => select(view, chart.hitAt(start.x, start.y)));
    else dragToMeasure(root, view, start, placeOf, () => select(view, chart.hitAt(start.x, start.y)));
  });
}

function onWheel(view: TimelineView, event: WheelEvent, x: number): void {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
  const dx = event.deltaX * unit;
  const dy = event.deltaY * unit;
  if (event.ctrlKey || event.metaKey) view.zoom(Math.exp(Math.max(-200, Math.min(200, dy)) * 0.0025), x);
  else if (event.shiftKey) view.pan(dy === 0 ? dx : dy);
  else {
    if (dx !== 0) view.pan(dx);
    if (dy !== 0) view.scrollBy(dy);
  }
}

type PlaceOf = (event: MouseEvent) => { x: number; y: number };

function dragToMeasure(
  root: HTMLElement,
  view: TimelineView,
  start: { x: number; y: number },
  placeOf: PlaceOf,
  click: () => void,
): void {
  let dragged = false;
  const { scale } = view;
  const move = (event: PointerEvent): void => {
    const { x } = placeOf(event);
    if (!dragged && Math.abs(x - start.x) < DRAG_PX) return;
    dragged = true;
    view.measure = { from: timeAt(scale, start.x), to: timeAt(scale, x) };
    view.touch('overlay');
  };
  drag(root, move, () => {
    if (dragged) {
      view.touch('toolbar');
      return;
    }
    view.measure = undefined;
    click();
    view.touch('overlay', 'toolbar');
  });
}

function dragToPan(
  root: HTMLElement,
  view: TimelineView,
  start: { x: number; y: number },
  placeOf: PlaceOf,
  click: () => void,
): void {
  let last = start;
  let moved = 0;
  drag(
    root,
    (event) => {
      const place = placeOf(event);
      moved += Math.abs(place.x - last.x) + Math.abs(place.y - last.y);
      if (moved >= DRAG_PX) {
        view.pan(last.x - place.x);
        view.scrollBy(last.y - place.y);
      }
      last = place;
    },
    () => {
      if (moved < DRAG_PX) click();
    },
  );
}

function drag(root: HTMLElement, move: (event: PointerEvent) => void, end: () => void): void {
  root.addEventListener('pointermove', move);
  root.addEventListener(
    'lostpointercapture',
    () => {
      root.removeEventListener('pointermove', move);
      end();
    },
    { once: true },
  );
}

function select(view: TimelineView, hit: Hit | undefined): void {
  if (hit?.type === 'group') view.toggleGroup(hit.group);
  if (hit?.type === 'more') view.toggleGroup(hit.group, false);
  else if (hit?.type === 'readers') view.showOnlyRead(hit.of);
  else if (hit?.type === 'annotation')
    view.select({ type: 'annotation', lane: hit.lane, annotation: hit.annotation }, false);
  else if (hit?.type === 'cell')
    view.select(
      { type: 'mark', lane: hit.lane, mark: hit.cell.mark, ...(hit.onTrack === true ? { onTrack: true } : {}) },
      false,
    );
  else if (hit?.type === 'read')
    view.select(
      { type: 'read', lane: hit.lane, read: hit.read, ...(hit.onTrack === true ? { onTrack: true } : {}) },
      false,
    );
  else view.select(undefined);
}

/** Zooms so far that the marks of a cluster come apart; elsewhere to twice the scale. */
function openCluster(view: TimelineView, hit: Hit | undefined, x: number): void {
  if ((hit?.type !== 'cell' && hit?.type !== 'read') || hit.cell.count < 2) {
    view.zoom(0.5, x);
    return;
  }
  const { scale } = view;
  const from = timeAt(scale, hit.cell.first);
  const to = timeAt(scale, hit.cell.last);
  const margin = Math.max(1, (to - from) * 0.4);
  view.setScale({ ...scale, from: from - margin, to: to + margin });
}
