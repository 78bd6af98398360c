import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, configMap, must } from '../apiServer.ts';
import { extension, objectRow, removeAllWatches, rowsBelow, until, useKubeconfig } from '../extension.ts';

describe('before a restart', () => {
  let api: ObjectVersionsApi;

  before(async () => {
    api = await extension();
    await removeAllWatches(api);
    await useKubeconfig({ restart: { server: apiServer.url.origin } });
  });

  it('watches are added and removed', async () => {
    const name = 'restart-kept';
    await must('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }).catch(
      () => undefined,
    );
    await must('POST', `/api/v1/namespaces/${name}/configmaps`, configMap('kept', { x: '1' })).catch(() => undefined);
    await must('POST', `/api/v1/namespaces/${name}/configmaps`, configMap('short-lived', { x: '1' })).catch(
      () => undefined,
    );
    await api.addWatch('restart', `configmaps in ${name}`);
    await api.addWatch('restart', `secrets in ${name}`);
    await until('the row', () => objectRow(api, 'kept'));
    await until('the other row', () => objectRow(api, 'short-lived'));
    const secrets = rowsBelow(api, 2).find(({ node, label }) => node.type === 'watch' && label === 'secrets');
    await vscode.commands.executeCommand('objectVersions.removeWatch', secrets?.node);
  });
});
