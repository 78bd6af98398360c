import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, metadata, must, namespace } from '../apiServer.ts';
import { closeAll, extension, objectRow, removeAllWatches, rowsBelow, until, useKubeconfig } from '../extension.ts';
import { needWindow, press, screenshot, texts } from '../window.ts';

describe('around an object', () => {
  let api: ObjectVersionsApi;
  let ns: string;

  before(async () => {
    api = await extension();
    await removeAllWatches(api);
    await useKubeconfig({ around: { server: apiServer.url.origin } });
    ns = await namespace('around');
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    await api.addWatch('around', `configmaps in ${ns}`);
  });

  after(closeAll);

  it('its owner, what it owns by UID, and the core Events about it come onto tree and timeline when asked for', async function () {
    needWindow(this);
    const base = `/api/v1/namespaces/${ns}`;
    const uidOf = async (path: string, body: object): Promise<string> =>
      metadata(await must('POST', `${base}/${path}`, body))['uid'] ?? '';
    const owned = (kind: string, name: string, by: string, uid: string): object => ({
      apiVersion: 'v1',
      kind,
      metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: by, uid }] },
    });
    const top = await uidOf('configmaps', configMap('top', {}) as object);
    const middle = await uidOf('configmaps', owned('ConfigMap', 'middle', 'top', top));
    await must('POST', `${base}/serviceaccounts`, owned('ServiceAccount', 'below', 'middle', middle));
    await must('POST', `${base}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'apart' },
    });
    const event = (name: string, uid: string): object => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name },
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: ns, name: 'middle', uid },
      reason: 'Tested',
      type: 'Normal',
    });
    await must('POST', `${base}/events`, event('about-it', middle));
    await must('POST', `${base}/events`, event('about-an-old-one', 'another-uid'));
    const row = await until('the row', () => objectRow(api, 'middle'));
    const looking = vscode.commands.executeCommand('objectVersions.showRelated', row.node);
    const shown = await until('the question', async () => {
      const found = await texts('.quick-input-widget');
      return found?.some((text) => text.includes('Events about it')) === true ? found.join(' ') : undefined;
    });
    for (const part of ['ConfigMap top', 'ServiceAccount below']) assert.ok(shown.includes(part), part);
    assert.ok(!shown.includes('apart'));
    await screenshot('related-objects');
    await press('Enter');
    await looking;
    await until('the account that it owns', () => objectRow(api, 'below'));
    await until('the event about it', () => objectRow(api, 'about-it'));
    assert.equal(objectRow(api, 'about-an-old-one'), undefined, 'an event about another UID is not about it');
    assert.equal(objectRow(api, 'apart'), undefined);
  });

  it('a reference by name only says who holds the name now, and that it was created again since', async () => {
    const base = `/api/v1/namespaces/${ns}`;
    for (const resource of ['secrets', 'serviceaccounts']) await api.addWatch('around', `${resource} in ${ns}`);
    const keys = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' } };
    const verdict = (): string | undefined => {
      const account = objectRow(api, 'pulls');
      return account === undefined
        ? undefined
        : rowsBelow(api, 3, account.node).find(({ label }) => label === 'Secret keys')?.description;
    };
    await must('POST', `${base}/secrets`, keys);
    await until('the first', () => objectRow(api, 'keys'));
    await must('POST', `${base}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'pulls' },
      imagePullSecrets: [{ name: 'keys' }],
    });
    assert.match(await until('the reference', verdict), /^by name only: now \S+$/);
    await must('DELETE', `${base}/secrets/keys`);
    await until('the end', () => (verdict()?.endsWith('held the name and is gone') === true ? true : undefined));
    const uid = metadata(await must('POST', `${base}/secrets`, keys))['uid'] ?? '?';
    const said = await until('the next', () => (verdict()?.includes('recreated') === true ? verdict() : undefined));
    assert.equal(said, `by name only: now ${uid.slice(0, 8)}, recreated since this was written`);
  });
});
