import { durationText } from '../../src/core/timeline/axis.ts';
import { formatFilter, toggleTerm, type FilterProblem } from '../../src/core/timeline/filter.ts';
import { GROUPINGS, SORTS, type Grouping, type Sort } from '../../src/core/timeline/layout.ts';
import type { MarkKind } from '../../src/core/timeline/model.ts';
import { marksAfter } from '../../src/core/timeline/navigate.ts';
import { element, setAttribute, setText } from '../common/dom.ts';
import { glyphImage } from './glyphImage.ts';
import { Menu, type MenuItem } from './menu.ts';
import type { TimelineView } from './view.ts';
import { KIND_WORDS } from './words.ts';

/** What the toolbar starts that is not the view's own. */
export interface ToolbarActions {
  readonly exports: () => readonly MenuItem[];
  readonly toggleReplay: () => void;
  readonly showHelp: () => void;
}

const MINUTE = 60_000;
const RANGES_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, 24 * 60 * MINUTE];
const LEGEND: readonly { readonly kind: MarkKind; readonly word: string }[] = [
  { kind: 'spec', word: 'spec' },
  { kind: 'status', word: 'status' },
  { kind: 'metadata', word: 'metadata' },
  { kind: 'conflict', word: 'conflict' },
  { kind: 'field-conflict', word: 'field conflict' },
  { kind: 'lost-update', word: 'lost update' },
  { kind: 'takeover', word: 'takeover' },
];
const SORT_WORDS: Readonly<Record<Sort, string>> = {
  name: 'Sort by name',
  activity: 'Sort by activity',
  findings: 'Sort by findings',
  recent: 'Sort by last change',
};
const GROUPING_WORDS: Readonly<Record<Grouping, string>> = {
  object: 'Lanes by object',
  actor: 'Lanes by actor',
};
const PROBLEM_WORDS: Readonly<Record<FilterProblem['problem'], string>> = {
  'unknown-key': 'There is no such key: {0}',
  'unknown-is': 'is: does not know this word: {0}',
  'no-value': 'A value is missing: {0}',
  'open-quote': 'A quote is not closed: {0}',
};

/** The filter, what is followed and shown, exports, and the legend, whose entries filter. */
export class Toolbar {
  readonly root = element('div', { class: 'toolbar', attributes: { role: 'toolbar' } });
  readonly filter = element('input', {
    class: 'filter',
    attributes: { type: 'search', spellcheck: 'false', autocomplete: 'off' },
  });
  private readonly problem = element('div', {
    class: 'filter-problem',
    attributes: { id: 'filter-problem', role: 'status' },
  });
  private readonly live: HTMLButtonElement;
  private readonly liveWords = element('span');
  private readonly fit: HTMLButtonElement;
  private readonly replay: HTMLButtonElement;
  private readonly range: Menu;
  private readonly viewMenu: Menu;
  private readonly exportMenu: Menu;
  private readonly help: HTMLButtonElement;
  private readonly legend = element('div', { class: 'legend', attributes: { role: 'group' } });
  /** The same where there is no room for it, and a way to what the details say while nothing is selected. */
  private readonly legendMenu: Menu;
  private readonly overview: HTMLButtonElement;
  private readonly view: TimelineView;

