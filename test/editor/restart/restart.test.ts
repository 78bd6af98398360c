import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { must } from '../apiServer.ts';
import { extension, until } from '../extension.ts';

describe('after a restart', () => {
  let api: ObjectVersionsApi;

  before(async () => {
    api = await extension();
  });

  it('the watches that were added are still there, and those that were removed are not', async () => {
    const kept = api.watches().map(({ definition }) => `${definition.resource} ${definition.namespace ?? ''}`);
    assert.ok(
      kept.some((text) => text.startsWith('configmaps restart')),
      kept.join(', '),
    );
    assert.equal(
      kept.some((text) => text.startsWith('secrets restart')),
      false,
      kept.join(', '),
    );
  });

  it('the lab and the lesson that were left in the middle have left nothing behind', async () => {
    const { items } = await must('GET', '/api/v1/namespaces/default/configmaps');
    assert.doesNotMatch(JSON.stringify(items), /"versions-replay-|"feature-flags"/);
  });

  it('nothing is asked of a cluster before somebody looks, and then they start', async () => {
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    await until('a live watch', () => api.watches().find(({ status }) => status.phase === 'live'));
  });

  it("unsaved text is still there, and saving it takes nobody else's change back", async () => {
    const document = await until('the unsaved text', () =>
      vscode.workspace.textDocuments.find(({ uri, isDirty }) => isDirty && uri.path.endsWith('/kept.yaml')),
    );
    assert.match(document.getText(), /x: typed/);
    assert.equal(await document.save(), true);
    const stored = await must('GET', '/api/v1/namespaces/restart-kept/configmaps/kept');
    assert.deepEqual(stored['data'], { x: 'typed', other: 'meanwhile' });
  });

  it('the log is still there, and what happened while nobody watched is within a gap', async () => {
    const kept = await until('the history of an object', () =>
      [...api.history().names.values()].find(({ name }) => name.name === 'kept' && name.namespace === 'restart-kept'),
    );
    assert.equal(kept.incarnations.length, 1, 'the same incarnation goes on');
    await until('the gap, closed', () =>
      api.history().gaps.find(({ cause, to }) => cause === 'restart' && to !== undefined),
    );
    const gone = await until('the object that was deleted meanwhile', () => {
      const found = [...api.history().names.values()].find(({ name }) => name.name === 'short-lived');
      return found?.incarnations.at(-1)?.end === undefined ? undefined : found;
    });
    assert.equal(gone.incarnations.at(-1)?.end?.how, 'in-gap');
  });
});
