import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi, ShownRow } from '../../../src/editor/app/api.ts';
import { configMap, metadata, must } from '../apiServer.ts';
import { closeAll, objectRow, rowsBelow, set, until } from '../extension.ts';
import { watchedNamespace, type Watched } from '../watched.ts';
import { screenshot } from '../window.ts';

describe('external associations', () => {
  let api: ObjectVersionsApi;
  let base: string;
  let open: Watched['open'];

  before(async () => {
    await set('associations', [{ resource: 'configmaps', path: '.data.disk', what: 'disk' }]);
    const watched = await watchedNamespace('outside', 'configmaps');
    ({ api, open } = watched);
    base = watched.path();
  });

  after(async () => {
    await set('associations', undefined);
    await closeAll();
  });

  const rows = (name: string): ShownRow[] => {
    const row = objectRow(api, name);
    return row === undefined
      ? []
      : rowsBelow(api, 3, row.node).filter(({ context }) => context.startsWith('association '));
  };
  const findings = (name: string): unknown[] =>
    api
      .findings()
      .filter(({ id, kind, object }) => id === 'stale-reference' && kind === 'association' && object.name === name);

  /** Deletes an object and creates it again with the same content; gives both UIDs. */
  async function recreated(name: string): Promise<[string, string]> {
    const before = await must('POST', base, configMap(name, { disk: `disk-of-${name}` }));
    const found = await until('the association by rule', () => rows(name)[0]);
    assert.equal(found.context, 'association holds');
    assert.equal(found.label, `disk disk-of-${name}`);
    await must('DELETE', `${base}/${name}`);
    await until('that it is orphaned', () => rows(name).find(({ context }) => context === 'association orphaned'));
    const after = await must('POST', base, configMap(name, { disk: `disk-of-${name}` }));
    await until('that it is stale', () => rows(name).find(({ context }) => context === 'association stale'));
    await until('the finding that says so', () => (findings(name).length === 1 ? true : undefined));
    return [metadata(before)['uid'] ?? '', metadata(after)['uid'] ?? ''];
  }

  it('is bound to the UID: after a recreation it is stale until somebody adopts it', async () => {
    const [, uid] = await recreated('adopted');
    const stale = rows('adopted');
    assert.deepEqual(
      stale.map(({ context }) => context),
      ['association stale', 'association stale'],
      'below the incarnation that lives and below the one it was declared for',
    );
    await screenshot('association-stale');
    await vscode.commands.executeCommand('objectVersions.adoptAssociation', stale[0]?.node);
    await until('that it holds again', () => rows('adopted').find(({ context }) => context === 'association holds'));
    await until('that the finding holds no more', () => (findings('adopted').length === 0 ? true : undefined));
    const row = rowsBelow(api, 1, objectRow(api, 'adopted')?.node)[0]?.node;
    assert.equal(row?.type === 'incarnation' ? row.uid : '', uid);
  });

  it('is told in the document of the incarnation that is gone, and settled from there', async () => {
    await must('POST', base, configMap('open', { disk: 'disk-of-open' }));
    await until('the association by rule', () => rows('open')[0]);
    const { document } = await open('open');
    const lenses = async (): Promise<vscode.CodeLens[]> => {
      const all = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        document.uri,
      );
      return all.filter(({ command }) => command?.command.endsWith('Association') === true);
    };
    assert.deepEqual(await lenses(), [], 'nothing is left behind yet');
    await must('DELETE', `${base}/open`);
    const [gone] = await until('what is left behind', async () => {
      const left = await lenses();
      return left.length > 0 ? left : undefined;
    });
    assert.match(gone?.command?.title ?? '', /disk disk-of-open belonged to it/);
    await must('POST', base, configMap('open', {}));
    const adopt = await until('the choice to adopt it', async () =>
      (await lenses()).find(({ command }) => command?.command.endsWith('adoptAssociation')),
    );
    await vscode.commands.executeCommand(adopt.command?.command ?? '', ...(adopt.command?.arguments ?? []));
    await until('that it holds again', () => rows('open').find(({ context }) => context === 'association holds'));
    assert.deepEqual(await lenses(), []);
  });

  it('is gone once somebody says that it is cleaned up', async () => {
    const [, uid] = await recreated('cleaned');
    const [stale] = rows('cleaned');
    await vscode.commands.executeCommand('objectVersions.cleanUpAssociation', stale?.node);
    await until('that no finding is left', () => (findings('cleaned').length === 0 ? true : undefined));
    const left = rows('cleaned').map(({ node }) => (node.type === 'detail' ? node.association?.uid : undefined));
    assert.ok(!left.includes(undefined) && left.every((own) => own === uid), 'only what the rule finds in the new one');
  });
});
