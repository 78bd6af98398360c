import { mergeDiff3 } from 'node-diff3';
import {
  commands,
  l10n,
  Range,
  window,
  workspace,
  WorkspaceEdit,
  type Disposable,
  type Tab,
  type TextDocument,
  type Uri,
} from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { JsonObject } from '../../codec/json.ts';
import { withServerSet } from '../../core/merge.ts';
import { printYaml } from '../../codec/yamlPrint.ts';
import { describeTarget } from '../../write/target.ts';
import { otherUri } from './address.ts';
import { shownOf } from './hiddenValues.ts';
import type { LiveDocuments } from './liveDocuments.ts';
import type { Located } from './objectSaver.ts';
import type { TextShelf } from './textShelf.ts';

/** Two edits of the same fields, waiting for a person. */
interface Decision {
  /** The document whose save could not be carried over, with the text that was to be saved. */
  readonly uri: Uri;
  readonly text: string;
  readonly located: Located;
  readonly sides: { readonly base: JsonObject; readonly theirs: JsonObject; readonly yours: JsonObject };
  readonly hideKey?: string;
}

/** An open decision, as saving its result needs it. */
interface OpenDecision extends Decision {
  readonly id: string;
  readonly theirs: JsonObject;
}

/**
 * Lets a person decide between two edits that overlap: in VS Code's merge editor, or in a comparison where there is none.
 * The result is a document of its own, one for each object, based on the version that the other actor made; saving it is a
 * safe write again, so that whoever changes the object meanwhile is not overwritten either. Stored, its tab closes.
 */
export class Decisions implements Disposable {
  private readonly shelf: TextShelf;
  private readonly live: LiveDocuments;
  private readonly decisions = new Map<string, OpenDecision>();
  private readonly settled = new Set<string>();
  private readonly subscription: Disposable;
  private count = 0;

  constructor(shelf: TextShelf, live: LiveDocuments, onError: (error: unknown) => void) {
    this.shelf = shelf;
    this.live = live;
    // The tab is closed once VS Code has taken note of the save: before, it would ask what is to become of the text.
    this.subscription = workspace.onDidSaveTextDocument(({ uri }) => {
      if (this.settled.delete(uri.toString())) closeTabs(uri).catch(onError);
    });
  }

  /**
   * An open decision.
   * @throws AppError `not-found` where it belongs to an earlier session
   */
  get(id: string): OpenDecision {
    const decision = this.decisions.get(id);
    if (decision !== undefined) return decision;
    throw new AppError('not-found', l10n.t('This decision belongs to an earlier session.'), {
      advice: l10n.t("Save the object's own document again."),
    });
  }

  /**
   * Opens the merge editor on a decision. One on the same document that is open already is taken up: with these sides where
   * nobody began to decide, else as it is.
   */
  async open(decision: Decision): Promise<void> {
    const there = [...this.decisions.values()].find(({ uri }) => uri.toString() === decision.uri.toString());
    const id = there?.id ?? String((this.count += 1));
    const uris = urisOf(id, decision);
    if (there === undefined || textOf(uris.output)?.isDirty !== true) {
      this.decisions.set(id, { ...decision, id, theirs: decision.sides.theirs });
      this.put(uris, decision);
    }
    const name = decision.located.target.name;
    if (await hasMergeEditor()) {
      await commands.executeCommand('_open.mergeEditor', {
        base: uris.base,
        input1: { uri: uris.theirs, title: l10n.t('Theirs'), description: l10n.t('what is stored now') },
        input2: { uri: uris.yours, title: l10n.t('Yours'), description: l10n.t('what you wanted to save') },
        output: uris.output,
      });
      return;
    }
    await commands.executeCommand(
      'vscode.diff',
      uris.yours,
      uris.output,
      l10n.t('{0}: yours ↔ decided (edit the right side and save it)', name),
    );
  }

