import { l10n, window } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import type { JsonObject } from '../../codec/json.ts';
import { formatPath } from '../../codec/path.ts';
import { ownersOf } from '../../core/ownership.ts';
import { isProtected } from '../../write/protect.ts';
import type { Report } from '../../write/report.ts';
import { describeTarget, identityOf, metadataOf } from '../../write/target.ts';
import type { Editor } from '../app/editor.ts';
import { settings } from '../app/settings.ts';
import type { Located } from '../documents/objectSaver.ts';
import { lateProgress } from './lateProgress.ts';
import { outcomeSentence } from './outcomeWords.ts';

/**
 * Asks which of the fields that our field manager claims is given up, and gives it up; the value stays.
 * @throws AppError `usage` where we claim nothing, `forbidden` while it is read only, `cancelled`
 */
export async function releaseClaimOf(
  { clock, session, userAgent, reports }: Pick<Editor, 'clock' | 'session' | 'userAgent' | 'reports'>,
  { connected, target }: Located,
  object: JsonObject,
): Promise<Report> {
  const { fieldManager, timeoutMs, maxAttempts } = settings.write();
  const entries = metadataOf(object)['managedFields'];
  const ours = ownersOf(Array.isArray(entries) ? entries : []).filter(({ manager }) => manager === fieldManager);
  const items = ours.flatMap(({ paths, operation }) =>
    paths.map((path) => ({ label: formatPath(path), description: operation, path })),
  );
  if (items.length === 0)
    throw new AppError('usage', l10n.t('{0} claims no field of this object.', fieldManager), {
      advice: l10n.t('Claims of others are theirs to give up.'),
    });
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Give up the claim of which field? Its value stays.'),
  });
  if (chosen === undefined) throw cancelled();
  const name = describeTarget(target);
  const { releaseField } = await import('../../write/releaseField.ts');
  const send = async (dryRun: boolean): Promise<Report> =>
    lateProgress(l10n.t('Writing {0}', name), timeoutMs, (signal) =>
      releaseField(connected.cluster, { ...target, uid: identityOf(object).uid }, chosen.path, {
        clock,
        signal,
        fieldManager,
        timeoutMs,
        maxAttempts,
        dryRun,
        cluster: connected.id,
        agent: userAgent,
        secretKey: session.secretKey,
        onEvent: (event) => session.append([event]),
      }),
    );
  if (isProtected(connected.label, settings.protectedContexts())) {
    const said = outcomeSentence(await send(true), name);
    const release = l10n.t('Release');
    const question = l10n.t('Write {0} in the protected context {1}?', name, connected.label);
    const detail = `${l10n.t('{0} gives up its claim of {1}; the value stays.', fieldManager, chosen.label)}\n${l10n.t('A dry run says: {0}', said)}`;
    if ((await window.showWarningMessage(question, { modal: true, detail }, release)) !== release) throw cancelled();
  }
  const report = await send(false);
  reports.add(report, { name, cluster: connected.label, at: clock.now() });
  return report;
}
