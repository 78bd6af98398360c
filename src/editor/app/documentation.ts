import { commands, l10n, Uri, window, workspace, type Disposable } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import type { Editor } from './editor.ts';
import { commandIds } from './ids.ts';

/** What a newcomer reads first, in this order; the others follow by their titles. */
const FIRST = ['versions.md', 'editor.md', 'lessons.md', 'safe-write.md', 'timeline.md'];

/** Opens the pages of the documentation, which come with the extension: nothing is asked of the network. */
export function registerDocumentation({ command, context }: Editor): Disposable {
  const folder = Uri.joinPath(context.extensionUri, 'dist', 'docs');
  return command(commandIds.openDocumentation, async () => {
    const files = (await workspace.fs.readDirectory(folder))
      .map(([name]) => name)
      .filter((name) => name.endsWith('.md'));
    const pages = await Promise.all(
      files.map(async (description) => ({ label: await titleOf(Uri.joinPath(folder, description)), description })),
    );
    const chosen = await window.showQuickPick(
      pages.sort((a, b) => rank(a) - rank(b) || a.label.localeCompare(b.label)),
      { title: l10n.t('Documentation'), placeHolder: l10n.t('Its pages are in English.') },
    );
    if (chosen === undefined) throw cancelled();
    await commands.executeCommand('markdown.showPreview', Uri.joinPath(folder, chosen.description));
  });
}

function rank({ description }: { readonly description: string }): number {
  const at = FIRST.indexOf(description);
  return at < 0 ? FIRST.length : at;
}

async function titleOf(page: Uri): Promise<string> {
  const text = new TextDecoder().decode(await workspace.fs.readFile(page));
  return /^# (.+)$/m.exec(text)?.[1] ?? page.path;
}
