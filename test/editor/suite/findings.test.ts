import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { defaultThresholds } from '../../../src/core/findings/options.ts';
import { thresholdsFrom } from '../../../src/editor/findings/thresholds.ts';
import { closeAll, extension, folder, until } from '../extension.ts';

describe('findings and traces', () => {
  after(closeAll);

  it('thresholds come from the settings, and what is not set or makes no sense is the default', () => {
    const { maxObjects: _o, maxVersions: _v, maxFindings: _f, externalReferences: _e, ...defaults } = defaultThresholds;
    assert.deepEqual(thresholdsFrom({}), defaults);
    assert.deepEqual(
      thresholdsFrom({ conflictLoopCount: 0, noOpWritesSeconds: 'many', generationLagSeconds: NaN }),
      defaults,
    );
    assert.deepEqual(thresholdsFrom({ conflictLoopCount: 3, conflictLoopSeconds: 2, generationLagSeconds: 5 }), {
      ...defaults,
      conflictLoop: { count: 3, windowMs: 2000 },
      generationLagMs: 5000,
    });
  });

  it('an imported trace leaves the hashes of its Secrets behind: its key is not ours', async () => {
    const api = await extension();
    const file = join(folder, 'with-secret.ovtrace.jsonl');
    const observed = (seq: number, resource: string, kind: string): object => {
      const metadata = { name: 'imported', namespace: 'n', uid: `uid-${resource}`, resourceVersion: 'x' };
      return {
        seq,
        at: seq,
        via: 'watch',
        cluster: 'imported',
        type: 'observed',
        name: { group: '', resource, namespace: 'n', name: 'imported' },
        uid: metadata.uid,
        token: 'x',
        kind,
        apiVersion: 'v1',
        stream: 's',
        change: 'ADDED',
        body: { apiVersion: 'v1', kind, metadata, data: { password: 'hmac:of-another-key' } },
      };
    };
    const header = { trace: 'object-versions', version: 1, createdAt: 1, creator: 'test' };
    const lines = [header, observed(1, 'secrets', 'Secret'), observed(2, 'configmaps', 'ConfigMap')];
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    await vscode.commands.executeCommand('objectVersions.importTrace', vscode.Uri.file(file));
    const bodyOf = (resource: string): unknown =>
      api.history().uids.get(`imported\0uid-${resource}`)?.versions[0]?.body;
    await until('the ConfigMap with its content', () => bodyOf('configmaps'));
    assert.equal(bodyOf('secrets'), undefined);
    assert.ok(api.history().uids.has('imported\0uid-secrets'), 'that it is there is known');
  });
});
