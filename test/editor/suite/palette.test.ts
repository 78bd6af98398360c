import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { commandIds } from '../../../src/editor/app/ids.ts';
import { answering, standingIn } from '../answers.ts';
import { configMap, metadata, must, patch } from '../apiServer.ts';
import { closeAll, objectRow, removeAllWatches, rowsBelow, set, until } from '../extension.ts';
import { watchedNamespace } from '../watched.ts';
import { click, needWindow, press, screenshot, texts, type } from '../window.ts';

type Id = keyof typeof commandIds;

/** A question for one of several things, as it was put. */
interface Choice {
  readonly title: string;
  readonly items: readonly vscode.QuickPickItem[];
}

describe('commands from the palette, without a row', () => {
  let api: ObjectVersionsApi;
  let ns: string;
  let configMaps: string;
  let volume: string;

  before(async () => {
    const watched = await watchedNamespace('palette', 'configmaps', 'deployments');
    ({ api, ns } = watched);
    configMaps = watched.path();
    volume = `${ns}-volume`;
    await api.addWatch('palette', `persistentvolumes/${volume}`);
    for (const name of ['one', 'gone']) await must('POST', configMaps, configMap(name, { x: '1' }));
    await must('POST', configMaps, {
      ...(configMap('held', {}) as object),
      metadata: { name: 'held', finalizers: ['example.test/held'] },
    });
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.test/web:1' }] } };
    await must('POST', `/apis/apps/v1/namespaces/${ns}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    await must('POST', '/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volume },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/nowhere' },
        claimRef: { namespace: ns, name: 'claim', uid: 'of-a-claim-that-is-gone' },
      },
    });
    for (const name of ['one', 'gone', 'held', 'web', volume]) await until(name, () => objectRow(api, name));
    for (const name of ['one', 'gone']) await must('DELETE', `${configMaps}/${name}`);
    await until('the end of both', () => (lives('one')[0]?.end && lives('gone')[0]?.end ? true : undefined));
    await must('POST', configMaps, configMap('one', { x: '2' }));
    await until('the second life', () => (lives('one').length === 2 ? true : undefined));
    await patch(`${configMaps}/one`, { data: { x: '3' } });
    await until('its second version', () => (lives('one')[1]?.versions.length === 2 ? true : undefined));
    await vscode.commands.executeCommand('workbench.view.explorer');
  });

  afterEach(closeAll);

  after(async () => {
    await set('findings.muted', undefined);
    await patch(`${configMaps}/held`, { metadata: { finalizers: null } });
    await must('DELETE', `/api/v1/persistentvolumes/${volume}`);
  });

  const lives = (name: string) =>
    [...api.history().names.values()].find((one) => one.name.namespace === ns && one.name.name === name)
      ?.incarnations ?? [];

  /**
   * Runs a command as the palette does, without arguments, choosing by the beginning of a label or by place, and then answering inputs;
   * what no answer is left for is left. Gives the choices that were put.
   */
  async function run(id: Id, picks: readonly (string | number)[], inputs: readonly string[] = []): Promise<Choice[]> {
    const put: Choice[] = [];
    const [left, written] = [[...picks], [...inputs]];
    const choose = async (_real: unknown, [given, options]: unknown[]): Promise<unknown> => {
      const offered = await (given as Promise<(vscode.QuickPickItem | string)[]>);
      const items = offered.map((item) => (typeof item === 'string' ? { label: item } : item));
      put.push({ title: (options as vscode.QuickPickOptions).title ?? '', items });
      const wanted = left.shift();
      if (wanted === undefined) return undefined;
      return offered[typeof wanted === 'number' ? wanted : items.findIndex(({ label }) => label.startsWith(wanted))];
    };
    await standingIn('showQuickPick', choose, () =>
      standingIn(
        'showInputBox',
        () => Promise.resolve(written.shift()),
        async () => vscode.commands.executeCommand(commandIds[id]),
      ),
    );
    return put;
  }

  const labels = ({ items }: Choice): string[] => items.map(({ label }) => label);
  const activeTab = (): string | undefined => vscode.window.tabGroups.activeTabGroup.activeTab?.label;

  it('an object is offered with its kind, namespace, cluster, UID and state, the living first', async () => {
    const [question] = await run('copyUid', ['gone']);
    assert.equal(question?.title, 'Copy UID');
    const words = question.items.map(({ label, description, detail }) => [label, description, detail]);
    const uid = (name: string, index: number): string => lives(name)[index]?.uid.slice(0, 8) ?? '';
    assert.deepEqual(words, [
      ['held', `ConfigMap · ${ns} · palette`, `UID ${uid('held', 0)} · lives`],
      ['one', `ConfigMap · ${ns} · palette`, `UID ${uid('one', 1)} · lives`],
      ['web', `Deployment · ${ns} · palette`, `UID ${uid('web', 0)} · lives`],
      [volume, `PersistentVolume · palette`, words[3]?.[2]],
      ['gone', `ConfigMap · ${ns} · palette`, `UID ${uid('gone', 0)} · old`],
      ['one', `ConfigMap · ${ns} · palette`, `UID ${uid('one', 0)} · old`],
    ]);
    assert.equal(await vscode.env.clipboard.readText(), lives('gone')[0]?.uid);
  });

  it('each command offers what it can be about', async () => {
    const alive = ['held', 'one', 'web', volume];
    const any = [...alive, 'gone', 'one'];
    const offers: Partial<Record<Id, readonly string[]>> = {
      openObject: alive,
      setLabel: alive,
      setAnnotation: alive,
      setField: alive,
      releaseField: alive,
      showRelated: alive,
      declareAssociation: alive,
      deleteObject: alive,
      scale: ['web'],
      setImage: ['web'],
      waitUntilObserved: ['web'],
      removeFinalizer: ['held', volume],
      releaseVolume: [volume],
      compareIncarnations: ['one', 'one'],
      copyName: any,
      copyUid: any,
      copyToken: any,
      showToken: any,
      openVersion: any,
      restoreVersion: any,
      showOnTimeline: any,
    };
    for (const [id, expected] of Object.entries(offers)) {
      const [question, ...more] = await run(id as Id, []);
      assert.ok(question, id);
      assert.deepEqual(labels(question), expected, id);
      assert.deepEqual(more, [], `${id} ends with its question`);
    }
    for (const id of ['compareVersions', 'compareWithPrevious', 'compareActor'] as const) {
      const [question] = await run(id, []);
      assert.equal(labels(question ?? { title: '', items: [] })[0], 'one', id);
      assert.ok(!labels(question ?? { title: '', items: [] }).includes('held'), `${id}: one version only`);
    }
  });

  it('goes on with the object, the version or the incarnation that was chosen', async () => {
    await run('openObject', ['web']);
    await until('the document', () => (activeTab()?.includes('web') === true ? true : undefined));
    await run('copyName', ['web']);
    assert.equal(await vscode.env.clipboard.readText(), `${ns}/web`);
    await run('copyToken', ['held']);
    assert.equal(
      await vscode.env.clipboard.readText(),
      metadata(await must('GET', `${configMaps}/held`))['resourceVersion'],
    );
    const [, versions] = await run('openVersion', ['one', 0]);
    assert.equal(versions?.title, 'Which version?');
    await until('the version', () => (activeTab()?.includes('one') === true ? true : undefined));
    const [, previous] = await run('compareWithPrevious', ['one', 0]);
    assert.equal(previous?.items.length, 1, 'the first version has none before it');
    await until('a comparison', () => (/^one .* ↔ /.test(activeTab() ?? '') ? true : undefined));
    await closeAll();
    await run('compareVersions', ['one', 0, 1]);
    await until('a comparison', () => (/^one .* ↔ /.test(activeTab() ?? '') ? true : undefined));
    await run('compareIncarnations', ['one']);
    await until('both lives', () => (activeTab()?.includes('incarnation') === true ? true : undefined));
    await run('compareActor', ['one', 0]);
    await until('the changes', () => (activeTab()?.startsWith('one: changes by') === true ? true : undefined));
  });

  it('edits and deletes are safe writes, as from a row', async () => {
    await run('scale', ['web'], ['3']);
    const { spec } = await must('GET', `/apis/apps/v1/namespaces/${ns}/deployments/web`);
    assert.equal((spec as { replicas?: number }).replicas, 3);
    await run('setLabel', ['held'], ['tier=front']);
    const held = (await must('GET', `${configMaps}/held`))['metadata'] as { labels?: unknown };
    assert.deepEqual(held.labels, { tier: 'front' });
    const asked = await answering(
      () => undefined,
      async () => {
        await run('deleteObject', ['one']);
        await run('restoreVersion', ['one', 0]);
        await run('releaseVolume', [volume]);
        await run('removeFinalizer', ['held', 'example.test/held']);
      },
    );
    assert.deepEqual(
      asked.map(({ sentence }) => sentence.split(/[ ?]/)[0]),
      ['Delete', 'Write', 'Free', 'Remove'],
    );
    await answering(
      () => 'Delete',
      () => run('deleteObject', ['web']),
    );
    await until('its end', () => (lives('web')[0]?.end === undefined ? undefined : true));
  });

  it('findings are offered by what they say, and can be muted', async () => {
    const mine = await until('the finding', () =>
      api.findings().find(({ id, object }) => id === 'recreated' && object.namespace === ns),
    );
    const said = ({ detail }: vscode.QuickPickItem): boolean => detail === mine.explanation;
    const [shown] = await run('openFinding', []);
    assert.equal(shown?.title, 'Show Evidence');
    const label = shown.items.find(said)?.label ?? 'not offered';
    await run('openFinding', [label]);
    await until('the timeline', () => (activeTab() === undefined ? undefined : true));
    await run('muteFinding', [label], ['a test']);
    const muted = vscode.workspace.getConfiguration('objectVersions').get<object>('findings.muted', {});
    assert.deepEqual(Object.values(muted), ['a test']);
    const [left] = await run('openFinding', []);
    assert.equal(left?.items.length, shown.items.length, 'muted, and still there');
  });

  it('external associations are declared, adopted and cleaned up', async () => {
    await run('declareAssociation', ['held'], ['disk', 'disk-of-palette']);
    const [adopting] = await run('adoptAssociation', []);
    assert.ok(!adopting?.items.some(({ label }) => label.includes('disk-of-palette')), 'it is not stale');
    const [cleaning] = await run('cleanUpAssociation', ['disk disk-of-palette']);
    assert.match(
      cleaning?.items.find(({ label }) => label === 'disk disk-of-palette')?.description ?? '',
      new RegExp(`configmaps · ${ns}/held · palette`),
    );
    const [after] = await run('cleanUpAssociation', []);
    assert.ok(!after?.items.some(({ label }) => label.includes('disk-of-palette')), 'it is cleaned up');
  });

  it('runs from the real palette, and takes the row that is selected', async function () {
    needWindow(this);
    await vscode.env.clipboard.writeText('');
    await press('F1');
    await type('Object Versions: Copy UID');
    await until('the command', async () =>
      (await texts('.quick-input-list .monaco-list-row'))?.[0]?.includes('Copy UID'),
    );
    await press('Enter');
    const offered = await until('the question', async () => {
      const rows = (await texts('.quick-input-list .monaco-list-row')) ?? [];
      return rows.some((text) => text.includes('held')) ? rows : undefined;
    });
    assert.ok(offered.length >= 3);
    await screenshot('palette-object');
    await type('held');
    await new Promise((later) => setTimeout(later, 300));
    await press('Enter');
    const copied = (uid: string | undefined) => async () =>
      (await vscode.env.clipboard.readText()) === uid || undefined;
    await until('the UID', copied(lives('held')[0]?.uid));

    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    // A row that is drawn anew at that moment takes no click.
    await until('its document, by a click on the row', async () => {
      if (activeTab()?.includes('one') === true) return true;
      await click('.monaco-list-row[aria-label*="ConfigMap one"]');
      return undefined;
    });
    assert.deepEqual(await run('copyUid', []), [], 'nothing is asked');
    await until('the UID', copied(lives('one')[1]?.uid));
    assert.equal((await run('scale', [])).length, 0, 'nothing can be scaled any more');
  });

  it('an empty window is not cluttered with them', async function () {
    const watches = rowsBelow(api, 2).filter(({ node }) => node.type === 'watch').length;
    await vscode.commands.executeCommand('workbench.view.explorer');
    const [question] = await run('retryWatch', ['configmaps']);
    assert.equal(question?.items.length, watches);
    await run('removeWatch', ['configmaps']);
    assert.equal(api.watches().length, watches - 1);
    await removeAllWatches(api);
    needWindow(this);
    await press('F1');
    await type('Object Versions: ');
    const rows = await until('the palette', async () => {
      const found = await texts('.quick-input-list .monaco-list-row');
      return found?.some((text) => text.includes('Add Watch')) === true ? found : undefined;
    });
    await press('Escape');
    assert.ok(
      !rows.some((text) => text.includes('Copy UID')),
      `it was used last, so it would come first: ${rows.join('; ')}`,
    );
  });
});
