import {
  eventOfStop,
  laneOfObject,
  nearestInTime,
  neighbour,
  outermost,
  rowBeside,
  stopOfObject,
  stopsOfRow,
  timeOfStop,
  type RowSubject,
  type Stop,
} from '../../src/core/timeline/navigate.ts';
import type { ObjectRef } from '../../src/core/timeline/detailTypes.ts';
import type { Row } from '../../src/core/timeline/layout.ts';
import { spanning, withTimeInView, xOf } from '../../src/core/timeline/scale.ts';
import { isTyping } from '../common/dom.ts';
import type { TimelineView } from './view.ts';

/** What keys reach that is not the view's own. */
export interface KeyActions {
  readonly focusFilter: () => void;
  readonly focusDetails: () => void;
  /** Gives the lanes the focus, if the details have it. */
  readonly leaveDetails: () => void;
  readonly toggleHelp: () => void;
  readonly toggleReplay: () => void;
  readonly focusTable: () => void;
}

const ZOOM = 0.7;
const PAN_PART = 0.15;
/** How far a measure grows where no event says how far, in parts of the width. */
const MEASURE_PART = 0.02;

/** The keys as the help lists them. */
export const KEY_HELP: readonly { readonly keys: string; readonly does: string }[] = [
  { keys: 'W S + −', does: 'zoom in and out' },
  { keys: 'A D', does: 'earlier, later' },
  { keys: '← →', does: 'the event before, after, on this lane' },
  { keys: 'Shift ← →', does: 'measure from here to the event before, after' },
  { keys: '↑ ↓', does: 'the row above, below' },
  { keys: 'E', does: 'a row for each actor of this object, or for each object of this actor' },
  { keys: 'G', does: 'lanes by actor, by object' },
  { keys: 'Home End', does: 'the first, last event of this lane' },
  { keys: 'PgUp PgDn', does: 'a page of lanes' },
  { keys: 'N P', does: 'the next, previous finding' },
  { keys: 'Enter', does: 'details; with a measured stretch: zoom to it' },
  { keys: 'F', does: 'fit everything' },
  { keys: 'L', does: 'follow what happens' },
  { keys: 'R', does: 'replay: the tree shows the state as of then' },
  { keys: 'T', does: 'table of events' },
  { keys: '/', does: 'filter' },
  { keys: 'Esc', does: 'clear what is measured, replayed, selected' },
  { keys: '?', does: 'this help' },
];

/** Keys of the whole page: those that work wherever one is not typing. */
export function onPageKey(event: KeyboardEvent, actions: KeyActions, view: TimelineView): void {
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  // A dialog that is open closes by itself on Escape, and keeps the other keys.
  if (document.querySelector('dialog[open]') !== null) return;
  if (event.key === '/') actions.focusFilter();
  else if (event.key === '?') actions.toggleHelp();
  else if (event.key === 'Escape') {
    escape(view);
    actions.leaveDetails();
  } else return;
  event.preventDefault();
}

/** Clears one thing after the other: what was measured, then the replay, then the selection. */
function escape(view: TimelineView): void {
  if (view.measure !== undefined) {
    view.measure = undefined;
    view.touch('overlay', 'toolbar');
  } else if (view.scrubAt !== undefined) view.scrub(undefined);
  else if (view.selection === undefined && view.overview) view.toggleOverview();
  else view.select(undefined);
}

/** Keys of the lanes. */
export function onChartKey(event: KeyboardEvent, actions: KeyActions, view: TimelineView): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const run = (event.shiftKey ? CHART_KEYS[`Shift+${key}`] : undefined) ?? CHART_KEYS[key];
  if (run === undefined) return;
  run(view, actions);
  event.preventDefault();
}

const CHART_KEYS: Readonly<Record<string, (view: TimelineView, actions: KeyActions) => void>> = {
  w: (view) => zoomAtFocus(view, ZOOM),
  '+': (view) => zoomAtFocus(view, ZOOM),
  '=': (view) => zoomAtFocus(view, ZOOM),
  s: (view) => zoomAtFocus(view, 1 / ZOOM),
  '-': (view) => zoomAtFocus(view, 1 / ZOOM),
  a: (view) => view.pan(-view.scale.width * PAN_PART),
  d: (view) => view.pan(view.scale.width * PAN_PART),
  e: (view) => openSelected(view),
  f: (view) => view.fitAll(),
  g: (view) => view.arrange({ grouping: view.grouping === 'actor' ? 'object' : 'actor' }),
  l: (view) => view.setLive(!view.live),
  n: (view) => stepFinding(view, 1),
  p: (view) => stepFinding(view, -1),
  r: (_view, actions) => actions.toggleReplay(),
  t: (view, actions) => {
    view.toggleTable();
    if (view.table) actions.focusTable();
  },
  ArrowRight: (view) => step(view, 1),
  ArrowLeft: (view) => step(view, -1),
  'Shift+ArrowRight': (view) => stepMeasure(view, 1),
  'Shift+ArrowLeft': (view) => stepMeasure(view, -1),
  ArrowDown: (view) => stepLane(view, 1),
  ArrowUp: (view) => stepLane(view, -1),
  Home: (view) => jump(view, 1),
  End: (view) => jump(view, -1),
  PageDown: (view) => view.scrollBy(view.height * 0.9),
  PageUp: (view) => view.scrollBy(-view.height * 0.9),
  Enter: (view, actions) => {
    const { measure } = view;
    if (measure === undefined) {
      actions.focusDetails();
      return;
    }
    view.measure = undefined;
    view.setScale(spanning(view.scale, measure.from, measure.to));
  },
};

