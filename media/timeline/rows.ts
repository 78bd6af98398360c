import { rowsInView, type Row } from '../../src/core/timeline/layout.ts';
import {
  foldedReason,
  foldedWords,
  groupTitle,
  laneSubtitle,
  moreWords,
  nameParts,
  readersWords,
  trackTitle,
  trackWords,
} from '../../src/core/timeline/rowWords.ts';
import { element, setAttribute, setText } from '../common/dom.ts';
import { selectOnRow } from './keyboard.ts';
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

  constructor(view: TimelineView) {
    this.view = view;
    this.root.addEventListener('click', (event) => {
      const row = this.rowOf(event.target);
      if (row === undefined) return;
      this.active = this.view.layout.rows.indexOf(row);
      if (event.target instanceof Element && event.target.classList.contains('twist')) this.toggle(row);
      else this.openRow(row);
      this.view.touch('rows');
    });
    this.root.addEventListener('keydown', (event) => {
      if (this.onKey(event.key)) event.preventDefault();
    });
    this.root.addEventListener('focus', () => this.view.touch('rows'));
    this.root.addEventListener('blur', () => this.view.touch('rows'));
  }

  /** Fills the elements with the rows in view. */
  draw(): void {
    const { layout, top, height, grouping, translate } = this.view;
    setAttribute(this.root, 'aria-label', translate(grouping === 'actor' ? 'Actors' : 'Objects'));
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
    setAttribute(slot.root, 'aria-label', undefined);
    const isActive = index === this.active && document.activeElement === this.root;
    if (row.type === 'group') this.fillGroup(slot, row, isActive);
    else if (row.type === 'more' || row.type === 'readers') this.fillMore(slot, row, isActive);
    else if (row.type === 'track') this.fillTrack(slot, row, index, isActive);
    else this.fillLane(slot, row, isActive);
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
    setText(slot.badge, String(row.lanes.length));
    const why = foldedReason(row, this.view.translate);
    slot.root.title = [group?.label ?? '', why].filter((part) => part !== '').join('\n');
  }

  private fillMore(slot: Slot, row: Row & { type: 'more' | 'readers' }, isActive: boolean): void {
    const { translate } = this.view;
    const words = row.type === 'more' ? moreWords(row.count, translate) : readersWords(row, translate);
    const why = row.type === 'more' ? foldedReason({ folded: 'unwatched' }, translate) : '';
    slot.root.className = `row more${isActive ? ' active' : ''}`;
    setAttribute(slot.root, 'aria-level', String(levelOf(row)));
    setAttribute(slot.root, 'aria-expanded', 'false');
    setAttribute(slot.root, 'aria-selected', 'false');
    setText(slot.twist, '▸');
    setText(slot.name, words);
    setText(slot.sub, '');
    setText(slot.badge, '');
    slot.root.title = [words, why].filter((part) => part !== '').join('\n');
  }

  private fillTrack(slot: Slot, row: Row & { type: 'track' }, index: number, isActive: boolean): void {
    const { view } = this;
    const { store, match, translate } = view;
    const selected = view.selectedRow() === index;
    const isLane = row.under === undefined;
    const words = trackWords(store, match, row, translate);
    const title = trackTitle(store, row, translate);
    const findings = isLane ? (store.findingsByActor.get(row.actor)?.count ?? 0) : 0;
    const kind = isLane ? `lane${row.height < 40 ? ' compact' : ''}` : 'track';
    slot.root.className = `row ${kind}${selected ? ' selected' : ''}${isActive ? ' active' : ''}`;
    setAttribute(slot.root, 'aria-level', String(levelOf(row)));
    setAttribute(slot.root, 'aria-expanded', isLane ? String(row.open === true) : undefined);
    setAttribute(slot.root, 'aria-selected', String(selected));
    setText(slot.twist, isLane ? twistOf(row.open) : '');
    setName(slot.name, title);
    setText(slot.sub, isLane ? trackWords(store, match, row, translate, false) : '');
    slot.sub.classList.remove('remark');
    this.fillFindings(slot, findings);
    slot.root.title = `${title}: ${words}`;
    setAttribute(slot.root, 'aria-label', isLane ? undefined : slot.root.title);
  }

  private fillLane(slot: Slot, { lane, height, open }: Row & { type: 'lane' }, isActive: boolean): void {
    const { store, translate, selection } = this.view;
    const stored = store.lanes[lane];
    if (stored === undefined) return;
    const { info } = stored;
    const selected = selection?.lane === lane;
    slot.root.className = `row lane${selected ? ' selected' : ''}${isActive ? ' active' : ''}${height < 40 ? ' compact' : ''}`;
    setAttribute(slot.root, 'aria-level', '2');
    setAttribute(slot.root, 'aria-expanded', String(open === true));
    setAttribute(slot.root, 'aria-selected', String(selected));
    setText(slot.twist, twistOf(open));
    setName(slot.name, info.name);
    setText(slot.sub, laneSubtitle(stored, translate));
    slot.sub.classList.toggle('remark', info.remark !== undefined);
    this.fillFindings(slot, info.findings);
    slot.root.title = [info.namespace, info.name].filter((part) => part !== '').join('/');
  }

  private fillFindings(slot: Slot, count: number): void {
    const { translate } = this.view;
    setText(slot.badge, count > 0 ? String(count) : '');
    const words = count === 1 ? translate('1 finding') : translate('{0} findings', count);
    slot.badge.title = count > 0 ? words : '';
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

  private onKey(key: string): boolean {
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
    else if (row !== undefined && key === 'ArrowRight' && isOpen(row) === false) this.toggle(row);
    else if (row !== undefined && key === 'ArrowLeft' && isOpen(row) === true) this.toggle(row);
    else if (row !== undefined && key === 'ArrowLeft') {
      const level = levelOf(row);
      const parent = rows.findLastIndex((one, index) => index < this.active && levelOf(one) < level);
      if (parent >= 0) this.moveTo(parent);
    } else if (key === 'Enter' || key === ' ') {
      if (row !== undefined) this.openRow(row);
    } else return false;
    return true;
  }

  private openRow(row: Row): void {
    if (row.type === 'lane' || row.type === 'track') selectOnRow(this.view, row);
    else this.toggle(row);
  }

  /** Shows or hides what is beneath a row. */
  private toggle(row: Row): void {
    const { view } = this;
    if (row.type === 'lane') view.toggleOpen({ lane: row.lane });
    else if (row.type === 'readers') view.showOnlyRead(row.of);
    else if (row.type !== 'track') view.toggleGroup(row.group, row.type === 'more' ? false : undefined);
    else if (row.under === undefined) view.toggleOpen({ actor: row.actor });
    else this.openRow(row);
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

/** Sets a name whose end stays in sight where it does not fit. */
function setName(box: HTMLElement, name: string): void {
  if (box.textContent === name) return;
  const [head, tail] = nameParts(name);
  if (tail === '') box.textContent = name;
  else box.replaceChildren(element('span', { class: 'head', text: head }), element('span', { text: tail }));
}

function twistOf(open: boolean | undefined): string {
  return open === true ? '▾' : '▸';
}

/** Whether what is beneath a row is shown; undefined where there is nothing to show. */
function isOpen(row: Row): boolean | undefined {
  if (row.type === 'group') return !row.collapsed;
  if (row.type === 'more' || row.type === 'readers') return false;
  return row.type === 'lane' || row.under === undefined ? row.open === true : undefined;
}

/** How deep in the tree a row is. */
function levelOf(row: Row): number {
  if (row.type === 'group') return 1;
  if (row.type === 'readers') return row.of.lane !== undefined ? 3 : row.of.actor !== undefined ? 2 : 1;
  if (row.type !== 'track') return 2;
  return row.under === undefined ? 1 : row.under === 'actor' ? 2 : 3;
}
