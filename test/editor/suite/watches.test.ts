import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, must, namespace } from '../apiServer.ts';
import { extension, folder, objectRow, rowsBelow, set, until, useKubeconfig } from '../extension.ts';

describe('watches', () => {
  let api: ObjectVersionsApi;
  let ns: string;

  before(async () => {
    api = await extension();
    ns = await namespace('watches');
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('here', { x: '1' }));
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
  });

  it('a failing one says so in one sentence on its own row, and the others go on', async () => {
    const silent = createServer((socket) => socket.destroy());
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    const port = (silent.address() as AddressInfo).port;
    await useKubeconfig({
      good: { server: apiServer.url.origin },
      stranger: { server: apiServer.url.origin, token: 'nobody' },
    });
    await api.addWatch('good', `configmaps in ${ns}`);
    await until('the good one', () => objectRow(api, 'here'));
    await assert.rejects(api.addWatch('stranger', 'configmaps'), /401|know|Unauthorized|not/i);
    await useKubeconfig({ good: { server: apiServer.url.origin }, dead: { server: `https://127.0.0.1:${port}` } });
    await assert.rejects(api.addWatch('dead', 'configmaps'));
    silent.close();
    await must('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('later', { x: '1' }));
    await until('what came later', () => objectRow(api, 'later'));
  });

  it('an unknown resource, context or kubeconfig is named in the error', async () => {
    await useKubeconfig({ good: { server: apiServer.url.origin } });
    await assert.rejects(api.addWatch('good', 'configmops'), /configmops/);
    await assert.rejects(api.addWatch('elsewhere', 'configmaps'), /elsewhere/);
    await set('kubeconfig', [join(folder, 'not-there.yaml')]);
    await assert.rejects(api.addWatch('some', 'configmaps'), /not-there\.yaml/);
    writeFileSync(join(folder, 'malformed.yaml'), 'contexts: [unclosed\n');
    await set('kubeconfig', [join(folder, 'malformed.yaml')]);
    await assert.rejects(api.addWatch('some', 'configmaps'), /malformed\.yaml/);
    await useKubeconfig({ good: { server: apiServer.url.origin } });
  });

  it('a wrong CA is told as such', async () => {
    const other = '-----BEGIN CERTIFICATE-----\nMIIBADCBpwIBATAKBggqhkjOPQQDAjAA\n-----END CERTIFICATE-----\n';
    await useKubeconfig({ badca: { server: apiServer.url.origin, ca: other } });
    await assert.rejects(api.addWatch('badca', 'configmaps'), (error: Error) => error.message.length > 10);
    await useKubeconfig({ good: { server: apiServer.url.origin } });
  });

  it('can be filtered, sorted and grouped', async () => {
    await vscode.commands.executeCommand('objectVersions.filter', 'later');
    assert.equal(objectRow(api, 'here'), undefined);
    assert.ok(objectRow(api, 'later'));
    await vscode.commands.executeCommand('objectVersions.clearFilter');
    assert.ok(objectRow(api, 'here'));
    await vscode.commands.executeCommand('objectVersions.sortByLastChange');
    const watch = rowsBelow(api, 2).find((row) => row.node.type === 'watch' && row.description.startsWith(ns));
    assert.ok(watch);
    assert.equal(api.rows(watch.node)[0]?.label, 'later');
    await vscode.commands.executeCommand('objectVersions.sortByName');
    await vscode.commands.executeCommand('objectVersions.groupBy', 'namespace');
    assert.equal(api.rows(watch.node)[0]?.label, ns);
    await vscode.commands.executeCommand('objectVersions.groupBy', 'none');
  });

  it('of many objects shows a page, and more on request', async () => {
    const many = await namespace('many');
    for (let index = 0; index < 25; index += 1)
      await must('POST', `/api/v1/namespaces/${many}/configmaps`, configMap(`item-${index}`, {}));
    await set('tree.pageSize', 10);
    try {
      await api.addWatch('good', `configmaps in ${many}`);
      const watch = await until('ten and more', () => {
        const row = rowsBelow(api, 2).find((item) => item.node.type === 'watch' && item.description.startsWith(many));
        return row !== undefined && api.rows(row.node).length === 11 ? row : undefined;
      });
      const more = api.rows(watch.node).at(-1);
      assert.equal(more?.node.type, 'more');
      await vscode.commands.executeCommand('objectVersions.showMore', more?.node);
      assert.equal(api.rows(watch.node).length, 21);
    } finally {
      await set('tree.pageSize', undefined);
    }
  });

  it('one that is removed is gone with its row', async () => {
    const row = rowsBelow(api, 2).find((item) => item.node.type === 'watch' && item.description.startsWith('many'));
    assert.ok(row);
    await vscode.commands.executeCommand('objectVersions.removeWatch', row.node);
    assert.equal(
      rowsBelow(api, 2).some((item) => item.node.id === row.node.id),
      false,
    );
  });
});
