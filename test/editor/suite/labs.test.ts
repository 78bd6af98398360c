import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, send } from '../apiServer.ts';
import { closeAll, extension, removeAllWatches, set, until, useKubeconfig } from '../extension.ts';
import { choosePlace, clickOn, says } from '../labPlace.ts';
import { needWindow, press, screenshot, texts, type } from '../window.ts';

describe('the labs’ pages', function () {
  // Keys and clicks go to a real window, which may be busy when they come: a test that misses one has a second go.
  this.retries(1);
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

  afterEach(() => closeAll());

  const open = async (command: string): Promise<void> => {
    await vscode.commands.executeCommand(`objectVersions.${command}`);
    await says('the page', 'h1', /./);
  };
  const writesOf = (prefix: string): { outcome: string; token: string }[] =>
    [...api.history().names.values()]
      .filter(({ name }) => name.name.startsWith(prefix))
      .flatMap(({ writes }) => writes)
      .map((write) => ({
        outcome: write.outcome,
        token: `${write.at} ${write.verb} ${write.actor.manager ?? ''} ${write.outcome}`,
      }));

  it('modular: eight predictions by keyboard, and 0 comes after 7', async function () {
    needWindow(this);
    this.timeout(120_000);
    await open('labModular');
    await says('the disclaimer', '.disclaimer', /resourceVersion/);
    await clickOn('.beside input');
    for (const next of ['1', '2', '3', '4', '5', '6', '7', '0']) {
      await type(next);
      await press('Enter');
      await says(`step to ${next}`, '.result', new RegExp(`: \\D*\\d+\\D+${next}\\.`));
    }
    await says('the question', 'legend', /7.*0/);
    await screenshot('lab-modular');
  });

  it('replay: each step after its prediction, on the timeline once, and nothing is left', async function () {
    needWindow(this);
    this.timeout(240_000);
    await open('labReplay');
    await clickOn('.replay .primary');
    for (let step = 1; ; step += 1) {
      await says(`step ${step}`, '.current h2, .result', new RegExp(`^(${step}\\.|✓|.*contract)`));
      if (((await texts('.current h2')) ?? []).length === 0) break;
      await clickOn('.choice input');
      await clickOn('.question .primary');
      await says(`the card of step ${step}`, '.card h2', new RegExp(` ${step}\\. `));
    }
    await says('the verdict', '.result', /behaved as the contract says/);
    await screenshot('lab-replay');
    await clickOn('.place .link:last-child');
    await says('the timeline, at what the lab wrote', '.details', /versions-replay-/);
    const writes = writesOf('versions-replay-');
    assert.equal(writes.filter(({ outcome }) => outcome === 'version-conflict').length, 2, JSON.stringify(writes));
    assert.ok(writes.some(({ outcome }) => outcome === 'field-conflict'));
    assert.equal(new Set(writes.map(({ token }) => token)).size, writes.length, 'no write is there twice');
    assert.ok(
      api.findings().some(({ id }) => id === 'lost-update'),
      'the token swap is found',
    );
  });

  it('contention: counts while it runs, and the token swap loses updates', async function () {
    needWindow(this);
    this.timeout(120_000);
    await open('labContention');
    await clickOn('.settings input[type=checkbox]');
    await clickOn('.settings .primary');
    await until(
      'both ends',
      async () => {
        const ends = (await texts('.run .result')) ?? [];
        return ends.length === 2 && ends.every((text) => text.length > 2) ? true : undefined;
      },
      100_000,
    );
    const lost = (await texts('.count.lost dd')) ?? [];
    assert.ok(Number(lost[0]) > 0 && lost[1] === '0', lost.join());
    await screenshot('lab-contention');
  });

  it('replay on a cluster and in a namespace that the person chose; closing the panel in the middle removes the object', async function () {
    needWindow(this);
    this.timeout(120_000);
    await set('protectedContexts', undefined);
    await useKubeconfig({ 'lab-cluster': { server: apiServer.url.href } });
    await open('labReplay');
    await choosePlace('lab-cluster', 'default');
    const left = async (): Promise<string[]> => {
      const { body } = await send('GET', '/api/v1/namespaces/default/configmaps');
      const { items } = body as unknown as { items: { metadata: { name: string } }[] };
      return items.map((item) => item.metadata.name).filter((name) => name.startsWith('versions-replay-'));
    };
    // VS Code shows no modal question while it runs tests, which counts as no.
    await set('protectedContexts', ['lab-*']);
    await clickOn('.replay .primary');
    await new Promise((later) => setTimeout(later, 700));
    await says('that it can be started', '.replay .primary', /Start/);
    assert.deepEqual(await left(), [], 'a protected context is not written to without a yes');
    assert.equal((await texts('.current h2'))?.length, 0);
    await set('protectedContexts', undefined);
    await clickOn('.replay .primary');
    await says('step 1', '.current h2', /^1\./);
    await clickOn('.choice input');
    await clickOn('.question .primary');
    await says('step 2', '.current h2', /^2\./);
    assert.equal((await left()).length, 1);
    await closeAll();
    await until('nothing is left', async () => ((await left()).length === 0 ? true : undefined));
    await open('labReplay');
    await choosePlace('sandbox');
  });
});
