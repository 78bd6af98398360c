import type { ExtensionContext } from 'vscode';
import { activateEditor, type ObjectVersionsApi } from './editor/app/activate.ts';

/** Called by VS Code when the extension is needed first. */
export function activate(context: ExtensionContext): ObjectVersionsApi {
  return activateEditor(context);
}
