import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { TreeNode } from '../../../src/editor/tree/nodes.ts';
import { answering, type Question } from '../answers.ts';
import { configMap, metadata, must, patch, send } from '../apiServer.ts';
import { closeAll, objectRow, rowsBelow, set, until } from '../extension.ts';
import { watchedNamespace, type Watched } from '../watched.ts';
import { needWindow, notifications } from '../window.ts';

describe('what was seen before is written back', () => {
  let watched: Watched;
  const at = (name: string): string => `${watched.path()}/${name}`;
  const data = async (name: string): Promise<unknown> => (await must('GET', at(name)))['data'];
  const restore = (row: TreeNode): Thenable<unknown> =>
    vscode.commands.executeCommand('objectVersions.restoreVersion', row);

  before(async () => {
    watched = await watchedNamespace('restored', 'configmaps');
  });

  afterEach(async () => {
    await set('protectedContexts', undefined);
    await set('associations', undefined);
    await closeAll();
  });

  /** The row of a version in the tree, once it stands there. */
  function versionRow(name: string, token: string | undefined): Promise<TreeNode> {
    return until(`the version ${token} of ${name}`, () => {
      const row = objectRow(watched.api, name);
      return row === undefined
        ? undefined
        : rowsBelow(watched.api, 4, row.node).find(
            ({ node }) => node.type === 'detail' && node.context === 'version' && node.version?.token === token,
          )?.node;
    });
  }

  /** An object at its second version, and the row of its first. */
  async function changedOnce(name: string): Promise<{ uid: string | undefined; first: TreeNode }> {
    const made = await must('POST', watched.path(), configMap(name, { mode: 'old', other: name }));
    const { uid, resourceVersion } = metadata(made);
    await versionRow(name, resourceVersion);
    const changed = await patch(at(name), { data: { mode: 'new' } });
    await versionRow(name, metadata(changed)['resourceVersion']);
    return { uid, first: await versionRow(name, resourceVersion) };
  }

  it('an older version is written back onto the living object, after a yes, with what others change meanwhile', async () => {
    const { uid, first } = await changedOnce('living');
    const declined = await answering(
      () => undefined,
      async () => restore(first),
    );
    assert.match(declined[0]?.sentence ?? '', /^Write this version of configmaps \S+\/living back\?/);
    assert.deepEqual(await data('living'), { mode: 'new', other: 'living' }, 'a no writes nothing');
    await answering(
      async (_question, [write]) => {
        assert.match(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '', /^living .+ ↔ /);
        await patch(at('living'), { data: { theirs: 'meanwhile' } }, 'neighbour');
        return write;
      },
      async () => restore(first),
    );
    const stored = await must('GET', at('living'));
    assert.deepEqual(stored['data'], { mode: 'old', other: 'living', theirs: 'meanwhile' });
    assert.equal(metadata(stored)['uid'], uid, 'the same incarnation');
    const fields = metadata(stored)['managedFields'] as unknown as { manager: string }[];
    assert.ok(fields.some(({ manager }) => manager === 'object-versions'));
  });

  it('a field that somebody changes while the question stands is not written over', async function () {
    needWindow(this);
    const { first } = await changedOnce('contended');
    await answering(
      async (_question, [write]) => {
        await patch(at('contended'), { data: { mode: 'theirs' } }, 'neighbour');
        return write;
      },
      async () => {
        // The command ends when its last sentence is answered, which nobody does here.
        void restore(first);
        await until('the end of the write', async () =>
          (await notifications()).some((words) =>
            /Somebody else changed the same fields of configmaps \S+\/contended/.test(words),
          ),
        );
      },
    );
    assert.deepEqual(await data('contended'), { mode: 'theirs', other: 'contended' });
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('a version of an ended incarnation is not written over the new one that holds its name', async function () {
    needWindow(this);
    const { first } = await changedOnce('replaced');
    await must('DELETE', at('replaced'));
    const life = await must('POST', watched.path(), configMap('replaced', { mode: 'new life' }));
    const asked = await answering(
      (_question, [button]) => button,
      async () => restore(first),
    );
    assert.deepEqual(asked, []);
    const said = (await notifications()).join('\n');
    assert.match(said, /Another incarnation holds the name configmaps \S+\/replaced now\./);
    const stored = await must('GET', at('replaced'));
    assert.deepEqual(stored['data'], { mode: 'new life' });
    assert.equal(metadata(stored)['resourceVersion'], metadata(life)['resourceVersion']);
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  for (const guarded of [false, true]) {
    const name = guarded ? 'made-again-guarded' : 'made-again';
    it(`a deleted object is created again as a new incarnation, told what pointed at the old one${guarded ? '; a protected context by a dry run first' : ''}`, async () => {
      await set('associations', [{ resource: 'configmaps', path: '.data.other', what: 'disk' }]);
      const { uid = '', first } = await changedOnce(name);
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid };
      await must('POST', watched.path(), { metadata: { name: `${name}-child`, ownerReferences: [owner] } });
      await until('the child', () => objectRow(watched.api, `${name}-child`));
      await must('DELETE', at(name));
      await until('its end', () => {
        const ended = [...watched.api.history().uids.values()].find((one) => one.uid === uid)?.end;
        return ended === undefined ? undefined : true;
      });
      if (guarded) await set('protectedContexts', ['restored']);
      const declined = await answering(
        () => undefined,
        async () => restore(first),
      );
      assert.equal((await send('GET', at(name))).status, 404, 'a no, and a dry run, create nothing');
      sayNewLife(declined, name, uid, guarded);
      const asked = await answering(
        (_question, [create]) => create,
        async () => restore(first),
      );
      sayNewLife(asked, name, uid, guarded);
      const stored = await must('GET', at(name));
      assert.deepEqual(stored['data'], { mode: 'old', other: name });
      assert.notEqual(metadata(stored)['uid'], uid, 'a new incarnation');
      const fields = metadata(stored)['managedFields'] as unknown as { manager: string }[];
      assert.deepEqual(
        fields.map(({ manager }) => manager),
        ['object-versions'],
      );
      const child = await must('GET', at(`${name}-child`));
      assert.equal((metadata(child)['ownerReferences'] as unknown as { uid: string }[])[0]?.uid, uid, 'left as it was');
    });
  }

  function sayNewLife(asked: readonly Question[], name: string, uid: string, guarded: boolean): void {
    assert.equal(asked.length, 1);
    const { sentence, detail } = asked[0] ?? { sentence: '', detail: '' };
    assert.equal(sentence, `configmaps ${watched.ns}/${name} is gone. Create it again?`);
    assert.match(detail, new RegExp(`It will be a new incarnation .+ pointed at ${uid.slice(0, 8)} by UID will not`));
    assert.match(
      detail,
      new RegExp(
        `Known to point at it:\nConfigMap ${watched.ns}/${name}-child: \\.metadata\\.ownerReferences.*\ndisk ${name}(?:\n|$)`,
      ),
    );
    assert.equal(/A dry run says: /.test(detail), guarded, detail);
  }
});
