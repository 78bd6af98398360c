import { l10n } from 'vscode';
import type { Finding } from '../../core/findings/finding.ts';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';
import { describeGeneration, generationOf, generationState } from '../../core/generation.ts';
import type { Incarnation, NameHistory, Version } from '../../core/history.ts';
import { abilitiesOf } from './abilities.ts';
import {
  ago,
  badgeColours,
  badgesOf,
  currentIncarnation,
  describeActor,
  describeBeginning,
  describeChange,
  describeEnd,
  newestVersion,
  shortUid,
} from './wording.ts';

/** What an object's or incarnation's row says; independent of how it is drawn. */
export interface ObjectRow {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: string;
  readonly colour?: string;
  /** For a screen reader: the whole row as a sentence. */
  readonly spoken: string;
  /** For menus: `living` or `old`, and what is known besides. */
  readonly context: string;
}

/** States of an object that deserve a badge in the margin, the most important first. */
export type ObjectMark = 'stale-reference' | 'conflict' | 'terminating' | 'recreated' | 'gone' | 'changed';

/** A change is marked as new for this long. */
const FRESH_MS = 10_000;
/** A conflict is marked for this long. */
const CONFLICT_MS = 60_000;

/** The mark of an object, if it has one now. */
export function markOf(history: NameHistory, findings: readonly Finding[], now: number): ObjectMark | undefined {
  const current = currentIncarnation(history);
  if (current === undefined) return undefined;
  if (findings.some((finding) => finding.id === 'stale-reference' && finding.object.uid === current.uid))
    return 'stale-reference';
  // What is gone has nothing left to decide about.
  if (current.end !== undefined) return 'gone';
  const refused = history.writes.findLast(
    (write) => write.outcome === 'version-conflict' || write.outcome === 'field-conflict',
  );
  if (refused !== undefined && now - refused.at < CONFLICT_MS) return 'conflict';
  if (current.terminatingAt !== undefined) return 'terminating';
  if (history.incarnations.length > 1) return 'recreated';
  const version = newestVersion(current);
  return version !== undefined && current.versions.length > 1 && now - version.at < FRESH_MS ? 'changed' : undefined;
}

/** The row of a name: what holds it now. `withNamespace`: where rows of several namespaces stand together. */
export function objectRow(history: NameHistory, now: number, withNamespace: boolean): ObjectRow {
  const current = currentIncarnation(history);
  const { name, namespace } = history.name;
  if (current === undefined) {
    const never = l10n.t('never seen');
    return {
      label: name,
      description: never,
      tooltip: never,
      icon: 'question',
      spoken: `${name}, ${never}`,
      context: 'object',
    };
  }
  const version = newestVersion(current);
  const gone = current.end !== undefined;
  const lives = history.incarnations.length > 1 ? l10n.t('{0} incarnations', history.incarnations.length) : '';
  const parts = [
    withNamespace ? namespace : '',
    gone ? l10n.t('gone') : badgeCode(current, version),
    gone ? '' : generationWords(version),
    lives,
    current.terminatingAt !== undefined && !gone ? l10n.t('terminating') : '',
  ];
  return {
    label: name,
    description: parts.filter((part) => part !== '').join(' · '),
    tooltip: tooltipOf(history, current, version, now),
    icon: gone ? 'circle-slash' : 'circle-filled',
    ...(gone ? {} : { colour: badgeColour(current, version) }),
    spoken: [
      `${current.kind} ${name}`,
      namespace,
      lives,
      gone ? (describeEnd(history, current) ?? '') : versionSpoken(current, version, now),
    ]
      .filter((part) => part !== '')
      .join(', '),
    context: gone ? 'object gone' : livingContext('object', current),
  };
}

/** The row of one life of an object. */
export function incarnationRow(history: NameHistory, incarnation: Incarnation, now: number): ObjectRow {
  const version = newestVersion(incarnation);
  const living = currentIncarnation(history) === incarnation && incarnation.end === undefined;
  const end = describeEnd(history, incarnation);
  const words = living
    ? [badgeCode(incarnation, version), generationWords(version)]
    : [end ?? l10n.t('replaced by another incarnation')];
  return {
    label: shortUid(incarnation.uid),
    description: [living ? l10n.t('lives') : l10n.t('old'), ...words].filter((part) => part !== '').join(' · '),
    tooltip: tooltipOf(history, incarnation, version, now),
    icon: living ? 'pass' : 'circle-slash',
    ...(living ? { colour: 'testing.iconPassed' } : { colour: 'disabledForeground' }),
    spoken: [
      l10n.t('incarnation {0}', incarnation.uid),
      living ? l10n.t('lives') : l10n.t('old'),
      end ?? describeBeginning(incarnation),
    ].join(', '),
    context: living ? livingContext('incarnation', incarnation) : 'incarnation old',
  };
}

/** What the menus tell rows by: `object living replicas images`. */
function livingContext(row: 'object' | 'incarnation', incarnation: Incarnation): string {
  const { body } = incarnation.versions.findLast((version) => version.body !== undefined) ?? {};
  return [row, 'living', ...abilitiesOf(incarnation.name, body)].join(' ');
}

function badgeCode(incarnation: Incarnation, version: Version | undefined): string {
  return version === undefined ? '' : (badgesOf(incarnation).get(version.token)?.code ?? '');
}

function badgeColour(incarnation: Incarnation, version: Version | undefined): string {
  const colour = version === undefined ? 0 : (badgesOf(incarnation).get(version.token)?.colour ?? 0);
  return badgeColours[colour] ?? 'charts.foreground';
}

function generationWords(version: Version | undefined): string {
  if (version === undefined) return '';
  const state =
    version.body === undefined
      ? generationState(version.generation, version.observedGeneration, [])
      : generationOf(version.body);
  const generation = state.generation ?? version.generation;
  if (generation === undefined) return '';
  const lags = state.verdict === 'not-yet-seen' || state.verdict === 'seen' || state.verdict === 'ahead';
  return lags ? `g${generation} ${inWords(describeGeneration(state), translated)}` : `g${generation}`;
}

function versionSpoken(incarnation: Incarnation, version: Version | undefined, now: number): string {
  if (version === undefined) return '';
  return l10n.t(
    'version {0}, last change {1} {2} by {3}',
    badgeCode(incarnation, version),
    describeChange(incarnation, version),
    ago(version.at, now),
    describeActor(version.actor),
  );
}

function tooltipOf(history: NameHistory, incarnation: Incarnation, version: Version | undefined, now: number): string {
  const lines = [
    `${incarnation.kind} ${incarnation.name.namespace === '' ? '' : `${incarnation.name.namespace}/`}${incarnation.name.name}`,
    `${l10n.t('UID')} ${incarnation.uid}`,
    describeBeginning(incarnation),
    describeEnd(history, incarnation) ?? '',
    versionSpoken(incarnation, version, now),
  ];
  return lines.filter((line) => line !== '').join('\n');
}
