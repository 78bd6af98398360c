import { commands, l10n, Uri, window, workspace, type Disposable } from 'vscode';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { tellSaved } from '../app/savedFile.ts';
import { withProgress } from '../app/progress.ts';
import type { TimelineSource } from '../timeline/timelineSource.ts';
import { withoutSecretContent } from '../session/secretContent.ts';
import { readEvents, withoutSeq } from './readTrace.ts';
import { writeTrace } from './writeTrace.ts';
import { translated } from '../app/translated.ts';
import { inWords } from '../../base/message.ts';

const filters = { [l10n.t('Object trace')]: ['ovtrace.jsonl', 'jsonl'] };

/** Export of the live log as a trace, import of one into it, and the way to forget it. */
export function registerTraceCommands(editor: Editor): Disposable[] {
  const { command, session } = editor;
  return [
    command(commandIds.exportTrace, () => exportTrace(editor, editor.source, false)),
    command(commandIds.importTrace, async (given) => {
      const chosen =
        given instanceof Uri ? [given] : await window.showOpenDialog({ title: l10n.t('Import Trace'), filters });
      const [uri] = chosen ?? [];
      if (uri === undefined) return;
      const reader = await withProgress(l10n.t('Reading the trace'), (signal) =>
        readEvents(uri.fsPath, signal, (events) =>
          session.append(events.map((event) => withoutSecretContent(withoutSeq(event)))),
        ),
      );
      for (const [id, { label, server }] of Object.entries(reader.header?.clusters ?? {}))
        session.nameCluster(id, label, server);
      const [first] = reader.problems;
      if (first !== undefined)
        await window.showWarningMessage(
          l10n.t(
            '{0} line(s) of the trace were left out. The first: {1}',
            reader.problemCount,
            inWords(first.message, translated),
          ),
        );
      await commands.executeCommand(commandIds.openTimeline);
    }),
    command(commandIds.clearLog, async () => {
      const clear = l10n.t('Forget');
      const question = l10n.t('Forget everything that was observed? Watches go on; what they see from now on is kept.');
      if ((await window.showWarningMessage(question, { modal: true }, clear)) === clear) session.clear();
    }),
  ];
}

/**
 * Writes a log, the live one or that of a trace, to a file that the person chooses, and says so; whether it was saved.
 * `shared`: names and values replaced.
 */
export async function exportTrace(
  { clock, userAgent, onError }: Pick<Editor, 'clock' | 'userAgent' | 'onError'>,
  source: Pick<TimelineSource, 'clusterLabels' | 'exported'>,
  shared: boolean,
): Promise<boolean> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const at = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(':', '-');
  const name = `objects-${at}${shared ? '-to-share' : ''}.ovtrace.jsonl`;
  const target = await window.showSaveDialog({
    title: l10n.t('Export Trace'),
    filters,
    ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, name) }),
  });
  if (target === undefined) return false;
  await withProgress(l10n.t('Exporting the trace'), (signal) =>
    writeTrace(target.fsPath, source, { creator: userAgent, at: clock.now() }, shared, signal),
  );
  tellSaved(target, onError);
  return true;
}
