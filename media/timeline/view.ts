import { matchFilter, type FilterMatch } from '../../src/core/timeline/filterMatch.ts';
import { parseFilter, type Filter, type FilterProblem } from '../../src/core/timeline/filter.ts';
import { estimateWidth, type Measure } from '../../src/core/timeline/labels.ts';
import { layOut, movedBy, type Grouping, type Layout, type Sort } from '../../src/core/timeline/layout.ts';
import { emptyModel, type TimelineDelta, type TimelineModel } from '../../src/core/timeline/model.ts';
import { fitted, panned, withTimeInView, zoomed, zoomedSpan, type TimeScale } from '../../src/core/timeline/scale.ts';
import { TimelineStore } from '../../src/core/timeline/store.ts';
import { onlyReadKey, openKey, type Track } from '../../src/core/timeline/tracks.ts';
import { english, type Translate } from '../../src/core/timeline/translate.ts';
import type { TimelineSettings } from '../../src/protocol/timeline.ts';
import { eventOf, findingOf, rowOf, selectionOfEvent, timeOf, type Selection } from './selection.ts';

/** The parts of the page that a change touches. */
export type Part = 'scene' | 'overlay' | 'rows' | 'minimap' | 'toolbar' | 'details' | 'table';

const ALL: readonly Part[] = ['scene', 'overlay', 'rows', 'minimap', 'toolbar', 'details', 'table'];
/** Lanes in order of activity are ordered anew at most this often. */
const RESORT_MS = 2000;
/** Layouts take at most one part in so many of the time. */
const LAYOUT_SHARE = 20;
/** The shortest stretch that is followed. */
const MIN_FOLLOWED_MS = 1000;
/** How much of the right edge stays free while following, in parts of the width. */
const LIVE_MARGIN = 0.04;

/**
 * All that the timeline shows and how it shows it. Components read it and call it; each change names the parts of the page
 * it touches, and those are drawn once in the next frame.
 */
export class TimelineView {
  store = new TimelineStore(emptyModel());
  filterText = '';
  filter: Filter = { terms: [] };
  filterProblems: readonly FilterProblem[] = [];
  match: FilterMatch;
  layout: Layout;
  scale: TimeScale = { from: 0, to: 60_000, width: 1 };
  top = 0;
  height = 1;
  sort: Sort = 'name';
  grouping: Grouping = 'object';
  /** Objects whose actors have rows of their own, and actors whose objects do. */
  expanded = new Set<string>();
  compact = false;
  collapsed = new Set<string>();
  opened = new Set<string>();
  selection: Selection | undefined;
  pointer: { readonly x: number; readonly y: number } | undefined;
  measure: { readonly from: number; readonly to: number } | undefined;
  /** Until when things are shown while replaying; undefined: as of now. */
  scrubAt: number | undefined;
  live = true;
  /** The last event that there was when following ended; 0 where that is not known. */
  pausedAt = 0;
  table = false;
  /** Whether what the details say while nothing is selected was asked for, where the page is too small to show it always. */
  overview = false;
  /** What was selected, and how far scrolled, before the view was hidden: taken up when the log has come so far. */
  awaited:
    | { readonly event: number | undefined; readonly finding: string | undefined; readonly top: number }
    | undefined;
  hasData = false;
  translate: Translate = english;
  /** How wide words are drawn. */
  textWidth: Measure = estimateWidth;
  /** How wide the column of names is. */
  namesWidth = 0;
  settings: TimelineSettings = { timeZoneOffsetMin: 0, followMs: 15 * 60_000, hasCluster: true };
  private followMs: number;
  private layoutDue = false;
  private laidOutAt = 0;
  private layoutTookMs = 0;
  private readonly touched: (parts: readonly Part[]) => void;
  private readonly now: () => number;

  constructor(touched: (parts: readonly Part[]) => void, now: () => number) {
    this.touched = touched;
    this.now = now;
    this.followMs = this.settings.followMs;
    this.match = matchFilter(this.store, this.filter);
    this.layout = layOut(this.store, this.match, this);
  }

