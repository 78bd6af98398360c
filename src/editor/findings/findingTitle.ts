import { l10n } from 'vscode';
import type { Finding, FindingId } from '../../core/findings/finding.ts';
import { findingWords } from '../../core/timeline/findingWords.ts';
import { translated } from '../app/translated.ts';

const aboutFields: ReadonlySet<FindingId> = new Set(['ownership-fight', 'force-takeover', 'lost-update']);

/**
 * What a row of the findings is called: what tells it from others first, since rows are cut at the right, and nothing that grows while it
 * goes on, since rows that change cannot be read.
 */
export function findingTitle(finding: Finding): string {
  const fields = finding.fields.slice(0, 2).join(', ');
  const [who = '?', other] = finding.actors;
  const words = (): string => findingWords(finding, translated);
  if (fields === '' && aboutFields.has(finding.id)) return words();
  const id: string = finding.id;
  switch (id) {
    case 'ownership-fight':
      return `${who} ⇄ ${other ?? '?'}: ${fields}`;
    case 'force-takeover':
      return other === undefined
        ? l10n.t('{1} took {0} by force', fields, who)
        : l10n.t('{1} took {0} from {2} by force', fields, who, other);
    case 'lost-update':
      return other === undefined
        ? l10n.t('update lost to {1}: {0}', fields, who)
        : l10n.t('update of {1} lost to {2}: {0}', fields, other, who);
    case 'recreated':
      return l10n.t('recreated');
    case 'hot-conflict-loop':
      return l10n.t('conflicts without a pause: {0}', who);
    case 'already-exists-loop':
      return l10n.t('creations refused without a pause: {0}', who);
    case 'no-op-writes':
      return l10n.t('writes that change nothing: {0}', who);
    case 'generation-lag':
      return l10n.t('generation not observed');
    default:
      return words();
  }
}
