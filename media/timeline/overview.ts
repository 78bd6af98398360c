import { durationText, timeText } from '../../src/core/timeline/axis.ts';
import { gapText } from '../../src/core/timeline/gaps.ts';
import { gapConcerns } from '../../src/core/timeline/scene.ts';
import { findingRank } from '../../src/core/timeline/findingWords.ts';
import type { AnnotationInfo, GapInfo } from '../../src/core/timeline/model.ts';
import { element, unbroken } from '../common/dom.ts';
import { glyphImage } from './glyphImage.ts';
import type { TimelineView } from './view.ts';
import { gapWords, laneWords } from './words.ts';

const MAX_FINDINGS = 40;
/** Earlier occurrences of one entry that can be chosen. */
const MAX_OCCURRENCES = 8;
const MAX_RECREATED = 12;
const MAX_GAPS = 8;

/** What to look at first, while nothing is selected: the findings, and what was recreated. */
export function overview(view: TimelineView): HTMLElement {
  const { store, translate } = view;
  const root = element('div', { class: 'overview columns' });
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
  const findings = groupedFindings(store.annotations);
  const list = element('section', {}, element('h2', { text: translate('Findings') }));
  root.append(list);
  if (findings.length === 0)
    list.append(element('p', { class: 'muted', text: translate('None besides single conflicts and recreations.') }));
  else
    list.append(
      element(
        'ul',
        { class: 'links' },
        ...findings.slice(0, MAX_FINDINGS).map((occurrences) => findingEntry(view, occurrences)),
      ),
    );
  if (findings.length > MAX_FINDINGS)
    list.append(element('p', { class: 'muted', text: translate('… and {0} more', findings.length - MAX_FINDINGS) }));
  const parts: readonly (readonly [string, readonly HTMLElement[]])[] = [
    [translate('Recreated'), recreatedEntries(view)],
    [translate('Not observed'), gapEntries(view)],
  ];
  for (const [title, entries] of parts) {
    if (entries.length === 0) continue;
    const list = element('ul', { class: 'links' }, ...entries);
    root.append(element('section', {}, element('h2', { text: title }), list));
  }
  return root;
}

/** How much there is. */
export function countsText({ store, translate }: TimelineView): string {
  const { length: objects } = store.lanes;
  const { length: events } = store.marks;
  const parts = [
    objects === 1 ? translate('1 object') : translate('{0} objects', objects),
    events === 1 ? translate('1 event') : translate('{0} events', events),
  ];
  const span = store.lastAt - store.firstAt;
  return span <= 0 ? parts.join(', ') : translate('{0} in {1}', parts.join(', '), durationText(span));
}

/** Findings that say the same of one object are one entry with its occurrences, the newest first; the gravest entries first. */
function groupedFindings(annotations: readonly AnnotationInfo[]): AnnotationInfo[][] {
  const newestFirst = annotations.toSorted((a, b) => b.to - a.to);
  const groups = Map.groupBy(newestFirst, ({ id, lane, text }) => `${id} ${lane} ${text}`);
  return [...groups.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

function rankOf(occurrences: readonly AnnotationInfo[]): number {
  return Math.min(...occurrences.map(findingRank));
}

function findingEntry(view: TimelineView, occurrences: readonly AnnotationInfo[]): HTMLElement {
  const [annotation] = occurrences;
  const entry = element('li', {});
  if (annotation === undefined) return entry;
  const select = (one: AnnotationInfo): void => view.select({ type: 'annotation', lane: one.lane, annotation: one });
  const timeOf = (one: AnnotationInfo): string => timeText(one.to, view.settings.timeZoneOffsetMin);
  const button = element('button', {
    class: `link entry ink-${annotation.glyph ?? annotation.severity}`,
    title: annotation.text,
    attributes: { type: 'button' },
    onClick: () => select(annotation),
  });
  const count = occurrences.reduce((sum, one) => sum + one.count, 0);
  const words = element('span', {}, element('span', { class: 'entry-title' }, ...unbroken(annotation.text)));
  const sub = [
    laneWords(view.store, annotation.lane),
    ...(count > 1 && !annotation.text.startsWith(`${count} `) ? [`×${count}`] : []),
    timeOf(annotation),
  ];
  words.append(element('span', { class: 'entry-sub' }, ...unbroken(sub.join(' · '))));
  button.append(glyphImage(annotation.glyph ?? (annotation.id.includes('conflict') ? 'conflict' : 'finding')), words);
  entry.append(button);
  const earlier = occurrences.slice(1, MAX_OCCURRENCES + 1).map((one) =>
    element('button', {
      class: 'link occurrence',
      text: timeOf(one),
      attributes: { type: 'button' },
      onClick: () => select(one),
    }),
  );
  if (earlier.length > 0) entry.append(element('div', { class: 'occurrences' }, ...earlier));
  return entry;
}

function recreatedEntries(view: TimelineView): HTMLElement[] {
  const { store, translate } = view;
  const entries: HTMLElement[] = [];
  for (const [index, lane] of store.lanes.entries()) {
    if (lane.info.incarnations < 2) continue;
    if (entries.length >= MAX_RECREATED) break;
    const { bars } = lane.info;
    const last = bars.at(-1);
    if (last === undefined) continue;
    const inGap = last.began === 'in-gap' ? translate(', within a gap') : '';
    const text = `${translate('{0} incarnations', bars.length)} · ${timeText(last.from, view.settings.timeZoneOffsetMin)}${inGap}`;
    entries.push(
      placeEntry('↻', laneWords(store, index), text, () => {
        view.showLane(index);
        showAround(view, last.from, last.from);
      }),
    );
  }
  return entries;
}

/** The times that nobody saw, the newest first: what happened in them is not known. */
function gapEntries(view: TimelineView): HTMLElement[] {
  const { store, settings, translate } = view;
  const newestFirst = store.gaps.toSorted((a, b) => b.from - a.from).slice(0, MAX_GAPS);
  return newestFirst.map((gap) => {
    const ends = [gap.from, gap.to].map((at) =>
      at === undefined ? translate('still') : timeText(at, settings.timeZoneOffsetMin),
    );
    return placeEntry('▨', gapWords(gap), `${gapText(gap, translate)} · ${ends.join(' – ')}`, () => showGap(view, gap));
  });
}

/** Brings a gap into sight, on the first lane that it is about. */
export function showGap(view: TimelineView, gap: GapInfo): void {
  const { store, layout } = view;
  const row = layout.rows.find((one) => one.type === 'lane' && gapConcerns(store, gap, one));
  if (row?.type === 'lane') view.showLane(row.lane);
  showAround(view, gap.from, gap.to ?? store.lastAt);
}

/** An entry that shows a place of the timeline. */
function placeEntry(sign: string, title: string, text: string, show: () => void): HTMLElement {
  const button = element(
    'button',
    { class: 'link entry', attributes: { type: 'button' }, onClick: show },
    element('span', { class: 'glyph-text', text: sign, attributes: { 'aria-hidden': 'true' } }),
    element(
      'span',
      {},
      element('span', { class: 'entry-title' }, ...unbroken(title)),
      element('span', { class: 'entry-sub' }, ...unbroken(text)),
    ),
  );
  return element('li', {}, button);
}

/** Brings a stretch of time into sight: as it is shown where it is, else around its middle, at a scale that holds it. */
export function showAround(view: TimelineView, from: number, to: number): void {
  const { scale } = view;
  if (from >= scale.from && to <= scale.to) return;
  const half = Math.max(scale.to - scale.from, (to - from) * 1.2) / 2;
  const middle = (from + to) / 2;
  view.setScale({ ...scale, from: middle - half, to: middle + half });
}
