import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, metadata, must, namespace, patch } from '../apiServer.ts';
import { startCutProxy, type CutProxy } from '../cutProxy.ts';
import { closeAll, extension, objectRow, removeAllWatches, rowsBelow, until, useKubeconfig } from '../extension.ts';
import { recorded, recordedFile, through } from '../recorded.ts';
import { screenshot, texts } from '../window.ts';

describe('the main job, in a real VS Code against a real API server', () => {
  let api: ObjectVersionsApi;
  let proxy: CutProxy;
  let ns: string;

  before(async () => {
    api = await extension();
    proxy = await startCutProxy(apiServer.url.hostname, Number(apiServer.url.port));
    await useKubeconfig({ lab: { server: `https://127.0.0.1:${proxy.port}` } });
    await removeAllWatches(api);
    ns = await namespace('main');
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('flags', { mode: 'dark' }));
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('invoices', { total: '1' }));
  });

  after(async () => {
    await vscode.commands.executeCommand('objectVersions.stopRecording');
    await closeAll();
    await proxy.stop();
  });

  /** What the timeline says of an object. */
  async function timelineOf(name: string): Promise<string> {
    await vscode.commands.executeCommand('objectVersions.showTimelineAsText');
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    return text.split('\n## ').find((part) => part.startsWith(`configmaps ${ns}/${name} `)) ?? '';
  }

  it('a watch shows its objects in the tree with UID, version badge and owners', async () => {
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    await api.addWatch('lab', `configmaps in ${ns}`);
    const row = await until('the object in the tree', () => objectRow(api, 'flags'));
    assert.match(row.description, /^[a-z]{2}·[0-9a-f]{2,}$/);
    const [incarnation] = api.rows(row.node);
    assert.ok(incarnation);
    const details = api.rows(incarnation.node).map(({ label }) => label);
    assert.ok(
      details.includes('UID') && details.includes('Owners of fields') && details.includes('Versions'),
      details.join(),
    );
    const owners = rowsBelow(api, 3, incarnation.node).filter(({ label }) => label.startsWith('test-writer'));
    assert.equal(owners.length, 1);
    await vscode.commands.executeCommand('objectVersions.openTimeline');
    await until(
      'the row in the window',
      async () => (await texts('.monaco-list-row'))?.some((text) => text.includes('flags')) ?? true,
    );
  });

  it('two writers collide, and tree and timeline say who was refused and who made progress', async () => {
    const path = `/api/v1/namespaces/${ns}/configmaps/flags`;
    const writer = recorded(await recordedFile('writer-a'));
    const first = (await through(writer, 'GET', path)).body as Record<string, never>;
    await patch(path, { data: { mode: 'light' } }, 'writer-b');
    const late = await through(writer, 'PUT', path, { ...first, data: { mode: 'blue' } });
    assert.equal(late.status, 409);
    const row = await until('the row', () => objectRow(api, 'flags'));
    const text = await until('the collision in the tree', () => {
      const rows = rowsBelow(api, 3, row.node).map(({ label, description }) => `${label} ${description}`);
      const told = rows.filter((item) => /writer-[ab]/.test(item)).join('\n');
      return /^Last change .*writer-b/m.test(told) && /writer-a/.test(told) ? told : undefined;
    });
    assert.match(text, /conflict/i);
    assert.match(await timelineOf('flags'), /writer-b[^]*writer-a.*: version-conflict \(409\)/);
  });

  it('an object that is deleted and recreated while the watch is cut is a recreation within a gap', async () => {
    const path = `/api/v1/namespaces/${ns}/configmaps/invoices`;
    const old = metadata(await must('GET', path))['uid'];
    proxy.cut();
    await must('DELETE', path);
    const young = metadata(
      await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('invoices', { total: '2' })),
    )['uid'];
    await new Promise((later) => setTimeout(later, 500));
    proxy.heal();
    const row = await until(
      'two incarnations in the tree',
      () => {
        const found = objectRow(api, 'invoices');
        return found !== undefined && api.rows(found.node).length === 2 ? found : undefined;
      },
      40_000,
    );
    const lives = api
      .rows(row.node)
      .map(({ node, context }) => ({ uid: node.type === 'incarnation' ? node.uid : '', context }));
    assert.deepEqual(lives, [
      { uid: young, context: 'incarnation living' },
      { uid: old, context: 'incarnation old' },
    ]);
    assert.ok(api.history().gaps.length > 0, 'the gap is in the log');
    await until('the recreation as a finding', () =>
      api.findings().find((finding) => finding.id === 'recreated' && finding.object.name === 'invoices'),
    );
    const [before, after] = [old ?? '', young ?? ''];
    const text = await timelineOf('invoices');
    assert.ok(text.indexOf(before) >= 0 && text.indexOf(after) > text.indexOf(before), text);
    await vscode.commands.executeCommand('objectVersions.showOnTimeline', row.node);
    await new Promise((later) => setTimeout(later, 1500));
    await screenshot('tree-and-timeline');
  });

  it('an edit by hand against a third writer loses nothing', async () => {
    const path = `/api/v1/namespaces/${ns}/configmaps/flags`;
    const row = await until('the row', () => objectRow(api, 'flags'));
    await vscode.commands.executeCommand('objectVersions.openObject', row.node);
    const editor = await until('the document', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.uri.path.endsWith('/flags.yaml')),
    );
    const text = editor.document.getText();
    assert.match(text, /mode: light/);
    const at = text.indexOf('\ndata:') + '\ndata:'.length;
    assert.equal(
      await editor.edit((change) => change.insert(editor.document.positionAt(at), '\n  # by hand\n  hand: made')),
      true,
    );
    assert.equal(editor.document.isDirty, true);
    await patch(path, { data: { third: 'writer' }, metadata: { labels: { by: 'third' } } }, 'writer-c');
    assert.equal(editor.document.isDirty, true, 'a text with unsaved changes does not follow');
    assert.equal(await editor.document.save(), true);
    const stored = await must('GET', path);
    assert.deepEqual(stored['data'], { mode: 'light', hand: 'made', third: 'writer' });
    assert.deepEqual((stored['metadata'] as Record<string, unknown>)['labels'], { by: 'third' });
    await until('the text follows what is stored, comment kept', () =>
      /third: writer/.test(editor.document.getText()) && /# by hand/.test(editor.document.getText()) ? true : undefined,
    );
    assert.equal(editor.document.isDirty, false);
    await screenshot('safe-edit');
  });
});
