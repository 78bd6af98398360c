import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { parseYaml } from '../../../src/codec/yaml.ts';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, must, namespace } from '../apiServer.ts';
import { closeAll, extension, objectRow, removeAllWatches, rowsBelow, until, useKubeconfig } from '../extension.ts';
import { notifications } from '../window.ts';

const page = readFileSync(join(__dirname, '..', '..', '..', '..', 'docs', 'permissions.md'), 'utf8');
const roleOf = (name: string): unknown => {
  const text = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].find(([, role]) => role?.includes(`name: ${name}\n`))?.[1];
  assert.ok(text !== undefined, name);
  return parseYaml(text).value;
};

describe('a user of one namespace with the Roles of the page on permissions', () => {
  const own = '/apis/rbac.authorization.k8s.io/v1/namespaces';
  let api: ObjectVersionsApi;
  let ns: string;
  const pathOf = (name = ''): string => `/api/v1/namespaces/${ns}/configmaps/${name}`;
  const data = async (name: string): Promise<unknown> => (await must('GET', pathOf(name)))['data'];

  before(async () => {
    api = await extension();
    await removeAllWatches(api);
    ns = await namespace('limited');
    const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
    await must('POST', accounts, { metadata: { name: 'alice' } });
    const { status } = await must('POST', `${accounts}/alice/token`, { spec: { expirationSeconds: 3600 } });
    const { token } = status as unknown as { token: string };
    await useKubeconfig({ limited: { server: apiServer.url.origin, token } });
    for (const name of ['versions-viewer', 'versions-editor']) {
      await must('POST', `${own}/${ns}/roles`, roleOf(name));
      await must('POST', `${own}/${ns}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name: 'alice', namespace: ns }],
      });
    }
    await until('the rights', async () => (await mayUpdate()) || undefined);
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
  });

  afterEach(closeAll);
  after(() => removeAllWatches(api));

  async function mayUpdate(): Promise<boolean> {
    const { status } = await must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: `system:serviceaccount:${ns}:alice`,
        resourceAttributes: { namespace: ns, verb: 'update', resource: 'configmaps' },
      },
    });
    return (status as unknown as { allowed: boolean }).allowed;
  }

  async function edit(name: string): Promise<vscode.TextDocument> {
    const row = await until(`the row of ${name}`, () => objectRow(api, name));
    await vscode.commands.executeCommand('objectVersions.openObject', row.node);
    const { document } = await until('its document', () =>
      vscode.window.visibleTextEditors.find(({ document: { uri } }) => uri.path.endsWith(`/${name}.yaml`)),
    );
    const at = document.getText().indexOf('a: one');
    const change = new vscode.WorkspaceEdit();
    change.replace(document.uri, new vscode.Range(document.positionAt(at), document.positionAt(at + 6)), 'a: two');
    assert.equal(await vscode.workspace.applyEdit(change), true);
    return document;
  }

  it('watches, opens and saves there', async () => {
    await must('POST', pathOf().slice(0, -1), configMap('allowed', { a: 'one' }));
    await api.addWatch('limited', `configmaps in ${ns}`);
    const document = await edit('allowed');
    assert.equal(await document.save(), true);
    assert.deepEqual(await data('allowed'), { a: 'two' });
  });

  it('is told at the watch what may not be watched, and the others go on', async () => {
    await api.addWatch('limited', `secrets in ${ns}`);
    await until('what is missing, at its row', () =>
      rowsBelow(api, 2).find(
        ({ label, context, description }) =>
          label === 'secrets' && context === 'watch failed' && /cannot list resource "secrets"/.test(description),
      ),
    );
    await must('POST', pathOf().slice(0, -1), configMap('still', { a: 'one' }));
    await until('a new object of the other watch', () => objectRow(api, 'still'));
  });

  it('without the right to update a save is refused, nothing is written, and the text stays', async () => {
    await must('POST', pathOf().slice(0, -1), configMap('refused', { a: 'one' }));
    await must('DELETE', `${own}/${ns}/rolebindings/versions-editor`);
    await until('the right is gone', async () => !(await mayUpdate()) || undefined);
    const document = await edit('refused');
    const typed = document.getText();
    assert.equal(await document.save(), false);
    assert.equal(document.getText(), typed);
    assert.equal(document.isDirty, true);
    assert.deepEqual(await data('refused'), { a: 'one' });
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('workbench.action.files.save');
    await until('what VS Code says', async () =>
      (await notifications()).find((text) => /cannot update resource "configmaps"/.test(text)),
    );
  });
});
