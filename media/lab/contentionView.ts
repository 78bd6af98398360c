import {
  CONTENTION_STRATEGIES,
  type ContentionRunOptions,
  type LabState,
  type StateOf,
} from '../../src/protocol/labStates.ts';
import { isBoolean, isString, listOf, objectOf, validate, type Checked } from '../../src/protocol/validate.ts';
import { element } from '../common/dom.ts';
import { FrameScheduler } from '../common/frames.ts';
import { scaleOf } from './attemptChart.ts';
import { ContentionRunView } from './contentionRunView.ts';
import { button, field, PlaceLine, textInput, type LabView, type ViewParts } from './parts.ts';

type State = StateOf<'contention'>;
type Strategy = ContentionRunOptions['strategy'];

const isKept = objectOf({ texts: listOf(isString), compare: isBoolean });

/** The page of the contention lab. */
export class ContentionView implements LabView {
  readonly root: HTMLElement;
  private readonly parts: ViewParts;
  private readonly place: PlaceLine;
  private readonly strategy: HTMLSelectElement;
  private readonly other: HTMLSelectElement;
  private readonly compare = element('input', { attributes: { type: 'checkbox' } });
  private readonly otherField: HTMLElement;
  private readonly meaning = element('ul', { class: 'meaning muted', attributes: { 'aria-live': 'polite' } });
  private readonly numbers = {
    actors: textInput('6'),
    updates: textInput('10'),
    thinkMs: textInput('20'),
    maxAttempts: textInput('50'),
    seed: textInput('1'),
  };
  private readonly start: HTMLButtonElement;
  private readonly cancel: HTMLButtonElement;
  private readonly results = element('div', { class: 'runs' });
  private readonly frames = new FrameScheduler(() => this.draw());
  private runs: ContentionRunView[] = [];
  private state: State | undefined;

  constructor(parts: ViewParts) {
    this.parts = parts;
    const { translate } = parts;
    this.place = new PlaceLine(parts);
    this.strategy = this.select('token-swap');
    this.other = this.select('read-modify-write');
    this.otherField = field(translate('Second strategy'), this.other);
    this.restore();
    this.explain();
    this.start = element('button', { class: 'primary', text: translate('Start'), attributes: { type: 'submit' } });
    this.cancel = button(translate('Cancel'), () => void parts.ask('contentionCancel', {}));
    this.root = element(
      'div',
      { class: 'contention' },
      element('p', {
        text: translate(
          'Several actors add 1 to one object, each as often as you say. Every accepted update should be in the object afterwards; what is missing was lost. Losses are counted from what the server holds, not from what the actors believe.',
        ),
      }),
      this.place.root,
      this.form(),
      this.results,
    );
    const redraw = new MutationObserver(() => this.frames.request());
    redraw.observe(document.body, { attributes: true, attributeFilter: ['class'] });
    new ResizeObserver(() => this.frames.request()).observe(this.results);
  }

  update(state: LabState): void {
    if (state.page !== 'contention') return;
    const before = this.state;
    this.state = state;
    this.place.update(state.place);
    this.start.disabled = state.running;
    this.cancel.hidden = !state.running;
    if (before === undefined || state.runs.length < this.runs.length || isOther(state, before)) {
      this.runs = [];
      this.results.replaceChildren();
    }
    for (const [index, run] of state.runs.entries()) {
      let view = this.runs[index];
      if (view === undefined) {
        const { strategy } = run.options;
        view = new ContentionRunView(this.parts, `${strategy}: ${strategyWords(this.parts)[strategy]}`);
        this.runs.push(view);
        this.results.append(view.root);
      }
      view.update(run);
    }
    if (before?.running === true && !state.running) this.parts.announce(this.runs.map((run) => run.sentence).join(' '));
    this.frames.request();
  }

  /** What is chosen and typed, in an order of its own. */
  private texts(): (HTMLInputElement | HTMLSelectElement)[] {
    return [this.strategy, this.other, ...Object.values(this.numbers)];
  }

