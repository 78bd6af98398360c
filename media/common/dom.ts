/** What an element is made with. Text only ever enters as text. */
export interface ElementOptions {
  readonly class?: string;
  readonly text?: string;
  readonly title?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly onClick?: (event: MouseEvent) => void;
}

/** Makes an element with its children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: ElementOptions = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (options.class !== undefined) made.className = options.class;
  if (options.text !== undefined) made.textContent = options.text;
  if (options.title !== undefined) made.title = options.title;
  for (const [name, value] of Object.entries(options.attributes ?? {})) made.setAttribute(name, value);
  const { onClick } = options;
  if (onClick !== undefined) (made as HTMLElement).addEventListener('click', onClick);
  made.append(...children);
  return made;
}

/**
 * Text whose names and paths (whatever holds a hyphen, dot or slash) are not broken where a line of their own has room for
 * them.
 */
export function unbroken(text: string): (Node | string)[] {
  return text
    .split(/(\s+)/)
    .map((part) => (/[-./]\S/.test(part) ? element('span', { class: 'unbroken', text: part }) : part));
}

/** Sets or removes an attribute, touching the page only where it differs. */
export function setAttribute(target: Element, name: string, value: string | undefined): void {
  if (value === undefined) target.removeAttribute(name);
  else if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

/** Sets the text, touching the page only where it differs. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Whether an element is hidden by its attribute. */
export function isHidden(target: Element): boolean {
  return target.hasAttribute('hidden');
}

/** Whether a key press belongs to a field that a person types in. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}
