import { mergeDiff3 } from 'node-diff3';
import { commands, l10n, Range, window, workspace, WorkspaceEdit, type Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { JsonObject } from '../../codec/json.ts';
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
  readonly theirs: JsonObject;
}

/**
 * Lets a person decide between two edits that overlap: in VS Code's merge editor, or in a comparison where there is none.
 * The result is a document of its own, based on the version that the other actor made; saving it is a safe write again, so
 * that whoever changes the object meanwhile is not overwritten either.
 */
export class Decisions {
  private readonly shelf: TextShelf;
  private readonly live: LiveDocuments;
  private readonly decisions = new Map<string, OpenDecision>();
  private count = 0;

  constructor(shelf: TextShelf, live: LiveDocuments) {
    this.shelf = shelf;
    this.live = live;
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

  /** Opens the merge editor on a decision. */
  async open(decision: Decision): Promise<void> {
    this.count += 1;
    const id = String(this.count);
    const name = decision.located.target.name;
    const text = (object: JsonObject): string =>
      printYaml(shownOf(object, decision.hideKey === undefined ? undefined : { key: decision.hideKey }));
    const { base, theirs, yours } = decision.sides;
    this.decisions.set(id, { ...decision, theirs });
    const put = (part: string, content: string): Uri => {
      const uri = otherUri('side', `${id}-${part}`, `${name} ${part}.yaml`);
      this.shelf.put(uri, content);
      return uri;
    };
    const baseUri = put('base', text(base));
    const theirsUri = put('theirs', text(theirs));
    const yoursUri = put('yours', text(yours));
    const output = otherUri('decision', id, `${name} decided.yaml`);
    this.shelf.put(output, withMarkers(text(yours), text(base), text(theirs)));
    if (await hasMergeEditor()) {
      await commands.executeCommand('_open.mergeEditor', {
        base: baseUri,
        input1: { uri: theirsUri, title: l10n.t('Theirs'), description: l10n.t('what is stored now') },
        input2: { uri: yoursUri, title: l10n.t('Yours'), description: l10n.t('what you wanted to save') },
        output,
      });
      return;
    }
    await commands.executeCommand(
      'vscode.diff',
      yoursUri,
      output,
      l10n.t('{0}: yours ↔ decided (edit the right side and save it)', name),
    );
  }

  /** A decision is stored: the document it came from shows what is stored now. */
  async settle(id: string, text: string): Promise<void> {
    const decision = this.get(id);
    this.decisions.delete(id);
    const document = this.live.find(decision.uri);
    if (document === undefined) return;
    await this.live.refresh(document);
    const open = workspace.textDocuments.find((item) => item.uri.toString() === decision.uri.toString());
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
