import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, must } from '../apiServer.ts';
import { extension, objectRow, removeAllWatches, rowsBelow, until, useKubeconfig } from '../extension.ts';
import { choosePlace, clickOn, says } from '../labPlace.ts';
import { needWindow } from '../window.ts';

describe('before a restart', () => {
  let api: ObjectVersionsApi;

  before(async () => {
    api = await extension();
    await removeAllWatches(api);
    await useKubeconfig({ restart: { server: apiServer.url.origin } });
  });

  it('watches are added and removed', async () => {
    const name = 'restart-kept';
    await must('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }).catch(
      () => undefined,
    );
    await must('POST', `/api/v1/namespaces/${name}/configmaps`, configMap('kept', { x: '1' })).catch(() => undefined);
    await must('POST', `/api/v1/namespaces/${name}/configmaps`, configMap('short-lived', { x: '1' })).catch(
      () => undefined,
    );
    await api.addWatch('restart', `configmaps in ${name}`);
    await api.addWatch('restart', `secrets in ${name}`);
    await until('the row', () => objectRow(api, 'kept'));
    await until('the other row', () => objectRow(api, 'short-lived'));
    const secrets = rowsBelow(api, 2).find(({ node, label }) => node.type === 'watch' && label === 'secrets');
    await vscode.commands.executeCommand('objectVersions.removeWatch', secrets?.node);
  });

  it('a lab and a lesson are left in the middle, with their objects on the cluster', async function () {
    needWindow(this);
    this.timeout(120_000);
    await vscode.commands.executeCommand('objectVersions.labReplay');
    await choosePlace('restart', 'default');
    await clickOn('.replay .primary');
    await says('step 1', '.current h2', /^1\./);
    await clickOn('.choice input');
    await clickOn('.question .primary');
    await says('step 2', '.current h2', /^2\./);
    await vscode.commands.executeCommand('objectVersions.startLesson', 'name-and-uid');
    const { items } = await must('GET', '/api/v1/namespaces/default/configmaps');
    assert.match(JSON.stringify(items), /"versions-replay-/);
    assert.match(JSON.stringify(items), /"feature-flags"/);
  });

  it('text is left unsaved', async () => {
    const row = await until('the row', () => objectRow(api, 'kept'));
    await vscode.commands.executeCommand('objectVersions.openObject', row.node);
    const editor = await until('its document', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.uri.path.endsWith('/kept.yaml')),
    );
    const at = editor.document.getText().indexOf('x: "1"');
    const range = new vscode.Range(editor.document.positionAt(at), editor.document.positionAt(at + 'x: "1"'.length));
    assert.equal(await editor.edit((change) => change.replace(range, 'x: typed')), true);
    // VS Code keeps unsaved text for the next window a second after the last key.
    await new Promise((later) => setTimeout(later, 2500));
    assert.equal(editor.document.isDirty, true);
  });
});
