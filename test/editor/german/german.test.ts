import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { closeAll, extension, rowsBelow, until } from '../extension.ts';
import { needWindow, press, texts } from '../window.ts';

describe('in a German window', () => {
  let api: ObjectVersionsApi;

  before(async function () {
    needWindow(this);
    this.timeout(120_000);
    assert.equal(vscode.env.language, 'de');
    api = await extension();
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    await vscode.commands.executeCommand('objectVersions.startSandbox');
    await until(
      'a Deployment',
      () => rowsBelow(api, 3).find(({ node, label }) => node.type === 'object' && label === 'web'),
      60_000,
    );
  });

  after(async () => {
    await vscode.commands.executeCommand('objectVersions.stopSandbox');
    await closeAll();
  });

  it('a command that is run without a row asks under its German name', async () => {
    const running = vscode.commands.executeCommand('objectVersions.copyName');
    const [title] = await until('the question', async () => {
      const found = ((await texts('.quick-input-title')) ?? []).filter((text) => text !== '');
      return found.length > 0 ? found : undefined;
    });
    await press('Escape');
    await running;
    assert.equal(title, 'Namen kopieren');
  });

  it('the rows of an object say how far its controller is, and what is known of it, in German', async () => {
    await until('a generation that lags, said on the row', () =>
      rowsBelow(api, 3).find(({ label, description }) => label === 'web' && description.includes('noch nicht gesehen')),
    );
    const said = rowsBelow(api, 6).flatMap(({ label, description }) => (label === 'Generation' ? [description] : []));
    const ofControllers = /^\d+ · beobachtet \d+ · (aktuell|noch nicht gesehen)$/;
    assert.ok(
      said.some((description) => ofControllers.test(description)),
      said.join('\n'),
    );
    const [cluster] = api.rows();
    assert.equal(cluster?.label, 'Sandbox in diesem Fenster');
  });
});
