import { durationText } from './axis.ts';
import type { Severity, TimelineFinding } from './model.ts';
import type { Translate } from './translate.ts';

const RANKS: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };
/** Findings that sum up what others tell one by one. */
const SUMS = new Set(['ownership-fight', 'hot-conflict-loop', 'already-exists-loop', 'update-loop']);

/** What to look at first has the least: the gravest, and of these what sums up others. */
export function findingRank({ id, severity }: { readonly id: string; readonly severity: Severity }): number {
  return RANKS[severity] * 2 + (SUMS.has(id) ? 0 : 1);
}

/** A few words that say who did what, for a lane or a row of a list; the whole explanation is in the details. */
export function findingWords(finding: TimelineFinding, translate: Translate): string {
  const fields = finding.fields.slice(0, 2).join(', ');
  const length = durationText(finding.lastAt - finding.firstAt);
  const [who = '?', other] = finding.actors;
  switch (finding.id) {
    case 'recreated':
      return translate('recreated: the name belongs to another object now');
    case 'version-conflict':
      return other === undefined
        ? translate('{0} was refused: not the current version', who)
        : translate('{0} was refused: {1} made progress first', who, other);
    case 'uid-mismatch':
      return translate('{0} was refused: it meant another incarnation', who);
    case 'stale-use':
      return translate('uses what it took of a gone incarnation: {0}', fields);
    case 'stale-incarnation-write':
      return translate('{0} acted on what it knew of the old incarnation', who);
    case 'stale-read':
      return translate('{0} wrote by a version older than it knew', who);
    case 'invented-token':
      return translate('{0} sent a token that it was never given', who);
    case 'uncertain-write':
      return translate('the answer to {0} was lost', who);
    case 'unguarded-patch':
      return translate('{0} patched a list without a precondition', who);
    case 'hot-conflict-loop':
      return translate('{0} conflicts in {1}, no backoff', finding.count, length);
    case 'already-exists-loop':
      return translate('{0} refused creations in {1}', finding.count, length);
    case 'no-op-writes':
      return translate('{0} writes that change nothing', finding.count);
    case 'generation-lag':
      return translate('generation not observed for {0}', length);
    case 'lost-update':
      return fields === '' ? translate('lost update') : translate('lost update: {0}', fields);
    case 'force-takeover':
      return other === undefined
        ? translate('{0} took {1} by force', who, fields)
        : translate('{0} took {1} from {2}', who, fields, other);
    case 'ownership-fight':
      return translate('{0} and {1} undo each other on {2}', who, other ?? '?', fields);
    case 'update-loop':
      return translate('{0} reacts to its own writes', who);
    default:
      return firstSentence(finding.explanation);
  }
}

function firstSentence(text: string): string {
  return /^[^.;]*(?:[.;]\S[^.;]*)*/.exec(text)?.[0] ?? text;
}
