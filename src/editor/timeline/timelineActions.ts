import { l10n, Uri, window, workspace } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { nameKey } from '../../core/history.ts';
import { showRelated } from '../around/aroundCommands.ts';
import type { Editor } from '../app/editor.ts';
import { tellSaved } from '../app/savedFile.ts';
import { openFindingPage } from '../findings/findingsView.ts';
import { findIncarnation } from '../documents/locate.ts';
import { openDiff, openLive } from '../documents/objectCommands.ts';
import { exportTrace } from '../trace/traceCommands.ts';
import { historyAt } from './historyAt.ts';
import type { TimelineActions } from './timelineHost.ts';
import type { TimelineSource } from './timelineSource.ts';

type Parts = Pick<
  Editor,
  | 'watches'
  | 'timeline'
  | 'start'
  | 'clusters'
  | 'tree'
  | 'treeView'
  | 'clock'
  | 'userAgent'
  | 'context'
  | 'shelf'
  | 'onError'
>;

/** What the buttons of the timeline do; `parts` is asked when one is pressed. */
export function timelineActions(parts: () => Parts, source: TimelineSource): TimelineActions {
  return {
    openDiff: (object, before, after) => {
      const incarnation = (uid: string): ReturnType<typeof findIncarnation> =>
        findIncarnation(source.log.history, { ...object, uid });
      return openDiff(
        { incarnation: incarnation(before.uid), token: before.token },
        { incarnation: incarnation(after.uid), token: after.token },
      );
    },
    async revealInTree(object) {
      const { tree, treeView } = parts();
      const node = tree.findObject(nameKey(object.cluster, object));
      if (node === undefined)
        throw new AppError('not-found', l10n.t('No watch shows this object.'), {
          advice: l10n.t('Add a watch for its resource.'),
        });
      await treeView.reveal(node, { select: true, focus: true, expand: 1 });
    },
    safeEdit: (object) => openLive(parts(), findIncarnation(source.log.history, object)),
    showRelated: (object) => showRelated(parts(), findIncarnation(source.log.history, object)),
    openFinding: (id) => openFindingPage(parts(), id),
    async scrub(event) {
      const { tree, treeView } = parts();
      const past = event === undefined ? undefined : historyAt(source.log, event);
      tree.showAsOf(source.hasCluster ? past : undefined);
      const at = event === undefined ? undefined : source.log.eventAt(event)?.at;
      if (past === undefined || at === undefined) treeView.message = '';
      else
        treeView.message = l10n.t(
          'The tree shows what was known at {0}, not now.',
          new Date(at).toLocaleTimeString([], { hourCycle: 'h23' }),
        );
    },
    exportTrace: (shared) => exportTrace(parts(), source, shared),
    saveImage: (format, data) => saveImage(format, data, parts().onError),
  };
}

async function saveImage(format: 'svg' | 'png', data: string, onError: (error: unknown) => void): Promise<boolean> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const target = await window.showSaveDialog({
    title: l10n.t('Save Picture'),
    filters: { [format.toUpperCase()]: [format] },
    ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, `timeline.${format}`) }),
  });
  if (target === undefined) return false;
  await workspace.fs.writeFile(target, Buffer.from(data, format === 'png' ? 'base64' : 'utf8'));
  tellSaved(target, onError);
  return true;
}
