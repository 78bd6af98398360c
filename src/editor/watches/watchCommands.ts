import { commands, l10n, window, type Disposable, type Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys, settingIds } from '../app/ids.ts';
import type { ShownRow } from '../app/api.ts';
import { rowCommand, type RowSource } from '../app/rowCommand.ts';
import { limited } from '../app/signal.ts';
import { changeSetting, settings } from '../app/settings.ts';
import { isTreeNode, type WatchNode } from '../tree/nodes.ts';
import type { Grouping } from '../tree/watchedObjects.ts';
import { askForWatch, declaredDefinition } from './addWatch.ts';

const DECLARED_LIMIT_MS = 60_000;

/** Commands of the tree: watches come and go, rows are filtered, sorted and grouped. */
export function registerWatchCommands(editor: Editor): Disposable[] {
  const { command, watches, tree, clusters } = editor;
  return [
    command(commandIds.addWatch, async () => {
      const definition = await askForWatch(clusters);
      editor.start();
      await watches.add(definition);
    }),
    rowCommand(
      editor,
      commandIds.removeWatch,
      watchRows(editor),
      async (node, selected) => {
        const nodes: unknown[] = Array.isArray(selected) ? selected : [node];
        await watches.remove(nodes.filter(isWatchNode).map(({ watch }) => watch));
      },
      true,
    ),
    rowCommand(editor, commandIds.retryWatch, watchRows(editor), (node) => {
      if (isWatchNode(node)) watches.retry(node.watch);
    }),
    command(commandIds.chooseKubeconfig, async () => {
      const chosen = await window.showOpenDialog({
        title: l10n.t('Choose a kubeconfig'),
        canSelectMany: true,
        openLabel: l10n.t('Use'),
      });
      if (chosen === undefined) return;
      await changeSetting(
        settingIds.kubeconfig,
        chosen.map((uri: Uri) => uri.fsPath),
      );
      await commands.executeCommand(commandIds.addWatch);
    }),
    command(commandIds.filter, async (text) => {
      const filter =
        typeof text === 'string'
          ? text
          : await window.showInputBox({
              title: l10n.t('Filter Objects'),
              prompt: l10n.t('Words of a name, namespace or UID'),
              value: tree.view.filter,
            });
      if (filter === undefined) return;
      await showFilter(editor, filter.trim());
    }),
    command(commandIds.clearFilter, () => showFilter(editor, '')),
    command(commandIds.sortByName, () => setOrder(editor, 'name')),
    command(commandIds.sortByLastChange, () => setOrder(editor, 'last-change')),
    command(commandIds.groupBy, async (given) => {
      const choices: { label: string; value: Grouping }[] = [
        { label: l10n.t('Not grouped'), value: 'none' },
        { label: l10n.t('By namespace'), value: 'namespace' },
        { label: l10n.t('By state'), value: 'state' },
      ];
      const chosen =
        choices.find(({ value }) => value === given) ??
        (await window.showQuickPick(choices, { title: l10n.t('Group Objects') }));
      if (chosen !== undefined) tree.setView({ grouping: chosen.value });
    }),
    command(commandIds.showMore, (node) => {
      if (isTreeNode(node) && node.type === 'more') tree.showMore(node.parent);
    }),
  ];
}

function isWatchNode(node: unknown): node is WatchNode {
  return isTreeNode(node) && node.type === 'watch';
}

/** The watches, those that failed first. */
function watchRows({ treeView, watches, tree }: Editor): RowSource {
  return {
    question: l10n.t('Which watch?'),
    selected: () => (treeView.visible ? treeView.selection : []),
    fits: isWatchNode,
    items: () => {
      const failed = ({ node }: ShownRow): number =>
        Number(isWatchNode(node) && watches.status(node.watch).phase === 'failed');
      const rows = tree
        .shownRows()
        .flatMap((cluster) =>
          tree.shownRows(cluster.node).map((row) => ({ ...row, detail: cluster.label, row: row.node })),
        );
      return Promise.resolve(rows.toSorted((a, b) => failed(b) - failed(a)));
    },
  };
}

async function showFilter({ tree, treeView }: Editor, filter: string): Promise<void> {
  tree.setView({ filter });
  if (filter === '') treeView.message = '';
  else treeView.message = l10n.t('Only objects that match "{0}" are shown.', filter);
  await commands.executeCommand('setContext', contextKeys.hasFilter, filter !== '');
}

async function setOrder({ tree }: Editor, order: 'name' | 'last-change'): Promise<void> {
  tree.setView({ order });
  await commands.executeCommand('setContext', contextKeys.sortedByLastChange, order === 'last-change');
}

/**
 * Adds the watches that the settings declare, on the current context of the kubeconfig. What one of them lacks is shown and
 * the others are added.
 */
export async function addDeclaredWatches({ clusters, watches, showFailure }: Editor): Promise<void> {
  const declared = settings.watches();
  if (declared.length === 0) return;
  const context = await clusters.currentContext();
  if (context === undefined) {
    throw new AppError(
      'kubeconfig-unknown-name',
      l10n.t('The settings declare watches, but the kubeconfig has no current context.'),
    );
  }
  const signal = limited(DECLARED_LIMIT_MS);
  const connected = await clusters.connect(context, signal);
  for (const text of declared) {
    try {
      await watches.add(await declaredDefinition(connected, text, signal), false);
    } catch (error) {
      showFailure(error, text);
    }
  }
}
