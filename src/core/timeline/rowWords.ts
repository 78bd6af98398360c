import { shortUid } from './laneLabels.ts';
import type { Row } from './layout.ts';
import type { LaneInfo } from './model.ts';
import type { Translate } from './translate.ts';

/** What stands below the name of a lane. */
export function laneSubtitle(lane: LaneInfo, translate: Translate): string {
  const last = lane.bars.at(-1);
  const what =
    lane.remark ??
    (lane.bars.length > 1
      ? translate('{0} incarnations', lane.bars.length)
      : last === undefined
        ? ''
        : shortUid(last.uid));
  return [lane.namespace, what].filter((part) => part !== '').join(' · ');
}

/** How many lanes of a group are folded, and why. */
export function moreWords(count: number, translate: Translate): string {
  return translate('{0} more, folded: nobody watches them', count);
}

/** The title of a group: the resource in capitals, but the cluster's name and a version in brackets as they are. */
export function groupTitle(label: string): string {
  const slash = label.lastIndexOf(' / ');
  const start = slash < 0 ? 0 : slash + 3;
  const bracket = label.indexOf(' (', start);
  const end = bracket < 0 ? label.length : bracket;
  return label.slice(0, start) + label.slice(start, end).toUpperCase() + label.slice(end);
}

/** Why a group is folded although nobody asked, to be said after its title; '' where it is not. */
export function foldedWords(row: Row & { readonly type: 'group' }, translate: Translate): string {
  if (row.folded === undefined) return '';
  const why = row.folded === 'noise' ? translate('folded: normal noise') : translate('folded: nobody watches them');
  return ` · ${why}`;
}
