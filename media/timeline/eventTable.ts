import { dateText, preciseTimeText } from '../../src/core/timeline/axis.ts';
import type { Filter } from '../../src/core/timeline/filter.ts';
import { MARK_KINDS, NO_LANE } from '../../src/core/timeline/model.ts';
import { eventOfStop, timeOfStop, type Stop } from '../../src/core/timeline/navigate.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';
import { readsShown, tableRows, type TableRows } from '../../src/core/timeline/tableRows.ts';
import { element, isHidden, setAttribute, setText } from '../common/dom.ts';
import { glyphImage, readImage } from './glyphImage.ts';
import type { TimelineView } from './view.ts';
import { actorOfStop, laneWords, markRemark, readRemark, stopWords } from './words.ts';

const ROW_PX = 24;
const COLUMNS = ['Time', 'Object', 'What', 'Actor', 'Remark'] as const;
const NO_ROWS: TableRows = {
  length: 0,
  isRead: new Uint8Array(),
  place: new Uint32Array(),
  count: new Uint32Array(),
  last: new Uint32Array(),
};
/** Browsers lose precision in very tall boxes: beyond this, the scroll bar stands for more than one pixel a pixel. */
const MAX_SCROLL_PX = 8_000_000;
const REBUILD_MS = 400;

/**
 * The same events as a grid for keyboards and screen readers, or for whoever likes tables: rows in order of arrival, runs
 * of heartbeats folded into one row with a count. Only the rows in view are in the page.
 */
export class EventTable {
  readonly root = element('section', { class: 'table' });
  private readonly grid = element('div', {
    class: 'grid',
    attributes: { role: 'grid', tabindex: '0', 'aria-multiselectable': 'false' },
  });
  private readonly spacer = element('div', { class: 'spacer', attributes: { role: 'presentation' } });
  private readonly body = element('div', { class: 'grid-body', attributes: { role: 'rowgroup' } });
  private readonly slots: HTMLElement[] = [];
  private readonly view: TimelineView;
  private readonly onOpen: () => void;
  private rows: TableRows = NO_ROWS;
  private readonly opened = { marks: new Set<number>(), reads: new Set<number>() };
  private active = 0;
  /** Where there is room, times have their date. */
  private withDates = true;
  private builtAt = Number.NEGATIVE_INFINITY;
  private builtFor: TimelineStore | undefined;
  private builtFilter: Filter | undefined;
  private builtOpen = '';
  private rebuild: ReturnType<typeof setTimeout> | undefined;

  constructor(view: TimelineView, onOpen: () => void) {
    this.view = view;
    this.onOpen = onOpen;
    const header = element('div', { class: 'grid-header', attributes: { role: 'row', 'aria-rowindex': '1' } });
    for (const column of COLUMNS)
      header.append(element('span', { text: column, attributes: { role: 'columnheader' } }));
    this.grid.append(element('div', { attributes: { role: 'rowgroup' } }, header), this.body, this.spacer);
    this.root.append(this.grid);
    this.grid.addEventListener('scroll', () => this.drawRows());
    this.grid.addEventListener('keydown', (event) => {
      if (this.onKey(event.key)) event.preventDefault();
    });
    this.grid.addEventListener('focus', () => this.drawRows());
    this.grid.addEventListener('blur', () => this.drawRows());
    this.body.addEventListener('click', (event) => this.onClick(event.target));
  }

  draw(): void {
    this.root.hidden = !this.view.table;
    if (isHidden(this.root)) return;
    this.refreshRows();
    const { translate } = this.view;
    setAttribute(this.root, 'aria-label', translate('Table of events'));
    setAttribute(this.grid, 'aria-label', translate('Events'));
    setAttribute(this.grid, 'aria-rowcount', String(this.rows.length + 1));
    setAttribute(this.grid, 'aria-colcount', String(COLUMNS.length));
    this.grid
      .querySelectorAll('[role="columnheader"]')
      .forEach((header, index) => setText(header, translate(COLUMNS[index] ?? '')));
    this.followSelection();
    this.drawRows();
  }

  focus(): void {
    this.grid.focus();
  }