/** Zooms at the selection where it is in view, else in the middle. */
function zoomAtFocus(view: TimelineView, factor: number): void {
  const at = view.selectedAt();
  const { scale } = view;
  const inView = at !== undefined && at >= scale.from && at <= scale.to;
  view.zoom(factor, inView ? xOf(scale, at) : scale.width / 2);
}

function step(view: TimelineView, direction: 1 | -1): void {
  const { selection, store, match } = view;
  if (selection === undefined) {
    stepLane(view, 1);
    return;
  }
  const stops = stopsOfRow(store, match, selectedRow(view));
  const at = view.selectedAt();
  if (stops === undefined || at === undefined) return;
  const event = selection.type === 'annotation' ? lastAt(direction) : eventOfStop(store, selection);
  select(view, neighbour(store, stops, { at, event }, direction));
}

/** Beyond all events of one time, in a direction. */
function lastAt(direction: 1 | -1): number {
  return direction === 1 ? Number.MAX_SAFE_INTEGER : -1;
}

function selectedRow(view: TimelineView): Row | undefined {
  return view.layout.rows[view.selectedRow() ?? -1];
}

function select(view: TimelineView, stop: Stop | undefined): void {
  if (stop !== undefined) view.select(stop);
}

/** Opens or closes the lane that the selection is on, or the one above its row. */
function openSelected(view: TimelineView): void {
  const row = selectedRow(view);
  if (row?.type === 'lane') view.toggleOpen({ lane: row.lane });
  else if (row?.type === 'track') {
    if (row.under !== 'object' || row.lane === undefined) view.toggleOpen({ actor: row.actor });
    else view.toggleOpen({ lane: row.lane });
    const { selection } = view;
    // The row that one stood on is gone.
    if (row.under !== undefined && selection !== undefined && selection.type !== 'annotation')
      view.select({ ...selection, onTrack: false });
  }
}

/**
 * Moves the end of what is measured, which begins where the replay or the selection is, else in the middle: to the next time
 * of an event on the selected lane, and by a part of the width where there is none.
 */
function stepMeasure(view: TimelineView, direction: 1 | -1): void {
  const { scale, store, match } = view;
  const from = view.measure?.from ?? view.scrubAt ?? view.selectedAt() ?? (scale.from + scale.to) / 2;
  const at = view.measure?.to ?? from;
  const stops = stopsOfRow(store, match, selectedRow(view));
  const next = stops === undefined ? undefined : neighbour(store, stops, { at, event: lastAt(direction) }, direction);
  const to = next === undefined ? at + direction * MEASURE_PART * (scale.to - scale.from) : timeOfStop(store, next);
  view.measure = { from, to };
  const moved = withTimeInView(scale, to);
  if (moved !== scale) view.setScale(moved);
  view.touch('overlay', 'toolbar');
}

function stepLane(view: TimelineView, direction: 1 | -1): void {
  const { store, layout, match, scale } = view;
  const at = view.selectedAt() ?? (scale.from + scale.to) / 2;
  select(view, rowBeside(store, layout, view.selectedRow(), direction, at, match));
}

function jump(view: TimelineView, direction: 1 | -1): void {
  const { store, match, layout } = view;
  const row = selectedRow(view) ?? layout.rows.find(({ type }) => type === 'lane' || type === 'track');
  const stops = stopsOfRow(store, match, row);
  if (stops !== undefined) select(view, outermost(store, stops, direction));
}

/** Findings in order of time. */
function stepFinding(view: TimelineView, direction: 1 | -1): void {
  const findings = view.store.annotations.toSorted((a, b) => a.to - b.to);
  const { selection } = view;
  const present =
    selection?.type === 'annotation' ? findings.findIndex((one) => one.key === selection.annotation.key) : -1;
  const index = present < 0 && direction === -1 ? findings.length - 1 : present + direction;
  const annotation = findings[(index + findings.length) % Math.max(1, findings.length)];
  if (annotation !== undefined) view.select({ type: 'annotation', lane: annotation.lane, annotation });
}

/** Shows an object and what of it is nearest to the middle of what is shown; false where it is not on the timeline. */
export function showObject(view: TimelineView, object: ObjectRef): boolean {
  const { store, scale, match } = view;
  const lane = laneOfObject(store, object);
  if (lane === undefined) return false;
  view.showLane(lane);
  select(view, stopOfObject(store, match, lane, object.uid, (scale.from + scale.to) / 2));
  return true;
}

/** Selects what of a row is nearest to the middle of what is shown. */
export function selectOnRow(view: TimelineView, row: RowSubject): void {
  const { store, scale, match } = view;
  const stops = stopsOfRow(store, match, row);
  if (stops !== undefined) select(view, nearestInTime(store, stops, (scale.from + scale.to) / 2));
}
