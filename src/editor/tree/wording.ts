import { l10n } from 'vscode';
import { endingWrite } from '../../core/endingWrite.ts';
import { actorName } from '../../core/timeline/classify.ts';
import type { Actor } from '../../core/traceEvent.ts';
import type { Incarnation, NameHistory, Version } from '../../core/history.ts';
import { tokenBadges, type TokenBadge } from '../../core/tokenBadge.ts';

/** Theme colours for token badges; equal badges have equal colours. */
export const badgeColours = [
  'charts.blue',
  'charts.green',
  'charts.yellow',
  'charts.purple',
  'charts.red',
  'terminal.ansiCyan',
  'terminal.ansiBrightMagenta',
  'terminal.ansiWhite',
] as const;

/** The first part of a UID: enough to tell two apart at a glance; the whole stands in the tooltip. */
export function shortUid(uid: string): string {
  return uid.slice(0, 8);
}

/** Who did something, as on the timeline. */
export function describeActor(actor: Actor | undefined): string {
  return actorName(actor) || l10n.t('unknown');
}

/** How long ago, in the largest fitting unit. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return l10n.t('{0} s ago', seconds);
  if (seconds < 3600) return l10n.t('{0} min ago', Math.floor(seconds / 60));
  if (seconds < 86_400) return l10n.t('{0} h ago', Math.floor(seconds / 3600));
  return l10n.t('{0} d ago', Math.floor(seconds / 86_400));
}

/** The incarnation that holds the name, or the last one that did. */
export function currentIncarnation(history: NameHistory): Incarnation | undefined {
  return history.incarnations.findLast((incarnation) => incarnation.end === undefined) ?? history.incarnations.at(-1);
}

/** The newest version of an incarnation that a stream has placed, or the last that was seen at all. */
export function newestVersion(incarnation: Incarnation): Version | undefined {
  return incarnation.versions.findLast((version) => version.placed) ?? incarnation.versions.at(-1);
}

/** The badges of all tokens of an incarnation. */
export function badgesOf(incarnation: Incarnation): ReadonlyMap<string, TokenBadge> {
  return tokenBadges(
    incarnation.uid,
    incarnation.versions.map((version) => version.token),
  );
}

/** What a version changed against the one before it, in words. */
export function describeChange({ began, versions }: Incarnation, version: Version): string {
  const changed = version.changed;
  if (changed === undefined && began === 'seen' && versions[0]?.token === version.token) return l10n.t('created');
  if (changed === undefined) return l10n.t('not compared: the version before was not seen');
  const parts = [changed.spec ? 'spec' : '', changed.status ? 'status' : '', changed.metadata ? 'metadata' : ''];
  const words = parts.filter((part) => part !== '').join(', ');
  return words === '' ? l10n.t('nothing that counts') : words;
}

/** How the beginning of an incarnation is known. */
export function describeBeginning(incarnation: Incarnation): string {
  switch (incarnation.began) {
    case 'seen':
      return l10n.t('its creation was seen');
    case 'earlier':
      return l10n.t('it was there before watching began');
    case 'in-gap':
      return l10n.t('it began within a gap, at a time that nobody saw');
  }
}

/** How the end of an incarnation is known, and who brought it about as far as that is; undefined while it lives. */
export function describeEnd(history: NameHistory, incarnation: Incarnation): string | undefined {
  const how = endWords(incarnation);
  const actor = endingWrite(history, incarnation)?.write.actor;
  return how === undefined || actor === undefined ? how : l10n.t('{0}, ended by {1}', how, describeActor(actor));
}

function endWords(incarnation: Incarnation): string | undefined {
  switch (incarnation.end?.how) {
    case undefined:
      return undefined;
    case 'event':
      return l10n.t('its deletion was seen');
    case 'in-gap':
      return l10n.t('it was gone after a gap, at a time that nobody saw');
    case '404':
      return l10n.t('the server answered that it is gone');
  }
}
