import { l10n, window, type Disposable } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { nameKey } from '../../core/history.ts';
import type { Association } from '../../core/associations.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { livingIncarnationOf } from '../documents/objectCommands.ts';
import { isTreeNode } from '../tree/nodes.ts';
import { shortUid } from '../tree/wording.ts';

/** Declaring that something outside the cluster belongs to an object, and deciding about it after a recreation. */
export function registerAssociations(editor: Editor): Disposable[] {
  const { command, associations, session } = editor;
  return [
    session.onDidAppend((events) => associations.take(events)),
    session.onDidBegin(() => associations.tell(session.log.notes())),
    associations.onDidChange(() => editor.tree.refresh()),
    command(commandIds.declareAssociation, async (node) => {
      const incarnation = livingIncarnationOf(editor, node);
      const what = await askText(l10n.t('What belongs to {0}? Such as: load balancer', incarnation.name.name));
      const id = await askText(l10n.t('Which {0} is it, out there? Such as: lb-1234', what));
      await associations.declare(incarnation, what, id);
      window.setStatusBarMessage(
        l10n.t('{0} {1} belongs to the incarnation {2}.', what, id, shortUid(incarnation.uid)),
        8000,
      );
    }),
    command(commandIds.cleanUpAssociation, (node) => associations.cleanUp(associationOf(node))),
    command(commandIds.adoptAssociation, (node) => {
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

function associationOf(node: unknown): Association {
  const found = isTreeNode(node) && node.type === 'detail' ? node.association : undefined;
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
