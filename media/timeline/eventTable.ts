import { dateText, preciseTimeText } from '../../src/core/timeline/axis.ts';
import type { Filter } from '../../src/core/timeline/filter.ts';
import { MARK_KINDS } from '../../src/core/timeline/model.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';
import { tableRows, type TableRows } from '../../src/core/timeline/tableRows.ts';
import { element, isHidden, setAttribute, setText } from '../common/dom.ts';
import { glyphImage } from './toolbar.ts';
import type { TimelineView } from './view.ts';
import { kindWords, laneWords, markRemark } from './words.ts';

const ROW_PX = 24;
const COLUMNS = ['Time', 'Object', 'What', 'Actor', 'Remark'] as const;
const NO_ROWS: TableRows = { length: 0, mark: new Uint32Array(), count: new Uint32Array(), last: new Uint32Array() };
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
  private readonly expanded = new Set<number>();
  private active = 0;
  private builtAt = Number.NEGATIVE_INFINITY;
  private builtFor: TimelineStore | undefined;
  private builtFilter: Filter | undefined;
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
    const { store, match, filter } = this.view;
    const same = this.builtFor === store && this.builtFilter === filter && this.rows.length > 0;
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
    this.rows = tableRows(store, match.marks, match.lanes, this.expanded);
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
    if (selection?.type !== 'mark' || this.rows.mark[this.active] === selection.mark) return;
    const index = this.rowOfMark(selection.mark);
    if (index === undefined) return;
    this.active = index;
    this.showActive();
  }

  /** The row that a mark stands in: the last that begins at or before it on its lane. */
  private rowOfMark(mark: number): number | undefined {
    const { store } = this.view;
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.rows.mark[middle] ?? 0) <= mark) low = middle + 1;
      else high = middle;
    }
    for (let index = low - 1; index >= 0; index -= 1) {
      if (store.marks.lane.at(this.rows.mark[index] ?? 0) === store.marks.lane.at(mark)) return index;
    }
    return undefined;
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
    const mark = this.rows.mark[index] ?? 0;
    const count = this.rows.count[index] ?? 1;
    const at = store.marks.at.at(mark);
    const kind = MARK_KINDS[store.marks.kind.at(mark)] ?? 'unknown';
    const selected = selection?.type === 'mark' && selection.mark === mark;
    const focused = index === this.active && document.activeElement === this.grid;
    slot.hidden = false;
    slot.id = `event-row-${index}`;
    slot.className = `grid-row${selected ? ' selected' : ''}${focused ? ' active' : ''}`;
    slot.dataset['index'] = String(index);
    setAttribute(slot, 'aria-rowindex', String(index + 2));
    setAttribute(slot, 'aria-selected', String(selected));
    const what = kindWords(store, mark, translate);
    const offset = settings.timeZoneOffsetMin;
    const texts = [
      `${dateText(at, offset)} ${preciseTimeText(at, offset)}`,
      laneWords(store, store.marks.lane.at(mark)),
      count > 1 ? translate('{0} × {1}', what, count) : what,
      store.text(store.marks.actor.at(mark)),
      markRemark(store, mark, translate),
    ];
    texts.forEach((text, column) => {
      const cell = slot.children[column];
      if (cell === undefined) return;
      if (column !== 2) {
        setText(cell, text);
        return;
      }
      if (cell.textContent === text && cell.getAttribute('data-kind') === kind) return;
      cell.setAttribute('data-kind', kind);
      cell.className = `ink-${kind}`;
      cell.replaceChildren(glyphImage(kind), element('span', { text }));
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
    const mark = this.rows.mark[this.active];
    if (mark !== undefined && this.rows.length > 0)
      this.view.select({ type: 'mark', lane: this.view.store.marks.lane.at(mark), mark });
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
    const mark = this.rows.mark[this.active];
    if (mark === undefined) return;
    if (open) this.expanded.add(mark);
    else this.expanded.delete(mark);
    this.builtFor = undefined;
    this.view.touch('table');
  }
}
