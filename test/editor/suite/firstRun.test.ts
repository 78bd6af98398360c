import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { closeAll, extension, removeAllWatches, set, until } from '../extension.ts';
import { needWindow, notifications, press, screenshot, texts, type } from '../window.ts';

/** A machine that never saw a cluster: no kubeconfig, an empty home folder. */
describe('the first run', () => {
  const environment = { KUBECONFIG: process.env['KUBECONFIG'], HOME: process.env['HOME'] };
  let api: ObjectVersionsApi;
  let home: string;

  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'ov-home-'));
    delete process.env['KUBECONFIG'];
    process.env['HOME'] = home;
    api = await extension();
    await vscode.commands.executeCommand('objectVersions.stopSandbox');
    await set('kubeconfig', undefined);
    await removeAllWatches(api);
    await closeAll();
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  after(() => {
    for (const [name, value] of Object.entries(environment))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    rmSync(home, { recursive: true, force: true });
  });

  it('offers the sandbox and a kubeconfig, and shows no error', async function () {
    needWindow(this);
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    const shown = await until('the welcome', async () => {
      const found = await texts('.welcome-view .monaco-button');
      return found !== undefined && found.length > 0 ? found : undefined;
    });
    for (const offer of ['Start Sandbox', 'Choose Kubeconfig', 'Add Watch'])
      assert.ok(
        shown.some((text) => text.includes(offer)),
        `${offer} is missing among ${shown.join()}`,
      );
    await new Promise((later) => setTimeout(later, 1000));
    await screenshot('first-run');
    assert.deepEqual(await notifications(), [], 'nothing complains');
  });

  it('has its documentation with it', async function () {
    needWindow(this);
    const opening = vscode.commands.executeCommand('objectVersions.openDocumentation');
    await until('the pages', async () => {
      const found = (await texts('.quick-input-list')) ?? [];
      return found.some((text) => text.trimStart().startsWith('Names, UIDs, generations, tokens')) || undefined;
    });
    await type('Labs and lessons');
    await press('Enter');
    await opening;
    await until('the page', async () => ((await texts('h1')) ?? []).includes('Labs and lessons') || undefined);
    await closeAll();
  });

  it('asked for a cluster, it says in a sentence what is missing, and adds no watch', async function () {
    needWindow(this);
    const adding = vscode.commands.executeCommand('objectVersions.addWatch');
    const sentence = await until('the sentence', async () =>
      (await notifications()).find((text) => text.includes('There is no kubeconfig')),
    );
    for (const next of ['Start Sandbox', 'Choose Kubeconfig']) assert.ok(sentence.includes(next), sentence);
    assert.doesNotMatch(sentence, /--/, 'options are for a command line');
    await screenshot('first-run-no-kubeconfig');
    await press('Escape');
    await adding;
    assert.deepEqual(api.watches(), []);
    await vscode.commands.executeCommand('notifications.clearAll');
  });
});
