import { l10n, window } from 'vscode';
import type { ListSchema } from '../../core/listSchema.ts';
import { merge3, withServerSet } from '../../core/merge.ts';
import type { Intent } from '../../write/intent.ts';
import type { Report } from '../../write/report.ts';
import { winnersBetween } from '../../write/winners.ts';
import { changesOf } from './questions.ts';

type Sides = NonNullable<Report['sides']>;

/**
 * Asks whether a decision holds though its fields changed once more, from what was decided about to what is stored now. The
 * answer is about exactly that newer version: the next write asks again if there is a newer one still.
 */
export async function confirmYours(name: string, report: Report, schema: ListSchema): Promise<boolean> {
  const { sides } = report;
  if (report.outcome !== 'needs-decision' || sides === undefined) return false;
  const managers = new Set(winnersBetween(sides.base, sides.theirs, schema).map(({ manager }) => manager));
  const question =
    managers.size === 0
      ? l10n.t('{0} changed again while you decided. Write your decision all the same?', name)
      : l10n.t(
          '{0} changed again while you decided, by {1}. Write your decision all the same?',
          name,
          [...managers].join(', '),
        );
  const keep = l10n.t('Keep Mine');
  const detail = [
    ...changesOf(report.conflicts ?? []),
    l10n.t('What others changed besides stays. Should it change once more, you are asked again.'),
  ].join('\n');
  return (await window.showWarningMessage(question, { modal: true, detail }, keep)) === keep;
}

/** What was decided, carried to the newer version it was confirmed for: yours where both changed, theirs everywhere else. */
export function keepYours({ base, theirs, yours }: Sides, schema: ListSchema): Intent & { kind: 'edits' } {
  const { merged } = merge3(base, withServerSet(base, yours), theirs, schema);
  return { kind: 'edits', base: theirs, desired: withServerSet(theirs, merged) };
}
