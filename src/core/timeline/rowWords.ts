import { shortUid } from './laneLabels.ts';
import type { Folded, Row } from './layout.ts';
import type { TimelineStore } from './store.ts';
import type { StoredLane } from './storedLane.ts';
import { trackMarks, type Track } from './tracks.ts';
import type { FilterMatch } from './filterMatch.ts';
import type { Translate } from './translate.ts';

/** A name in two parts, the second of which is never cut: what tells generated names apart stands at their end. */
export function nameParts(name: string): readonly [string, string] {
  const generated = /^[\x21-\x7e]{10,}-[a-z0-9]{4,8}$/.test(name);
  const end = generated ? name.lastIndexOf('-') : name.length;
  return [name.slice(0, end), name.slice(end)];
}

/** What stands below the name of a lane. */
export function laneSubtitle({ info, actorCount }: StoredLane, translate: Translate): string {
  const { bars, namespace, remark } = info;
  const last = bars.at(-1);
  const what =
    remark ??
    (bars.length > 1
      ? translate('{0} incarnations', bars.length)
      : actorCount > 1
        ? translate('{0} actors', actorCount)
        : last === undefined
          ? ''
          : shortUid(last.uid));
  return [namespace, what].filter((part) => part !== '').join(' · ');
}

/** The name of a track: of its actor, or of its object where it stands beneath its actor. */
export function trackTitle(store: TimelineStore, row: Row & { readonly type: 'track' }, translate: Translate): string {
  const info = row.under === 'actor' && row.lane !== undefined ? store.lanes[row.lane]?.info : undefined;
  if (info === undefined) return store.text(row.actor) || translate('not known who');
  return [info.kind, info.name].filter((part) => part !== '').join(' ');
}

/** How much an actor did, and how much of it was refused; in full, or where it did nothing, also how often it was given something. */
export function trackWords(
  store: TimelineStore,
  match: FilterMatch,
  track: Track,
  translate: Translate,
  full = true,
): string {
  const { count, alarms } = trackMarks(store, match, track) ?? { count: 0, alarms: 0 };
  const reads = full || count === 0 ? (store.readsOf(match).of(track)?.length ?? 0) : 0;
  const parts = reads > 0 && count === 0 ? [] : [count === 1 ? translate('1 event') : translate('{0} events', count)];
  if (alarms > 0) parts.push(translate('{0} refused', alarms));
  if (reads > 0) parts.push(reads === 1 ? translate('1 read') : translate('{0} reads', reads));
  return parts.join(' · ');
}

/** Why lanes are folded although nobody asked; '' where they are not. */
export function foldedReason({ folded }: { readonly folded?: Folded }, translate: Translate): string {
  if (folded === undefined) return '';
  return folded === 'noise'
    ? translate('These change all the time by their nature.')
    : translate('No watch showed these, and nothing was refused, recreated or found on them.');
}

/** How many lanes of a group are folded, and why. */
export function moreWords(count: number, translate: Translate): string {
  return translate('{0} more, folded: nothing stood out', count);
}

/** How many more there are that only read, or were only read. */
export function readersWords({ of, count }: Row & { readonly type: 'readers' }, translate: Translate): string {
  return of.actor === undefined
    ? translate('{0} more that only read', count)
    : translate('{0} more that it only read', count);
}

/** The title of a group: the resource in capitals, but the cluster's name and a version in brackets as they are. */
export function groupTitle(label: string): string {
  const slash = label.lastIndexOf(' / ');
  const start = slash < 0 ? 0 : slash + 3;
  const bracket = label.indexOf(' (', start);
  const end = bracket < 0 ? label.length : bracket;
  return label.slice(0, start) + label.slice(start, end).toUpperCase() + label.slice(end);
}

/** That a group is folded although nobody asked, to be said after its title; '' where it is not. */
export function foldedWords(row: Row & { readonly type: 'group' }, translate: Translate): string {
  return row.folded === undefined ? '' : ` · ${translate('folded')}`;
}
