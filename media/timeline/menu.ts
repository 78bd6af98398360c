import type { MarkKind } from '../../src/core/timeline/model.ts';
import { element, isHidden, setAttribute, setText } from '../common/dom.ts';
import { glyphImage } from './glyphImage.ts';

/** One thing to choose. */
export interface MenuItem {
  readonly label: string;
  readonly checked?: boolean;
  /** The mark that it is about. */
  readonly kind?: MarkKind;
  readonly run: () => void;
}

/** The room between an open list and the page's edge, in CSS pixels. */
const EDGE = 4;

/** A button that opens a menu, usable by keyboard as the ARIA authoring practices describe menu buttons. */
export class Menu {
  readonly root = element('div', { class: 'menu' });
  private readonly button = element('button', {
    attributes: { type: 'button', 'aria-haspopup': 'menu', 'aria-expanded': 'false' },
  });
  private readonly list = element('div', { class: 'menu-list', attributes: { role: 'menu', hidden: '' } });
  private readonly items: () => readonly MenuItem[];

  constructor(items: () => readonly MenuItem[]) {
    this.items = items;
    this.root.append(this.button, this.list);
    this.button.addEventListener('click', () => (this.isOpen() ? this.close(true) : this.open()));
    this.button.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      event.stopPropagation();
      this.open();
    });
    this.root.addEventListener('keydown', (event) => this.onKey(event));
    this.root.addEventListener('focusout', (event) => {
      if (!(event.relatedTarget instanceof Node) || !this.root.contains(event.relatedTarget)) this.close(false);
    });
  }

  /** Sets the words on the button, and what a screen reader calls it. */
  setLabel(text: string, description?: string): void {
    setText(this.button, `${text} ▾`);
    setAttribute(this.button, 'aria-label', description ?? text);
  }

  private isOpen(): boolean {
    return !isHidden(this.list);
  }

  private open(): void {
    this.list.replaceChildren(
      ...this.items().map((item) => {
        const checkable = item.checked !== undefined;
        const made = element('button', {
          class: 'menu-item',
          attributes: {
            type: 'button',
            role: checkable ? 'menuitemcheckbox' : 'menuitem',
            tabindex: '-1',
            ...(checkable ? { 'aria-checked': String(item.checked) } : {}),
          },
          onClick: () => {
            this.close(true);
            item.run();
          },
        });
        made.append(
          element('span', {
            class: 'check',
            text: item.checked === true ? '✓' : '',
            attributes: { 'aria-hidden': 'true' },
          }),
          ...(item.kind === undefined ? [] : [element('span', { class: `ink-${item.kind}` }, glyphImage(item.kind))]),
          element('span', { text: item.label }),
        );
        return made;
      }),
    );
    this.list.hidden = false;
    this.keepInView();
    this.button.setAttribute('aria-expanded', 'true');
    this.focusItem(0);
  }

  /** Shifts the open list left as far as the page's right edge asks, and never beyond its left one. */
  private keepInView(): void {
    this.list.style.left = '0px';
    const { left, right } = this.list.getBoundingClientRect();
    const over = right + EDGE - document.documentElement.clientWidth;
    this.list.style.left = `${-Math.max(0, Math.min(over, left - EDGE))}px`;
  }

  private close(refocus: boolean): void {
    if (!this.isOpen()) return;
    this.list.hidden = true;
    this.button.setAttribute('aria-expanded', 'false');
    if (refocus) this.button.focus();
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.isOpen()) return;
    const count = this.list.children.length;
    const at = Array.from(this.list.children).indexOf(document.activeElement ?? this.list);
    if (event.key === 'ArrowDown') this.focusItem((at + 1) % count);
    else if (event.key === 'ArrowUp') this.focusItem((at - 1 + count) % count);
    else if (event.key === 'Home') this.focusItem(0);
    else if (event.key === 'End') this.focusItem(count - 1);
    else if (event.key === 'Escape') this.close(true);
    else if (event.key === 'Tab') {
      this.close(false);
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private focusItem(index: number): void {
    const item = this.list.children[index];
    if (item instanceof HTMLElement) item.focus();
  }
}
