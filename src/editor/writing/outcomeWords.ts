import { l10n } from 'vscode';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';
import type { FinalOutcome } from '../../write/outcome.ts';
import type { Report } from '../../write/report.ts';

/** Whether a write ended with what was wanted. */
export function isDone(outcome: FinalOutcome): boolean {
  return outcome === 'written' || outcome === 'unchanged';
}

/** How a write ended, in one sentence, and what to do next in another where there is something. */
export function outcomeSentence(report: Report, name: string): string {
  const words = wordsOf(report, name);
  const detail = inWords(report.message ?? '', translated);
  return detail === '' || !needsDetail.has(report.outcome) ? words : `${words} (${detail.replace(/[.\s]+$/, '')})`;
}

/** Outcomes of which the server's or the writer's own words tell more than ours. */
const needsDetail: ReadonlySet<FinalOutcome> = new Set([
  'unauthenticated',
  'forbidden',
  'invalid',
  'unsupported',
  'too-large',
  'throttled',
  'unavailable',
  'unknown',
]);

function wordsOf(report: Report, name: string): string {
  switch (report.outcome) {
    case 'written':
      return report.attempts.length > 1
        ? l10n.t("{0} is written, at attempt {1}; nobody's change is lost.", name, report.attempts.length)
        : l10n.t('{0} is written.', name);
    case 'unchanged':
      return l10n.t('{0} is as wanted already; nothing was sent.', name);
    case 'needs-decision':
      return l10n.t(
        'Somebody else changed the same fields of {0}: decide which value holds. Nothing was written and your text is kept.',
        name,
      );
    case 'field-conflict':
      return l10n.t('Other field managers own fields of this change to {0}. Nothing was written.', name);
    case 'contended':
      return l10n.t(
        '{0} kept changing: {1} attempts were overtaken. Nothing was written; try again.',
        name,
        report.attempts.length,
      );
    case 'recreated':
      return l10n.t(
        '{0} was deleted and created again: another incarnation holds the name. Nothing was written to it.',
        name,
      );
    case 'gone':
      return l10n.t('{0} is gone, and the name is free. Nothing was written.', name);
    case 'already-exists':
      return l10n.t('{0} exists already. Nothing was written.', name);
    case 'terminating':
      return l10n.t('{0} is being deleted and refuses this change.', name);
    case 'partly-written':
      return l10n.t('Only the first part of the change to {0} is written; the status is not.', name);
    case 'unauthenticated':
      return l10n.t('The server does not know who you are. Nothing was written to {0}; log in again.', name);
    case 'forbidden':
      return l10n.t('You may not change {0}. Nothing was written; ask for the right that the report names.', name);
    case 'invalid':
      return l10n.t('The server refuses this content of {0}. Nothing was written; the places are marked.', name);
    case 'unsupported':
      return l10n.t(
        'The server does not support this kind of write to {0}. Nothing was written; choose another strategy.',
        name,
      );
    case 'too-large':
      return l10n.t('{0} would be too large. Nothing was written.', name);
    case 'throttled':
      return l10n.t('The server asks for fewer requests. Nothing was written to {0}; try again later.', name);
    case 'unavailable':
      return l10n.t('The server is not available. Nothing was written to {0}; try again later.', name);
    case 'unknown':
      return l10n.t(
        'The answer was lost, and reading does not tell whether {0} was written. Compare before you write again.',
        name,
      );
    case 'timed-out':
      return l10n.t('Writing {0} took too long and was given up.', name);
    case 'cancelled':
      return l10n.t('Cancelled. {0} was not written.', name);
  }
}

/** How a delete ended, in one sentence. */
export function deleteSentence(report: Report, name: string): string {
  const { outcome } = report;
  if (outcome === 'written') return l10n.t('{0} is deleted.', name);
  if (outcome === 'unchanged' || outcome === 'gone') return l10n.t('{0} was gone already; nothing was deleted.', name);
  if (outcome === 'needs-decision')
    return l10n.t('{0} changed since you looked. Nothing was deleted: look at it again first.', name);
  if (outcome === 'recreated')
    return l10n.t('{0} was replaced by another object of the same name. Nothing was deleted.', name);
  return outcomeSentence(report, name);
}