  /** Puts back what was chosen and typed before the page was hidden. */
  private restore(): void {
    const { kept } = this.parts;
    if ('problem' in validate(isKept, kept)) return;
    const { texts, compare } = kept as Checked<typeof isKept>;
    this.texts().forEach((control, index) => {
      control.value = texts[index] ?? control.value;
    });
    this.compare.checked = compare;
  }

  /** Says what the chosen strategies do, and offers the second one where two are compared. */
  private explain(): void {
    const words = strategyWords(this.parts);
    const chosen = this.compare.checked ? [this.strategy, this.other] : [this.strategy];
    this.otherField.hidden = !this.compare.checked;
    this.meaning.replaceChildren(
      ...chosen.map(({ value }) => {
        const strategy = CONTENTION_STRATEGIES.find((item) => item === value);
        return element('li', { text: strategy === undefined ? '' : `${strategy}: ${words[strategy]}` });
      }),
    );
  }

  private draw(): void {
    const runs = this.state?.runs ?? [];
    const scale = scaleOf(runs);
    this.runs.forEach((view, index) => {
      const run = runs[index];
      if (run !== undefined) view.draw(run, scale);
    });
  }

  private form(): HTMLElement {
    const { translate } = this.parts;
    const { actors, updates, thinkMs, maxAttempts, seed } = this.numbers;
    const form = element(
      'form',
      { class: 'settings' },
      element(
        'div',
        { class: 'row' },
        field(translate('Strategy'), this.strategy),
        this.otherField,
        element(
          'label',
          { class: 'choice' },
          this.compare,
          element('span', { text: translate('Teacher’s mode: two runs side by side') }),
        ),
      ),
      this.meaning,
      element(
        'div',
        { class: 'row' },
        field(translate('Actors'), actors),
        field(translate('Updates of each'), updates),
        field(translate('Think time, ms'), thinkMs),
        field(translate('Attempts at most'), maxAttempts),
        field(translate('Seed'), seed),
        this.start,
        this.cancel,
      ),
    );
    form.addEventListener('input', () => {
      this.explain();
      const texts = this.texts().map((control) => control.value);
      this.parts.keep({ texts, compare: this.compare.checked });
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.begin();
    });
    return form;
  }

  private select(chosen: Strategy): HTMLSelectElement {
    const options = CONTENTION_STRATEGIES.map((strategy) =>
      element('option', {
        text: strategy,
        title: strategyWords(this.parts)[strategy],
        attributes: { value: strategy },
      }),
    );
    const made = element('select', {}, ...options);
    made.value = chosen;
    return made;
  }

  private async begin(): Promise<void> {
    const { translate, refuse, ask } = this.parts;
    const numbers = Object.entries(this.numbers);
    const bad = numbers.find(([, input]) => !/^\s*\d{1,10}\s*$/.test(input.value));
    if (bad !== undefined) {
      refuse(translate('"{0}" is no whole number.', bad[1].value));
      bad[1].focus();
      return;
    }
    const base = {
      actors: Number(this.numbers.actors.value),
      updates: Number(this.numbers.updates.value),
      thinkMs: Number(this.numbers.thinkMs.value),
      maxAttempts: Number(this.numbers.maxAttempts.value),
      seed: Number(this.numbers.seed.value),
    };
    const strategies = this.compare.checked ? [this.strategy.value, this.other.value] : [this.strategy.value];
    const runs = strategies.flatMap((value): ContentionRunOptions[] => {
      const strategy = CONTENTION_STRATEGIES.find((item) => item === value);
      return strategy === undefined ? [] : [{ ...base, strategy }];
    });
    if (await ask('contentionStart', { runs })) this.cancel.focus();
  }
}

/** Whether what runs now is not what ran before. */
function isOther(state: State, before: State): boolean {
  return state.running && !before.running;
}

/** What each strategy does, in words. */
export function strategyWords({ translate }: ViewParts): Readonly<Record<Strategy, string>> {
  return {
    naive: translate('write what was read, without a token'),
    'token-swap': translate('on a conflict take the newest token, keep the stale content'),
    'read-modify-write': translate('on a conflict read again and compute anew'),
    apply: translate('each actor its own field, by server-side apply'),
  };
}
