import { dateText, preciseTimeText } from '../../src/core/timeline/axis.ts';
import type { Filter } from '../../src/core/timeline/filter.ts';
import { MARK_KINDS, NO_LANE, type MarkKind } from '../../src/core/timeline/model.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';
import {
  isSameItem,
  itemOf,
  NO_ROWS,
  readsShown,
  rowOfItem,
  tableRows,
  timeOfItem,
  type TableItem,
  type TableRows,
} from '../../src/core/timeline/tableRows.ts';
import { element, isHidden, setAttribute, setText } from '../common/dom.ts';
import { glyphImage, signImage } from './glyphImage.ts';
import type { TimelineView } from './view.ts';
import { showAround, showGap } from './overview.ts';
import { actorOfStop, gapWords, KIND_WORDS, laneWords, markRemark, readRemark, stopWords } from './words.ts';

const ROW_PX = 24;
const COLUMNS = ['Time', 'Object', 'What', 'Actor', 'Remark'] as const;
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
    // The places of another model are of other marks.
    if (this.builtFor !== store) for (const rows of Object.values(this.opened)) rows.clear();
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
    if (selection === undefined) return;
    const row = this.itemAt(this.active);
    if (row !== undefined && isSameItem(row, selection)) return;
    const index = rowOfItem(this.view.store, this.rows, selection);
    if (index === undefined) return;
    this.active = index;
    this.showActive();
  }

  private itemAt(index: number): TableItem | undefined {
    return itemOf(this.view.store, this.rows, index);
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
    const { settings, translate, selection, store } = this.view;
    const item = this.itemAt(index);
    if (item === undefined) return;
    const count = this.rows.count[index] ?? 1;
    const at = timeOfItem(store, item);
    const selected = selection !== undefined && isSameItem(item, selection);
    const focused = index === this.active && document.activeElement === this.grid;
    slot.hidden = false;
    slot.id = `event-row-${index}`;
    slot.className = `grid-row${selected ? ' selected' : ''}${focused ? ' active' : ''}`;
    slot.dataset['index'] = String(index);
    setAttribute(slot, 'aria-rowindex', String(index + 2));
    setAttribute(slot, 'aria-selected', String(selected));
    const { look, object, what, actor, remark } = cellsOf(this.view, item);
    const offset = settings.timeZoneOffsetMin;
    const texts = [
      `${this.withDates ? `${dateText(at, offset)} ` : ''}${preciseTimeText(at, offset)}`,
      object,
      count > 1 ? translate('{0} × {1}', what, count) : what,
      actor,
      remark,
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
      if (cell.textContent === text && cell.getAttribute('data-kind') === look) return;
      cell.setAttribute('data-kind', look);
      cell.className = `ink-${look === 'read' || look === 'gap' ? 'metadata' : look}`;
      const sign = look === 'read' || look === 'gap' ? signImage(look) : glyphImage(look);
      cell.replaceChildren(sign, element('span', { text }));
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

  /** Selects the row; a gap or a note, which stand on no lane, are brought into sight. */
  private selectActive(): void {
    const item = this.itemAt(this.active);
    if (item === undefined) return;
    if (item.type !== 'gap' && item.type !== 'note') {
      this.view.select(item);
      return;
    }
    this.view.select(undefined);
    if (item.type === 'gap') showGap(this.view, item.gap);
    else showAround(this.view, item.note.at, item.note.at);
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
    const item = this.itemAt(this.active);
    if (item?.type !== 'mark' && item?.type !== 'read') return;
    const [opened, place] = item.type === 'read' ? [this.opened.reads, item.read] : [this.opened.marks, item.mark];
    if (open) opened.add(place);
    else opened.delete(place);
    this.builtAt = Number.NEGATIVE_INFINITY;
    this.view.touch('table');
  }
}

interface Cells {
  readonly look: MarkKind | 'read' | 'gap';
  readonly object: string;
  readonly what: string;
  readonly actor: string;
  readonly remark: string;
}

/** What the cells of a row say, besides the time. */
function cellsOf({ store, translate, settings }: TimelineView, item: TableItem): Cells {
  switch (item.type) {
    case 'gap': {
      const { gap } = item;
      const to = gap.to === undefined ? undefined : preciseTimeText(gap.to, settings.timeZoneOffsetMin);
      const until = to === undefined ? translate('still') : translate('until {0}', to);
      const remark = `${gap.cause} · ${until}`;
      return { look: 'gap', object: gapWords(gap), what: translate('not observed'), actor: '', remark };
    }
    case 'annotation': {
      const { text, glyph = 'finding' } = item.annotation;
      const what = translate(KIND_WORDS[glyph]);
      return { look: glyph, object: laneWords(store, item.lane), what, actor: '', remark: text };
    }
    case 'note':
      return { look: 'note', object: '', what: translate('note'), actor: '', remark: item.note.text };
    case 'mark':
    case 'read':
      return {
        look: item.type === 'mark' ? (MARK_KINDS[store.marks.kind.at(item.mark)] ?? 'unknown') : 'read',
        object: item.lane === NO_LANE ? translate('many objects') : laneWords(store, item.lane),
        what: stopWords(store, item, translate),
        actor: actorOfStop(store, item),
        remark:
          item.type === 'mark' ? markRemark(store, item.mark, translate) : readRemark(store, item.read, translate),
      };
  }
}
