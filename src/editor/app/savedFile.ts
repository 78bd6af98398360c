import { commands, env, l10n, window, type Uri } from 'vscode';

/** Says that a file was saved, with the ways to it. What the buttons do happens later, and a failure goes to `onError`. */
export function tellSaved(uri: Uri, onError: (error: unknown) => void): void {
  offer(uri).catch(onError);
}

async function offer(uri: Uri): Promise<void> {
  const open = l10n.t('Open');
  const reveal = l10n.t('Show in Folder');
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  const chosen = await window.showInformationMessage(l10n.t('Saved {0}.', name), open, reveal);
  if (chosen === open) await commands.executeCommand('vscode.open', uri);
  // A remote machine has no file manager to ask: Explorer shows the file.
  if (chosen === reveal)
    await commands.executeCommand(env.remoteName === undefined ? 'revealFileInOS' : 'revealInExplorer', uri);
}