  /** Works out the rows anew where the marks or the filter changed; at most every so often while events pour in. */
  private refreshRows(): void {
    const { store, match, filter, layout, grouping, expanded } = this.view;
    const open = [grouping, ...expanded].join('\n');
    const same =
      this.builtFor === store && this.builtFilter === filter && this.builtOpen === open && this.rows.length > 0;
    if (same && performance.now() - this.builtAt < REBUILD_MS) {
      this.rebuild ??= setTimeout(() => {
        this.rebuild = undefined;
        this.view.touch('table');
      }, REBUILD_MS);
      return;
    }
    // Scrolled to its end, the list begins with a part of a row.
    const last = this.rows.length - 1;
    const atEnd = this.active >= last && this.firstRow() + this.visibleCount() >= last;
    this.builtAt = performance.now();
    this.builtFor = store;
    this.builtFilter = filter;
    this.builtOpen = open;
    this.rows = tableRows(store, match, readsShown(store, layout, match), this.opened);
    const tall = Math.min(MAX_SCROLL_PX, this.rows.length * ROW_PX);
    this.spacer.style.height = `${tall}px`;
    const newest = Math.max(0, this.rows.length - 1);
    this.active = Math.min(this.active, newest);
    // While one follows what happens, the newest is what there is to see, until somebody goes elsewhere.
    if (!atEnd || !this.view.live || !this.view.settings.hasCluster) return;
    this.active = newest;
    this.showActive();
  }

  private followSelection(): void {
    const { selection } = this.view;
    if (selection === undefined || selection.type === 'annotation') return;
    const row = this.active < this.rows.length ? this.stopAt(this.active) : undefined;
    if (row !== undefined && isSame(row, selection)) return;
    const index = this.rowOf(selection);
    if (index === undefined) return;
    this.active = index;
    this.showActive();
  }

