import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { readLesson } from '../../../src/lab/lesson.ts';
import { closeAll, extension, removeAllWatches, until } from '../extension.ts';
import { screenshot, texts } from '../window.ts';

interface CheckResult {
  readonly text: string;
  readonly passed: boolean;
}

const folder = join(__dirname, '..', '..', '..', '..', 'src', 'lab', 'data', 'lessons');

describe('lessons, on the sandbox', () => {
  const check = (): Thenable<readonly CheckResult[]> => vscode.commands.executeCommand('objectVersions.checkStep');

  before(async () => {
    await removeAllWatches(await extension());
    await closeAll();
  });

  after(async () => {
    await vscode.commands.executeCommand('objectVersions.endLesson');
    await vscode.commands.executeCommand('objectVersions.stopSandbox');
    await closeAll();
  });

  it('a step that nobody did fails its check, and passes once it is done', async function () {
    this.timeout(120_000);
    await vscode.commands.executeCommand('objectVersions.startLesson', 'name-and-uid');
    const before = await check();
    assert.ok(
      before.some(({ passed }) => !passed),
      JSON.stringify(before),
    );
    await vscode.commands.executeCommand('objectVersions.lessons.focus');
    await vscode.commands.executeCommand('objectVersions.solveStep');
    await until('the page of the lesson', async () => {
      const shown = await texts('.markdown-body, h1');
      return shown === undefined || shown.some((text) => text.includes('A name locates')) ? true : undefined;
    });
    await new Promise((later) => setTimeout(later, 1000));
    await screenshot('lesson');
  });

  it('every lesson but the one of predictions is passed when each of its steps is done', async function () {
    this.timeout(240_000);
    for (const file of readdirSync(folder).sort()) {
      const lesson = readLesson(readFileSync(join(folder, file), 'utf8'), file);
      if (lesson.steps.some((step) => step.checks.some((item) => 'labels' in item))) continue;
      await vscode.commands.executeCommand('objectVersions.startLesson', lesson.id);
      for (const step of lesson.steps) await vscode.commands.executeCommand('objectVersions.solveStep', step);
      const end = await check();
      assert.equal(end ?? undefined, undefined, `${lesson.id} is over`);
    }
  });

  it('the two-writer replay holds on the sandbox', async () => {
    assert.equal(await vscode.commands.executeCommand('objectVersions.labReplay', 'without-questions'), true);
  });

  it('swapping only the token loses updates, computing anew loses none', async function () {
    this.timeout(120_000);
    const lost = async (strategy: string): Promise<number> => {
      const result = await vscode.commands.executeCommand<{ lost: number }>('objectVersions.labContention', strategy);
      return result.lost;
    };
    assert.ok((await lost('token-swap')) > 0);
    assert.equal(await lost('read-modify-write'), 0);
    await new Promise((later) => setTimeout(later, 1500));
    await screenshot('contention-lab');
  });
});
