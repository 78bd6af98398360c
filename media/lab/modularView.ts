import type { LabState, OrderWord, StateOf } from '../../src/protocol/labStates.ts';
import { element, setText } from '../common/dom.ts';
import { Choice, field, Part, textInput, verdict, type LabView, type ViewParts } from './parts.ts';
import { ringPicture } from './ring.ts';

type State = StateOf<'modular'>;

const ORDER_WORDS: readonly OrderWord[] = ['newer', 'older', 'the same'];

/** The page of the modular lab. */
export class ModularView implements LabView {
  readonly root: HTMLElement;
  private readonly parts: ViewParts;
  private readonly disclaimer = element('p', { class: 'disclaimer', attributes: { role: 'note' } });
  private readonly m = textInput('8');
  private readonly a = textInput('1');
  private readonly predicted = textInput('');
  private readonly rule = element('p', { class: 'rule' });
  private readonly ring = new Part(element('div', { class: 'ring-box' }));
  private readonly result = element('p', { class: 'result' });
  private readonly visited = element('p', { class: 'muted' });
  private readonly questions = new Part(element('div', { class: 'questions' }));
  private readonly history = new Part(element('div', { class: 'scroll' }));
  private state: State | undefined;

  constructor(parts: ViewParts) {
    this.parts = parts;
    const { translate } = parts;
    const reset = element(
      'form',
      { class: 'row' },
      field(translate('m, the modulus'), this.m),
      field(translate('a, what each step adds'), this.a),
      element('button', { text: translate('Reset'), attributes: { type: 'submit' } }),
    );
    reset.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.reset();
    });
    const step = element(
      'form',
      { class: 'row' },
      field(translate('Your prediction of the next label'), this.predicted),
      element('button', { class: 'primary', text: translate('Step'), attributes: { type: 'submit' } }),
    );
    step.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.step();
    });
    this.root = element(
      'div',
      { class: 'modular' },
      this.disclaimer,
      reset,
      this.rule,
      element(
        'div',
        { class: 'columns' },
        this.ring.root,
        element('div', { class: 'beside' }, step, this.result, this.visited, this.questions.root),
      ),
      element('h2', { text: translate('History') }),
      this.history.root,
    );
  }

  update(state: LabState): void {
    if (state.page !== 'modular') return;
    const { translate } = this.parts;
    const before = this.state;
    this.state = state;
    if (before === undefined || before.m !== state.m || before.a !== state.a || state.steps === 0) {
      this.m.value = state.m;
      this.a.value = state.a;
    }
    setText(this.disclaimer, state.disclaimer);
    setText(this.rule, translate('next = (label + {0}) mod {1}, from 0', state.a, state.m));
    this.ring.update([state.ring, state.label], () => [ringPicture(state, translate)]);
    setText(
      this.visited,
      translate('{0} of {1} different labels were shown so far.', state.visited, state.visitedInAll),
    );
    this.showResult(before);
    this.questions.update(state.questions, () => this.questionNodes(state.questions));
    this.history.update(state.history, () => [this.table(state)]);
  }

  private async reset(): Promise<void> {
    if (await this.parts.ask('modularReset', { m: this.m.value, a: this.a.value })) {
      this.predicted.value = '';
      this.predicted.focus();
    }
  }

  private async step(): Promise<void> {
    const { value } = this.predicted;
    const isTaken = await this.parts.ask('modularStep', { predicted: value });
    // What was typed while the step was on its way is the next prediction.
    if (isTaken && this.predicted.value === value) this.predicted.value = '';
    this.predicted.focus();
  }

  private showResult(before: State | undefined): void {
    const { state } = this;
    const { translate, announce } = this.parts;
    const last = state?.history.at(-1);
    if (state === undefined) return;
    const sentence =
      last === undefined
        ? translate('The label is 0. Predict the next one, then step.')
        : last.right
          ? translate('Right: step {0} shows {1}.', last.step, last.actual)
          : translate('No: you predicted {0}, and step {1} shows {2}.', last.predicted ?? '', last.step, last.actual);
    const order =
      last === undefined || last.isGreater
        ? ''
        : ` ${translate('It is newer than the label before it, and not greater.')}`;
    setText(this.result, sentence + order);
    this.result.className = `result ${last === undefined ? '' : last.right ? 'right' : 'wrong'}`;
    if (before !== undefined && before.steps !== state.steps) announce(sentence + order);
  }

  private questionNodes(questions: State['questions']): Node[] {
    const { translate } = this.parts;
    if (questions.length === 0) return [];
    return [
      element('h2', { text: translate('If greater meant newer') }),
      ...questions.map((question) => this.question(question)),
    ];
  }

  private question(question: State['questions'][number]): Node {
    const { translate, refuse } = this.parts;
    const { id, older, newer, earlierStep, laterStep, chosen, ruleSays } = question;
    const text = translate(
      'Step {0} showed {1}, step {2} showed {3}. If greater meant newer, what would the later label be?',
      earlierStep,
      older,
      laterStep,
      newer,
    );
    if (chosen === undefined || ruleSays === undefined) {
      const words = this.orderWords();
      return new Choice({
        name: `order-${id}`,
        question: text,
        choices: ORDER_WORDS.map((value) => ({ value, text: words[value] })),
        send: translate('Answer'),
        missing: translate('First predict: choose one of the answers.'),
        refuse,
        onSend: (choice) => void this.answer(id, choice),
      }).root;
    }
    const words = this.orderWords();
    const said =
      ruleSays === chosen
        ? translate('Yes: by that rule it would be {0}.', words[ruleSays])
        : translate('No: by that rule it would be {0}.', words[ruleSays]);
    const truth = translate('But it was shown later. The labels alone do not tell; only the contract could.');
    return element(
      'div',
      { class: 'answered', attributes: { 'data-question': id } },
      element('p', { text }),
      element('p', { class: ruleSays === chosen ? 'right' : 'wrong', text: `${said} ${truth}` }),
    );
  }

  private async answer(id: string, value: string): Promise<void> {
    const choice = ORDER_WORDS.find((word) => word === value);
    if (choice === undefined || !(await this.parts.ask('modularAnswer', { id, choice }))) return;
    this.parts.announce(this.root.querySelector(`[data-question="${id}"]`)?.textContent ?? '');
  }

  private orderWords(): Readonly<Record<OrderWord, string>> {
    const { translate } = this.parts;
    return { newer: translate('newer'), older: translate('older'), 'the same': translate('the same version') };
  }

  private table({ history }: State): Node {
    const { translate } = this.parts;
    if (history.length === 0) return element('p', { class: 'muted', text: translate('No step was taken yet.') });
    const heads = [
      translate('Step'),
      translate('Predicted'),
      translate('Label'),
      translate('Prediction'),
      translate('Greater than before'),
    ];
    const rows = history
      .toReversed()
      .map(({ step, predicted, actual, right, isGreater }) =>
        element(
          'tr',
          {},
          element('th', { text: String(step), attributes: { scope: 'row' } }),
          element('td', { text: predicted ?? '–' }),
          element('td', { text: actual }),
          element('td', {}, verdict(right, [translate('right'), translate('wrong')])),
          element('td', { text: isGreater ? translate('yes') : translate('no') }),
        ),
      );
    return element(
      'table',
      {},
      element(
        'thead',
        {},
        element('tr', {}, ...heads.map((text) => element('th', { text, attributes: { scope: 'col' } }))),
      ),
      element('tbody', {}, ...rows),
    );
  }
}
