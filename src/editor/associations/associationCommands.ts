import { commands, l10n, window, type Disposable } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { nameKey } from '../../core/history.ts';
import type { Association } from '../../core/associations.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys } from '../app/ids.ts';
import { rowCommand, type RowSource } from '../app/rowCommand.ts';
import { livingIncarnationOf } from '../documents/objectCommands.ts';
import { associationWords } from '../tree/incarnationDetails.ts';
import { isTreeNode, type TreeNode } from '../tree/nodes.ts';
import { living, objectRows } from '../tree/objectRowSource.ts';
import { shortUid } from '../tree/wording.ts';
import type { KnownAssociation } from './associations.ts';

/** Declaring that something outside the cluster belongs to an object, and deciding about it after a recreation. */
export function registerAssociations(editor: Editor): Disposable[] {
  const { associations, session } = editor;
  const showContext = (): void =>
    void commands.executeCommand('setContext', contextKeys.hasAssociations, associations.known().length > 0);
  showContext();
  return [
    session.onDidAppend((events) => associations.take(events)),
    session.onDidBegin(() => associations.tell(session.log.notes())),
    associations.onDidChange(() => editor.tree.refresh()),
    associations.onDidChange(showContext),
    rowCommand(editor, commandIds.declareAssociation, objectRows(editor, living()), async (node) => {
      const incarnation = livingIncarnationOf(editor, node);
      const what = await askText(l10n.t('What belongs to {0}? Such as: load balancer', incarnation.name.name));
      const id = await askText(l10n.t('Which {0} is it, out there? Such as: lb-1234', what));
      await associations.declare(incarnation, what, id);
      window.setStatusBarMessage(
        l10n.t('{0} {1} belongs to the incarnation {2}.', what, id, shortUid(incarnation.uid)),
        8000,
      );
    }),
    rowCommand(
      editor,
      commandIds.cleanUpAssociation,
      associationRows(editor, () => true),
      (node) => associations.cleanUp(associationOf(node)),
    ),
    rowCommand(editor, commandIds.adoptAssociation, associationRows(editor, isStale), (node) => {
      const association = associationOf(node);
      const holder = session.history.names
        .get(nameKey(association.cluster, association.name))
        ?.incarnations.findLast(({ end }) => end === undefined);
      if (holder === undefined)
        throw new AppError('usage', l10n.t('Nothing has the name {0} now.', association.name.name));
      return associations.adopt(association, holder.uid);
    }),
  ];
}

/** Associations that a command accepts; those that wait for a decision first. */
function associationRows(
  { associations, treeView, clusters }: Editor,
  accepts: (known: KnownAssociation) => boolean,
): RowSource {
  const accepted = (): KnownAssociation[] => associations.known().filter(accepts);
  return {
    question: l10n.t('Which external association?'),
    selected: () => (treeView.visible ? treeView.selection : []),
    fits: (row) => {
      const found = findAssociation(row);
      return accepted().some(({ association }) => association === found);
    },
    items: () =>
      Promise.resolve(
        accepted()
          .toSorted((a, b) => Number(isStale(b)) - Number(isStale(a)))
          .map(({ association, state }, index) => {
            const { what, id, name, cluster, uid } = association;
            const label = `${what} ${id}`;
            const place = [name.resource, `${name.namespace}/${name.name}`, clusters.byId(cluster)?.label ?? ''];
            const row: TreeNode = { type: 'detail', id: `asked/${index}`, label, association };
            return { label, description: place.join(' · '), detail: associationWords(state, uid), row };
          }),
      ),
  };
}

function isStale({ state }: KnownAssociation): boolean {
  return state === 'stale';
}

function findAssociation(node: unknown): Association | undefined {
  return isTreeNode(node) && node.type === 'detail' ? node.association : undefined;
}

function associationOf(node: unknown): Association {
  const found = findAssociation(node);
  if (found !== undefined) return found;
  throw new AppError('usage', l10n.t('Choose an external association below an object in the tree first.'));
}

async function askText(prompt: string): Promise<string> {
  const typed = await window.showInputBox({
    title: l10n.t('Declare External Association'),
    prompt,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? l10n.t('Write something.') : undefined),
  });
  if (typed === undefined || typed.trim() === '') throw cancelled();
  return typed.trim();
}
