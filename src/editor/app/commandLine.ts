import { delimiter } from 'node:path';
import { l10n, workspace, type Disposable } from 'vscode';
import type { Editor } from './editor.ts';
import { settingIds } from './ids.ts';
import { settings } from './settings.ts';

/**
 * Puts `object-versions`, which the extension carries in `bin`, on the PATH of the terminals, behind what is there. Where
 * they have no Node of their own that is new enough, it runs with the one that runs this.
 */
export function registerCommandLine({ context }: Editor): Disposable {
  const variables = context.environmentVariableCollection;
  const put = (): void => {
    if (!settings.commandLineInTerminals()) return variables.clear();
    variables.description = l10n.t('Puts object-versions, the command line of this extension, on the PATH.');
    variables.append('PATH', `${delimiter}${context.asAbsolutePath('bin')}`);
    variables.replace('OBJECT_VERSIONS_NODE', process.execPath);
  };
  put();
  return workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`objectVersions.${settingIds.commandLineInTerminals}`)) put();
  });
}
