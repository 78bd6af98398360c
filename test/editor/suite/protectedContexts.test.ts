import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { answering, warnings } from '../answers.ts';
import { configMap, metadata, must, patch, send } from '../apiServer.ts';
import { closeAll, objectRow, rowsBelow, set, until } from '../extension.ts';
import { watchedNamespace, type Watched } from '../watched.ts';

describe('questions before a write', () => {
  let watched: Watched;
  const at = (name: string): string => `${watched.path()}/${name}`;
  const data = async (name: string): Promise<unknown> => (await must('GET', at(name)))['data'];
  const made = (name: string, values: Record<string, string>): Promise<unknown> =>
    must('POST', watched.path(), configMap(name, values));

  before(async () => {
    watched = await watchedNamespace('guarded', 'configmaps');
  });

  afterEach(async () => {
    await set('protectedContexts', undefined);
    await set('responsibilities', undefined);
    await closeAll();
  });

  async function change(editor: vscode.TextEditor, from: string, to: string): Promise<void> {
    const start = editor.document.getText().indexOf(from);
    assert.ok(start >= 0, `"${from}" stands in the text`);
    const { document } = editor;
    const range = new vscode.Range(document.positionAt(start), document.positionAt(start + from.length));
    assert.equal(await editor.edit((edit) => edit.replace(range, to)), true);
  }

  const comparison = (): vscode.Tab | undefined =>
    vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label }) => label.includes('would be stored'));

  it('a save to a protected context shows what the server would store, and is stored after a yes', async () => {
    await made('asked', { a: 'one', b: 'one' });
    await set('protectedContexts', ['guard*']);
    const editor = await watched.open('asked');
    await change(editor, 'a: one', 'a: two');
    const refused = await answering(
      () => undefined,
      async () => assert.equal(await editor.document.save(), false),
    );
    assert.equal(refused.length, 1);
    assert.deepEqual(await data('asked'), { a: 'one', b: 'one' });
    const asked = await answering(
      async (_question, [write]) => {
        assert.ok(comparison(), 'the comparison with what the server would store is open');
        return write;
      },
      async () => assert.equal(await editor.document.save(), true),
    );
    assert.deepEqual(
      asked.map(({ sentence, detail }) => [sentence.includes('protected context guarded'), detail]),
      [[true, '.data.a: "one" → "two"']],
    );
    assert.deepEqual(await data('asked'), { a: 'two', b: 'one' });
  });

  it('a change that came after the comparison was shown is carried over, and nothing of it is lost', async () => {
    await made('overtaken', { a: 'one', b: 'one' });
    await set('protectedContexts', ['guarded']);
    const editor = await watched.open('overtaken');
    await change(editor, 'a: one', 'a: two');
    await answering(
      async (_question, [write]) => {
        await patch(at('overtaken'), { data: { b: 'theirs' } });
        return write;
      },
      async () => assert.equal(await editor.document.save(), true),
    );
    assert.deepEqual(await data('overtaken'), { a: 'two', b: 'theirs' });
  });

  it('a write whose dry run is refused is asked about all the same', async () => {
    await made('untold', { a: 'one' });
    await set('protectedContexts', ['guarded']);
    const editor = await watched.open('untold');
    await change(editor, 'a: one', 'a: 1');
    const asked = await answering(
      () => undefined,
      async () => assert.equal(await editor.document.save(), false),
    );
    assert.match(asked[0]?.detail ?? '', /What would be stored is not known; the dry run was refused/);
  });

  it('a delete shows what a dry run says, and after a change asks about the newest version', async () => {
    await made('busy', { a: 'one' });
    await set('protectedContexts', ['guarded']);
    const row = await until('the row', () => objectRow(watched.api, 'busy'));
    const kept = await answering(
      async (question, [button]) => {
        if (!question.sentence.includes('changed since'))
          await patch(at('busy'), { data: { a: 'theirs' } }, 'neighbour');
        return question.sentence.includes('changed since') ? undefined : button;
      },
      async () => {
        // The command ends when its last sentence is answered, which nobody does here.
        void vscode.commands.executeCommand('objectVersions.deleteObject', row.node);
        await new Promise((later) => setTimeout(later, 3000));
      },
    );
    assert.deepEqual(
      kept.map(({ sentence }) => sentence.split('?')[0]),
      ['Delete this object', `configmaps ${watched.ns}/busy changed since you looked. Delete it as it is now`],
    );
    assert.match(kept[0]?.detail ?? '', /A dry run says: configmaps \S+\/busy would be deleted\./);
    assert.match(kept[1]?.detail ?? '', /Changed by neighbour:\n\.data\.a: "one" → "theirs"/);
    assert.deepEqual(await data('busy'), { a: 'theirs' });
    await vscode.commands.executeCommand('notifications.clearAll');

    await until('the new version', () =>
      objectRow(watched.api, 'busy') !== undefined &&
      [...watched.api.history().uids.values()].some(
        ({ name, versions }) => name.name === 'busy' && versions.at(-1)?.body?.['data'] !== undefined,
      )
        ? true
        : undefined,
    );
    let overtaken = false;
    await answering(
      async (question, [button]) => {
        if (!overtaken && !question.sentence.includes('changed since'))
          await patch(at('busy'), { data: { a: 'once more' } }, 'neighbour');
        overtaken = true;
        return button;
      },
      async () => vscode.commands.executeCommand('objectVersions.deleteObject', row.node),
    );
    assert.equal((await send('GET', at('busy'))).status, 404, 'a yes to the newest version deletes it');
    const end = await until('who ended it', () =>
      rowsBelow(watched.api, 2, objectRow(watched.api, 'busy')?.node).find(({ label }) => label === 'Ended by'),
    );
    assert.equal(end.description, 'object-versions · delete');
  });

  it('a declaration of a responsibility that is not understood is told, and the others hold', async () => {
    await warnings(async (said) => {
      const whole = { kind: 'ConfigMap', manager: 'platform', reason: 'it is theirs' };
      await set('responsibilities', [
        { ...whole, path: '.data.a' },
        { ...whole, path: '.data[' },
      ]);
      await until('the sentence', () => said.find((sentence) => sentence.includes('2: .data[')));
    });
    await made('theirs', { a: 'one' });
    const editor = await watched.open('theirs');
    await change(editor, 'a: one', 'a: two');
    const asked = await answering(
      (_question, [write]) => write,
      async () => assert.equal(await editor.document.save(), true),
    );
    assert.match(asked[0]?.detail ?? '', /\.data\.a is the responsibility of platform: it is theirs/);
    assert.equal(metadata(await must('GET', at('theirs')))['name'], 'theirs');
  });
});