  constructor(view: TimelineView, actions: ToolbarActions) {
    this.view = view;
    const button = (run: () => void): HTMLButtonElement =>
      element('button', { attributes: { type: 'button' }, onClick: run });
    this.live = button(() => view.setLive(!view.live));
    this.live.append(
      element('span', { class: 'dot', text: '●', attributes: { 'aria-hidden': 'true' } }),
      this.liveWords,
    );
    this.fit = button(() => view.fitAll());
    this.replay = button(actions.toggleReplay);
    this.help = button(actions.showHelp);
    this.help.textContent = '?';
    this.range = new Menu(() => this.ranges());
    this.viewMenu = new Menu(() => this.viewItems());
    this.exportMenu = new Menu(actions.exports);
    this.legendMenu = new Menu(() => this.legendItems());
    this.legendMenu.root.classList.add('legend-menu');
    this.overview = button(() => view.toggleOverview());
    this.overview.className = 'overview-button';
    const search = element('div', { class: 'search' }, this.filter, this.problem);
    this.root.append(
      search,
      this.live,
      this.fit,
      this.range.root,
      this.viewMenu.root,
      this.exportMenu.root,
      this.replay,
      this.help,
      this.legendMenu.root,
      this.overview,
      this.legend,
    );
    this.filter.addEventListener('input', () => view.setFilter(this.filter.value));
    this.filter.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      if (this.filter.value === '') this.filter.blur();
      else {
        this.filter.value = '';
        view.setFilter('');
      }
    });
  }

  draw(): void {
    const { view } = this;
    const { translate } = view;
    setAttribute(this.root, 'aria-label', translate('Timeline'));
    if (document.activeElement !== this.filter && this.filter.value !== view.filterText)
      this.filter.value = view.filterText;
    setAttribute(this.filter, 'aria-label', translate('Filter'));
    setAttribute(this.filter, 'placeholder', translate('Filter, such as ns:shop -is:heartbeat'));
    this.drawProblem();
    setAttribute(this.live, 'aria-pressed', String(view.live));
    setText(this.liveWords, this.followingWords());
    this.live.title = view.isHeld()
      ? translate('Following waits while the pointer is on the lanes')
      : translate('Follow what happens (L)');
    this.live.hidden = !view.settings.hasCluster;
    setText(this.fit, translate('Fit'));
    this.fit.title = translate('Show everything (F)');
    const shown = durationText(view.scale.to - view.scale.from);
    this.range.setLabel(shown, translate('Shown: {0}', shown));
    this.viewMenu.setLabel(translate('View'));
    this.exportMenu.setLabel(translate('Export'));
    setText(this.replay, translate('Replay'));
    setAttribute(this.replay, 'aria-pressed', String(view.scrubAt !== undefined));
    setAttribute(this.help, 'aria-label', translate('Keys and filter words'));
    this.legendMenu.setLabel(translate('Legend'));
    const { length } = view.store.annotations;
    setText(this.overview, length === 1 ? translate('1 finding') : translate('{0} findings', length));
    setAttribute(this.overview, 'aria-pressed', String(view.overview));
    this.drawLegend();
  }

  private followingWords(): string {
    const { view } = this;
    const { translate, store, pausedAt } = view;
    if (view.live) return view.isHeld() ? translate('Live · held') : translate('Live');
    const newer = pausedAt === 0 ? 0 : marksAfter(store, pausedAt);
    if (newer === 0) return translate('Paused');
    return newer === 1 ? translate('Paused · 1 newer event') : translate('Paused · {0} newer events', newer);
  }

  private drawProblem(): void {
    const { translate, filterProblems, layout } = this.view;
    const [problem] = filterProblems;
    const words =
      problem === undefined
        ? layout.hidden > 0
          ? translate('{0} lanes left out by the filter', layout.hidden)
          : ''
        : translate(PROBLEM_WORDS[problem.problem], problem.text);
    setText(this.problem, words);
    this.problem.classList.toggle('bad', problem !== undefined);
    setAttribute(this.filter, 'aria-invalid', problem === undefined ? undefined : 'true');
    setAttribute(this.filter, 'aria-describedby', words === '' ? undefined : 'filter-problem');
  }

  private drawLegend(): void {
    const { translate } = this.view;
    setAttribute(this.legend, 'aria-label', translate('Legend: choose what to look for'));
    if (this.legend.childElementCount === 0) this.legend.append(...LEGEND.map((entry) => this.legendEntry(entry.kind)));
    for (const [index, entry] of LEGEND.entries()) {
      const button = this.legend.children[index];
      const words = button?.querySelector('.word');
      if (button === undefined || words === null || words === undefined) continue;
      setText(words, translate(entry.word));
      setAttribute(button, 'aria-pressed', String(this.looksFor(entry.kind)));
      setAttribute(button, 'title', translate('Look for: {0}', translate(KIND_WORDS[entry.kind])));
    }
  }

  private legendEntry(kind: MarkKind): HTMLButtonElement {
    const button = element('button', {
      class: `legend-entry ink-${kind}`,
      attributes: { type: 'button' },
      onClick: () => this.lookFor(kind),
    });
    button.append(glyphImage(kind), element('span', { class: 'word' }));
    return button;
  }

  private legendItems(): MenuItem[] {
    const { translate } = this.view;
    return LEGEND.map(({ kind, word }) => ({
      label: translate(word),
      kind,
      checked: this.looksFor(kind),
      run: () => this.lookFor(kind),
    }));
  }

  private looksFor(kind: MarkKind): boolean {
    return this.view.filter.terms.some((term) => term.key === 'is' && term.value === kind && !term.negated);
  }

  private lookFor(kind: MarkKind): void {
    const next = toggleTerm(this.view.filter, { key: 'is', value: kind, negated: false });
    this.filter.value = formatFilter(next);
    this.view.setFilter(this.filter.value);
  }

  private ranges(): MenuItem[] {
    const { view } = this;
    const items: MenuItem[] = RANGES_MS.map((ms) => ({
      label: view.translate('Last {0}', durationText(ms)),
      run: () => view.showLast(ms),
    }));
    return [...items, { label: view.translate('Everything'), run: () => view.fitAll() }];
  }

  private viewItems(): MenuItem[] {
    const { view } = this;
    const { translate } = view;
    return [
      ...GROUPINGS.map((grouping) => ({
        label: translate(GROUPING_WORDS[grouping]),
        checked: view.grouping === grouping,
        run: () => view.arrange({ grouping }),
      })),
      ...SORTS.map((sort) => ({
        label: translate(SORT_WORDS[sort]),
        checked: view.sort === sort,
        run: () => view.arrange({ sort }),
      })),
      { label: translate('Compact lanes'), checked: view.compact, run: () => view.arrange({ compact: !view.compact }) },
      { label: translate('Table of events'), checked: view.table, run: () => view.toggleTable() },
    ];
  }
}
