import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { JsonObject } from '../../../src/codec/json.ts';
import { answering } from '../answers.ts';
import { metadata, must } from '../apiServer.ts';
import { closeAll, objectRow, set, until } from '../extension.ts';
import { watchedNamespace, type Watched } from '../watched.ts';
import { needWindow, press, screenshot, texts, type } from '../window.ts';

describe('ready edits of a row', () => {
  let watched: Watched;
  let base: string;

  before(async function () {
    needWindow(this);
    watched = await watchedNamespace('ready', 'deployments');
    base = `/apis/apps/v1/namespaces/${watched.ns}/deployments`;
  });

  afterEach(async () => {
    await set('protectedContexts', undefined);
    await closeAll();
  });

  /** A Deployment that its manager `helm` made, with an annotation that `platform` applied. */
  async function deployed(name: string): Promise<void> {
    const labels = { app: name };
    const containers = [
      { name: 'main', image: 'example.test/web:1' },
      { name: 'side', image: 'example.test/side:1' },
    ];
    const made = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, finalizers: ['a.test/one', 'a.test/two'] },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    };
    await must('POST', base, made, 'helm');
    const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, annotations: { note: 'theirs' } } };
    await must('PATCH', `${base}/${name}`, applied, 'platform', 'application/apply-patch+yaml');
    await until('the row', () => objectRow(watched.api, name));
  }

  async function stored(name: string): Promise<JsonObject> {
    return must('GET', `${base}/${name}`);
  }

  function run(command: string, name: string): Thenable<unknown> {
    return vscode.commands.executeCommand(`objectVersions.${command}`, objectRow(watched.api, name)?.node);
  }

  /** Waits until the question that is open says something, and no key is lost in what still opens. */
  async function says(words: RegExp): Promise<void> {
    await until(`the question that says ${words}`, async () =>
      (await texts('.quick-input-widget'))?.some((item) => words.test(item)),
    );
    await new Promise((later) => setTimeout(later, 300));
  }

  /** Runs a command that asks for one value, where the question says who owns the field. */
  async function give(command: string, name: string, words: RegExp, text: string, below?: RegExp): Promise<void> {
    const editing = run(command, name);
    await says(words);
    await press('Control+A');
    await type(text);
    if (below !== undefined) await says(below);
    await press('Enter');
    await editing;
  }

  it('replicas are scaled, told before who owns them and since when', async () => {
    await deployed('scaled');
    const editing = run('scale', 'scaled');
    await says(/Replicas · Owner: helm \(Update\), since \d{4}-\d\d-\d\dT[\d:]+Z or earlier/);
    await screenshot('scale-with-owner');
    await press('Control+A');
    await type('5');
    await press('Enter');
    await editing;
    assert.equal((await specOf('scaled'))['replicas'], 5);
  });

  it('the image of one container is set, told before who owns it', async () => {
    await deployed('imaged');
    const editing = run('setImage', 'imaged');
    await says(/of which container/);
    await type('main');
    await press('Enter');
    await says(/Image of main · Owner: helm \(Update\), since /);
    await press('Control+A');
    await type('example.test/web:2');
    await press('Enter');
    await editing;
    const { template } = (await specOf('imaged')) as unknown as Pods;
    assert.deepEqual(
      template.spec.containers.map(({ image }) => image),
      ['example.test/web:2', 'example.test/side:1'],
    );
  });

  it('an annotation is set and removed; as its name is typed, its owner is told', async () => {
    await deployed('noted');
    await give('setAnnotation', 'noted', /NAME=VALUE/, 'note=ours', /Owner: platform \(Apply\), since /);
    assert.deepEqual(metadata(await stored('noted'))['annotations'], { note: 'ours' });
    await give('setAnnotation', 'noted', /NAME=VALUE/, 'note-');
    assert.equal(metadata(await stored('noted'))['annotations'], undefined);
  });

  it('a field is set, told who owns it with its path and with its value', async () => {
    await deployed('fielded');
    const editing = run('setField', 'fielded');
    await says(/Which field/);
    await type('.metadata.annotations.note');
    await says(/Owner: platform \(Apply\), since /);
    await press('Enter');
    await says(/New value of .+ · Owner: platform \(Apply\), since /);
    await press('Control+A');
    await type('"ours"');
    await press('Enter');
    await editing;
    assert.deepEqual(metadata(await stored('fielded'))['annotations'], { note: 'ours' });
  });

  it('one finalizer is removed after a yes that tells its owner, and no other', async () => {
    await deployed('held');
    const asked = await answering(
      (_question, [remove]) => remove,
      async () => {
        const editing = run('removeFinalizer', 'held');
        await says(/a\.test\/two/);
        await type('a.test/two');
        await press('Enter');
        await editing;
      },
    );
    assert.deepEqual(metadata(await stored('held'))['finalizers'], ['a.test/one']);
    assert.match(asked[0]?.sentence ?? '', /^Remove the finalizer a\.test\/two\?/);
    assert.match(asked[0]?.detail ?? '', /^Owner: helm \(Update\), since /);
  });

  it('before a write to a protected context stands whether it changes the desired state', async () => {
    await deployed('guarded');
    await set('protectedContexts', ['ready']);
    const details = async (during: () => Promise<unknown>): Promise<string> => {
      const asked = await answering((_question, [write]) => write, during);
      return asked.map(({ detail }) => detail).join('\n');
    };
    const labelled = await details(() => give('setLabel', 'guarded', /NAME=VALUE/, 'tier=front'));
    assert.match(labelled, /^This does not change the desired state\.\n\.metadata\.labels/);
    const noted = await details(() => give('setAnnotation', 'guarded', /NAME=VALUE/, 'mine=1'));
    // A Deployment counts a change of its annotations as one of its desired state.
    assert.match(noted, /^This changes the desired state\.\n\.metadata\.annotations/);
  });

  it('waiting until a generation is observed ends when its controller has reported it, and not before', async () => {
    await deployed('awaited');
    let ended = false;
    const waiting = Promise.resolve(run('waitUntilObserved', 'awaited')).then(() => (ended = true));
    const status = async (observedGeneration: number): Promise<void> => {
      const patched = { status: { observedGeneration } };
      await must('PATCH', `${base}/awaited/status`, patched, 'controller', 'application/merge-patch+json');
    };
    await status(Number(metadata(await stored('awaited'))['generation']) - 1);
    await new Promise((later) => setTimeout(later, 2000));
    assert.equal(ended, false);
    const generation = Number(metadata(await stored('awaited'))['generation']);
    await status(generation);
    await waiting;
    await until('the words about it', async () =>
      (await texts('.statusbar'))?.some((words) =>
        words.includes(`awaited: generation ${generation} is observed and current`),
      ),
    );
  });

  async function specOf(name: string): Promise<JsonObject> {
    return (await stored(name))['spec'] as JsonObject;
  }
});

/** What a Deployment's spec holds of pods. */
interface Pods {
  readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
}