  /** The row that a mark or a read stands in: the last that begins at or before it on its lane. */
  private rowOf(stop: Stop): number | undefined {
    const { store } = this.view;
    const event = eventOfStop(store, stop);
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (eventOfStop(store, this.stopAt(middle)) <= event) low = middle + 1;
      else high = middle;
    }
    for (let index = low - 1; index >= 0; index -= 1) {
      const row = this.stopAt(index);
      if (row.type === stop.type && row.lane === stop.lane) return index;
    }
    return undefined;
  }

  /** What a row begins with. */
  private stopAt(index: number): Stop {
    const { marks, reads } = this.view.store;
    const place = this.rows.place[index] ?? 0;
    return this.rows.isRead[index] === 1
      ? { type: 'read', lane: reads.lane.at(place), read: place, onTrack: true }
      : { type: 'mark', lane: marks.lane.at(place), mark: place };
  }

  private visibleCount(): number {
    return Math.max(1, Math.floor((this.grid.clientHeight - ROW_PX) / ROW_PX));
  }

  /** The row at the top: exact in short tables, proportional in very long ones. */
  private firstRow(): number {
    const total = this.rows.length * ROW_PX;
    if (total <= MAX_SCROLL_PX) return Math.floor(this.grid.scrollTop / ROW_PX);
    const range = MAX_SCROLL_PX - this.grid.clientHeight;
    return Math.round((this.grid.scrollTop / range) * (this.rows.length - this.visibleCount()));
  }

  private showActive(): void {
    const first = this.firstRow();
    const visible = this.visibleCount();
    let target = first;
    if (this.active < first) target = this.active;
    else if (this.active >= first + visible) target = this.active - visible + 1;
    if (target === first) return;
    const total = this.rows.length * ROW_PX;
    this.grid.scrollTop =
      total <= MAX_SCROLL_PX
        ? target * ROW_PX
        : (target / Math.max(1, this.rows.length - visible)) * (MAX_SCROLL_PX - this.grid.clientHeight);
  }

  private drawRows(): void {
    if (isHidden(this.root)) return;
    const first = Math.max(0, this.firstRow());
    this.withDates = !matchMedia('(max-width: 760px)').matches;
    const count = Math.min(this.visibleCount() + 1, this.rows.length - first);
    for (let index = 0; index < count; index += 1) this.fill(this.slot(index), first + index);
    for (let spare = Math.max(0, count); spare < this.slots.length; spare += 1) {
      const slot = this.slots[spare];
      if (slot !== undefined) slot.hidden = true;
    }
    const seen = this.active >= first && this.active < first + count;
    setAttribute(this.grid, 'aria-activedescendant', seen ? `event-row-${this.active}` : undefined);
  }

  private fill(slot: HTMLElement, index: number): void {
    const { store, settings, translate, selection } = this.view;
    const stop = this.stopAt(index);
    const count = this.rows.count[index] ?? 1;
    const at = timeOfStop(store, stop);
    const kind = stop.type === 'mark' ? (MARK_KINDS[store.marks.kind.at(stop.mark)] ?? 'unknown') : undefined;
    const selected = selection !== undefined && selection.type !== 'annotation' && isSame(stop, selection);
    const focused = index === this.active && document.activeElement === this.grid;
    slot.hidden = false;
    slot.id = `event-row-${index}`;
    slot.className = `grid-row${selected ? ' selected' : ''}${focused ? ' active' : ''}`;
    slot.dataset['index'] = String(index);
    setAttribute(slot, 'aria-rowindex', String(index + 2));
    setAttribute(slot, 'aria-selected', String(selected));
    const what = stopWords(store, stop, translate);
    const offset = settings.timeZoneOffsetMin;
    const texts = [
      `${this.withDates ? `${dateText(at, offset)} ` : ''}${preciseTimeText(at, offset)}`,
      stop.lane === NO_LANE ? translate('many objects') : laneWords(store, stop.lane),
      count > 1 ? translate('{0} × {1}', what, count) : what,
      actorOfStop(store, stop),
      stop.type === 'mark' ? markRemark(store, stop.mark, translate) : readRemark(store, stop.read, translate),
    ];
    texts.forEach((text, column) => {
      const cell = slot.children[column];
      if (cell === undefined) return;
      // Cells are cut where the window is narrow.
      setAttribute(cell, 'title', text === '' ? undefined : text);
      if (column !== 2) {
        setText(cell, text);
        return;
      }
      const look = kind ?? 'read';
      if (cell.textContent === text && cell.getAttribute('data-kind') === look) return;
      cell.setAttribute('data-kind', look);
      cell.className = `ink-${kind ?? 'metadata'}`;
      cell.replaceChildren(kind === undefined ? readImage() : glyphImage(kind), element('span', { text }));
    });
  }

  private slot(index: number): HTMLElement {
    const known = this.slots[index];
    if (known !== undefined) return known;
    const slot = element('div', { class: 'grid-row', attributes: { role: 'row' } });
    for (const _column of COLUMNS) slot.append(element('span', { attributes: { role: 'gridcell' } }));
    this.slots.push(slot);
    this.body.append(slot);
    return slot;
  }

  private onClick(target: EventTarget | null): void {
    const row = target instanceof Element ? target.closest<HTMLElement>('.grid-row') : null;
    if (row === null) return;
    this.active = Number(row.dataset['index'] ?? 0);
    this.selectActive();
    this.grid.focus();
  }

  private selectActive(): void {
    if (this.active < this.rows.length) this.view.select(this.stopAt(this.active));
  }

  private onKey(key: string): boolean {
    const page = this.visibleCount();
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.rows.length,
      End: this.rows.length,
    };
    const move = moves[key];
    if (move !== undefined) {
      this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + move));
      this.showActive();
      this.selectActive();
    } else if (key === 'Enter') {
      this.selectActive();
      this.onOpen();
    } else if (key === 'ArrowRight' || key === 'ArrowLeft') this.expand(key === 'ArrowRight');
    else return false;
    return true;
  }

  /** Opens a folded run, or folds it again. */
  private expand(open: boolean): void {
    if (this.active >= this.rows.length) return;
    const place = this.rows.place[this.active] ?? 0;
    const opened = this.rows.isRead[this.active] === 1 ? this.opened.reads : this.opened.marks;
    if (open) opened.add(place);
    else opened.delete(place);
    this.builtFor = undefined;
    this.view.touch('table');
  }
}

function isSame(a: Stop, b: Stop): boolean {
  if (a.type === 'mark') return b.type === 'mark' && a.mark === b.mark;
  return b.type === 'read' && a.read === b.read;
}
