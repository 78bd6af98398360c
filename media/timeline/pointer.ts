import type { Hit } from '../../src/core/timeline/hitTest.ts';
import { timeAt } from '../../src/core/timeline/scale.ts';
import type { Chart } from './chart.ts';
import type { TimelineView } from './view.ts';

/** A drag shorter than this is a click, in pixels. */
export const DRAG_PX = 4;
/** How far a wheel that counts pixels, lines or pages moves the lanes for one of them, in pixels. */
const WHEEL_PX = [1, 32, 400];
/** More pixels than this at once zoom no further. */
const MAX_ZOOM_PX = 200;

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
    const click = (): void => {
      const { x, y } = placeOf(down);
      select(view, chart.hitAt(x, y));
    };
    if (down.button === 1 || down.altKey || down.pointerType === 'touch') dragToPan(root, view, down, placeOf, click);
    else dragToMeasure(root, view, down, placeOf, click);
  });
}

function onWheel(view: TimelineView, event: WheelEvent, x: number): void {
  const { dx, dy } = wheelPixels(event);
  if (event.ctrlKey || event.metaKey) view.zoom(wheelZoom(event), x);
  else if (event.shiftKey) view.pan(dy === 0 ? dx : dy);
  else {
    if (dx !== 0) view.pan(dx);
    if (dy !== 0) view.scrollBy(dy);
  }
}

/** How far a wheel turned, in CSS pixels. */
export function wheelPixels({ deltaX, deltaY, deltaMode }: WheelEvent): { readonly dx: number; readonly dy: number } {
  const unit = WHEEL_PX[deltaMode] ?? 1;
  return { dx: deltaX * unit, dy: deltaY * unit };
}

/** The factor by which a wheel zooms. */
export function wheelZoom(event: WheelEvent): number {
  return Math.exp(Math.max(-MAX_ZOOM_PX, Math.min(MAX_ZOOM_PX, wheelPixels(event).dy)) * 0.0025);
}

type PlaceOf = (event: MouseEvent) => { x: number; y: number };

function dragToMeasure(
  root: HTMLElement,
  view: TimelineView,
  down: PointerEvent,
  placeOf: PlaceOf,
  click: () => void,
): void {
  let dragged = false;
  const { scale } = view;
  const start = placeOf(down);
  const move = (event: PointerEvent): void => {
    const { x } = placeOf(event);
    if (!dragged && Math.abs(x - start.x) < DRAG_PX) return;
    dragged = true;
    view.measure = { from: timeAt(scale, start.x), to: timeAt(scale, x) };
    view.touch('overlay');
  };
  drag(root, down, move, () => {
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
  down: PointerEvent,
  placeOf: PlaceOf,
  click: () => void,
): void {
  let last = placeOf(down);
  let moved = 0;
  drag(
    root,
    down,
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

/** Follows a pointer that went down until it is let go, wherever it goes, or taken away. */
export function drag(
  root: HTMLElement,
  { pointerId }: PointerEvent,
  move: (event: PointerEvent) => void,
  end: () => void = () => undefined,
): void {
  root.setPointerCapture(pointerId);
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
