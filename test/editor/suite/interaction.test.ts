import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import type { TreeNode } from '../../../src/editor/tree/nodes.ts';
import { emptyHistory } from '../../../src/core/reduce.ts';
import { DrawnRows } from '../../../src/editor/tree/drawnRows.ts';
import { WatchedObjects } from '../../../src/editor/tree/watchedObjects.ts';
import type { WatchDefinition } from '../../../src/editor/watches/watchDefinition.ts';
import { markOf } from '../../../src/editor/tree/objectRows.ts';
import { toolNames } from '../../../src/editor/tools/languageModelTools.ts';
import { apiServer, configMap, metadata, must, namespace, patch } from '../apiServer.ts';
import { closeAll, extension, objectRow, removeAllWatches, rowsBelow, until, useKubeconfig } from '../extension.ts';
import { press, screenshot, texts, type } from '../window.ts';

describe('by keyboard and commands', () => {
  let api: ObjectVersionsApi;
  let ns: string;
  const path = (name: string): string => `/api/v1/namespaces/${ns}/configmaps/${name}`;

  before(async () => {
    api = await extension();
    await removeAllWatches(api);
    await useKubeconfig({ keys: { server: apiServer.url.origin } });
    ns = await namespace('keys');
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('one', { x: '1' }));
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
  });

  afterEach(closeAll);

  /** Answers the question that is open: types, and waits for the next one or for none. */
  async function answer(question: string, text: string): Promise<void> {
    await until(`the question "${question}"`, async () => {
      const shown = await texts('.quick-input-widget');
      return shown === undefined || shown.some((item) => item.includes(question)) ? true : undefined;
    });
    if (text !== '') await type(text);
    await new Promise((later) => setTimeout(later, 300));
    await press('Enter');
  }

  /** Whether the window can be asked; where VS Code runs by itself, without our launcher, it has no keyboard to lend. */
  async function hasKeyboard(): Promise<boolean> {
    return (await texts('.monaco-workbench')) !== undefined;
  }

  it('a watch is added: context, resource from discovery, namespace, name, labels', async () => {
    if (!(await hasKeyboard())) {
      await api.addWatch('keys', `configmaps in ${ns}`);
      return;
    }
    const adding = vscode.commands.executeCommand('objectVersions.addWatch');
    await answer('Which cluster', 'keys');
    await answer('Which resource', 'configmaps');
    await answer('Which namespace', ns);
    await answer('Name of one object', '');
    await answer('Labels', '');
    await adding;
    assert.deepEqual(
      api.watches().map(({ definition }) => [definition.resource, definition.namespace, definition.cluster]),
      [['configmaps', ns, 'keys']],
    );
    await until('its object', () => objectRow(api, 'one'));
  });

  it('a label is set by a safe write of that one field', async () => {
    const row = await until('the row', () => objectRow(api, 'one'));
    if (!(await hasKeyboard())) return;
    const editing = vscode.commands.executeCommand('objectVersions.setLabel', row.node);
    await answer('NAME=VALUE', 'tier=front');
    await editing;
    const stored = await must('GET', path('one'));
    assert.deepEqual((stored['metadata'] as Record<string, unknown>)['labels'], { tier: 'front' });
    const fields = metadata(stored)['managedFields'] as unknown as { manager: string }[];
    assert.ok(
      fields.some(({ manager }) => manager === 'object-versions'),
      'G3: our own field manager, and no library default',
    );
  });

  it('two versions are compared in a diff, each with its badge', async () => {
    await patch(path('one'), { data: { x: '2' } });
    const version = await until('two versions', () => {
      const found = rowsBelow(api, 4, objectRow(api, 'one')?.node).filter(({ context }) => context === 'version');
      return found.length >= 2 ? found[0] : undefined;
    });
    await vscode.commands.executeCommand('objectVersions.compareWithPrevious', version.node);
    const tab = await until('the diff', () => vscode.window.tabGroups.activeTabGroup.activeTab);
    assert.match(tab.label, /^one [a-z]{2}·\w+ ↔ [a-z]{2}·\w+$/);
    await until('both sides', () =>
      vscode.workspace.textDocuments.filter(({ uri }) => uri.path.startsWith('/@version/')).length >= 2
        ? true
        : undefined,
    );
    await screenshot('diff');
  });

  it('what one actor changed is compared, step by step', async () => {
    const row = await until('the row', () => objectRow(api, 'one'));
    if (!(await hasKeyboard())) return;
    const comparing = vscode.commands.executeCommand('objectVersions.compareActor', row.node);
    await answer('what which actor changed', 'test-writer');
    await comparing;
    await until('the changes', () =>
      vscode.window.tabGroups.activeTabGroup.activeTab?.label.startsWith('one: changes by test-writer') === true
        ? true
        : undefined,
    );
    await screenshot('changes-of-an-actor');
  });

  it('incarnations are compared as such', async () => {
    await must('DELETE', path('one'));
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('one', { x: '3' }));
    const row = await until('two lives', () => {
      const found = objectRow(api, 'one');
      return found !== undefined && api.rows(found.node).length === 2 ? found : undefined;
    });
    await vscode.commands.executeCommand('objectVersions.compareIncarnations', row.node);
    const tab = await until('the diff', () => {
      const active = vscode.window.tabGroups.activeTabGroup.activeTab;
      return active?.label.includes('incarnation') === true ? active : undefined;
    });
    assert.match(tab.label, /^one: incarnation [0-9a-f]{8} ↔ incarnation [0-9a-f]{8}$/);
  });

  it('nothing can be done to an old incarnation', async () => {
    const row = await until('the row', () => objectRow(api, 'one'));
    const old = api.rows(row.node)[1];
    assert.equal(old?.context, 'incarnation old');
    const before = metadata(await must('GET', path('one')))['resourceVersion'];
    for (const command of ['deleteObject', 'setLabel', 'openObject'])
      await vscode.commands.executeCommand(`objectVersions.${command}`, old.node);
    assert.equal(metadata(await must('GET', path('one')))['resourceVersion'], before);
  });

  it('the timeline is there as text, for screen readers', async () => {
    await vscode.commands.executeCommand('objectVersions.showTimelineAsText');
    const text = await until('the document', () => vscode.window.activeTextEditor?.document.getText());
    assert.match(text, /# Object Timeline/);
    assert.ok(text.includes(`configmaps ${ns}/one`));
    assert.match(text, /: created, /, 'the version that a creation made has none before it');
  });

  it('tools for language models only read, and give no content and no token', async () => {
    const token = new vscode.CancellationTokenSource().token;
    const ask = async (name: string, input: object): Promise<string> => {
      const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
      return result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
    };
    const text = await ask(toolNames.objects, { query: `${ns}/one` });
    const [found] = JSON.parse(text) as { object: string; incarnations: number; uid: string }[];
    assert.equal(found?.incarnations, 2);
    const stored = await must('GET', path('one'));
    assert.equal(found.uid, metadata(stored)['uid']);
    assert.equal(text.includes(`"${metadata(stored)['resourceVersion']}"`), false);
    assert.doesNotMatch(text, /"x":/);
    const findings = JSON.parse(await ask(toolNames.findings, { query: `${ns}/one RECREATED` })) as { id: string }[];
    assert.deepEqual(
      findings.map(({ id }) => id),
      ['recreated'],
    );
    for (const limit of [1, 0, -3])
      assert.equal((JSON.parse(await ask(toolNames.objects, { limit })) as unknown[]).length, 1, `${limit}`);
    assert.equal(await ask(toolNames.conflict, { query: `${ns}/one` }), '[]');
  });

  it('what labs made and removed is one folded row, and no alarm', async () => {
    const lab = 'versions-contention-bcdfghjk';
    for (const name of [lab, 'versions-replay-of-mine', 'plain-gone']) {
      await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap(name, {}));
      await until(`the row of ${name}`, () => objectRow(api, name));
      await must('DELETE', path(name));
    }
    const folded = await until('the folded row', () =>
      rowsBelow(api, 3).find(({ label, description }) => label === 'ended labs' && description === '1'),
    );
    assert.deepEqual(
      api.rows(folded.node).map(({ label }) => label),
      [lab],
    );
    const watch = rowsBelow(api, 2).find(({ context }) => context === 'watch');
    const labels = await until('the others, gone', () => {
      const rows = api.rows(watch?.node);
      return rows.filter(({ context }) => context === 'object gone').length === 2 ? rows : undefined;
    });
    assert.deepEqual(labels.map(({ label }) => label).sort(), [
      'ended labs',
      'one',
      'plain-gone',
      'versions-replay-of-mine',
    ]);
    const found = [...api.history().names.values()].find(({ name }) => name.name === lab);
    assert.ok(found);
    const refused = {
      type: 'write',
      seq: 1,
      at: 5,
      outcome: 'version-conflict',
    } as unknown as (typeof found.writes)[number];
    assert.equal(markOf({ ...found, writes: [refused] }, [], 6), 'gone');
  });

  it('only rows that look different are drawn anew', () => {
    const object = (key: string): TreeNode => ({ type: 'object', id: key, watch: 'w', key });
    const life: TreeNode = { type: 'incarnation', id: 'a/u', watch: 'w', key: 'a', uid: 'u' };
    const detail = { type: 'detail', id: 'a/u/d', label: 'd' } as const;
    const [a, b] = [object('a'), object('b')];
    const below = new Map<string, TreeNode[]>([
      ['', [a, b]],
      ['a', [life]],
      ['a/u', [detail]],
    ]);
    const looks = new Map<string, string>();
    const rows = {
      childrenOf: (node: TreeNode | undefined) => below.get(node?.id ?? '') ?? [],
      itemOf: (node: TreeNode) => {
        const item = new vscode.TreeItem(node.id);
        item.description = looks.get(node.id) ?? '';
        item.tooltip = `${Math.random()}`;
        return item;
      },
    };
    const drawn = new DrawnRows();
    for (const parent of [undefined, a, life]) {
      const children = rows.childrenOf(parent);
      drawn.gaveChildren(parent, children);
      for (const child of children) drawn.gaveItem(child, rows.itemOf(child));
    }
    const stale = (): unknown[] => [...drawn.stale(rows)].map((node) => node?.id);
    assert.deepEqual(stale(), [], 'a tooltip is no reason');
    looks.set('b', 'changed');
    assert.deepEqual(stale(), ['b']);
    drawn.fold(b);
    looks.set('a/u/d', 'changed');
    assert.deepEqual(stale(), ['a/u', 'b'], 'a fact is drawn with its incarnation');
    below.set('b', [object('b/c')]);
    assert.deepEqual(stale(), ['a/u', 'b'], 'what nobody opened is not looked at');
    below.set('a', []);
    assert.deepEqual(stale(), ['a', 'b']);
    below.set('a', [life]);
    drawn.gaveChildren(b, [object('b/d')]);
    drawn.gaveItem(b, rows.itemOf(b));
    looks.set('a/u/d', '');
    assert.deepEqual(stale(), ['b'], 'its rows are others than were given');
    drawn.fold(b);
    assert.deepEqual(stale(), ['b'], 'a folded row is drawn anew once');
    drawn.gaveItem(b, rows.itemOf(b));
    assert.deepEqual(stale(), [], 'and then when it is unfolded');
    below.set('', [b]);
    assert.deepEqual(stale(), [undefined], 'the whole tree');
  });

  it('rows that VS Code did not ask for, though it was told, are told again', async () => {
    const told: unknown[] = [];
    const definitions: WatchDefinition[] = [];
    const changed = new vscode.EventEmitter<void>();
    const silent = new vscode.EventEmitter<never>();
    const tree = new WatchedObjects({
      session: { history: emptyHistory(), onDidChange: silent.event, findings: () => [] },
      watches: { definitions: () => definitions, onDidChange: changed.event },
      clusters: {},
      associations: { atName: () => [] },
      now: () => 0,
      responsibilities: () => [],
      pageSize: () => 50,
    } as unknown as ConstructorParameters<typeof WatchedObjects>[0]);
    tree.onDidChangeTreeData((rows) => told.push(rows));
    try {
      void tree.getChildren();
      definitions.push({ id: 'w', cluster: 'c' } as WatchDefinition);
      changed.fire();
      await until('what is told', () => (told.length === 1 ? true : undefined));
      await until('it again, as nobody asked', () => (told.length === 2 ? true : undefined));
      assert.deepEqual(told, [undefined, undefined]);
      void tree.getChildren();
      await new Promise((later) => setTimeout(later, 7000));
      assert.equal(told.length, 2, 'what was asked for is not told again');
    } finally {
      tree.dispose();
      changed.dispose();
      silent.dispose();
    }
  });
});
