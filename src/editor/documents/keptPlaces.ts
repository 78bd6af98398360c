import { diffIndices } from 'node-diff3';
import {
  Position,
  Range,
  Selection,
  TextEditorRevealType,
  window,
  workspace,
  type Disposable,
  type TextDocument,
  type TextDocumentChangeEvent,
  type TextEditor,
  type Uri,
} from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import { scheme } from '../app/ids.ts';
import { lineAfter, type ChangedLines } from '../../core/lineAfter.ts';

/**
 * Keeps cursors and scroll where a person left them when VS Code takes a new text of an object: it replaces all between the
 * first and the last line that differ at once, which carries every cursor in there to its end. `shownText` is what VS Code was
 * last given of a document: any other change is a person's.
 */
export function keepPlaces(shownText: (uri: Uri) => string | undefined): Disposable {
  const store = new DisposableStore();
  const texts = new Map<string, string>();
  const remember = (document: TextDocument): void => {
    if (document.uri.scheme === scheme) texts.set(document.uri.toString(), document.getText());
  };
  store.add(workspace.onDidOpenTextDocument(remember));
  store.add(workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString())));
  store.add(
    workspace.onDidChangeTextDocument((event) => {
      const { document } = event;
      if (document.uri.scheme !== scheme) return;
      const before = texts.get(document.uri.toString());
      remember(document);
      if (before !== undefined && isGiven(event, shownText(document.uri))) restore(document, before);
    }),
  );
  return store;
}

/** Whether a change is VS Code taking what it was given, and nobody's typing, undoing or redoing. */
function isGiven({ document, contentChanges, reason }: TextDocumentChangeEvent, given: string | undefined): boolean {
  return contentChanges.length > 0 && reason === undefined && !document.isDirty && document.getText() === given;
}

function restore(document: TextDocument, before: string): void {
  const hunks = changedLines(before, document.getText());
  for (const editor of window.visibleTextEditors) if (editor.document === document) restoreIn(editor, hunks);
}

function restoreIn(editor: TextEditor, hunks: readonly ChangedLines[]): void {
  const { document } = editor;
  const moved = ({ line, character }: Position): Position =>
    document.validatePosition(new Position(lineAfter(hunks, line), character));
  editor.selections = editor.selections.map(({ anchor, active }) => new Selection(moved(anchor), moved(active)));
  const top = editor.visibleRanges[0]?.start.line;
  if (top === undefined) return;
  const now = lineAfter(hunks, top);
  if (now !== top) editor.revealRange(new Range(now, 0, now, 0), TextEditorRevealType.AtTop);
}

function changedLines(before: string, after: string): ChangedLines[] {
  return diffIndices(before.split('\n'), after.split('\n')).map(({ buffer1, buffer2 }) => ({
    from: buffer1[0],
    count: buffer1[1],
    newCount: buffer2[1],
  }));
}
