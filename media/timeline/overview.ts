import { durationText, timeText } from '../../src/core/timeline/axis.ts';
import type { AnnotationInfo, Severity } from '../../src/core/timeline/model.ts';
import { element } from '../common/dom.ts';
import { glyphImage } from './toolbar.ts';
import type { TimelineView } from './view.ts';
import { laneWords } from './words.ts';

const MAX_FINDINGS = 40;
const MAX_RECREATED = 12;
const RANKS: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** What to look at first, while nothing is selected: the findings, and what was recreated. */
export function overview(view: TimelineView): HTMLElement {
  const { store, translate } = view;
  const root = element('div', { class: 'overview' });
  root.append(element('h2', { text: translate('What happened') }));
  if (!view.hasData) {
    root.append(
      element('p', {
        class: 'muted',
        text: translate('Nothing has been seen yet. Watch a resource, or open a trace.'),
      }),
    );
    return root;
  }
  root.append(element('p', { class: 'muted counts', text: countsText(view) }));
  const findings = store.annotations.toSorted((a, b) => RANKS[a.severity] - RANKS[b.severity] || b.to - a.to);
  root.append(element('h2', { text: translate('Findings') }));
  if (findings.length === 0)
    root.append(element('p', { class: 'muted', text: translate('None besides single conflicts and recreations.') }));
  else
    root.append(
      element(
        'ul',
        { class: 'links' },
        ...findings.slice(0, MAX_FINDINGS).map((finding) => findingEntry(view, finding)),
      ),
    );
  if (findings.length > MAX_FINDINGS)
    root.append(element('p', { class: 'muted', text: translate('… and {0} more', findings.length - MAX_FINDINGS) }));
  const recreated = recreatedEntries(view);
  if (recreated.length > 0) {
    root.append(element('h2', { text: translate('Recreated') }), element('ul', { class: 'links' }, ...recreated));
  }
  return root;
}

/** How much there is. */
export function countsText(view: TimelineView): string {
  const { store, translate } = view;
  const span = durationText(store.lastAt - store.firstAt);
  if (store.lanes.length === 1) return translate('1 object, {0} events in {1}', store.marks.length, span);
  return translate('{0} objects, {1} events in {2}', store.lanes.length, store.marks.length, span);
}

function findingEntry(view: TimelineView, annotation: AnnotationInfo): HTMLElement {
  const button = element('button', {
    class: `link entry ink-${annotation.glyph ?? annotation.severity}`,
    attributes: { type: 'button' },
    onClick: () => view.select({ type: 'annotation', lane: annotation.lane, annotation }),
  });
  const words = element('span', {}, element('span', { class: 'entry-title', text: annotation.text }));
  const at = timeText(annotation.to, view.settings.timeZoneOffsetMin);
  words.append(element('span', { class: 'entry-sub', text: `${laneWords(view.store, annotation.lane)} · ${at}` }));
  button.append(glyphImage(annotation.glyph ?? (annotation.id.includes('conflict') ? 'conflict' : 'finding')), words);
  return element('li', {}, button);
}

function recreatedEntries(view: TimelineView): HTMLElement[] {
  const { store, translate } = view;
  const entries: HTMLElement[] = [];
  for (const [index, lane] of store.lanes.entries()) {
    const { bars } = lane.info;
    const last = bars.at(-1);
    if (bars.length < 2 || last === undefined || entries.length >= MAX_RECREATED) continue;
    const inGap = last.began === 'in-gap' ? translate(', within a gap') : '';
    const button = element('button', {
      class: 'link entry',
      attributes: { type: 'button' },
      onClick: () => {
        view.showLane(index);
        const { scale } = view;
        const half = (scale.to - scale.from) / 2;
        if (last.from < scale.from || last.from > scale.to)
          view.setScale({ ...scale, from: last.from - half, to: last.from + half });
      },
    });
    button.append(
      element('span', { class: 'glyph-text', text: '↻', attributes: { 'aria-hidden': 'true' } }),
      element(
        'span',
        {},
        element('span', { class: 'entry-title', text: laneWords(store, index) }),
        element('span', {
          class: 'entry-sub',
          text: `${translate('{0} incarnations', bars.length)} · ${timeText(last.from, view.settings.timeZoneOffsetMin)}${inGap}`,
        }),
      ),
    );
    entries.push(element('li', {}, button));
  }
  return entries;
}
