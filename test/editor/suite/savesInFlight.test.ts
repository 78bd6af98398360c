import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { answering, standingIn, withoutCommand } from '../answers.ts';
import { apiServer, configMap, must, namespace, patch } from '../apiServer.ts';
import { startCutProxy, type CutProxy } from '../cutProxy.ts';
import {
  closeAll,
  extension,
  openObject,
  removeAllWatches,
  replaceText,
  set,
  until,
  useKubeconfig,
} from '../extension.ts';

describe('a save that takes its time', () => {
  let api: ObjectVersionsApi;
  let ns: string;
  let proxy: CutProxy;
  const pathOf = (name = '', resource = 'configmaps'): string => `/api/v1/namespaces/${ns}/${resource}/${name}`;
  const data = async (name: string): Promise<unknown> => (await must('GET', pathOf(name)))['data'];

  before(async () => {
    api = await extension();
    proxy = await startCutProxy(apiServer.url.hostname, Number(apiServer.url.port));
    await removeAllWatches(api);
    await useKubeconfig({ flight: { server: `https://127.0.0.1:${proxy.port}` } });
    ns = await namespace('flight');
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    for (const resource of ['configmaps', 'services']) await api.addWatch('flight', `${resource} in ${ns}`);
  });

  afterEach(async () => {
    proxy.release();
    proxy.heal();
    await set('protectedContexts', undefined);
    await closeAll();
  });

  after(async () => {
    await removeAllWatches(api);
    await proxy.stop();
  });

  async function open(name: string, object: unknown, resource = 'configmaps'): Promise<vscode.TextEditor> {
    await must('POST', pathOf('', resource).replace(/\/$/, ''), object);
    return openObject(api, name);
  }

  it('what is typed meanwhile stays, unsaved, and is then saved as a change of what was stored', async () => {
    const editor = await open('typed', configMap('typed', { a: 'one', b: 'one' }));
    await replaceText(editor, 'a: one', 'a: two');
    proxy.hold();
    const saving = editor.document.save();
    await until('the request is under way', () => (proxy.held > 0 ? true : undefined));
    await replaceText(editor, 'b: one', 'b: typed');
    proxy.release();
    // VS Code calls a save done where nothing is left to save.
    assert.equal(await saving, false);
    assert.deepEqual(await data('typed'), { a: 'two', b: 'one' });
    assert.match(editor.document.getText(), /a: two\n {2}b: typed\n/);
    // Somebody else's change is no conflict with it: the base is what was stored, not what was read first.
    await patch(pathOf('typed'), { data: { a: 'theirs' } });
    assert.equal(await editor.document.save(), true);
    assert.deepEqual(await data('typed'), { a: 'theirs', b: 'typed' });
    assert.equal(editor.document.isDirty, false);
  });

  it('is cancelled by the button of its progress: it fails, nothing is stored and the text stays', async () => {
    const editor = await open('cancelled', configMap('cancelled', { a: 'one' }));
    await replaceText(editor, 'a: one', 'a: two');
    const typed = editor.document.getText();
    proxy.hold();
    const titles: string[] = [];
    await standingIn(
      'withProgress',
      async (real, [options, task]) => {
        const shown = options as vscode.ProgressOptions;
        if (shown.cancellable !== true) return real(options, task);
        titles.push(shown.title ?? '');
        const button = new vscode.CancellationTokenSource();
        const work = task as (progress: object, token: vscode.CancellationToken) => Thenable<unknown>;
        const done = work({ report: () => undefined }, button.token);
        button.cancel();
        return done;
      },
      async () => assert.equal(await editor.document.save(), false),
    );
    assert.equal(titles.length, 1);
    assert.match(titles[0] ?? '', /cancelled/);
    assert.equal(editor.document.getText(), typed);
    assert.equal(editor.document.isDirty, true);
    proxy.cut();
    proxy.release();
    proxy.heal();
    assert.deepEqual(await data('cancelled'), { a: 'one' });
    assert.equal(await editor.document.save(), true);
    assert.deepEqual(await data('cancelled'), { a: 'two' });
  });

  it('where VS Code has no merge editor, a decision is made in a comparison, and saving that writes', async () => {
    const editor = await open('compared', configMap('compared', { image: 'a1' }));
    await replaceText(editor, 'image: a1', 'image: a2');
    await patch(pathOf('compared'), { data: { image: 'a3' } });
    await withoutCommand('_open.mergeEditor', async () => assert.equal(await editor.document.save(), false));
    const tab = await until('the comparison', () =>
      vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .find(({ label, input }) => label.startsWith('compared:') && input instanceof vscode.TabInputTextDiff),
    );
    const { original, modified } = tab.input as vscode.TabInputTextDiff;
    assert.match((await vscode.workspace.openTextDocument(original)).getText(), /image: a2/);
    const output = await vscode.workspace.openTextDocument(modified);
    assert.match(output.getText(), /<<<<<<< theirs[\s\S]*image: a3[\s\S]*image: a2[\s\S]*>>>>>>> yours/);
    assert.equal(await output.save(), true, 'what is not changed is not written');
    assert.deepEqual(await data('compared'), { image: 'a3' });
    const decided = output.getText().replace(/<<<<<<<[\s\S]*>>>>>>> yours\n/, '  image: decided\n');
    const edit = new vscode.WorkspaceEdit();
    edit.replace(modified, new vscode.Range(0, 0, output.lineCount, 0), decided);
    await vscode.workspace.applyEdit(edit);
    assert.equal(await output.save(), true);
    assert.deepEqual(await data('compared'), { image: 'decided' });
    await until('the first document shows what was decided', () =>
      !editor.document.isDirty && editor.document.getText().includes('image: decided') ? true : undefined,
    );
    await until('the comparison is closed', () =>
      vscode.window.tabGroups.all.every(({ tabs }) => tabs.every(({ label }) => !label.startsWith('compared:')))
        ? true
        : undefined,
    );
  });

  it('in a protected context says which entry of a list is replaced by which', async () => {
    const ports = [{ name: 'web', port: 80, protocol: 'TCP', targetPort: 8080 }];
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'keyed' }, spec: { ports } };
    const editor = await open('keyed', service, 'services');
    await set('protectedContexts', ['flight']);
    await replaceText(editor, 'port: 80\n', 'port: 81\n');
    const asked = await answering(
      (_question, [write]) => write,
      async () => assert.equal(await editor.document.save(), true),
    );
    assert.deepEqual(
      asked.map(({ detail }) => detail),
      ['.spec.ports: replaces entry 80/TCP by 81/TCP'],
    );
  });
});
