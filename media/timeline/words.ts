import {
  MARK_KINDS,
  MARK_OUTCOMES,
  NO_LANE,
  READ_VERBS,
  type GapInfo,
  type MarkKind,
} from '../../src/core/timeline/model.ts';
import { winnerOf, type Stop } from '../../src/core/timeline/navigate.ts';
import type { TimelineStore } from '../../src/core/timeline/store.ts';
import type { Translate } from '../../src/core/timeline/translate.ts';

/** What each kind of mark is called. */
export const KIND_WORDS: Readonly<Record<MarkKind, string>> = {
  renewal: 'renewed',
  metadata: 'metadata changed',
  status: 'status changed',
  unknown: 'version seen',
  spec: 'spec changed',
  created: 'created',
  terminating: 'deletion began',
  deleted: 'deleted',
  note: 'note',
  refused: 'write refused',
  uncertain: 'answer lost',
  conflict: 'version conflict',
  'uid-mismatch': 'another incarnation',
  'field-conflict': 'field conflict',
  takeover: 'taken over by force',
  'stale-reference': 'stale reference',
  'lost-update': 'lost update',
  finding: 'finding',
};

/** The kind of a mark in words. */
export function kindWords(store: TimelineStore, mark: number, translate: Translate): string {
  return translate(KIND_WORDS[kindOf(store, mark)]);
}

/** What a mark or a read is, in words. */
export function stopWords(store: TimelineStore, stop: Stop, translate: Translate): string {
  return stop.type === 'mark' ? kindWords(store, stop.mark, translate) : translate('read');
}

/** Who made a mark, or read. */
export function actorOfStop(store: TimelineStore, stop: Stop): string {
  return store.text(stop.type === 'mark' ? store.marks.actor.at(stop.mark) : store.reads.actor.at(stop.read));
}

/** How something was read, and whether nothing was there. */
export function readRemark({ reads }: TimelineStore, read: number, translate: Translate): string {
  const verb = READ_VERBS[reads.verb.at(read)] ?? '';
  const isNothing = reads.lane.at(read) !== NO_LANE && reads.uid.at(read) === 0;
  return isNothing ? `${verb} · ${translate('it was not there')}` : verb;
}

/** What else there is to say about a mark: who won against it, its label, or the outcome of its write. */
export function markRemark(store: TimelineStore, mark: number, translate: Translate): string {
  const winner = winnerOf(store, mark);
  const actor = winner === undefined ? '' : store.text(store.marks.actor.at(winner));
  return actor === '' ? ownRemark(store, mark) : translate('{0} made progress first', actor);
}

/** Kinds whose label says what the kind says. */
const SAID_BY_KIND = new Set<MarkKind>(['uncertain', 'uid-mismatch']);

/** Both, said once where the one says what the other does, such as "version conflict" and the outcome `version-conflict`. */
export function markWords(store: TimelineStore, mark: number, translate: Translate): string {
  const kind = kindWords(store, mark, translate);
  const remark = ownRemark(store, mark);
  return remark === '' || remark === kind ? kind : `${kind} · ${remark}`;
}

/** The label of a mark, or the outcome of its write, where its kind does not say the same. */
function ownRemark(store: TimelineStore, mark: number): string {
  const kind = kindOf(store, mark);
  const label = SAID_BY_KIND.has(kind) ? '' : store.text(store.marks.label.at(mark));
  const outcome = MARK_OUTCOMES[store.marks.outcome.at(mark)] ?? '';
  const said = outcome === '' || outcome === 'accepted' || KIND_WORDS[kind] === outcome.replaceAll('-', ' ');
  return label === '' && !said ? outcome : label;
}

function kindOf(store: TimelineStore, mark: number): MarkKind {
  return MARK_KINDS[store.marks.kind.at(mark)] ?? 'unknown';
}

/** `configmaps shop/settings`, as far as a gap names what it is about. */
export function gapWords({ scope }: GapInfo): string {
  const name = [scope.namespace, scope.name].filter((part) => part !== undefined).join('/');
  return [scope.resource, name].filter((part) => part !== '').join(' ');
}

/** `Deployment shop/checkout`. */
export function laneWords(store: TimelineStore, lane: number): string {
  const info = store.lanes[lane]?.info;
  if (info === undefined) return '';
  const name = isolated(info.namespace === '' ? info.name : `${info.namespace}/${info.name}`);
  return `${info.kind === '' ? (store.groups[info.group]?.resource ?? '') : info.kind} ${name}`;
}

/** Text that runs from right to left, kept from moving what stands beside it. */
function isolated(text: string): string {
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(text)
    ? `\u2068${text}\u2069`
    : text;
}
