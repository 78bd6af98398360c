import { l10n, window, type QuickPickItem } from 'vscode';
import type { FieldResolution } from '../../write/options.ts';
import type { FieldConflict } from '../../write/outcome.ts';
import type { Report } from '../../write/report.ts';

type FieldChoice = FieldResolution['choices'][number]['choice'];

/** What can be done about one field that another owns, the harmless first. */
function choicesFor(conflict: FieldConflict): (QuickPickItem & { readonly choice: FieldChoice })[] {
  const { manager } = conflict;
  return [
    {
      label: l10n.t('Leave it to {0}', manager),
      detail: l10n.t('The field is left out of this write; its value stays as it is.'),
      choice: 'give-up',
    },
    {
      label: l10n.t('Own it together'),
      detail: l10n.t('The value of {0} is taken over into what you apply; both then own it.', manager),
      choice: 'co-own',
    },
    {
      label: l10n.t('Take it over'),
      detail: l10n.t(
        'Your value is written by force, only at the version that this question is about, and only if nothing else would be forced with it.',
      ),
      choice: 'take-over',
    },
  ];
}

/**
 * Asks for each field of a conflict what is to be done. Undefined where the person leaves: nothing is forced unasked.
 */
export async function askFieldChoices(name: string, report: Report): Promise<FieldResolution | undefined> {
  const conflicts = uniqueByPath(report.fieldConflicts ?? []);
  if (report.outcome !== 'field-conflict' || report.token === undefined || conflicts.length === 0) return undefined;
  const choices: FieldResolution['choices'][number][] = [];
  for (const [index, conflict] of conflicts.entries()) {
    const chosen = await window.showQuickPick(choicesFor(conflict), {
      title: l10n.t('{0}: field {1} of {2} belongs to others', name, index + 1, conflicts.length),
      placeHolder: ownedSince(conflict),
      ignoreFocusOut: true,
    });
    if (chosen === undefined) return undefined;
    choices.push({ path: conflict.path, choice: chosen.choice });
  }
  return { token: report.token, choices };
}

function ownedSince({ path, manager, operation, time }: FieldConflict): string {
  return time === undefined
    ? l10n.t('{0} belongs to {1} ({2})', path, manager, operation)
    : l10n.t('{0} belongs to {1} ({2}, {3} or earlier)', path, manager, operation, time);
}

/** One question for each field, however many own it; all of them are named. */
function uniqueByPath(conflicts: readonly FieldConflict[]): FieldConflict[] {
  const byPath = Map.groupBy(conflicts, ({ path }) => path);
  return [...byPath.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, manager: same.map(({ manager }) => manager).join(', ') }];
  });
}
