import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { readLesson } from '../../../src/lab/readLesson.ts';
import type { ObjectVersionsApi } from '../../../src/editor/app/api.ts';
import { apiServer, must } from '../apiServer.ts';
import { closeAll, extension, removeAllWatches, rowsBelow, set, until, useKubeconfig } from '../extension.ts';
import { choosePlace } from '../labPlace.ts';
import { click, needWindow, notifications, screenshot, texts } from '../window.ts';

interface CheckResult {
  readonly text: string;
  readonly passed: boolean;
}

const folder = join(__dirname, '..', '..', '..', '..', 'src', 'lab', 'data', 'lessons');
const files = readdirSync(folder).sort();
const lessonOf = (file: string): ReturnType<typeof readLesson> =>
  readLesson(readFileSync(join(folder, file), 'utf8'), file);

describe('lessons', () => {
  const run = <T>(command: string, ...args: unknown[]): Thenable<T> =>
    vscode.commands.executeCommand<T>(`objectVersions.${command}`, ...args);
  const check = (): Thenable<readonly CheckResult[] | undefined> => run('checkStep');
  const solve = (): Thenable<readonly CheckResult[] | undefined> => run('solveStep');

  let api: ObjectVersionsApi;

  before(async () => {
    api = await extension();
    await run('stopSandbox');
    await removeAllWatches(api);
    await closeAll();
  });

  after(async () => {
    await run('endLesson');
    await run('stopSandbox');
    await closeAll();
  });

  it('a step that nobody did fails its check', async function () {
    this.timeout(120_000);
    await run('startLesson', 'name-and-uid');
    const results = await check();
    assert.ok(results?.some(({ passed }) => !passed) === true, JSON.stringify(results));
  });

  it('its page says what does not hold', async function () {
    needWindow(this);
    this.timeout(120_000);
    await run('startLesson', 'name-and-uid');
    await check();
    await until('the page of the lesson', async () => ((await texts('.checks .fails')) ?? []).length > 0 || undefined);
    await run('lessons.focus');
    await new Promise((later) => setTimeout(later, 1000));
    await screenshot('lesson');
  });

  it('is on a sandbox where nobody else is at work, and the tree shows what the lesson is about', async () => {
    await run('startLesson', 'name-and-uid');
    assert.deepEqual(
      api.watches().map(({ definition }) => `${definition.resource} in ${definition.namespace ?? ''}`),
      ['configmaps in default'],
    );
    await until('the object', () => rowsBelow(api, 3).find(({ label }) => label === 'feature-flags'));
    const writers = new Set(
      [...api.history().names.values()]
        .flatMap(({ writes }) => writes)
        .filter(({ via }) => via === 'sandbox')
        .map(({ actor }) => actor.user),
    );
    assert.ok(!writers.has('deployer') && !writers.has('autoscaler'), [...writers].join());
  });

  it('a wrong prediction is told, and stays wrong', async function () {
    needWindow(this);
    this.timeout(60_000);
    await run('startLesson', 'opaque-token');
    const answer = 'label.choice:has-text("another")';
    await until('the question', async () => (await click(answer)) || undefined);
    await click('.question button.primary');
    await until(
      'what the contract says',
      async () =>
        ((await texts('.wrong')) ?? []).some((text) => text.includes('The contract says: the same')) || undefined,
    );
    assert.deepEqual(await texts('.question button.primary'), [], 'there is no second prediction');
    await run('endLesson');
  });

  it('stopping the sandbox ends the lesson, and says so', async function () {
    this.timeout(60_000);
    await run('startLesson', 'name-and-uid');
    await run('stopSandbox');
    await until('that no lesson runs', async () => ((await check()) === undefined ? true : undefined));
    needWindow(this);
    await until(
      'the sentence',
      async () =>
        (await notifications()).some((text) => text.includes('has ended: its server was stopped')) || undefined,
    );
    await screenshot('lesson-without-server');
    await vscode.commands.executeCommand('notifications.clearAll');
    await run('startLesson', 'name-and-uid');
    assert.ok(
      (await check())?.some(({ passed }) => !passed),
      'and it can be started again',
    );
    await run('endLesson');
  });

  it('a learner who edits the object by hand passes the step', async function () {
    needWindow(this);
    this.timeout(60_000);
    await run('startLesson', 'name-and-uid');
    await until(
      'the object’s link',
      async () => (await click('button:has-text("Open configmaps/feature-flags")')) || undefined,
    );
    const editor = await until('the object in an editor', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.getText().includes('name: feature-flags')),
    );
    const text = editor.document.getText();
    const whole = new vscode.Range(0, 0, editor.document.lineCount, 0);
    await editor.edit((edit) =>
      edit.replace(whole, text.replace('metadata:\n', 'metadata:\n  labels:\n    seen: "yes"\n')),
    );
    await vscode.window.showTextDocument(editor.document);
    await vscode.commands.executeCommand('workbench.action.files.save');
    await until('the step to pass', async () => (await check())?.every(({ passed }) => passed) || undefined);
    await screenshot('lesson-by-hand');
    await run('endLesson');
    await closeAll();
  });

  it('what is held unsaved stays as Ben is faster, and saving it keeps what Ben wrote', async function () {
    needWindow(this);
    this.timeout(120_000);
    await run('startLesson', 'conflict-and-recompute');
    const link = 'button:has-text("Open configmaps/counter")';
    await until('the object’s link', async () => (await click(link)) || undefined);
    const editor = await until('the object in an editor', () =>
      vscode.window.visibleTextEditors.find(({ document }) => document.getText().includes('name: counter')),
    );
    const count = async (from: string, to: string): Promise<void> => {
      const text = await until(`a count of ${from}`, () => {
        const now = editor.document.getText();
        return now.includes(`count: "${from}"`) ? now : undefined;
      });
      const whole = new vscode.Range(0, 0, editor.document.lineCount, 0);
      await editor.edit((edit) => edit.replace(whole, text.replace(`count: "${from}"`, `count: "${to}"`)));
    };
    const save = async (): Promise<void> => {
      await vscode.window.showTextDocument(editor.document, editor.viewColumn);
      await vscode.commands.executeCommand('workbench.action.files.save');
      await until('the saved document', () => !editor.document.isDirty || undefined);
    };
    const predict = async (answer: string): Promise<void> => {
      await until(answer, async () => (await click(`label.choice:has-text("${answer}")`)) || undefined);
      await click('.question button.primary');
      await until('the check', async () => (await click('button:has-text("Check")')) || undefined);
    };
    await count('0', '1');
    await save();
    await count('1', '2');
    await predict('200, with another token');
    await until(
      'Ben',
      async () => ((await texts('h3')) ?? []).some((text) => text.includes('Ben was faster')) || undefined,
    );
    assert.ok(editor.document.isDirty && editor.document.getText().includes('count: "2"'));
    await save();
    const kept = await until('what is stored now', () => {
      const text = editor.document.getText();
      return text.includes('ben: was here') ? text : undefined;
    });
    assert.match(kept, /count: "2"/);
    await predict('409, and nothing is written');
    await until(
      'the next step',
      async () => ((await texts('h3')) ?? []).some((text) => text.includes('What swapping')) || undefined,
    );
    await screenshot('lesson-ben-was-faster');
    await run('endLesson');
    await closeAll();
  });

  it('its terminal means the sandbox', async function () {
    needWindow(this);
    this.timeout(60_000);
    await run('startLesson', 'name-and-uid');
    await until('the terminal’s link', async () => (await click('button:has-text("Open a terminal")')) || undefined);
    const terminal = await until('the terminal', () =>
      vscode.window.terminals.find(({ name }) => name === 'Sandbox in this window'),
    );
    const { env, message } = terminal.creationOptions as vscode.TerminalOptions;
    const kubeconfig = env?.['KUBECONFIG'] ?? '';
    assert.match(kubeconfig, /sandbox-\d+\.kubeconfig$/);
    assert.match(message ?? '', /^kubectl means the sandbox here; the lesson is in the namespace \S+\.$/);
    assert.ok(await click('button:has-text("Open a terminal")'), 'again');
    await new Promise((later) => setTimeout(later, 1000));
    const meant = vscode.window.terminals.filter(({ name }) => name === terminal.name);
    assert.equal(meant.length, 1, 'a lesson has one terminal, with the variables of its earlier steps');
    terminal.dispose();
    await run('endLesson');
    // What a window left behind that was killed: no process has that id.
    const left = join(dirname(kubeconfig), 'sandbox-99999999.kubeconfig');
    writeFileSync(left, '');
    await run('stopSandbox');
    assert.equal(existsSync(kubeconfig), false);
    await run('startSandbox', 'bare');
    assert.deepEqual([existsSync(kubeconfig), existsSync(left)], [true, false]);
    await closeAll();
  });

  it('its step of the walkthrough is done, though the walkthrough was first opened afterwards', async function () {
    needWindow(this);
    this.timeout(60_000);
    await run('startLesson', 'opaque-token');
    for (const _ of lessonOf('02-opaque-token.yaml').steps) await solve();
    await run('openWalkthrough');
    const done = await until('a step that is done', async () => {
      const steps = await texts('.getting-started-step:has(.codicon-getting-started-step-checked) .step-title');
      return steps?.some((text) => text.includes('token')) === true ? steps : undefined;
    });
    assert.ok(!done.some((text) => text.includes('Generation')), 'and no other one');
    await screenshot('walkthrough');
    await closeAll();
  });

  const playAll = (): void => {
    for (const file of files) {
      const lesson = lessonOf(file);
      it(`"${lesson.id}" is passed when each step is done, and no step passes by being skipped`, async function () {
        this.timeout(120_000);
        await run('startLesson', lesson.id);
        for (const step of lesson.steps) {
          const skipped = await check();
          assert.ok(skipped?.some(({ passed }) => !passed) === true, `${step.id} passed though nothing was done`);
          const done = await solve();
          assert.deepEqual(
            done?.filter(({ passed }) => !passed),
            [],
            step.id,
          );
        }
        assert.equal((await check()) ?? undefined, undefined, 'the lesson is over');
      });
    }
  };

  describe('each in turn, on the sandbox', playAll);

  describe('each in turn, on the real API server', () => {
    const left = async (): Promise<string[]> => {
      const { items } = await must('GET', '/api/v1/namespaces/default/configmaps');
      return (items as unknown as { metadata: { name: string } }[])
        .map(({ metadata }) => metadata.name)
        .filter((name) => name !== 'kube-root-ca.crt');
    };
    let standing: string[] = [];
    let isChosen = false;

    before(async function () {
      needWindow(this);
      this.timeout(180_000);
      standing = await left();
      await useKubeconfig({ 'lesson-cluster': { server: apiServer.url.href } });
      await run('labLessons');
      await choosePlace('lesson-cluster', 'default');
      isChosen = true;
    });

    after(async () => {
      if (!isChosen) return;
      await run('labLessons');
      await choosePlace('sandbox');
    });

    playAll();

    it('leave nothing behind', async () => {
      assert.deepEqual(await left(), standing);
    });
  });

  it('opens a lesson from a teacher’s file', async function () {
    this.timeout(60_000);
    await run('labLessonFile', vscode.Uri.file(join(folder, '02-opaque-token.yaml')));
    const done = await solve();
    assert.deepEqual(
      done?.filter(({ passed }) => !passed),
      [],
    );
    await run('endLesson');
  });

  it('a sandbox that a lesson began gets its actors when a person starts it, and the lesson ends', async function () {
    this.timeout(120_000);
    await run('stopSandbox');
    await run('startLesson', 'name-and-uid');
    assert.equal(
      rowsBelow(api, 3).find(({ label }) => label === 'web'),
      undefined,
    );
    await run('startSandbox');
    await until('what the actors work on', () => rowsBelow(api, 3).find(({ label }) => label === 'web'));
    assert.equal((await check()) ?? undefined, undefined, 'no lesson runs');
    await run('stopSandbox');
  });

  it('is not begun while writing is switched off', async function () {
    this.timeout(60_000);
    await set('readOnly', true);
    try {
      await run('startLesson', 'opaque-token');
      assert.equal((await check()) ?? undefined, undefined, 'no lesson runs');
    } finally {
      await set('readOnly', undefined);
    }
  });
});
