import { rowsInView, type Row } from '../../src/core/timeline/layout.ts';
import { foldedWords, groupTitle, laneSubtitle, moreWords } from '../../src/core/timeline/rowWords.ts';
import { element, setAttribute, setText } from '../common/dom.ts';
import type { TimelineView } from './view.ts';

interface Slot {
  readonly root: HTMLElement;
  readonly twist: HTMLElement;
  readonly name: HTMLElement;
  readonly sub: HTMLElement;
  readonly badge: HTMLElement;
}

/** The names at the left: as many elements as rows are in view, however many lanes there are. */
export class Rows {
  readonly root = element('div', { class: 'rows', attributes: { role: 'tree', tabindex: '0' } });
  private readonly view: TimelineView;
  private readonly slots: Slot[] = [];
  /** The row that the keyboard is on. */
  private active = 0;

  constructor(view: TimelineView, onOpen: (lane: number) => void) {
    this.view = view;
    this.root.addEventListener('click', (event) => {
      const row = this.rowOf(event.target);
      if (row === undefined) return;
      this.active = this.view.layout.rows.indexOf(row);
      this.openRow(row, onOpen);
      this.view.touch('rows');
    });
    this.root.addEventListener('keydown', (event) => {
      if (this.onKey(event.key, onOpen)) event.preventDefault();
    });
    this.root.addEventListener('focus', () => this.view.touch('rows'));
    this.root.addEventListener('blur', () => this.view.touch('rows'));
  }

  /** Fills the elements with the rows in view. */
  draw(): void {
    const { layout, top, height, translate } = this.view;
    setAttribute(this.root, 'aria-label', translate('Objects'));
    const { first, end } = rowsInView(layout, top, height);
    for (let index = first; index < end; index += 1) this.fill(this.slot(index - first), index, layout.rows[index]);
    for (let spare = end - first; spare < this.slots.length; spare += 1) {
      const slot = this.slots[spare];
      if (slot !== undefined) slot.root.hidden = true;
    }
    const focused = document.activeElement === this.root && this.active >= first && this.active < end;
    setAttribute(this.root, 'aria-activedescendant', focused ? `row-${this.active}` : undefined);
  }

  private fill(slot: Slot, index: number, row: Row | undefined): void {
    if (row === undefined) return;
    const { view } = this;
    slot.root.hidden = false;
    slot.root.id = `row-${index}`;
    slot.root.dataset['row'] = String(index);
    slot.root.style.transform = `translateY(${row.y - view.top}px)`;
    slot.root.style.height = `${row.height}px`;
    setAttribute(slot.root, 'aria-setsize', String(view.layout.rows.length));
    setAttribute(slot.root, 'aria-posinset', String(index + 1));
    const isActive = index === this.active && document.activeElement === this.root;
    if (row.type === 'group') this.fillGroup(slot, row, isActive);
    else if (row.type === 'more') this.fillMore(slot, row.count, isActive);
    else this.fillLane(slot, row.lane, row.height, isActive);
  }

  private fillGroup(slot: Slot, row: Row & { type: 'group' }, isActive: boolean): void {
    const group = this.view.store.groups[row.group];
    const title = groupTitle(group?.label ?? '');
    slot.root.className = `row group${isActive ? ' active' : ''}`;
    setAttribute(slot.root, 'aria-level', '1');
    setAttribute(slot.root, 'aria-expanded', String(!row.collapsed));
    setAttribute(slot.root, 'aria-selected', 'false');
    setText(slot.twist, row.collapsed ? '▸' : '▾');
    setText(slot.name, title);
    setText(slot.sub, foldedWords(row, this.view.translate));
    slot.sub.classList.remove('remark');
    setText(slot.badge, String(row.count));
    slot.root.title = group?.label ?? '';
  }

