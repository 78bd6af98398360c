import {
  l10n,
  window,
  type CustomDocument,
  type CustomReadonlyEditorProvider,
  type Disposable,
  type Uri,
  type WebviewPanel,
} from 'vscode';
import { AppError, isAppError } from '../../base/appError.ts';
import type { Editor } from '../app/editor.ts';
import { editorIds } from '../app/ids.ts';
import { settings } from '../app/settings.ts';
import { signalOf } from '../app/signal.ts';
import { mediaFolder, sentenceHtml, webviewHtml } from '../timeline/timelineHtml.ts';
import { TimelineHost } from '../timeline/timelineHost.ts';
import { timelineActions } from '../timeline/timelineActions.ts';
import { readTrace, type LoadedTrace } from './readTrace.ts';
import type { TraceSources } from './traceSources.ts';
import { translated } from '../app/translated.ts';
import { inWords } from '../../base/message.ts';

/** A trace, or why it cannot be shown. */
interface TraceDocument extends CustomDocument {
  readonly content: LoadedTrace | AppError;
}

/** Opens a trace file with its timeline, by itself and without any cluster. */
export function registerTraceEditor(editor: Editor, sources: TraceSources): Disposable {
  const provider: CustomReadonlyEditorProvider<TraceDocument> = {
    async openCustomDocument(uri: Uri, _context, token): Promise<TraceDocument> {
      const bridge = signalOf(token);
      try {
        const content = await readTrace(uri.fsPath, settings.thresholds(), bridge.signal);
        const kept = sources.add(content.source.log.history);
        return { uri, content, dispose: () => kept.dispose() };
      } catch (error) {
        if (!isAppError(error)) throw error;
        return { uri, content: error, dispose: () => undefined };
      } finally {
        bridge.dispose();
      }
    },
    resolveCustomEditor({ content }, panel: WebviewPanel): void {
      if (content instanceof AppError) {
        const { sentence, advice } = content.inWords(translated);
        panel.webview.html = sentenceHtml(sentence, advice);
      } else show(editor, content, panel);
    },
  };
  return window.registerCustomEditorProvider(editorIds.trace, provider, { supportsMultipleEditorsPerDocument: true });
}

function show(editor: Editor, { source, problems }: LoadedTrace, panel: WebviewPanel): void {
  const { extensionUri } = editor.context;
  panel.webview.options = { enableScripts: true, localResourceRoots: [mediaFolder(extensionUri)] };
  const host = new TimelineHost(
    panel.webview,
    source,
    timelineActions(() => editor, source),
    editor.log,
  );
  panel.webview.html = webviewHtml(panel.webview, extensionUri, 'timeline', l10n.t('Object Timeline'));
  panel.onDidDispose(() => host.dispose());
  const [first] = problems;
  if (first === undefined) return;
  window
    .showWarningMessage(l10n.t('Some of the trace could not be read. {0}', inWords(first.message, translated)))
    .then(undefined, (error: unknown) => editor.log.error(String(error)));
}
