import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import type { Finding } from '../../../src/core/findings/finding.ts';
import { metadata, must } from '../apiServer.ts';
import { closeAll, objectRow, rowsBelow, set, until } from '../extension.ts';
import { watchedNamespace } from '../watched.ts';
import { press, screenshot, texts, type } from '../window.ts';

describe('fields that belong to others', () => {
  let api: ObjectVersionsApi;
  let ns: string;
  let base: string;

  before(async () => {
    const watched = await watchedNamespace('owners', 'configmaps', 'deployments');
    ({ api, ns } = watched);
    base = watched.path();
  });

  afterEach(async () => {
    await set('write.strategy', undefined);
    await set('responsibilityPresets', undefined);
    await set('readOnly', undefined);
    await closeAll();
  });

  /** Another actor applies a label, so that it alone owns it. */
  async function applied(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { tier: 'back' } } };
    await must('PATCH', `${base}/${name}`, body, 'platform', 'application/apply-patch+yaml');
  }

  async function question(words: string): Promise<void> {
    await until(`the question "${words}"`, async () =>
      (await texts('.quick-input-widget'))?.some((item) => item.includes(words)),
    );
    await new Promise((later) => setTimeout(later, 300));
  }

  async function labels(name: string): Promise<Record<string, string>> {
    return metadata(await must('GET', `${base}/${name}`))['labels'] as unknown as Record<string, string>;
  }

  async function applyLabel(name: string, answer: string[]): Promise<void> {
    const row = await until('the row', () => objectRow(api, name));
    await set('write.strategy', 'apply');
    const editing = vscode.commands.executeCommand('objectVersions.setLabel', row.node);
    await question('NAME=VALUE');
    await type('tier=front');
    await press('Enter');
    await question('belongs to platform');
    await screenshot('field-conflict');
    for (const key of answer) await press(key);
    await editing;
  }

  async function hasKeyboard(): Promise<boolean> {
    return (await texts('.monaco-workbench')) !== undefined;
  }

  it('at the end of a line stands who owns the field and who changed it last', async () => {
    await must('POST', base, { metadata: { name: 'first' } }, 'maker');
    await until('that the watch has begun', () => objectRow(api, 'first'));
    await must('POST', base, { metadata: { name: 'blamed' }, data: { moved: 'a', kept: 'a' } }, 'maker');
    const row = await until('the row', () => objectRow(api, 'blamed'));
    await vscode.commands.executeCommand('objectVersions.openObject', row.node);
    const document = await until(
      'its document',
      () =>
        vscode.window.visibleTextEditors.find(({ document: one }) => one.uri.path.endsWith('/blamed.yaml'))?.document,
    );
    const hintAt = async (key: string): Promise<unknown> => {
      const whole = new vscode.Range(0, 0, document.lineCount, 0);
      const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
        'vscode.executeInlayHintProvider',
        document.uri,
        whole,
      );
      return hints.find(({ position }) => document.lineAt(position.line).text.trim().startsWith(key))?.label;
    };
    assert.match(String(await hintAt('kept:')), /^\u2003◂ maker · as created by maker at [\d:]+/);
    await must('PATCH', `${base}/blamed`, { data: { moved: 'b' } }, 'mover', 'application/merge-patch+json');
    await until('the new text', () => document.getText().includes('moved: b') || undefined);
    await until(
      'who changed it',
      async () => /^\u2003◂ mover · changed by mover at [\d:]+/.test(String(await hintAt('moved:'))) || undefined,
    );
    assert.match(String(await hintAt('kept:')), /^\u2003◂ maker · as created by maker at [\d:]+/);
  });

  it('a field of another is taken over only where a person says so, and then by this very field', async () => {
    if (!(await hasKeyboard())) return;
    await applied('taken');
    await applyLabel('taken', ['ArrowDown', 'ArrowDown', 'Enter']);
    assert.equal((await labels('taken'))['tier'], 'front');
    const fields = metadata(await must('GET', `${base}/taken`))['managedFields'] as unknown as { manager: string }[];
    assert.ok(fields.some(({ manager }) => manager === 'object-versions'));
  });

  it('a claim is given up again, and the value stays', async () => {
    if (!(await hasKeyboard())) return;
    const row = await until('the row', () => objectRow(api, 'taken'));
    const releasing = vscode.commands.executeCommand('objectVersions.releaseField', row.node);
    await question('Give up the claim');
    await type('.metadata.labels.tier');
    await press('Enter');
    await releasing;
    assert.equal((await labels('taken'))['tier'], 'front');
    const fields = metadata(await must('GET', `${base}/taken`))['managedFields'] as unknown as object[] | undefined;
    assert.ok(!JSON.stringify(fields ?? []).includes('f:tier'), 'nobody owns it now');
  });

  it('what is left to the other stays as it is', async () => {
    if (!(await hasKeyboard())) return;
    await applied('left');
    await applyLabel('left', ['Enter']);
    assert.equal((await labels('left'))['tier'], 'back');
  });

  it('any one field can be set, by its path and as JSON, and removed', async () => {
    if (!(await hasKeyboard())) return;
    await must('POST', base, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'field' },
      data: { 'a.b': '1' },
    });
    const row = await until('the row', () => objectRow(api, 'field'));
    const setField = async (value: string): Promise<unknown> => {
      const editing = vscode.commands.executeCommand('objectVersions.setField', row.node);
      await question('Which field?');
      await type('.data["a.b"]');
      await press('Enter');
      await question('New value of');
      await press('Control+A');
      await (value === '' ? press('Delete') : type(value));
      await press('Enter');
      await editing;
      return (await must('GET', `${base}/field`))['data'];
    };
    assert.deepEqual(await setField('"two words"'), { 'a.b': 'two words' });
    assert.equal(await setField(''), undefined);
  });

  it('a question that is not answered forces nothing', async () => {
    if (!(await hasKeyboard())) return;
    await applied('asked');
    // The command ends when its notification is answered, which nobody does here.
    void applyLabel('asked', ['Escape']);
    await until('the question', async () =>
      (await texts('.quick-input-widget'))?.some((text) => text.includes('belongs to platform')),
    );
    await until('that the question is closed', async () => {
      const shown = await texts('.quick-input-widget');
      return shown?.some((text) => text.includes('belongs to platform')) === true ? undefined : true;
    });
    await new Promise((later) => setTimeout(later, 1000));
    assert.equal((await labels('asked'))['tier'], 'back');
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('replicas that an autoscaler owns are asked about, unless the presets are switched off', async () => {
    if (!(await hasKeyboard())) return;
    const path = `/apis/apps/v1/namespaces/${ns}/deployments`;
    await must(
      'POST',
      path,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'scaled' },
        spec: {
          replicas: 4,
          selector: { matchLabels: { app: 'scaled' } },
          template: { metadata: { labels: { app: 'scaled' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      'kube-controller-manager',
    );
    const row = await until('the row', () => objectRow(api, 'scaled'));
    const scale = async (): Promise<unknown> => {
      const editing = vscode.commands.executeCommand('objectVersions.scale', row.node);
      await question('Replicas');
      await press('Control+A');
      await type('2');
      await press('Enter');
      await editing;
      return (await must('GET', `${path}/scaled`))['spec'];
    };
    const details = rowsBelow(api, 4, row.node);
    assert.ok(details.some(({ label }) => label === 'kube-controller-manager is responsible'));
    // VS Code shows no modal question while it runs tests, which counts as no.
    assert.equal(((await scale()) as { replicas: number }).replicas, 4);
    await set('responsibilityPresets', false);
    assert.equal(((await scale()) as { replicas: number }).replicas, 2);
    const breach = (): Finding | undefined =>
      api.findings().find(({ id, object }) => id === 'responsibility-breach' && object.name === 'scaled');
    // A version is judged when an event comes after the time in which its author may still become known.
    await new Promise((later) => setTimeout(later, 2500));
    await must('POST', base, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later' } });
    await until('the event', () => objectRow(api, 'later'));
    assert.equal(breach(), undefined, 'nobody is declared responsible');
    await set('responsibilityPresets', undefined);
    const found = await until('the finding about it', breach);
    assert.deepEqual(found.fields, ['.spec.replicas']);
    assert.match(found.explanation, /kube-controller-manager is declared responsible/);
  });
});
