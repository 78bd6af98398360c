import type { LabExchange, LabState, StateOf } from '../../src/protocol/labStates.ts';
import { element, setText } from '../common/dom.ts';
import { badgeElement, button, Choice, Part, PlaceLine, verdict, type LabView, type ViewParts } from './parts.ts';

type State = StateOf<'replay'>;
type Step = State['steps'][number];

/** The page of the equality-token replay. */
export class ReplayView implements LabView {
  readonly root: HTMLElement;
  private readonly parts: ViewParts;
  private readonly place: PlaceLine;
  private readonly controls = new Part(element('div', { class: 'row' }));
  private readonly progress = element('p', { class: 'muted' });
  private readonly end = element('p', { class: 'result' });
  private readonly current = new Part(element('section', { class: 'current' }));
  private readonly results = element('div', { class: 'cards' });
  private choice: Choice | undefined;
  private state: State | undefined;

  constructor(parts: ViewParts) {
    this.parts = parts;
    const { translate } = parts;
    this.place = new PlaceLine(parts);
    this.root = element(
      'div',
      { class: 'replay' },
      element('p', {
        text: translate(
          'Ada and Ben write to the same object. Predict each answer, run the step, and compare with what the server really answers. Equal badges are equal tokens; nothing else is to be read into them.',
        ),
      }),
      this.place.root,
      this.controls.root,
      this.progress,
      this.end,
      this.current.root,
      this.results,
    );
  }

  update(state: LabState): void {
    if (state.page !== 'replay') return;
    const { translate } = this.parts;
    const before = this.state;
    this.state = state;
    this.place.update(state.place);
    this.controls.update(state.phase, () => this.buttons(state.phase));
    setText(
      this.progress,
      state.total === 0 ? '' : translate('{0} of {1} steps were run.', state.steps.length, state.total),
    );
    this.showEnd(state);
    this.showCards(state, before);
    const isNew = this.current.update(state.current, () => this.question(state));
    if (isNew && state.current !== undefined) this.choice?.focus();
    this.say(state, before);
  }

  private buttons(phase: State['phase']): Node[] {
    const { translate, ask } = this.parts;
    switch (phase) {
      case 'idle':
        return [button(translate('Start'), () => void ask('replayStart', {}), 'primary')];
      case 'done':
      case 'stopped':
        return [button(translate('Start Again'), () => void ask('replayStart', {}), 'primary')];
      case 'starting':
        return [element('span', { class: 'muted', text: translate('Starting …') })];
      case 'asking':
      case 'running':
        return [button(translate('Stop and Clean Up'), () => void ask('replayStop', {}))];
    }
  }

  private question({ current }: State): Node[] {
    this.choice = undefined;
    if (current === undefined) return [];
    const { translate, ask, refuse } = this.parts;
    this.choice = new Choice({
      name: `step-${current.index}`,
      question: current.question,
      choices: current.choices.map((value) => ({ value, text: value })),
      send: translate('Run Step'),
      missing: translate('First predict: choose one of the answers.'),
      refuse,
      onSend: (prediction) => void ask('replayStep', { prediction }),
    });
    return [element('h2', { text: `${current.index}. ${current.title}` }), this.choice.root];
  }

  private showEnd({ phase, holds, steps, problem }: State): void {
    const { translate } = this.parts;
    const right = steps.filter((step) => step.right).length;
    const sentence =
      phase === 'done'
        ? `${
            holds === true
              ? translate('The server behaved as the contract says in every step.')
              : translate('The server did not behave as the contract says.')
          } ${translate('{0} of {1} predictions were right.', right, steps.length)} ${translate('The object is removed.')}`
        : phase === 'stopped'
          ? (problem ?? translate('Stopped. The object is removed.'))
          : '';
    setText(this.end, sentence);
    this.end.className = `result ${holds === true ? 'right' : holds === false ? 'wrong' : ''}`;
  }

  /** Adds the cards of new steps on top; starts anew when the replay does. */
  private showCards({ steps }: State, before: State | undefined): void {
    const known = before !== undefined && before.steps.length <= steps.length ? before.steps.length : 0;
    if (known === 0) this.results.replaceChildren();
    steps.slice(known).forEach((step, index) => this.results.prepend(this.card(step, known + index + 1)));
  }

  private card(step: Step, number: number): Node {
    const { translate } = this.parts;
    const predicted = step.right
      ? translate('You predicted: {0}. That is right.', step.predicted)
      : translate('You predicted: {0}. The contract says: {1}.', step.predicted, step.answer);
    const heads = ['', translate('Expected'), translate('Observed'), translate('Verdict')];
    const rows = step.facts.map(({ name, expected, observed, holds }) =>
      element(
        'tr',
        {},
        element('th', { text: name, attributes: { scope: 'row' } }),
        element('td', { text: expected }),
        element('td', { text: observed }),
        element('td', {}, verdict(holds, [translate('holds'), translate('does not hold')])),
      ),
    );
    return element(
      'article',
      { class: 'card' },
      element(
        'h2',
        {},
        verdict(step.holds, [translate('holds'), translate('does not hold')]),
        ` ${number}. ${step.title}`,
      ),
      element('p', { class: step.right ? 'right' : 'wrong', text: `${step.question} ${predicted}` }),
      element('ol', { class: 'exchanges' }, ...step.exchanges.map((exchange) => this.exchange(exchange))),
      element(
        'table',
        {},
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ...heads.map((text) =>
              text === '' ? element('td') : element('th', { text, attributes: { scope: 'col' } }),
            ),
          ),
        ),
        element('tbody', {}, ...rows),
      ),
      element('p', { class: 'learnt', text: step.lesson }),
    );
  }

  private exchange({ who, method, status, reason, uid, sent, answered }: LabExchange): Node {
    const { translate } = this.parts;
    return element(
      'li',
      {},
      // The steps' own looks are nobody's: they only tell what is stored.
      element('strong', { text: who === 'observer' ? translate('to look') : who }),
      ` ${method} `,
      ...(sent === undefined ? [] : [`${translate('with')} `, badgeElement(sent), ' ']),
      '→ ',
      element('span', { class: status < 400 ? 'accepted' : 'refused', text: `${status} ${reason ?? ''}`.trim() }),
      ...(answered === undefined ? [] : [' ', badgeElement(answered)]),
      ...(uid === undefined ? [] : [element('span', { class: 'muted', text: ` uid ${uid}` })]),
    );
  }

  private say(state: State, before: State | undefined): void {
    const { translate, announce } = this.parts;
    const last = state.steps.at(-1);
    if (before === undefined) return;
    if (state.phase === 'done' && before.phase !== 'done') announce(this.end.textContent);
    else if (last !== undefined && state.steps.length > before.steps.length) {
      announce(
        [
          last.right
            ? translate('You predicted: {0}. That is right.', last.predicted)
            : translate('You predicted: {0}. The contract says: {1}.', last.predicted, last.answer),
          last.holds ? translate('holds') : translate('does not hold'),
          last.lesson,
        ].join(' '),
      );
    }
  }
}