  /** Shows what is stored now beside what a person decides. What was decided stays based on what it was decided about. */
  showTheirs(id: string, theirs: JsonObject): void {
    const decision = this.get(id);
    this.shelf.put(urisOf(id, decision).theirs, textOfSide(withServerSet(decision.theirs, theirs), decision));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private put(uris: ReturnType<typeof urisOf>, decision: Decision): void {
    // What only the server sets is no decision: all sides show theirs.
    const { theirs } = decision.sides;
    const base = withServerSet(theirs, decision.sides.base);
    const yours = withServerSet(theirs, decision.sides.yours);
    const texts = {
      base: textOfSide(base, decision),
      theirs: textOfSide(theirs, decision),
      yours: textOfSide(yours, decision),
    };
    this.shelf.put(uris.base, texts.base);
    this.shelf.put(uris.theirs, texts.theirs);
    this.shelf.put(uris.yours, texts.yours);
    this.shelf.put(uris.output, withMarkers(texts.yours, texts.base, texts.theirs));
  }

  /** A decision is stored: the document it came from shows what is stored now. */
  async settle(id: string, text: string): Promise<void> {
    const decision = this.get(id);
    this.decisions.delete(id);
    this.settled.add(urisOf(id, decision).output.toString());
    const document = this.live.find(decision.uri);
    if (document === undefined) return;
    await this.live.refresh(document);
    const open = textOf(decision.uri);
    if (open === undefined || !open.isDirty || open.getText() !== decision.text) return;
    document.base = document.stored;
    document.remember(text, document.stored);
    const edit = new WorkspaceEdit();
    edit.replace(
      decision.uri,
      new Range(open.positionAt(0), open.positionAt(open.getText().length)),
      document.render(document.stored),
    );
    await workspace.applyEdit(edit);
    await open.save();
    window.setStatusBarMessage(l10n.t('{0} shows what was decided.', describeTarget(decision.located.target)), 8000);
  }
}

function urisOf(id: string, { located }: Decision): Readonly<Record<'base' | 'theirs' | 'yours' | 'output', Uri>> {
  const { name } = located.target;
  const side = (part: string): Uri => otherUri('side', `${id}-${part}`, `${name} ${part}.yaml`);
  return {
    base: side('base'),
    theirs: side('theirs'),
    yours: side('yours'),
    output: otherUri('decision', id, `${l10n.t('{0} decided (save to write)', name)}.yaml`),
  };
}

function textOfSide(object: JsonObject, { hideKey }: Decision): string {
  return printYaml(shownOf(object, hideKey === undefined ? undefined : { key: hideKey }));
}

function textOf(uri: Uri): TextDocument | undefined {
  return workspace.textDocuments.find((item) => item.uri.toString() === uri.toString());
}

/** Closes the tabs in which a document is decided or compared. The merge editor's input has no type in the stable API. */
async function closeTabs(uri: Uri): Promise<void> {
  const isIts = ({ input }: Tab): boolean =>
    typeof input === 'object' &&
    input !== null &&
    Object.entries(input).some(
      ([part, value]) =>
        (part === 'result' || part === 'modified' || part === 'uri') && String(value) === uri.toString(),
    );
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs.filter(isIts));
  if (tabs.length > 0) await window.tabGroups.close(tabs);
}

/**
 * The text to start from: where only one side changed, its lines; where both did, both between conflict markers, so that the
 * text cannot be read, and saved, before somebody has decided.
 */
function withMarkers(yours: string, base: string, theirs: string): string {
  const lines = (text: string): string[] => text.split('\n');
  const merged = mergeDiff3(lines(theirs), lines(base), lines(yours), {
    label: { a: 'theirs', o: 'base', b: 'yours' },
  });
  if (merged.conflict) return merged.result.join('\n');
  return [
    '<<<<<<< theirs',
    theirs.trimEnd(),
    '||||||| base',
    base.trimEnd(),
    '=======',
    yours.trimEnd(),
    '>>>>>>> yours',
    '',
  ].join('\n');
}

/** VS Code's merge editor has no public command; the one that its Git support uses is looked for by name. */
async function hasMergeEditor(): Promise<boolean> {
  return (await commands.getCommands(false)).includes('_open.mergeEditor');
}
