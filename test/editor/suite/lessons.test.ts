import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { readLesson } from '../../../src/lab/readLesson.ts';
import { closeAll, extension, removeAllWatches, set, until } from '../extension.ts';
import { click, screenshot, texts } from '../window.ts';

interface CheckResult {
  readonly text: string;
  readonly passed: boolean;
}

const folder = join(__dirname, '..', '..', '..', '..', 'src', 'lab', 'data', 'lessons');
const files = readdirSync(folder).sort();
const lessonOf = (file: string): ReturnType<typeof readLesson> =>
  readLesson(readFileSync(join(folder, file), 'utf8'), file);

describe('lessons, on the sandbox', () => {
  const run = <T>(command: string, ...args: unknown[]): Thenable<T> =>
    vscode.commands.executeCommand<T>(`objectVersions.${command}`, ...args);
  const check = (): Thenable<readonly CheckResult[] | undefined> => run('checkStep');
  const solve = (): Thenable<readonly CheckResult[] | undefined> => run('solveStep');

  before(async () => {
    await removeAllWatches(await extension());
    await closeAll();
  });

  after(async () => {
    await run('endLesson');
    await run('stopSandbox');
    await closeAll();
  });

  it('a step that nobody did fails its check, and its page says what does not hold', async function () {
    this.timeout(120_000);
    await run('startLesson', 'name-and-uid');
    const results = await check();
    assert.ok(results?.some(({ passed }) => !passed) === true, JSON.stringify(results));
    await until('the page of the lesson', async () => {
      const shown = await texts('.checks .fails');
      return shown === undefined || shown.length > 0 ? true : undefined;
    });
    await run('lessons.focus');
    await new Promise((later) => setTimeout(later, 1000));
    await screenshot('lesson');
  });

  it('a learner who edits the object by hand passes the step', async function () {
    if ((await texts('body')) === undefined) return;
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
