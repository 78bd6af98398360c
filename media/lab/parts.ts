import type { Translate } from '../../src/core/timeline/translate.ts';
import type { ParamsOf } from '../../src/protocol/channel.ts';
import type { LabRequests } from '../../src/protocol/lab.ts';
import type { LabBadge, LabPage, LabPlaceState, LabState } from '../../src/protocol/labStates.ts';
import { element, setText } from '../common/dom.ts';

/** What every page's view is given. */
export interface ViewParts {
  readonly translate: Translate;
  /** Sends a request; what goes wrong is shown. Resolves to whether it went well, never rejects. */
  readonly ask: <M extends keyof LabRequests>(method: M, params: ParamsOf<LabRequests, M>) => Promise<boolean>;
  /** Shows a sentence as the page's problem. */
  readonly refuse: (sentence: string) => void;
  /** Tells a screen reader what came of something. */
  readonly announce: (sentence: string) => void;
  /** What `keep` kept before the page was hidden or the window reloaded. */
  readonly kept: unknown;
  readonly keep: (state: unknown) => void;
}

/** The view of one page: its element, and how it shows a state. A state of another page is ignored. */
export interface LabView {
  readonly root: HTMLElement;
  update(state: LabState): void;
}

/** What a page is called. */
export function pageTitle(translate: Translate, page: LabPage): string {
  switch (page) {
    case 'modular':
      return translate('Modular lab');
    case 'replay':
      return translate('Equality-token replay');
    case 'contention':
      return translate('Contention lab');
    case 'lessons':
      return translate('Lessons');
  }
}

/** A button that does something. */
export function button(text: string, onClick: () => void, kind = ''): HTMLButtonElement {
  return element('button', { text, class: kind, attributes: { type: 'button' }, onClick });
}

/** A field with its label. */
export function field(label: string, input: HTMLElement): HTMLLabelElement {
  return element('label', { class: 'field' }, element('span', { text: label }), input);
}

/** A field for text, or for a number of any size, which is text too. */
export function textInput(value: string, isNumber = true): HTMLInputElement {
  const input = element('input', {
    attributes: {
      type: 'text',
      autocomplete: 'off',
      spellcheck: 'false',
      ...(isNumber ? { inputmode: 'numeric' } : {}),
    },
  });
  input.value = value;
  return input;
}

/** A question with one answer to choose by radio buttons, in a form that sends it. */
export class Choice {
  readonly root: HTMLFormElement;
  private readonly inputs: HTMLInputElement[];
  private readonly send: HTMLElement;

  /** @param name must differ from every other question of the page */
  constructor(options: {
    readonly name: string;
    readonly question: string;
    readonly choices: readonly { readonly value: string; readonly text: string }[];
    readonly send: string;
    readonly missing: string;
    readonly refuse: (sentence: string) => void;
    readonly onSend: (value: string) => void;
  }) {
    this.inputs = options.choices.map(({ value }) => {
      const input = element('input', { attributes: { type: 'radio', name: options.name } });
      input.value = value;
      return input;
    });
    const labels = options.choices.map(({ text }, index) =>
      element('label', { class: 'choice' }, this.inputs[index] ?? '', element('span', { text })),
    );
    this.send = element('button', { class: 'primary', text: options.send, attributes: { type: 'submit' } });
    this.root = element(
      'form',
      { class: 'question' },
      element('fieldset', {}, element('legend', { text: options.question }), ...labels),
      this.send,
    );
    this.root.addEventListener('submit', (event) => {
      event.preventDefault();
      const { chosen } = this;
      if (chosen === undefined) {
        options.refuse(options.missing);
        this.focus();
      } else options.onSend(chosen);
    });
  }

  /** The value of the answer that is chosen. */
  get chosen(): string | undefined {
    return this.inputs.find((input) => input.checked)?.value;
  }

  /** Shows what was answered, once and for all. */
  settle(value: string): void {
    for (const input of this.inputs) {
      input.checked = input.value === value;
      input.disabled = true;
    }
    this.send.hidden = true;
  }

  /** Puts the focus on the first answer, where none is chosen for the learner. */
  focus(): void {
    this.inputs[0]?.focus();
  }
}

/** A token's badge: equal badges are equal tokens, and nothing more. */
export function badgeElement({ code, colour }: LabBadge): HTMLSpanElement {
  return element('span', { class: `badge badge-${colour}`, text: code });
}

/** A sign for what holds and what does not, with its word for those who do not see it. */
export function verdict(holds: boolean, words: readonly [yes: string, no: string]): HTMLSpanElement {
  const word = holds ? words[0] : words[1];
  return element(
    'span',
    { class: holds ? 'holds' : 'fails', title: word },
    element('span', { text: holds ? '✓' : '✗', attributes: { 'aria-hidden': 'true' } }),
    element('span', { class: 'sr-only', text: word }),
  );
}

/** The line that says where a lab runs, and lets the person choose. */
export class PlaceLine {
  readonly root: HTMLParagraphElement;
  private readonly where = element('span');
  private readonly parts: ViewParts;

  constructor(parts: ViewParts) {
    this.parts = parts;
    const { translate } = parts;
    this.root = element(
      'p',
      { class: 'place' },
      this.where,
      button(translate('Choose another place…'), () => void parts.ask('choosePlace', {}), 'link'),
      button(translate('Show the timeline'), () => void parts.ask('openTimeline', {}), 'link'),
    );
  }

  update({ label, namespace, isSandbox }: LabPlaceState): void {
    const { translate } = this.parts;
    const sentence = isSandbox
      ? translate('Runs on the sandbox: a server inside this window, and no cluster of yours.')
      : translate('Runs on {0}, in the namespace {1}.', label, namespace);
    setText(this.where, sentence);
  }
}

/** Replaces the children only where what they show is new, so that focus and reading place stay. */
export class Part {
  readonly root: HTMLElement;
  private shown = '';

  constructor(root: HTMLElement) {
    this.root = root;
  }

  /** @param key what the children are made from; equal keys keep the children */
  update(key: unknown, make: () => readonly Node[]): boolean {
    const text = JSON.stringify(key) ?? '';
    if (text === this.shown) return false;
    this.shown = text;
    this.root.replaceChildren(...make());
    return true;
  }
}
