import type { ExtensionContext } from 'vscode';
import { activateEditor, type ObjectVersionsApi } from './editor/app/activate.ts';

/** What must be ended before the window closes. VS Code calls both functions once, in one process for one window. */
const endings = new Set<() => Promise<void>>();

/** Called by VS Code when the extension is needed first. */
export function activate(context: ExtensionContext): ObjectVersionsApi {
  return activateEditor(context, endings);
}

/** Called by VS Code when the window closes: what a lab created is removed first. */
export async function deactivate(): Promise<void> {
  await Promise.all(Array.from(endings, (end) => end()));
}
