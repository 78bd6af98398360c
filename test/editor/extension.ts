import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ObjectVersionsApi, ShownRow } from '../../src/editor/app/api.ts';
import type { TreeNode } from '../../src/editor/tree/nodes.ts';
import { apiServer } from './apiServer.ts';

export const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';

/** The extension under test, activated. */
export async function extension(): Promise<ObjectVersionsApi> {
  const found = vscode.extensions.getExtension<ObjectVersionsApi>('object-versions.object-versions');
  assert.ok(found, 'the extension is there');
  return found.activate();
}

/** Sets a setting of ours for this user. */
export async function set(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('objectVersions').update(name, value, vscode.ConfigurationTarget.Global);
}

/** Writes a kubeconfig with a context for each address and makes it the extension's. */
export async function useKubeconfig(
  contexts: Record<string, { server: string; ca?: string; token?: string }>,
): Promise<void> {
  const file = join(folder, `kubeconfig-${Date.now().toString(36)}.json`);
  const names = Object.keys(contexts);
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': names[0],
      contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
      clusters: names.map((name) => ({
        name,
        cluster: {
          server: contexts[name]?.server,
          'certificate-authority-data': Buffer.from(contexts[name]?.ca ?? apiServer.ca).toString('base64'),
        },
      })),
      users: names.map((name) => ({ name, user: { token: contexts[name]?.token ?? apiServer.token } })),
    }),
    { mode: 0o600 },
  );
  await set('kubeconfig', [file]);
}

/** Waits until something holds; fails with what was seen last. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  limitMs = 20_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`did not come about in ${limitMs / 1000} s: ${what}`);
    await new Promise((again) => setTimeout(again, 50));
  }
}

/** All rows below a row, walked down to a depth. */
export function rowsBelow(api: ObjectVersionsApi, depth: number, parent?: TreeNode): ShownRow[] {
  if (depth === 0) return [];
  return api.rows(parent).flatMap((row) => [row, ...rowsBelow(api, depth - 1, row.node)]);
}

/** The row of an object. */
export function objectRow(api: ObjectVersionsApi, name: string): ShownRow | undefined {
  return rowsBelow(api, 3).find((row) => row.node.type === 'object' && row.label === name);
}

/** Removes what other suites watch. */
export async function removeAllWatches(api: ObjectVersionsApi): Promise<void> {
  for (const row of rowsBelow(api, 2))
    if (row.node.type === 'watch') await vscode.commands.executeCommand('objectVersions.removeWatch', row.node);
}

/** Closes all editors, throwing unsaved text away. */
export async function closeAll(): Promise<void> {
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document.isDirty) {
      await vscode.window.showTextDocument(editor.document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
  }
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}

/** Opens the live document of an object by its row in the tree. */
export async function openObject(api: ObjectVersionsApi, name: string): Promise<vscode.TextEditor> {
  const row = await until(`the row of ${name}`, () => objectRow(api, name));
  await vscode.commands.executeCommand('objectVersions.openObject', row.node);
  return until('its document', () =>
    vscode.window.visibleTextEditors.find(
      ({ document }) => document.uri.scheme === 'object-version' && document.uri.path.endsWith(`/${name}.yaml`),
    ),
  );
}

/** Replaces a part of a document, as typing does. */
export async function replaceText(editor: vscode.TextEditor, from: string, to: string): Promise<void> {
  const { document } = editor;
  const at = document.getText().indexOf(from);
  assert.ok(at >= 0, `"${from}" stands in the text`);
  const range = new vscode.Range(document.positionAt(at), document.positionAt(at + from.length));
  assert.equal(await editor.edit((change) => change.replace(range, to)), true);
}
