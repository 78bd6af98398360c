import type { LabState, StateOf } from '../../src/protocol/labStates.ts';
import { element, setText } from '../common/dom.ts';
import { button, Choice, field, Part, PlaceLine, textInput, verdict, type LabView, type ViewParts } from './parts.ts';

type State = StateOf<'lessons'>;
type Open = NonNullable<State['open']>;
type Step = NonNullable<Open['step']>;

/** Where the list stands above the lesson, as lab.css has it: an open lesson folds it. */
const NARROW = window.matchMedia('(max-width: 720px)');

/** The page of the lessons: the list on one side, the lesson that is open on the other. */
export class LessonsView implements LabView {
  readonly root: HTMLElement;
  private readonly parts: ViewParts;
  private readonly place: PlaceLine;
  private readonly list = new Part(element('ol', { class: 'lesson-list' }));
  private readonly fold = element('details', { attributes: { open: '' } });
  private readonly head = new Part(element('header'));
  private readonly passed = new Part(element('ol', { class: 'passed' }));
  private readonly task = new Part(element('section', { class: 'current' }));
  private readonly predicted = new Part(element('div'));
  private readonly tools = new Part(element('div', { class: 'tools' }));
  private readonly checks = new Part(element('div'));
  private readonly actions = element('div', { class: 'row' });
  private readonly end = new Part(element('div', { class: 'end' }));
  private readonly labels = textInput('');
  private readonly hint = element('p', { class: 'muted' });
  private buttons: readonly HTMLButtonElement[] = [];
  private choice: Choice | undefined;
  private state: State | undefined;

  constructor(parts: ViewParts) {
    this.parts = parts;
    const { translate, ask } = parts;
    this.place = new PlaceLine(parts);
    this.buttons = [
      button(translate('Check'), () => void this.check(), 'primary'),
      button(translate('Do It for Me'), () => void ask('lessonSolve', {})),
      button(translate('End Lesson'), () => void ask('lessonEnd', {})),
    ];
    this.actions.append(...this.buttons);
    this.fold.append(
      element('summary', { text: translate('All lessons') }),
      this.list.root,
      button(translate('Open a Lesson File…'), () => void ask('lessonOpenFile', {})),
    );
    NARROW.addEventListener('change', () => {
      this.fit();
      this.task.root.querySelector('h3')?.scrollIntoView({ block: 'nearest' });
    });
    this.root = element(
      'div',
      { class: 'lessons' },
      this.place.root,
      element(
        'div',
        { class: 'columns' },
        element('nav', { attributes: { 'aria-label': translate('Lessons') } }, this.fold),
        element(
          'div',
          { class: 'lesson' },
          this.head.root,
          this.passed.root,
          this.task.root,
          this.predicted.root,
          this.tools.root,
          this.hint,
          this.actions,
          this.checks.root,
          this.end.root,
        ),
      ),
    );
  }

  update(state: LabState): void {
    if (state.page !== 'lessons') return;
    const before = this.state;
    this.state = state;
    const { open } = state;
    this.place.update(state.place);
    this.list.update([state.lessons, open?.id], () => state.lessons.map((lesson) => this.item(lesson, open?.id)));
    if (open !== undefined && before?.open?.id !== open.id) this.fit();
    this.head.update([open?.id, open?.phase], () => this.headNodes(open));
    this.passed.update([open?.id, open?.steps], () => (open === undefined ? [] : passedNodes(open, this.parts)));
    const step = open?.step;
    const isNew = this.task.update([open?.id, step?.id], () => (step === undefined ? [] : this.taskNodes(step)));
    if (isNew && step !== undefined) this.focusTask();
    if (step?.predicted !== undefined) this.choice?.settle(step.predicted);
    this.predicted.update([open?.id, step?.id, step?.predicted], () => this.predictedNodes(step));
    this.tools.update([open?.id, step?.id, step?.objects], () => this.toolNodes(step));
    this.checks.update([open?.id, step?.id, step?.checks], () => this.checkNodes(step));
    this.actions.hidden = step === undefined;
    const waits = step?.question !== undefined && step.predicted === undefined;
    const [check, solve] = this.buttons;
    for (const item of [check, solve]) if (item !== undefined) item.disabled = waits || open?.busy === true;
    if (!waits && before?.open?.step?.id === step?.id && before?.open?.step?.predicted !== step?.predicted)
      check?.focus();
    setText(
      this.hint,
      waits ? this.parts.translate('Predict first; then act, by whatever tool you like, and check.') : '',
    );
    const ends = this.end.update([open?.id, open?.phase, open?.steps, open?.passed, open?.problem], () =>
      this.endNodes(open),
    );
    // The buttons that had the focus are gone.
    if (ends && open?.phase === 'over' && before?.open?.id === open.id)
      this.end.root.querySelector<HTMLElement>('.result')?.focus();
    this.say(state, before);
  }

