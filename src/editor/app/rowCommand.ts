import { l10n, window, type Disposable, type QuickPickItem } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import type { Editor } from './editor.ts';

/** A row of a tree, as a question offers it. */
export interface RowItem extends QuickPickItem {
  readonly row: unknown;
}

/** How a command that is about a row of a tree gets one where it is run without, as from the palette. */
export interface RowSource {
  readonly question: string;
  /** The rows that are selected in the tree, if it is in sight. */
  selected(): readonly unknown[];
  /** Whether the command can be about a row. */
  fits(row: unknown): boolean;
  /** What is asked about where no fitting row is selected. */
  items(): Promise<readonly RowItem[]>;
  /** Makes of a row that was selected or chosen what the command is about, such as a version of an object. */
  refine?(row: unknown): Promise<unknown>;
}

/**
 * Registers a command about a row of a tree. Where it gets none it takes the selected row, or asks; `several`: it can be
 * about all the selected ones, which `run` gets beside the first.
 */
export function rowCommand(
  editor: Pick<Editor, 'command' | 'context'>,
  id: string,
  source: RowSource,
  run: (row: unknown, selected?: unknown) => unknown,
  several = false,
): Disposable {
  return editor.command(id, async (given, selected) => {
    if (given !== undefined && given !== null) return run(given, selected);
    const marked = source.selected();
    const isMeant = marked.length > 0 && (several || marked.length === 1) && marked.every((row) => source.fits(row));
    const row = isMeant ? marked[0] : await ask(source, titleOf(editor, id));
    return run(source.refine === undefined ? row : await source.refine(row), isMeant ? marked : undefined);
  });
}

async function ask(source: RowSource, title: string): Promise<unknown> {
  const offered = source.items().then((found) => {
    if (found.length === 0) throw new AppError('usage', l10n.t('{0}: nothing that is watched fits.', title));
    return found;
  });
  const chosen = await window.showQuickPick(offered, {
    title,
    placeHolder: source.question,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen === undefined) throw cancelled();
  return chosen.row;
}

/** A text of package.json; in a window of another language than English VS Code puts the translation beside the original. */
type ManifestText = string | { readonly value: string };

/** What package.json calls a command, in the language of the window. */
function titleOf({ context }: Pick<Editor, 'context'>, id: string): string {
  const { contributes } = context.extension.packageJSON as {
    contributes?: { commands?: readonly { command: string; title: ManifestText }[] };
  };
  const title = contributes?.commands?.find(({ command }) => command === id)?.title ?? id;
  return typeof title === 'string' ? title : title.value;
}