  /** Says that parts of the page are to be drawn anew. */
  touch(...parts: Part[]): void {
    this.touched(parts.length === 0 ? ALL : parts);
  }

  /** Takes the words and the settings; the first stretch that is followed is the settings'. */
  configure(translate: Translate, settings: TimelineSettings): void {
    this.translate = translate;
    this.settings = settings;
    if (!this.hasData) this.followMs = settings.followMs;
    this.touch();
  }

  /** Replaces everything; what the person looks at stays. */
  setModel(model: TimelineModel): void {
    const first = !this.hasData;
    const event = this.selectedEvent();
    const finding = this.selectedFinding();
    this.store = new TimelineStore(model);
    this.hasData = this.store.lastSeq > 0;
    this.match = matchFilter(this.store, this.filter);
    this.layout = layOut(this.store, this.match, this);
    this.selection = undefined;
    if (event !== undefined) this.selectEvent(event, true, finding);
    if (first && this.hasData && this.scale.from === 0) this.showFirst();
    this.follow();
    this.clampTop();
    this.takeUp();
    this.touch();
  }

  private takeUp(): void {
    const { awaited } = this;
    if (awaited === undefined || !this.hasData || (awaited.event ?? 0) > this.store.lastSeq) return;
    this.awaited = undefined;
    this.scrollTo(awaited.top);
    if (awaited.event !== undefined) this.selectEvent(awaited.event, false, awaited.finding);
  }

  /** Appends; false where something did not fit and a whole model is needed. */
  append(delta: TimelineDelta): boolean {
    const first = !this.hasData;
    const layoutBefore = this.store.layoutVersion;
    const { rejected } = this.store.apply(delta);
    this.hasData = this.store.lastSeq > 0;
    this.match = matchFilter(this.store, this.filter, this.match);
    const byActor = this.grouping === 'actor' || this.expanded.size > 0;
    const restless = byActor || this.sort === 'activity' || this.sort === 'recent';
    this.layoutDue ||= layoutBefore !== this.store.layoutVersion || restless;
    this.layOutIfDue();
    if (first && this.hasData && this.scale.from === 0) this.showFirst();
    this.follow();
    this.takeUp();
    this.touch('scene', 'rows', 'overlay', 'minimap', 'table', 'toolbar', 'details');
    return rejected === 0;
  }

  private showFirst(): void {
    const { firstAt, lastAt } = this.store;
    const width = this.scale.width;
    this.live &&= this.settings.hasCluster;
    this.scale = this.live ? { from: lastAt - this.followMs, to: lastAt, width } : fitted(firstAt, lastAt, width);
  }

  /** While following, the right edge is now; never while the pointer is over the lanes. */
  follow(): void {
    if (!this.live || this.isHeld() || !this.hasData) return;
    const to = this.end() + this.followMs * LIVE_MARGIN;
    this.scale = { from: to - this.followMs, to, width: this.scale.width };
    this.touch('scene', 'overlay', 'minimap');
  }

  /** Until when living incarnations are drawn. */
  end(): number {
    const { lastAt } = this.store;
    if (!this.live || !this.settings.hasCluster) return lastAt;
    return Math.max(lastAt, this.now());
  }

  /** Whether following waits because the pointer rests on the lanes. */
  isHeld(): boolean {
    return this.live && (this.pointer !== undefined || this.measure !== undefined || this.scrubAt !== undefined);
  }

  setLive(live: boolean): void {
    this.live = live;
    this.pausedAt = this.store.lastSeq;
    if (live) {
      this.followMs = Math.max(MIN_FOLLOWED_MS, this.scale.to - this.scale.from);
      this.scrubAt = undefined;
    }
    this.follow();
    this.touch('toolbar', 'scene', 'overlay', 'minimap');
  }

