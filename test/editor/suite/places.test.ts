import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { configMap, must, patch } from '../apiServer.ts';
import { closeAll, until } from '../extension.ts';
import { watchedNamespace, type Watched } from '../watched.ts';
import { press } from '../window.ts';

describe('the place in the text', () => {
  let watched: Watched;
  before(async () => {
    watched = await watchedNamespace('places', 'configmaps');
  });
  afterEach(closeAll);

  const key = (index: number): string => `k${String(index).padStart(3, '0')}`;
  const at = (name: string): string => `${watched.path()}/${name}`;

  /** A document that is longer than the window, with the cursor in the middle of it and the middle in sight. */
  async function opened(name: string): Promise<vscode.TextEditor> {
    const values = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [key(index), `value ${index}`]));
    await must('POST', watched.path(), configMap(name, values));
    const editor = await watched.open(name);
    const line = lineOf(editor, key(75));
    editor.selection = new vscode.Selection(line, 4, line, 9);
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
    await until('the scroll', () => (above(editor, line) > 2 && above(editor, line) < line ? true : undefined));
    await settled();
    return editor;
  }
  const lineOf = ({ document }: vscode.TextEditor, text: string): number =>
    document.positionAt(document.getText().indexOf(text)).line;
  /** How many lines are in sight above a line. */
  const above = (editor: vscode.TextEditor, line: number): number => line - (editor.visibleRanges[0]?.start.line ?? 0);
  const settled = (): Promise<void> => new Promise((later) => setTimeout(later, 700));

  it('stays where it is over a save, though the server changed lines above and below', async () => {
    const editor = await opened('saved');
    const seen = above(editor, lineOf(editor, key(75)));
    await patch(at('saved'), { data: { [key(0)]: 'theirs', [key(149)]: 'theirs' } });
    const line = lineOf(editor, key(75));
    await editor.edit((edit) => edit.insert(new vscode.Position(line, editor.document.lineAt(line).text.length), '!'));
    editor.selection = new vscode.Selection(line, 4, line, 9);
    await press('Control+S');
    if (editor.document.isDirty) await editor.document.save();
    await until('the saved text', () => {
      const text = editor.document.getText();
      return text.includes(`${key(149)}: theirs`) && !editor.document.isDirty ? true : undefined;
    });
    await settled();
    const now = lineOf(editor, key(75));
    assert.deepEqual(
      [editor.selection.start, editor.selection.end].map(({ line: at, character }) => [at, character]),
      [
        [now, 4],
        [now, 9],
      ],
    );
    assert.ok(Math.abs(above(editor, now) - seen) <= 1, `${above(editor, now)} lines above it, and it was ${seen}`);
  });

  it('follows its line where others put lines above it', async () => {
    const editor = await opened('followed');
    const seen = above(editor, lineOf(editor, key(75)));
    await patch(at('followed'), { data: { a1: 'x', a2: 'x', a3: 'x', z: 'x' } });
    await until('the new text', () => (editor.document.getText().includes('z: x') ? true : undefined));
    await settled();
    const now = lineOf(editor, key(75));
    assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [now, 9]);
    assert.ok(Math.abs(above(editor, now) - seen) <= 1, `${above(editor, now)} lines above it, and it was ${seen}`);
  });
});