  /** Folds the list away from above an open lesson. */
  private fit(): void {
    this.fold.open = this.state?.open === undefined || !NARROW.matches;
  }

  private item({ id, title, about, state }: State['lessons'][number], openId: string | undefined): Node {
    const { translate, ask } = this.parts;
    const words = {
      new: '',
      running: translate('running'),
      passed: translate('passed'),
      'not-passed': translate('not passed yet'),
    };
    const signs = { new: '○', running: '▸', passed: '✓', 'not-passed': '◐' };
    const row = element(
      'button',
      {
        class: `lesson-row ${state}`,
        title: about,
        attributes: { type: 'button', ...(id === openId ? { 'aria-current': 'true' } : {}) },
        onClick: () => void ask('lessonStart', { id }),
      },
      element('span', { class: 'sign', text: signs[state], attributes: { 'aria-hidden': 'true' } }),
      element('span', { text: title }),
      element('span', { class: 'sr-only', text: words[state] }),
    );
    return element('li', {}, row);
  }

  private headNodes(open: Open | undefined): Node[] {
    const { translate } = this.parts;
    if (open === undefined)
      return [
        element('h2', { text: translate('Choose a lesson') }),
        element('p', {
          text: translate(
            'Each step asks what will happen, lets you act, and then reads the server: a step passes on what the server holds, and on nothing else.',
          ),
        }),
      ];
    return [
      element('h2', { text: open.title }),
      element('p', { class: 'about', text: open.about }),
      ...(open.phase === 'starting' ? [element('p', { class: 'muted', text: translate('Starting …') })] : []),
    ];
  }

  private taskNodes(step: Step): Node[] {
    const { translate, ask, refuse } = this.parts;
    this.choice = undefined;
    const nodes: Node[] = [
      element('h3', { text: `${step.index}. ${step.title}`, attributes: { tabindex: '-1' } }),
      element('p', { class: 'task', text: step.task }),
    ];
    if (step.question !== undefined) {
      this.choice = new Choice({
        name: `predict-${step.id}`,
        question: step.question,
        choices: step.choices.map((value) => ({ value, text: value })),
        send: translate('Predict'),
        missing: translate('First predict: choose one of the answers.'),
        refuse,
        onSend: (choice) => void ask('lessonPredict', { choice }),
      });
      nodes.push(this.choice.root);
    }
    if (step.labels !== undefined) {
      this.labels.value = '';
      const { m, a, steps } = step.labels;
      nodes.push(
        field(translate('The next {0} labels for m={1} and a={2}, with spaces between them', steps, m, a), this.labels),
      );
    }
    return nodes;
  }

  /** Where a learner can act: the objects of the step, each in an editor of its own, and a terminal. */
  private toolNodes(step: Step | undefined): Node[] {
    const { translate, ask } = this.parts;
    if (step === undefined || step.objects.length === 0) return [];
    return [
      ...step.objects.map((object) =>
        button(translate('Open {0}', object), () => void ask('lessonOpenObject', { object }), 'link'),
      ),
      button(translate('Open a terminal'), () => void ask('lessonTerminal', {}), 'link'),
      ...(step.commands.length === 0
        ? []
        : [
            element(
              'details',
              {},
              element('summary', { text: translate('How it is done in a terminal') }),
              element('pre', { text: step.commands.join('\n') }),
            ),
          ]),
    ];
  }

  private predictedNodes(step: Step | undefined): Node[] {
    const { translate } = this.parts;
    if (step?.predicted === undefined || step.answer === undefined) return [];
    const right = step.predictedRight === true;
    const sentence = right
      ? translate('You predicted: {0}. That is right.', step.predicted)
      : translate('You predicted: {0}. The contract says: {1}.', step.predicted, step.answer);
    return [element('p', { class: right ? 'right' : 'wrong', text: sentence })];
  }