  setFilter(text: string): void {
    if (text === this.filterText) return;
    this.filterText = text;
    const { filter, problems } = parseFilter(text);
    this.filter = filter;
    this.filterProblems = problems;
    this.match = matchFilter(this.store, filter);
    this.store.resetMatched();
    this.relayout();
    this.touch();
  }

  /** Orders, groups or draws lanes in another way; what is selected stays in sight. */
  arrange(how: Partial<Pick<TimelineView, 'sort' | 'grouping' | 'compact'>>): void {
    Object.assign(this, how);
    this.relayout();
    if (how.grouping !== undefined) this.showRow(this.selectedRow());
    this.touch('toolbar', 'scene', 'rows', 'overlay', 'table');
  }

  /** Gives the actors of an object, or the objects of an actor, rows of their own, or takes these away. */
  toggleOpen(of: Partial<Track>, open?: boolean): void {
    this.toggleKey(openKey(this.store, of), open);
  }

  /** Gives all that only read rows of their own: on a lane, of an actor, or all actors. */
  showOnlyRead(of: Partial<Track>): void {
    this.toggleKey(onlyReadKey(this.store, of), true);
  }

  private toggleKey(key: string, open = !this.expanded.has(key)): void {
    if (open) this.expanded.add(key);
    else this.expanded.delete(key);
    this.relayout();
    this.touch('scene', 'rows', 'overlay', 'table');
  }

  /** Collapses or opens a group; opened, it shows also what was folded unasked. */
  toggleGroup(group: number, collapsed?: boolean): void {
    const key = this.store.groups[group]?.key;
    if (key === undefined) return;
    const isShut = this.layout.rows.some((row) => row.type === 'group' && row.group === group && row.collapsed);
    if (collapsed ?? !isShut) this.collapsed.add(key);
    else {
      this.collapsed.delete(key);
      this.opened.add(key);
    }
    this.relayout();
    this.touch('scene', 'rows', 'overlay');
  }

  toggleOverview(): void {
    this.overview = !this.overview || this.selection !== undefined;
    this.select(undefined);
    this.touch('toolbar');
  }

  toggleTable(): void {
    this.table = !this.table;
    this.touch();
  }

  /**
   * Lays out anew what came. Lanes in order of what happens are not moved more often than one can follow, and a layout
   * that takes long is not made again at once.
   */
  layOutIfDue(): void {
    if (!this.layoutDue) return;
    const restless = this.sort === 'activity' || this.sort === 'recent';
    const pause = Math.max(restless ? RESORT_MS : 0, this.layoutTookMs * LAYOUT_SHARE);
    if (performance.now() - this.laidOutAt >= pause) this.relayout();
  }

  /** Lays out anew; the row under the pointer, or else the first in view, stays where it is. */
  private relayout(): void {
    const start = performance.now();
    this.layoutDue = false;
    const before = this.layout;
    this.layout = layOut(this.store, this.match, this);
    this.top += movedBy(before, this.layout, (this.pointer?.y ?? 0) + this.top);
    this.clampTop();
    this.laidOutAt = performance.now();
    this.layoutTookMs = this.laidOutAt - start;
    this.touch('rows', 'scene', 'overlay');
  }

  resize(width: number, height: number): void {
    if (width === this.scale.width && height === this.height) return;
    const { top, height: before } = this;
    const row = this.layout.rows[this.selectedRow() ?? -1];
    const isSeen = row !== undefined && row.y + row.height > top && row.y < top + before;
    this.scale = { ...this.scale, width: Math.max(1, width) };
    this.height = Math.max(1, height);
    this.clampTop();
    if (isSeen) this.showRow(this.selectedRow());
    this.touch();
  }

  setScale(scale: TimeScale): void {
    this.scale = scale;
    if (this.live) this.pausedAt = this.store.lastSeq;
    this.live = false;
    this.touch('scene', 'overlay', 'minimap', 'toolbar');
  }

  pan(pixels: number): void {
    this.setScale(panned(this.scale, pixels));
  }

