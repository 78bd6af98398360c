import { l10n, window } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../codec/json.ts';
import { generationOf } from '../../core/generation.ts';
import type { ObservationGoal, ObservedReport } from '../../write/waitObserved.ts';
import { identityOf } from '../../write/target.ts';
import type { Editor } from '../app/editor.ts';
import { withProgress } from '../app/progress.ts';
import type { Located } from '../documents/objectSaver.ts';

/** How long a person may wait without saying so again. */
const WAIT_LIMIT_MS = 30 * 60_000;

/**
 * Waits until the generation that an object has now is observed and the conditions that a person names hold for it, by a
 * watch from the version that was read. A person may give up at any time.
 * @throws AppError `usage` where there is nothing to wait for, `not-found` where the object goes, `timed-out`, `cancelled`
 */
export async function waitUntilObserved(
  { clock }: Pick<Editor, 'clock'>,
  { connected, target }: Located,
  object: JsonObject,
): Promise<void> {
  const { uid, token } = identityOf(object);
  const { generation } = generationOf(object);
  const conditions = await askConditions(object);
  const goal: ObservationGoal = { uid, token, conditions, ...(generation === undefined ? {} : { generation }) };
  const { waitObserved } = await import('../../write/waitObserved.ts');
  const report = await withProgress(l10n.t('Waiting until {0} is observed', target.name), (signal) =>
    waitObserved(connected.cluster, target, goal, { clock, signal, timeoutMs: WAIT_LIMIT_MS, object }),
  );
  tell(report, target.name, generation);
}

function tell(report: ObservedReport, name: string, generation: number | undefined): void {
  switch (report.outcome) {
    case 'observed':
      window.setStatusBarMessage(
        generation === undefined
          ? l10n.t('{0}: what was waited for holds.', name)
          : l10n.t('{0}: generation {1} is observed and current.', name, generation),
        8000,
      );
      return;
    case 'cancelled':
      throw cancelled();
    case 'unsupported':
      throw new AppError('usage', l10n.t('This kind has no generation, or does not report which one was observed.'));
    case 'gone':
    case 'recreated':
      throw new AppError('not-found', l10n.t('{0} is gone; nothing will be observed any more.', name));
    case 'timed-out':
      throw new AppError('timed-out', l10n.t('{0} was not observed in time.', name), {
        advice: report.missing.length === 0 ? '' : l10n.t('Not yet: {0}', report.missing.join(', ')),
      });
  }
}

/** The conditions to wait for besides the generation, of those that the object reports; none where it reports none. */
async function askConditions(object: JsonObject): Promise<{ type: string; status: string }[]> {
  const status = object['status'];
  const reported = isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  const items = reported.flatMap((condition) =>
    isJsonObject(condition) && typeof condition['type'] === 'string'
      ? [{ label: condition['type'], description: l10n.t('now {0}', textOf(condition['status'])) }]
      : [],
  );
  if (items.length === 0) return [];
  const chosen = await window.showQuickPick(items, {
    canPickMany: true,
    title: l10n.t('Which conditions must be true as well?'),
    placeHolder: l10n.t('None: only the generation'),
  });
  if (chosen === undefined) throw cancelled();
  return chosen.map(({ label }) => ({ type: label, status: 'True' }));
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : l10n.t('nothing');
}
