import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import type { JsonObject } from '../../../src/codec/json.ts';
import { sandboxKey } from '../../../src/editor/clusters/clusters.ts';
import { liveUri, parseAddress, versionUri } from '../../../src/editor/documents/address.ts';
import { answering } from '../answers.ts';
import { apiServer, configMap, metadata, must, namespace, patch, send } from '../apiServer.ts';
import { closeAll, extension, objectRow, openObject, replaceText, set, until, useKubeconfig } from '../extension.ts';
import { notifications, screenshot, texts } from '../window.ts';

describe('documents of living objects', () => {
  let api: ObjectVersionsApi;
  let ns: string;
  const pathOf = (name: string, resource = 'configmaps'): string => `/api/v1/namespaces/${ns}/${resource}/${name}`;

  before(async () => {
    api = await extension();
    await useKubeconfig({ docs: { server: apiServer.url.origin } });
    ns = await namespace('docs');
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    await api.addWatch('docs', `configmaps in ${ns}`);
    await api.addWatch('docs', `secrets in ${ns}`);
  });

  afterEach(closeAll);

  async function open(name: string, data: Record<string, string>): Promise<vscode.TextEditor> {
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap(name, data));
    return openObject(api, name);
  }

  const data = async (name: string): Promise<unknown> => (await must('GET', pathOf(name)))['data'];

  it('are YAML that is ours, so that auto-save and formatting of YAML leave it alone', async () => {
    const { document } = await open('language', { a: '1' });
    assert.equal(document.languageId, 'kubernetes-object');
    assert.equal(vscode.workspace.getConfiguration('files', document).get('autoSave'), 'off');
  });

  it('J4: can be saved twice without reopening, each save checked against its version', async () => {
    const editor = await open('twice', { x: 'one' });
    await replaceText(editor, 'x: one', 'x: two');
    assert.equal(await editor.document.save(), true);
    await replaceText(editor, 'x: two', 'x: three');
    assert.equal(await editor.document.save(), true);
    assert.deepEqual(await data('twice'), { x: 'three' });
  });

  it('follow the object while nothing is unsaved', async () => {
    const editor = await open('follows', { x: 'one' });
    await patch(pathOf('follows'), { data: { x: 'elsewhere' } });
    await until('the new text', () => (editor.document.getText().includes('x: elsewhere') ? true : undefined));
    assert.equal(editor.document.isDirty, false);
  });

  it('J11: a save without a change sends no request', async () => {
    const editor = await open('same', { t: 'x  \n' });
    const before = metadata(await must('GET', pathOf('same')))['resourceVersion'];
    await replaceText(editor, 'apiVersion: v1', '# only a comment\napiVersion: v1');
    assert.equal(await editor.document.save(), true);
    assert.equal(metadata(await must('GET', pathOf('same')))['resourceVersion'], before);
    assert.match(editor.document.getText(), /^# only a comment/);
  });

  it('J1: an overlapping edit opens the merge editor, writes nothing and keeps the text', async () => {
    const editor = await open('overlap', { image: 'a1', other: 'x' });
    await replaceText(editor, 'image: a1', 'image: a2');
    const typed = editor.document.getText();
    await patch(pathOf('overlap'), { data: { image: 'a3' } });
    assert.equal(await editor.document.save(), false);
    assert.deepEqual(await data('overlap'), { image: 'a3', other: 'x' });
    assert.equal(editor.document.getText(), typed);
    assert.equal(editor.document.isDirty, true);
    await until('the merge editor', () =>
      vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .find((tab) => tab.label.includes('overlap decided') || tab.label.startsWith('Merging')),
    );
    await until('its panes', async () => (await texts('.merge-editor'))?.some((text) => text.includes('a3')) ?? true);
    await screenshot('merge-editor');
    assert.equal(
      vscode.languages.getDiagnostics(editor.document.uri).some(({ message }) => message.includes('.data.image')),
      true,
    );
    const decision = await until(
      'the document of the decision',
      () => vscode.workspace.textDocuments.find(({ uri }) => uri.path.startsWith('/@decision/')),
      5000,
    ).catch(() => undefined);
    const output =
      decision ??
      (await vscode.workspace.openTextDocument(
        vscode.Uri.from({ scheme: 'object-version', path: '/@decision/1/overlap decided (save to write).yaml' }),
      ));
    const change = new vscode.WorkspaceEdit();
    const theirs = (
      await vscode.workspace.openTextDocument(
        vscode.Uri.from({ scheme: 'object-version', path: '/@side/1-theirs/overlap theirs.yaml' }),
      )
    ).getText();
    change.replace(
      output.uri,
      new vscode.Range(0, 0, output.lineCount, 0),
      theirs.replace('image: a3', 'image: a2-decided'),
    );
    await vscode.workspace.applyEdit(change);
    assert.equal(await output.save(), true);
    assert.deepEqual(await data('overlap'), { image: 'a2-decided', other: 'x' });
    await until('the first document shows what was decided', () =>
      !editor.document.isDirty && editor.document.getText().includes('a2-decided') ? true : undefined,
    );
  });

  it('a decision whose field keeps changing stays in its one tab, asks about exactly what changed, and ends', async () => {
    const editor = await open('busy', { visits: '390', other: 'x' });
    await replaceText(editor, 'visits: "390"', 'visits: "1"');
    await patch(pathOf('busy'), { data: { visits: '393' } });
    assert.equal(await editor.document.save(), false);
    const isMerge = (tab: vscode.Tab): boolean => /busy decided|^Merging/.test(tab.label);
    const merges = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isMerge));
    await until('the merge editor', () => (merges().length === 1 ? true : undefined));
    assert.equal(await editor.document.save(), false);
    assert.equal(merges().length, 1, 'the second save of the document takes up the tab that is open');
    const output = await until('the decision', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.path.endsWith('/busy decided (save to write).yaml')),
    );
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      output.uri,
    );
    assert.match(lenses[0]?.command?.title ?? '', /saving writes it/);
    assert.doesNotMatch(output.getText(), /<<<<<<<[\s\S]*resourceVersion[\s\S]*>>>>>>>/, 'its token is no decision');
    const change = new vscode.WorkspaceEdit();
    change.replace(output.uri, new vscode.Range(0, 0, output.lineCount, 0), editor.document.getText());
    await vscode.workspace.applyEdit(change);
    const values = ['396', '399'];
    await patch(pathOf('busy'), { data: { visits: values[0] } });
    const refused = await answering(
      () => undefined,
      async () => assert.equal(await output.save(), false),
    );
    assert.equal(refused.length, 1);
    assert.equal(merges().length, 1);
    assert.equal(output.isDirty, true);
    assert.equal(((await data('busy')) as JsonObject)['visits'], '396', 'nothing is written without a yes');
    await screenshot('decision-again');
    const questions = await answering(
      async (_question, [keep]) => {
        // It changes once more while the question is open, and so does something that nobody decided about.
        const next = values[1];
        values.length = 0;
        if (next !== undefined) await patch(pathOf('busy'), { data: { visits: next, other: 'y' } });
        return keep;
      },
      async () => assert.equal(await output.save(), true),
    );
    assert.deepEqual(
      questions.map(({ detail }) => detail.split('\n')[0]),
      ['.data.visits: "393" → "396"', '.data.visits: "396" → "399"'],
    );
    assert.match(questions[0]?.sentence ?? '', /changed again while you decided, by .+\. Write/);
    assert.deepEqual(await data('busy'), { visits: '1', other: 'y' });
    await until('no tab of it is left', () => (merges().length === 0 ? true : undefined));
    await until('no text is unsaved', () => (editor.document.isDirty ? undefined : true));
  });

  it('have addresses that are short, say where the object is, and can be read back', () => {
    const object = {
      cluster: 'arn:aws:eks:eu:1:cluster/a%b',
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'a b.c:d',
      uid: '0b5e9c1e-52c6-4d0b-8a53-000000000000',
    };
    const uri = liveUri({ ...object, cluster: 'docs' });
    assert.equal(
      uri.toString(true),
      'object-version:/@live/docs/deployments.apps/shop/a b.c:d.yaml?v1/Deployment/0b5e9c1e-52c6-4d0b-8a53-000000000000',
    );
    const back = (made: vscode.Uri): unknown => parseAddress(vscode.Uri.parse(made.toString()));
    assert.deepEqual(back(liveUri(object)), { type: 'live', object });
    const cluster = { ...object, group: '', namespace: '' };
    assert.deepEqual(back(liveUri(cluster)), { type: 'live', object: cluster });
    assert.deepEqual(back(versionUri(object, '7/?&', 'ka·7f')), { type: 'version', object, token: '7/?&' });
    // Above a document its path is shown: each part of it is a word, and no context is taken for the sandbox.
    const sandboxed = { ...object, cluster: sandboxKey };
    assert.match(liveUri(sandboxed).path, /^\/@live\/@sandbox\/deployments\.apps\/shop\//);
    assert.deepEqual(back(liveUri(sandboxed)), { type: 'live', object: sandboxed });
    const named = { ...object, cluster: '@sandbox' };
    assert.deepEqual(back(liveUri(named)), { type: 'live', object: named });
    assert.throws(() => parseAddress(uri.with({ query: '' })), /no document/);
  });

  it('a refused save says why before anything else that could hide it', async () => {
    const editor = await open('said', { x: 'one' });
    await replaceText(editor, 'x: one', 'x: one\n  x: two');
    await vscode.window.showTextDocument(editor.document);
    await vscode.commands.executeCommand('workbench.action.files.save');
    const said = await until('what VS Code says', async () =>
      (await notifications()).find((text) => text.includes('said.yaml')),
    );
    await screenshot('refused-save');
    assert.match(said, /@live\/docs\/configmaps\/[^?]+\/said\.yaml\?v1\/ConfigMap\/[0-9a-f-]{36}' \(Line \d+: /);
  });

  it('J8: a doubled key is marked at both places and nothing is sent', async () => {
    const editor = await open('doubled', { x: 'one' });
    const before = metadata(await must('GET', pathOf('doubled')))['resourceVersion'];
    await replaceText(editor, '  x: one', '  x: one\n  x: two');
    assert.equal(await editor.document.save(), false);
    const marks = vscode.languages
      .getDiagnostics(editor.document.uri)
      .filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
    assert.equal(marks.length, 2);
    assert.equal(metadata(await must('GET', pathOf('doubled')))['resourceVersion'], before);
  });

  it('a refusal of the server is marked at its place', async () => {
    const editor = await open('refused', { x: 'one' });
    await replaceText(editor, '  x: one', '  "not a key": one');
    const typed = editor.document.getText();
    assert.equal(await editor.document.save(), false);
    const [mark] = vscode.languages.getDiagnostics(editor.document.uri);
    assert.ok(mark);
    assert.equal(editor.document.lineAt(mark.range.start.line).text.includes('not a key'), true, mark.message);
    assert.equal(editor.document.getText(), typed);
  });

  it('an object that was deleted while open is refused, the text stays, and nothing is created', async () => {
    const editor = await open('deleted', { x: 'one' });
    await replaceText(editor, 'x: one', 'x: two');
    const typed = editor.document.getText();
    await must('DELETE', pathOf('deleted'));
    assert.equal(await editor.document.save(), false);
    assert.equal(editor.document.getText(), typed);
    assert.equal((await send('GET', pathOf('deleted'))).status, 404);
  });

  it('D1: an object that was recreated while open is not written to', async () => {
    const editor = await open('recreated', { x: 'one' });
    await replaceText(editor, 'x: one', 'x: two');
    await must('DELETE', pathOf('recreated'));
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('recreated', { x: 'new life' }));
    assert.equal(await editor.document.save(), false);
    assert.deepEqual(await data('recreated'), { x: 'new life' });
    const row = await until('both lives', () => {
      const found = objectRow(api, 'recreated');
      return found !== undefined && api.rows(found.node).length === 2 ? found : undefined;
    });
    const old = api.rows(row.node)[1];
    assert.equal(old?.context, 'incarnation old');
    await vscode.commands.executeCommand('objectVersions.openObject', old.node);
    assert.equal(
      vscode.window.visibleTextEditors.filter(({ document }) => document.uri.path.includes('recreated')).length,
      1,
      'no second document opens on an old incarnation',
    );
  });

  it('auto-save never writes to a cluster', async () => {
    const editor = await open('auto', { x: 'one' });
    const files = vscode.workspace.getConfiguration('files');
    await files.update('autoSave', 'afterDelay', vscode.ConfigurationTarget.Global);
    await files.update('autoSaveDelay', 50, vscode.ConfigurationTarget.Global);
    await vscode.workspace
      .getConfiguration('files', { languageId: 'kubernetes-object' })
      .update('autoSave', 'afterDelay', vscode.ConfigurationTarget.Global, true);
    try {
      await replaceText(editor, 'x: one', 'x: two');
      await new Promise((later) => setTimeout(later, 1500));
      assert.deepEqual(await data('auto'), { x: 'one' });
      assert.equal(editor.document.isDirty, true);
      assert.equal(await editor.document.save(), true);
      assert.deepEqual(await data('auto'), { x: 'two' });
    } finally {
      await files.update('autoSave', undefined, vscode.ConfigurationTarget.Global);
      await files.update('autoSaveDelay', undefined, vscode.ConfigurationTarget.Global);
      await vscode.workspace
        .getConfiguration('files', { languageId: 'kubernetes-object' })
        .update('autoSave', undefined, vscode.ConfigurationTarget.Global, true);
    }
  });

  it("a write by another extension is nobody's save and writes nothing", async () => {
    const editor = await open('foreign', { x: 'one' });
    const text = editor.document.getText().replace('x: one', 'x: two');
    await assert.rejects(async () => vscode.workspace.fs.writeFile(editor.document.uri, Buffer.from(text)));
    assert.deepEqual(await data('foreign'), { x: 'one' });
  });

  it('J11: a Secret opens with its values hidden, and what stays hidden stays byte for byte', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys' },
      data: { bin: 'AP/+MII=', crlf: 'YQ0KYg==', pad: 'YQ==' },
    };
    await must('POST', `/api/v1/namespaces/${ns}/secrets`, secret);
    const editor = await openObject(api, 'keys');
    assert.doesNotMatch(editor.document.getText(), /AP\/\+MII=|YQ0KYg==/);
    await replaceText(editor, '\ndata:', '\ndata:\n  note: aGk=');
    assert.equal(await editor.document.save(), true);
    const stored = await must('GET', pathOf('keys', 'secrets'));
    assert.deepEqual(stored['data'], { ...secret.data, note: 'aGk=' });
    assert.equal(
      JSON.stringify(
        [...api.history().uids.values()].flatMap(({ versions }) => versions.map(({ body }) => body ?? null)),
      ).includes('AP/+MII='),
      false,
      'the log has no value of it',
    );
  });

  it('J5: fields that nobody knows survive, and a change of one label changes nothing else', async () => {
    const editor = await open('label', { x: 'one' });
    const before = await must('GET', pathOf('label'));
    await replaceText(editor, '  name: label', '  labels:\n    tier: front\n  name: label');
    assert.equal(await editor.document.save(), true);
    const after = await must('GET', pathOf('label'));
    assert.deepEqual(without(after, 'labels'), without(before, 'labels'));
  });

  it('writing can be switched off as a whole', async () => {
    const editor = await open('readonly', { x: 'one' });
    await replaceText(editor, 'x: one', 'x: two');
    await set('readOnly', true);
    try {
      assert.equal(await editor.document.save(), false);
      assert.deepEqual(await data('readonly'), { x: 'one' });
    } finally {
      await set('readOnly', undefined);
    }
  });

  it('a protected context asks first, and no means no', async () => {
    const editor = await open('guarded', { x: 'one' });
    await replaceText(editor, 'x: one', 'x: two');
    await set('protectedContexts', ['docs']);
    try {
      // VS Code shows no modal question while it runs tests, which counts as no.
      assert.equal(await editor.document.save(), false);
      assert.deepEqual(await data('guarded'), { x: 'one' });
      const labels = vscode.window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label);
      assert.ok(
        labels.some((label) => label.includes('would be stored')),
        `the preview is open: ${labels.join(', ')}`,
      );
    } finally {
      await set('protectedContexts', undefined);
    }
  });

  it('G8: a removed line that would become a default is asked about before anything is written', async () => {
    const labels = { app: 'web' };
    await must('POST', `/apis/apps/v1/namespaces/${ns}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 100,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      },
    });
    await api.addWatch('docs', `deployments in ${ns}`);
    const editor = await openObject(api, 'web');
    await replaceText(editor, '  replicas: 100\n', '');
    assert.equal(await editor.document.save(), false);
    const { spec } = (await must('GET', `/apis/apps/v1/namespaces/${ns}/deployments/web`)) as unknown as {
      spec: { replicas: number };
    };
    assert.equal(spec.replicas, 100);
    assert.match(editor.document.getText(), /matchLabels/);
  });

  function without(object: JsonObject, ...fields: string[]): unknown {
    const rest = { ...metadata(object) } as Record<string, unknown>;
    for (const field of [...fields, 'resourceVersion', 'managedFields']) delete rest[field];
    return { ...object, metadata: rest };
  }
});