  /** Zooms at a pixel; while following, the right edge stays now. */
  zoom(factor: number, x: number): void {
    if (this.live && this.pointer === undefined) {
      this.followMs = zoomedSpan(this.followMs, factor, MIN_FOLLOWED_MS);
      this.follow();
      this.touch('toolbar');
    } else this.setScale(zoomed(this.scale, x, factor));
  }

  /** Shows the last stretch of a length; follows on if it did. */
  showLast(ms: number): void {
    this.followMs = ms;
    const to = this.store.lastAt + ms * LIVE_MARGIN;
    if (this.live) this.follow();
    else this.setScale({ ...this.scale, from: to - ms, to });
    this.touch('toolbar', 'scene', 'overlay', 'minimap');
  }

  fitAll(): void {
    if (this.hasData) this.setScale(fitted(this.store.firstAt, this.store.lastAt, this.scale.width));
  }

  scrollBy(pixels: number): void {
    this.scrollTo(this.top + pixels);
  }

  scrollTo(top: number): void {
    const before = this.top;
    this.top = top;
    this.clampTop();
    if (this.top !== before) this.touch('scene', 'rows', 'overlay');
  }

  private clampTop(): void {
    this.top = Math.max(0, Math.min(this.top, this.layout.height - this.height));
  }

  select(selection: Selection | undefined, show = true): void {
    this.selection = selection;
    if (selection !== undefined && show) this.bringIntoView(selection);
    this.touch('overlay', 'details', 'rows', 'table');
  }

  /**
   * Selects the mark of an event, or the read, whose actor gets a row then, as what proves a finding where one is named; or
   * the finding that rests on it; false where nothing of it is shown.
   */
  selectEvent(event: number, show = true, finding?: string): boolean {
    const found = selectionOfEvent(this.store, event, finding);
    if (found === undefined) return false;
    const isRead = found.type === 'read' && this.store.lanes[found.lane] !== undefined;
    if (show && isRead && this.grouping === 'object') {
      this.toggleOpen({ lane: found.lane }, true);
      const row = this.layout.rows[rowOf(this.store, this.layout, found) ?? -1];
      if (row?.type === 'lane') this.showOnlyRead({ lane: found.lane });
    }
    this.select(found, show);
    return true;
  }

  /** The time of what is selected. */
  selectedAt(): number | undefined {
    return timeOf(this.store, this.selection);
  }

  /** The event of what is selected. */
  selectedEvent(): number | undefined {
    return eventOf(this.store, this.selection);
  }

  /** The rule of the finding that a person came from. */
  selectedFinding(): string | undefined {
    return findingOf(this.selection);
  }

  private bringIntoView(selection: Selection): void {
    if (this.grouping === 'object') this.showLane(selection.lane);
    this.showRow(this.selectedRow());
    const at = this.selectedAt();
    if (at === undefined) return;
    const moved = withTimeInView(this.scale, at);
    if (moved !== this.scale) this.setScale(moved);
  }

  /** The row that the selection is on; undefined where it is not laid out. */
  selectedRow(): number | undefined {
    return rowOf(this.store, this.layout, this.selection);
  }

  /** Scrolls so that the lane of an object is seen, opening its group. */
  showLane(lane: number): void {
    const group = this.store.lanes[lane]?.info.group;
    if (this.grouping === 'actor') this.arrange({ grouping: 'object' });
    if (group !== undefined && !this.layout.rowOfLane.has(lane)) this.toggleGroup(group, false);
    this.showRow(this.layout.rowOfLane.get(lane));
  }

  private showRow(index: number | undefined): void {
    const row = this.layout.rows[index ?? -1];
    if (row === undefined) return;
    if (row.y < this.top) this.scrollTo(row.y - 4);
    else if (row.y + row.height > this.top + this.height) this.scrollTo(row.y + row.height - this.height + 4);
  }

  /** Shows the state as of a time; undefined: as of now. */
  scrub(at: number | undefined): void {
    this.scrubAt = at;
    this.touch('overlay', 'toolbar');
  }
}
