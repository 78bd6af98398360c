import { isAppError, messageOf } from '../../src/base/appError.ts';
import { dateText, preciseTimeText } from '../../src/core/timeline/axis.ts';
import type { DetailEntry, DetailFact, DetailSection, EventDetails } from '../../src/core/timeline/detailTypes.ts';
import type { ParamsOf } from '../../src/protocol/channel.ts';
import type { TimelineRequests } from '../../src/protocol/timeline.ts';
import { element, setText, unbroken } from '../common/dom.ts';
import { countsText, overview } from './overview.ts';
import { glyphImage } from './glyphImage.ts';
import type { TimelineView } from './view.ts';

/** What the panel asks of the host. */
export interface DetailsActions {
  details(asked: ParamsOf<TimelineRequests, 'details'>, signal: AbortSignal): Promise<EventDetails>;
  openDiff(diff: NonNullable<EventDetails['diff']>): void;
  revealInTree(details: EventDetails): void;
  safeEdit(details: EventDetails): void;
  showRelated(details: EventDetails): void;
  openFinding(id: string): void;
  copy(text: string): void;
}

/** How long what is shown stays before it is asked for again. */
const ASK_AGAIN_MS = 1500;

/** The panel at the right: what is known about what is selected, or what to look at first. */
export class DetailsPanel {
  readonly root = element('aside', { class: 'details', attributes: { tabindex: '-1', role: 'region' } });
  private readonly view: TimelineView;
  private readonly actions: DetailsActions;
  private shown = '';
  private shownText = '';
  private askedSeq = 0;
  private askedAt = 0;
  private asking: AbortController | undefined;

  constructor(view: TimelineView, actions: DetailsActions) {
    this.view = view;
    this.actions = actions;
  }

  /** Shows what is selected, asking the host once for each selection. */
  draw(): void {
    const { selection, translate } = this.view;
    this.root.setAttribute('aria-label', translate('Details'));
    this.root.classList.toggle('is-asked', this.view.overview);
    const event = this.view.selectedEvent();
    if (selection === undefined || event === undefined) {
      this.drawOverview();
      return;
    }
    const finding = this.view.selectedFinding();
    const of = selection.type === 'read' ? this.view.store.lanes[selection.lane]?.info : undefined;
    const key = `${event} ${finding ?? ''} ${of === undefined ? '' : selection.lane}`;
    const { lastSeq } = this.view.store;
    // What came of a write is known later: while the log grows, what is shown is asked for again now and then.
    const grown = lastSeq > this.askedSeq && performance.now() - this.askedAt > ASK_AGAIN_MS;
    if (key === this.shown && !grown) return;
    if (key !== this.shown) this.shownText = '';
    this.shown = key;
    this.askedSeq = lastSeq;
    this.askedAt = performance.now();
    this.root.classList.add('has-selection');
    void this.ask({
      event,
      ...(finding === undefined ? {} : { finding }),
      ...(of === undefined ? {} : { of: { namespace: of.namespace, name: of.name } }),
    });
  }

  /** What to look at first; it stays as it is while somebody's focus is in it. */
  private drawOverview(): void {
    const { store } = this.view;
    this.asking?.abort();
    this.root.classList.remove('has-selection');
    const key = `overview ${store.lanesVersion} ${this.view.translate('Findings')}`;
    if (key === this.shown || (this.shown.startsWith('overview') && this.root.contains(document.activeElement))) {
      const counts = this.root.querySelector('.counts');
      if (counts !== null) setText(counts, countsText(this.view));
      return;
    }
    this.shown = key;
    this.root.replaceChildren(this.closeButton(), overview(this.view));
  }

