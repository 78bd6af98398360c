import { commands, l10n, window, workspace, type Disposable } from 'vscode';
import { settingIds } from '../app/ids.ts';
import { settings } from '../app/settings.ts';

/** Tells a person which of the declared responsibilities are not understood and do not hold, where they were declared. */
export function registerResponsibilityProblems(onError: (error: unknown) => void): Disposable {
  const name = `objectVersions.${settingIds.responsibilities}`;
  const tell = async (): Promise<void> => {
    const problems = settings.responsibilityProblems();
    if (problems.length === 0) return;
    const open = l10n.t('Open Settings');
    const sentence = l10n.t('Declared responsibilities that do not hold: {0}', problems.join('; '));
    if ((await window.showWarningMessage(sentence, open)) === open)
      await commands.executeCommand('workbench.action.openSettings', name);
  };
  tell().catch(onError);
  return workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(name)) tell().catch(onError);
  });
}
