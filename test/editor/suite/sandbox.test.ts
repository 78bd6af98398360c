import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { closeAll, extension, folder, removeAllWatches, rowsBelow, until } from '../extension.ts';
import { needWindow, screenshot, texts } from '../window.ts';

describe('the sandbox, without any cluster', () => {
  let api: ObjectVersionsApi;

  before(async () => {
    api = await extension();
    await removeAllWatches(api);
    await closeAll();
  });

  after(async () => {
    await vscode.commands.executeCommand('objectVersions.stopSandbox');
    await closeAll();
  });

  it('starts by one command, and its objects and refused writes appear', async function () {
    this.timeout(120_000);
    await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
    await vscode.commands.executeCommand('objectVersions.startSandbox');
    await vscode.commands.executeCommand('objectVersions.openTimeline');
    const row = await until(
      'a Deployment',
      () => rowsBelow(api, 3).find(({ node, label }) => node.type === 'object' && label === 'web'),
      30_000,
    );
    assert.deepEqual(
      api.rows().map(({ label }) => label),
      ['Sandbox in this window'],
    );
    await until(
      'a refused write',
      () =>
        [...api.history().names.values()]
          .flatMap(({ writes }) => writes)
          .find(({ outcome, via }) => outcome === 'version-conflict' && via === 'sandbox'),
      60_000,
    );
    await until('its finding', () => api.findings().find(({ id }) => id === 'version-conflict'));
    assert.deepEqual(
      api.findings().flatMap(({ id, explanation, fields }) => (id === 'token-reuse' ? [explanation, ...fields] : [])),
      [],
      'hashes under two keys are not taken for two contents',
    );
    assert.equal(
      api.findings().some(({ id }) => id === 'server-behind'),
      false,
      'a list on its way is not a server that is behind',
    );
    const details = await until('generation, observed generation and a verdict', () => {
      const shown = api.rows(row.node).flatMap((incarnation) => api.rows(incarnation.node));
      return shown.some(
        ({ label, description }) => label === 'Generation' && /^\d+ · observed \d+ · \w+/.test(description),
      )
        ? shown
        : undefined;
    });
    assert.match(details.find(({ label }) => label === 'Owners of fields')?.description ?? '', /deployer/);
    assert.ok(details.some(({ label }) => label === 'Versions'));
    await vscode.commands.executeCommand('list.focusFirst');
    await new Promise((later) => setTimeout(later, 1500));
    await screenshot('sandbox');
  });

  it('an object of it is shown on the timeline', async function () {
    needWindow(this);
    const row = await until('a Deployment', () =>
      rowsBelow(api, 3).find(({ node, label }) => node.type === 'object' && label === 'web'),
    );
    await vscode.commands.executeCommand('objectVersions.showOnTimeline', row.node);
    await until(
      'the Deployment on the timeline',
      async () => ((await texts('#app')) ?? []).some((text) => text.includes('web')) || undefined,
    );
    await screenshot('timeline-of-an-object');
  });

  it('what was seen opens from a file as a timeline of its own', async function () {
    needWindow(this);
    const file = join(folder, 'recorded.ovtrace.jsonl');
    const lines = [
      { trace: 'object-versions', version: 1, createdAt: 1, creator: 'test', clusters: { c1: { label: 'shop' } } },
      {
        seq: 1,
        at: 1000,
        via: 'watch',
        cluster: 'c1',
        type: 'observed',
        name: { group: '', resource: 'configmaps', namespace: 'n', name: 'from-a-file' },
        uid: 'u1',
        token: 'W/"a"',
        kind: 'ConfigMap',
        apiVersion: 'v1',
        stream: 's',
        change: 'ADDED',
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'from-a-file', namespace: 'n', uid: 'u1', resourceVersion: 'W/"a"' },
          data: { x: '1' },
        },
      },
      {
        seq: 2,
        at: 2000,
        via: 'watch',
        cluster: 'c1',
        type: 'observed',
        name: { group: '', resource: 'configmaps', namespace: 'n', name: 'from-a-file' },
        uid: 'u1',
        token: '0012',
        kind: 'ConfigMap',
        apiVersion: 'v1',
        stream: 's',
        change: 'MODIFIED',
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'from-a-file', namespace: 'n', uid: 'u1', resourceVersion: '0012' },
          data: { x: '2' },
        },
      },
    ];
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n') + '\n{"torn":');
    await closeAll();
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file));
    await until(
      'the timeline of the file',
      async () => ((await texts('#app')) ?? []).some((text) => text.includes('from-a-file')) || undefined,
    );
    await screenshot('trace-file');
    assert.ok(readFileSync(file, 'utf8').endsWith('{"torn":'), 'the file is not touched');
  });

  it('a trace from a newer version is refused with a sentence', async function () {
    needWindow(this);
    const file = join(folder, 'newer.ovtrace.jsonl');
    writeFileSync(file, '{"trace":"object-versions","version":99,"createdAt":1,"creator":"later"}\n');
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file)).then(undefined, () => undefined);
    await until(
      'the sentence',
      async () => ((await texts('h1')) ?? []).some((text) => text.includes('format version 99')) || undefined,
    );
  });
});
