import { l10n, window, type CustomDocument, type CustomReadonlyEditorProvider, type Disposable, type Uri, type WebviewPanel } from 'vscode';
import type { Editor } from '../app/editor.ts';
import { editorIds } from '../app/ids.ts';
import { signalOf } from '../app/signal.ts';
import { mediaFolder, webviewHtml } from '../timeline/timelineHtml.ts';
import { TimelineHost } from '../timeline/timelineHost.ts';
import { timelineActions } from '../timeline/timelineActions.ts';
import { readTrace, type LoadedTrace } from './readTrace.ts';
import type { TraceSources } from './traceSources.ts';

interface TraceDocument extends CustomDocument {
  readonly trace: LoadedTrace;
}

/** Opens a trace file with its timeline, by itself and without any cluster. */
export function registerTraceEditor(editor: Editor, sources: TraceSources): Disposable {
  const provider: CustomReadonlyEditorProvider<TraceDocument> = {
    async openCustomDocument(uri: Uri, _context, token): Promise<TraceDocument> {
      const bridge = signalOf(token);
      try {
        const trace = await readTrace(uri.fsPath, bridge.signal);
        const kept = sources.add(trace.source.log.history);
        return { uri, trace, dispose: () => kept.dispose() };
      } finally {
        bridge.dispose();
      }
    },
    async resolveCustomEditor(document, panel: WebviewPanel): Promise<void> {
      const { extensionUri } = editor.context;
      panel.webview.options = { enableScripts: true, localResourceRoots: [mediaFolder(extensionUri)] };
      const { trace } = document;
      const host = new TimelineHost(panel.webview, trace.source, timelineActions(() => editor, trace.source), editor.log);
      panel.webview.html = webviewHtml(panel.webview, extensionUri, 'timeline', l10n.t('Object Timeline'));
      panel.onDidDispose(() => host.dispose());
      const [first] = trace.problems;
      if (first !== undefined) await window.showWarningMessage(l10n.t('Some of the trace could not be read. {0}', first.message));
    },
  };
  return window.registerCustomEditorProvider(editorIds.trace, provider, { supportsMultipleEditorsPerDocument: true });
}