  private fillMore(slot: Slot, count: number, isActive: boolean): void {
    const words = moreWords(count, this.view.translate);
    slot.root.className = `row more${isActive ? ' active' : ''}`;
    setAttribute(slot.root, 'aria-level', '2');
    setAttribute(slot.root, 'aria-expanded', 'false');
    setAttribute(slot.root, 'aria-selected', 'false');
    setText(slot.twist, '▸');
    setText(slot.name, words);
    setText(slot.sub, '');
    setText(slot.badge, '');
    slot.root.title = words;
  }

  private fillLane(slot: Slot, lane: number, height: number, isActive: boolean): void {
    const { store, translate, selection } = this.view;
    const info = store.lanes[lane]?.info;
    if (info === undefined) return;
    const selected = selection?.lane === lane;
    slot.root.className = `row lane${selected ? ' selected' : ''}${isActive ? ' active' : ''}${height < 40 ? ' compact' : ''}`;
    setAttribute(slot.root, 'aria-level', '2');
    setAttribute(slot.root, 'aria-expanded', undefined);
    setAttribute(slot.root, 'aria-selected', String(selected));
    setText(slot.twist, '');
    setText(slot.name, info.name);
    setText(slot.sub, laneSubtitle(info, translate));
    slot.sub.classList.toggle('remark', info.remark !== undefined);
    setText(slot.badge, info.findings > 0 ? String(info.findings) : '');
    const findings = info.findings === 1 ? translate('1 finding') : translate('{0} findings', info.findings);
    slot.badge.title = info.findings > 0 ? findings : '';
    slot.root.title = [info.namespace, info.name].filter((part) => part !== '').join('/');
  }

  private slot(index: number): Slot {
    const known = this.slots[index];
    if (known !== undefined) return known;
    const twist = element('span', { class: 'twist', attributes: { 'aria-hidden': 'true' } });
    const name = element('span', { class: 'name' });
    const sub = element('span', { class: 'sub' });
    const badge = element('span', { class: 'count' });
    const root = element('div', { class: 'row', attributes: { role: 'treeitem' } }, twist, name, sub, badge);
    const slot = { root, twist, name, sub, badge };
    this.slots.push(slot);
    this.root.append(root);
    return slot;
  }

  private rowOf(target: EventTarget | null): Row | undefined {
    const found = target instanceof Element ? target.closest<HTMLElement>('.row') : null;
    const index = Number(found?.dataset['row'] ?? -1);
    return this.view.layout.rows[index];
  }

  private onKey(key: string, onOpen: (lane: number) => void): boolean {
    const { rows } = this.view.layout;
    const row = rows[this.active];
    const page = Math.max(1, Math.floor(this.view.height / 60));
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const move = moves[key];
    if (move !== undefined) this.moveTo(this.active + move);
    else if ((key === 'ArrowRight' || key === 'ArrowLeft') && row?.type === 'group')
      this.view.toggleGroup(row.group, key === 'ArrowLeft');
    else if (key === 'ArrowRight' && row?.type === 'more') this.view.toggleGroup(row.group, false);
    else if (key === 'ArrowLeft' && row !== undefined)
      this.moveTo(rows.findLastIndex((one, index) => index < this.active && one.type === 'group'));
    else if (key === 'Enter' || key === ' ') {
      if (row !== undefined) this.openRow(row, onOpen);
    } else return false;
    return true;
  }

  private openRow(row: Row, onOpen: (lane: number) => void): void {
    if (row.type === 'group') this.view.toggleGroup(row.group);
    else if (row.type === 'more') this.view.toggleGroup(row.group, false);
    else onOpen(row.lane);
  }

  private moveTo(index: number): void {
    const { layout, top, height } = this.view;
    this.active = Math.max(0, Math.min(layout.rows.length - 1, index));
    const row = layout.rows[this.active];
    if (row !== undefined && row.y < top) this.view.scrollTo(row.y);
    else if (row !== undefined && row.y + row.height > top + height) this.view.scrollTo(row.y + row.height - height);
    this.view.touch('rows');
  }
}
