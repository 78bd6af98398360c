import { l10n, StatusBarAlignment, ThemeColor, window, workspace, type Disposable } from 'vscode';
import type { Editor } from './editor.ts';
import { commandIds, viewIds } from './ids.ts';
import { isProtected } from '../../write/protect.ts';
import { settings } from './settings.ts';

/** Says which clusters are looked at, whether writing is on, and whether one of them is protected. */
export function registerStatusBar(editor: Pick<Editor, 'watches' | 'clusters'>): Disposable[] {
  const item = window.createStatusBarItem('objectVersions.cluster', StatusBarAlignment.Left, 50);
  item.name = l10n.t('Object Versions');
  const show = (): void => {
    const keys = [...new Set(editor.watches.definitions().map((definition) => definition.cluster))];
    if (keys.length === 0) {
      item.hide();
      return;
    }
    const labels = keys.map((key) => editor.clusters.get(key)?.label ?? key.trim());
    const readOnly = settings.readOnly();
    const guarded = labels.some((label) => isProtected(label, settings.protectedContexts()));
    const icon = readOnly ? '$(lock)' : guarded ? '$(shield)' : '$(server-environment)';
    item.text = `${icon} ${labels.length === 1 ? (labels[0] ?? '') : l10n.t('{0} clusters', labels.length)}`;
    const state = readOnly
      ? l10n.t('writing is switched off')
      : guarded
        ? l10n.t('protected: every write asks first')
        : l10n.t('writes are checked against the version that was read');
    item.tooltip = `${labels.join(', ')}\n${state}`;
    item.accessibilityInformation = { label: `${l10n.t('Object Versions')}: ${labels.join(', ')}, ${state}` };
    item.command = readOnly ? commandIds.toggleReadOnly : `${viewIds.watchedObjects}.focus`;
    item.backgroundColor = guarded && !readOnly ? new ThemeColor('statusBarItem.warningBackground') : undefined;
    item.show();
  };
  show();
  return [
    item,
    editor.watches.onDidChange(show),
    workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('objectVersions') && show()),
  ];
}