  private checkNodes(step: Step | undefined): Node[] {
    const { translate } = this.parts;
    if (step === undefined || step.checks.length === 0) return [];
    const rows = step.checks.map(({ text, passed }) =>
      element('li', {}, verdict(passed, [translate('holds'), translate('does not hold')]), ` ${text}`),
    );
    return [element('h3', { text: translate('What the server holds') }), element('ul', { class: 'checks' }, ...rows)];
  }

  private endNodes(open: Open | undefined): Node[] {
    const { translate, ask } = this.parts;
    if (open === undefined || open.phase === 'starting') return [];
    const save = [
      button(translate('Export the Report as JSON…'), () => void ask('lessonExport', { format: 'json' })),
      button(translate('Export the Report as Markdown…'), () => void ask('lessonExport', { format: 'markdown' })),
    ];
    if (open.phase !== 'over') return [element('div', { class: 'row quiet' }, ...save)];
    const own = open.steps.filter((step) => step.passed && !step.shown).length;
    return [
      ...(open.problem === undefined ? [] : [element('p', { class: 'wrong', text: open.problem })]),
      element('p', {
        class: `result ${open.passed ? 'right' : 'wrong'}`,
        attributes: { tabindex: '-1' },
        text: open.passed
          ? translate('Passed: {0} of {1} steps by yourself.', own, open.steps.length)
          : translate('Not passed.'),
      }),
      element('div', { class: 'row' }, ...this.nextLesson(open.id), ...save),
    ];
  }

  /** A button for the lesson after this one, where there is one. */
  private nextLesson(id: string): Node[] {
    const { translate, ask } = this.parts;
    const lessons = this.state?.lessons ?? [];
    const next = lessons[lessons.findIndex((lesson) => lesson.id === id) + 1];
    if (next === undefined) return [];
    return [button(translate('Next Lesson'), () => void ask('lessonStart', { id: next.id }), 'primary')];
  }

  private async check(): Promise<void> {
    const step = this.state?.open?.step;
    if (step?.labels !== undefined) {
      const labels = this.labels.value.split(/[\s,]+/).filter((word) => word !== '');
      if (!(await this.parts.ask('lessonPredictLabels', { labels }))) return;
    }
    await this.parts.ask('lessonCheck', {});
  }

  private focusTask(): void {
    const heading = this.task.root.querySelector('h3');
    heading?.focus();
    heading?.scrollIntoView({ block: 'nearest' });
  }

  private say(state: State, before: State | undefined): void {
    const { translate, announce } = this.parts;
    const open = state.open;
    const old = before?.open;
    if (open === undefined || old?.id !== open.id) return;
    const done = open.steps.filter((step) => step.passed).length;
    const newly = open.steps.find((step, index) => step.passed && old.steps[index]?.passed !== true);
    if (newly !== undefined) {
      announce(`${translate('{0} of {1} steps passed.', done, open.steps.length)} ${newly.lesson ?? ''}`);
    } else if (open.step?.predicted !== old.step?.predicted) announce(this.predicted.root.textContent);
    else if (JSON.stringify(open.step?.checks) !== JSON.stringify(old.step?.checks)) {
      const failed = open.step?.checks.filter((check) => !check.passed).map((check) => check.text) ?? [];
      if (failed.length > 0) announce(translate('Does not hold yet: {0}', failed.join('; ')));
    }
  }
}

/** The steps passed, with what was learnt in each. */
function passedNodes(open: Open, { translate }: ViewParts): Node[] {
  return open.steps
    .filter((step) => step.passed)
    .map((step) =>
      element(
        'li',
        {},
        verdict(true, [translate('passed'), '']),
        element('strong', { text: ` ${step.title}` }),
        element('span', {
          class: 'muted',
          text: ` ${[
            step.shown ? translate('shown') : translate('done by yourself'),
            ...(step.predictedRight === undefined
              ? []
              : [step.predictedRight ? translate('predicted right') : translate('predicted wrong')]),
          ].join(', ')}`,
        }),
        element('p', { class: 'learnt', text: step.lesson ?? '' }),
      ),
    );
}