  /** Never rejects: a failure is shown in the panel. */
  private async ask(asked: Parameters<DetailsActions['details']>[0]): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.root.setAttribute('aria-busy', 'true');
    try {
      const details = await this.actions.details(asked, asking.signal);
      if (asking.signal.aborted || details.text === this.shownText) return;
      const inside =
        this.shownText !== '' && this.root !== document.activeElement && this.root.contains(document.activeElement);
      // Nothing is taken away from under somebody's focus.
      if (inside) return;
      this.shownText = details.text;
      this.root.replaceChildren(...this.content(details));
    } catch (error) {
      if (asking.signal.aborted || isAppError(error, 'cancelled')) return;
      const advice = isAppError(error) ? error.advice : '';
      this.root.replaceChildren(
        this.closeButton(),
        element('p', { class: 'problem', text: messageOf(error), attributes: { role: 'alert' } }),
        element('p', { class: 'muted', text: advice }),
      );
    } finally {
      if (this.asking === asking) this.root.removeAttribute('aria-busy');
    }
  }

  private closeButton(): HTMLElement {
    const label = this.view.translate('Close');
    return element('button', {
      class: 'close',
      text: '×',
      title: label,
      attributes: { type: 'button', 'aria-label': label },
      onClick: () => this.close(),
    });
  }

  private close(): void {
    if (this.view.selection === undefined) this.view.toggleOverview();
    else this.view.select(undefined);
  }

  private content(details: EventDetails): Node[] {
    const { translate, settings } = this.view;
    const place = [details.object.namespace, details.object.name].filter((part) => part !== '').join('/');
    const title = element(
      'h1',
      { class: `ink-${details.kind}` },
      glyphImage(details.kind),
      element('span', { text: details.title }),
    );
    const subject = element(
      'p',
      { class: 'subject' },
      element('span', { class: 'muted', text: `${details.kindName} ` }),
      element('span', { class: 'strong' }, ...unbroken(place)),
      element('span', { class: 'muted cluster', text: details.clusterLabel }),
    );
    const when = `${dateText(details.at, settings.timeZoneOffsetMin)} ${preciseTimeText(details.at, settings.timeZoneOffsetMin)}`;
    const facts = element('dl', { class: 'facts' });
    facts.append(...fact({ label: translate('at'), value: when }));
    for (const one of details.facts) facts.append(...fact(one));
    const columns = element(
      'div',
      { class: 'columns' },
      ...(details.finding === undefined ? [] : [this.finding(details.finding)]),
      element('div', {}, title, subject, facts),
      ...details.sections.map(sectionOf),
      this.related(details.related),
      this.buttons(details),
    );
    return [this.closeButton(), columns];
  }

  /** What the person came for, before the event that it rests on. */
  private finding({ sections, evidence }: NonNullable<EventDetails['finding']>): HTMLElement {
    const proof =
      evidence.length === 0
        ? []
        : [element('section', {}, element('h2', { text: this.view.translate('Evidence') }), this.related(evidence))];
    return element('div', { class: 'finding' }, ...sections.map(sectionOf), ...proof);
  }

  private related(related: EventDetails['related']): HTMLElement {
    const links = related.map((one) =>
      element(
        'li',
        {},
        element(
          'button',
          {
            class: 'link',
            attributes: { type: 'button' },
            onClick: () => this.view.selectEvent(one.event, true, this.view.selectedFinding()),
          },
          '→ ',
          ...unbroken(one.label),
        ),
      ),
    );
    return element('ul', { class: 'links related' }, ...links);
  }

  private buttons(details: EventDetails): HTMLElement {
    const { translate, settings } = this.view;
    const { actions } = this;
    const root = element('div', { class: 'actions' });
    const add = (text: string, run: () => void): void => {
      root.append(element('button', { class: 'link', text, attributes: { type: 'button' }, onClick: run }));
    };
    const { diff, finding } = details;
    if (diff !== undefined) add(translate('Open diff'), () => actions.openDiff(diff));
    if (settings.hasCluster && details.object.name !== '')
      add(translate('Show in tree'), () => actions.revealInTree(details));
    if (settings.hasCluster && details.canEdit) add(translate('Safe edit'), () => actions.safeEdit(details));
    if (settings.hasCluster && details.canEdit) add(translate('Related objects'), () => actions.showRelated(details));
    if (finding !== undefined) add(translate('About this finding'), () => actions.openFinding(finding.id));
    add(translate('Copy'), () => actions.copy(details.text));
    return root;
  }
}

function fact(one: DetailFact): Node[] {
  const value = element('dd', { class: `tone-${one.tone ?? 'plain'}` });
  if (one.badge !== undefined) {
    value.append(
      element('span', { class: `badge badge-${one.badge.colour % 8}`, text: one.badge.code, title: one.badge.token }),
    );
  }
  if (one.value !== undefined) value.append(element('span', { class: 'strong' }, ...unbroken(one.value)));
  if (one.remark !== undefined) value.append(element('span', { class: 'remark', text: one.remark }));
  return [element('dt', { text: one.label }), value];
}

function sectionOf(section: DetailSection): HTMLElement {
  return element('section', {}, element('h2', { text: section.title }), ...section.entries.map(entry));
}

function entry(one: DetailEntry): HTMLElement {
  const root = element('div', { class: `entry-block tone-${one.tone ?? 'plain'}` });
  if (one.actor !== undefined || one.how !== undefined) {
    root.append(
      element(
        'div',
        {},
        element('span', { class: 'strong actor' }, ...unbroken(one.actor ?? '')),
        element('span', { class: 'muted', text: one.how === undefined ? '' : ` ${one.how}` }),
      ),
    );
  }
  const words = /^[.[/]/;
  for (const line of one.lines)
    root.append(element('div', { class: words.test(line) ? 'line mono' : 'line' }, ...unbroken(line)));
  return root;
}
