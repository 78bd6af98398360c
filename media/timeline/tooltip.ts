import { durationText, preciseTimeText } from '../../src/core/timeline/axis.ts';
import { gapText } from '../../src/core/timeline/gaps.ts';
import type { Hit } from '../../src/core/timeline/hitTest.ts';
import type { AnnotationInfo } from '../../src/core/timeline/model.ts';
import { element } from '../common/dom.ts';
import type { TimelineView } from './view.ts';
import { laneWords, markWords, readRemark } from './words.ts';

/** What is under the pointer, in a few words beside it. Readers of the page get the same from the grid and the summary. */
export class Tooltip {
  readonly root = element('div', { class: 'tooltip', attributes: { 'aria-hidden': 'true', hidden: '' } });
  private readonly view: TimelineView;

  constructor(view: TimelineView) {
    this.view = view;
  }

  /** Shows words for a hit at a place; hides where there is nothing to say. */
  show(hit: Hit | undefined, pointer: { readonly x: number; readonly y: number } | undefined): void {
    const lines = hit === undefined || this.view.measure !== undefined ? [] : this.lines(hit);
    this.root.hidden = lines.length === 0 || pointer === undefined;
    if (lines.length === 0 || pointer === undefined) return;
    this.root.replaceChildren(
      ...lines.map((line, index) =>
        element('div', { class: index === 0 ? 'tooltip-title' : 'tooltip-line', text: line }),
      ),
    );
    const { offsetWidth, offsetHeight, parentElement } = this.root;
    const width = parentElement?.clientWidth ?? 0;
    const height = parentElement?.clientHeight ?? 0;
    const left = pointer.x + 16 + offsetWidth > width ? pointer.x - 12 - offsetWidth : pointer.x + 16;
    const top = pointer.y + 18 + offsetHeight > height ? pointer.y - 12 - offsetHeight : pointer.y + 18;
    this.root.style.transform = `translate(${Math.max(2, Math.round(left))}px, ${Math.max(2, Math.round(top))}px)`;
  }

  private lines(hit: Hit): string[] {
    const { store, settings, translate } = this.view;
    switch (hit.type) {
      case 'cell':
        return this.cellLines(hit);
      case 'annotation':
        return this.annotationLines(hit.annotation);
      case 'gap': {
        const { gap } = hit;
        const length = gap.to === undefined ? translate('still') : durationText(gap.to - gap.from);
        return [gapText(gap, translate), length, translate('What happened in here is not known.')];
      }
      case 'bar': {
        const bar = store.lanes[hit.lane]?.info.bars[hit.bar];
        if (bar === undefined) return [];
        const began = translate('from {0}', preciseTimeText(bar.from, settings.timeZoneOffsetMin));
        const lines = [
          laneWords(store, hit.lane),
          bar.uid,
          bar.began === 'earlier' ? translate('was there already') : began,
        ];
        return hit.lag === undefined ? lines : [...lines, this.lagLine(hit.lag)];
      }
      case 'read': {
        const { cell, read, lane, track } = hit;
        const title = `${translate('read')} · ${readRemark(store, read, translate)}`;
        const object = laneWords(store, lane);
        const at = preciseTimeText(store.reads.at.at(read), settings.timeZoneOffsetMin);
        const more = cell.count > 1 ? [translate('and {0} more here: zoom in to open', cell.count - 1)] : [];
        return [title, ...(object === '' ? [] : [object]), `${at} · ${store.text(track.actor)}`, ...more];
      }
      case 'lane':
      case 'track':
      case 'group':
      case 'more':
      case 'readers':
        return [];
    }
    return [];
  }

  private lagLine({ from, to }: { readonly from: number; readonly to?: number }): string {
    const { translate } = this.view;
    const length = durationText((to ?? this.view.end()) - from);
    return to === undefined
      ? translate('generation not observed for {0} so far', length)
      : translate('generation not observed for {0}', length);
  }

  private annotationLines({ text, id, lane, count, from, to }: AnnotationInfo): string[] {
    const { store, settings } = this.view;
    const times = [...new Set([from, to].map((at) => preciseTimeText(at, settings.timeZoneOffsetMin)))];
    return [text, count > 1 ? `${id} ×${count}` : id, laneWords(store, lane), times.join(' – ')];
  }

  private cellLines(hit: Hit & { type: 'cell' }): string[] {
    const { store, settings, translate } = this.view;
    const { cell } = hit;
    const at = preciseTimeText(store.marks.at.at(cell.mark), settings.timeZoneOffsetMin);
    const actor = store.text(store.marks.actor.at(cell.mark));
    const lines = [
      markWords(store, cell.mark, translate),
      laneWords(store, hit.lane),
      `${at}${actor === '' ? '' : ` · ${actor}`}`,
    ];
    if (cell.count > 1) lines.push(translate('and {0} more here: zoom in to open', cell.count - 1));
    return lines;
  }
}
