import type { StateOf } from '../../src/protocol/labStates.ts';
import { element, setAttribute, setText } from '../common/dom.ts';
import { drawAttempts, rate, type ChartScale } from './attemptChart.ts';
import { Part, type ViewParts } from './parts.ts';

type Run = StateOf<'contention'>['runs'][number];
type Count = 'accepted' | 'refused' | 'retried' | 'lost';
const COUNTS: readonly Count[] = ['accepted', 'refused', 'retried', 'lost'];

/** One run of the contention lab: its counts, what they mean, and its attempts over time as a picture and as a table. */
export class ContentionRunView {
  readonly root: HTMLElement;
  private readonly parts: ViewParts;
  private readonly numbers: Readonly<Record<Count, HTMLElement>>;
  private readonly lostBox: HTMLElement;
  private readonly phase = element('p', { class: 'muted' });
  private readonly verdict = element('p', { class: 'result' });
  private readonly canvas = element('canvas', { class: 'attempts', attributes: { role: 'img' } });
  private readonly table = new Part(element('div', { class: 'scroll' }));

  constructor(parts: ViewParts, title: string) {
    this.parts = parts;
    const { translate } = parts;
    const words: Readonly<Record<Count, string>> = {
      accepted: translate('accepted'),
      refused: translate('refused'),
      retried: translate('sent again'),
      lost: translate('lost'),
    };
    this.numbers = { accepted: number(), refused: number(), retried: number(), lost: number() };
    const boxes = COUNTS.map((count) =>
      element('div', { class: `count ${count}` }, element('dt', { text: words[count] }), this.numbers[count]),
    );
    this.lostBox = boxes[3] ?? element('div');
    this.root = element(
      'section',
      { class: 'run card', attributes: { 'aria-label': title } },
      element('h2', { text: title }),
      this.phase,
      element('dl', { class: 'counts' }, ...boxes),
      this.verdict,
      this.canvas,
      element(
        'p',
        { class: 'legend' },
        element('span', { class: 'key accepted', text: translate('accepted') }),
        element('span', { class: 'key refused', text: translate('refused') }),
        element('span', { class: 'muted', text: translate('attempts a second') }),
      ),
      element('details', {}, element('summary', { text: translate('Attempts as a table') }), this.table.root),
    );
  }

  /** What came of the run, in one sentence. */
  get sentence(): string {
    return `${this.phase.textContent} ${this.verdict.textContent}`;
  }

  update(run: Run): void {
    const { translate } = this.parts;
    for (const count of COUNTS) {
      const text = String(run[count]);
      setText(this.numbers[count], count === 'lost' && !run.lostIsFinal && run.lost > 0 ? `≥ ${text}` : text);
    }
    this.lostBox.classList.toggle('some', run.lost > 0);
    const { actors, updates } = run.options;
    const seconds = run.seconds.toFixed(1);
    const words = {
      running: translate('{0} actors, {1} updates each: running, {2} s', actors, updates, seconds),
      done: translate('{0} actors, {1} updates each: done in {2} s', actors, updates, seconds),
      cancelled: translate('Cancelled after {0} s. The object is removed.', seconds),
      failed: run.problem ?? '',
    };
    setText(this.phase, words[run.phase]);
    setText(this.verdict, run.phase === 'done' ? this.verdictOf(run) : '');
    this.verdict.className = `result ${run.lost > 0 ? 'wrong' : 'right'}`;
    setAttribute(
      this.canvas,
      'aria-label',
      translate('Attempts over time: {0} accepted, {1} refused', run.accepted, run.refused),
    );
    if (run.phase !== 'running')
      this.table.update([run.binMs, run.acceptedBins, run.refusedBins], () => [this.rows(run)]);
  }

  draw(run: Run, scale: ChartScale): void {
    drawAttempts(this.canvas, run, scale, this.parts.translate('s'));
  }

  private verdictOf(run: Run): string {
    const { translate } = this.parts;
    const gaveUp =
      run.gaveUp === 0
        ? ''
        : ` ${translate('{0} updates were given up at the bound, and their actors know it.', run.gaveUp)}`;
    return (
      (run.lost > 0
        ? translate('{0} accepted updates are gone, and nobody was told.', run.lost)
        : translate('Every accepted update is still there.')) + gaveUp
    );
  }

  private rows({ binMs, acceptedBins, refusedBins }: Run): Node {
    const { translate } = this.parts;
    const heads = [translate('From, ms'), translate('accepted'), translate('refused'), translate('attempts a second')];
    const rows = acceptedBins.map((accepted, bin) => {
      const refused = refusedBins[bin] ?? 0;
      return element(
        'tr',
        {},
        element('th', { text: String(bin * binMs), attributes: { scope: 'row' } }),
        ...[accepted, refused, rate(accepted + refused, binMs)].map((value) => element('td', { text: String(value) })),
      );
    });
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

function number(): HTMLElement {
  return element('dd', { text: '0' });
}
