import { l10n, Uri, ViewColumn, window, type LogOutputChannel, type WebviewPanel } from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { ObjectRef } from '../../core/timeline/detailTypes.ts';
import { editorIds } from '../app/ids.ts';
import { mediaFolder, webviewHtml } from './timelineHtml.ts';
import { TimelineHost, type TimelineActions } from './timelineHost.ts';
import type { TimelineSource } from './timelineSource.ts';

/** What the panel is made of. */
export interface TimelinePanelParts {
  readonly extensionUri: Uri;
  readonly source: TimelineSource;
  readonly actions: TimelineActions;
  readonly log: LogOutputChannel;
}

/** The one timeline of the live log: opened, revealed, and restored after a reload. */
export class TimelinePanel implements Disposable {
  private readonly parts: TimelinePanelParts;
  private open: { readonly panel: WebviewPanel; readonly host: TimelineHost } | undefined;
  private readonly serializer: Disposable;

  constructor(parts: TimelinePanelParts) {
    this.parts = parts;
    this.serializer = window.registerWebviewPanelSerializer(editorIds.timeline, {
      deserializeWebviewPanel: async (panel) => {
        if (this.open === undefined) this.adopt(panel);
        else panel.dispose();
      },
    });
  }

  /** Opens the timeline, or brings it to the front. */
  show(options: { readonly preserveFocus?: boolean; readonly column?: ViewColumn } = {}): void {
    if (this.open !== undefined) {
      this.open.panel.reveal(undefined, options.preserveFocus);
      return;
    }
    const place = { viewColumn: options.column ?? ViewColumn.Active, preserveFocus: options.preserveFocus ?? false };
    this.adopt(window.createWebviewPanel(editorIds.timeline, l10n.t('Object Timeline'), place));
  }

  /** Opens the timeline on an event, perhaps as what proves a rule's finding. */
  reveal(event: number, finding?: string): void {
    this.show();
    this.open?.host.reveal(event, finding);
  }

  /** Opens the timeline on an object. */
  revealObject(object: ObjectRef): void {
    this.show();
    this.open?.host.revealObject(object);
  }

  dispose(): void {
    this.serializer.dispose();
    this.open?.panel.dispose();
  }

  private adopt(panel: WebviewPanel): void {
    const { extensionUri, source, actions, log } = this.parts;
    panel.webview.options = { enableScripts: true, localResourceRoots: [mediaFolder(extensionUri)] };
    panel.iconPath = {
      light: Uri.joinPath(extensionUri, 'media', 'icons', 'timeline-light.svg'),
      dark: Uri.joinPath(extensionUri, 'media', 'icons', 'timeline-dark.svg'),
    };
    const host = new TimelineHost(panel.webview, source, actions, log);
    panel.webview.html = webviewHtml(panel.webview, extensionUri, 'timeline', l10n.t('Object Timeline'));
    this.open = { panel, host };
    panel.onDidDispose(() => {
      host.dispose();
      this.open = undefined;
    });
  }
}
