import { l10n, window, type Disposable, type QuickPickItem } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import type { Incarnation } from '../../core/history.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { withProgress } from '../app/progress.ts';
import { rowCommand } from '../app/rowCommand.ts';
import { addressOfIncarnation, locate } from '../documents/locate.ts';
import { clusterKeyOf, livingIncarnationOf, refOf } from '../documents/objectCommands.ts';
import { readObject } from '../documents/readObject.ts';
import { living, objectRows } from '../tree/objectRowSource.ts';
import { shortUid } from '../tree/wording.ts';
import { definitionOf } from '../watches/addWatch.ts';
import type { WatchDefinition } from '../watches/watchDefinition.ts';
import { relatedObjects, type RelatedObject } from './relatedObjects.ts';

interface RelatedItem extends QuickPickItem {
  readonly definition: WatchDefinition;
}

/** What is around an object, brought onto tree and timeline when a person asks for it. */
export function registerAround(editor: Editor): Disposable[] {
  return [
    rowCommand(editor, commandIds.showRelated, objectRows(editor, living()), (node) =>
      showRelated(editor, livingIncarnationOf(editor, node)),
    ),
  ];
}

type Parts = Pick<Editor, 'clusters' | 'watches' | 'timeline' | 'start'>;

/**
 * Looks for the owners of an object, the objects it owns (both by UID) and the core Events about it, asks which of them are
 * wanted, and watches those.
 * @throws AppError `not-found` where the incarnation is gone, `cancelled`, and of the connection
 */
export async function showRelated(editor: Parts, incarnation: Incarnation): Promise<void> {
  const located = await locate(editor.clusters, addressOfIncarnation(incarnation, clusterKeyOf(editor, incarnation)));
  const { connected, target } = located;
  const items = await withProgress(l10n.t('Looking around {0}', target.name), async (signal) => {
    const object = await readObject(connected.cluster, target, signal);
    const metadata = object?.['metadata'] as { uid?: string } | undefined;
    if (object === undefined || metadata?.uid !== incarnation.uid)
      throw new AppError('not-found', l10n.t('{0} is gone.', target.name));
    const discovery = await connected.discovery(signal);
    const { related, unread } = await relatedObjects(connected.cluster, discovery, object, signal);
    const events: RelatedItem = {
      label: l10n.t('Events about it'),
      description: l10n.t('by UID {0}', shortUid(incarnation.uid)),
      ...(unread.length === 0 ? {} : { detail: l10n.t('You may not list, so not known: {0}', unread.join(', ')) }),
      picked: true,
      definition: definitionOf(connected.key, discovery.find('events.v1'), {
        namespace: target.namespaced ? target.namespace : 'default',
        fieldSelector: `involvedObject.uid=${incarnation.uid}`,
      }),
    };
    return [...related.map((one) => itemOf(connected.key, one)), events];
  });
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Watch what is around {0}?', target.name),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  if (chosen === undefined) throw cancelled();
  editor.start();
  for (const { definition } of chosen) await editor.watches.add(definition);
  editor.timeline.revealObject(refOf(incarnation));
}

function itemOf(cluster: string, { relation, resource, namespace, name, uid }: RelatedObject): RelatedItem {
  return {
    label: `${resource.kind} ${name}`,
    description:
      relation === 'owner' ? l10n.t('owns it, UID {0}', shortUid(uid)) : l10n.t('owned by it, UID {0}', shortUid(uid)),
    picked: true,
    definition: definitionOf(cluster, resource, { namespace, name }),
  };
}
