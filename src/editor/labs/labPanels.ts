import { l10n, Uri, ViewColumn, window, type WebviewPanel } from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { RequestChecks } from '../../protocol/channel.ts';
import { timers } from '../../protocol/channel.ts';
import { LAB_PAGES, type LabPage } from '../../protocol/labStates.ts';
import type { Editor } from '../app/editor.ts';
import { labViewTypes } from '../app/ids.ts';
import { mediaFolder, webviewHtml } from '../timeline/timelineHtml.ts';
import { LabPageHost } from './labPageHost.ts';
import type { EditorPlaces } from './editorPlaces.ts';
import type { LabSession } from './labPlaces.ts';

/** A session of any page. */
export type AnySession = LabSession<LabPage, RequestChecks>;

/** Makes the session that stands behind a page. `keep`: it outlives its panel, and its owner disposes it. */
export type SessionOf = (page: LabPage) => { readonly session: AnySession; readonly keep: boolean };

/** The panels of the labs: one for each page, opened, revealed, and restored after a reload. */
export class LabPanels implements Disposable {
  private readonly editor: Editor;
  private readonly places: EditorPlaces;
  private readonly sessionOf: SessionOf;
  private readonly open = new Map<LabPage, { readonly panel: WebviewPanel; readonly session: AnySession }>();
  private readonly ending = new Set<Promise<void>>();
  private readonly serializers: readonly Disposable[];

  constructor(editor: Editor, places: EditorPlaces, sessionOf: SessionOf) {
    this.editor = editor;
    this.places = places;
    this.sessionOf = sessionOf;
    this.serializers = LAB_PAGES.map((page) =>
      window.registerWebviewPanelSerializer(labViewTypes[page], {
        deserializeWebviewPanel: async (panel) => {
          if (this.open.has(page)) panel.dispose();
          else this.adopt(page, panel);
        },
      }),
    );
  }

  /** Opens a page, or brings it to the front. */
  show(page: LabPage): void {
    const there = this.open.get(page);
    if (there !== undefined) there.panel.reveal();
    else this.adopt(page, window.createWebviewPanel(labViewTypes[page], titleOf(page), ViewColumn.Active));
  }

  /** The session behind a page that is open. */
  session(page: LabPage): AnySession | undefined {
    return this.open.get(page)?.session;
  }

  /** Ends what runs on every page; resolves when it is cleaned up. */
  async end(): Promise<void> {
    for (const { panel } of Array.from(this.open.values())) panel.dispose();
    await Promise.all(this.ending);
  }

  dispose(): void {
    for (const serializer of this.serializers) serializer.dispose();
    for (const { panel } of Array.from(this.open.values())) panel.dispose();
  }

  private adopt(page: LabPage, panel: WebviewPanel): void {
    const { log, context, timeline } = this.editor;
    const { extensionUri } = context;
    const { session, keep } = this.sessionOf(page);
    panel.webview.options = { enableScripts: true, localResourceRoots: [mediaFolder(extensionUri)] };
    panel.iconPath = {
      light: Uri.joinPath(extensionUri, 'media', 'icons', 'lab-light.svg'),
      dark: Uri.joinPath(extensionUri, 'media', 'icons', 'lab-dark.svg'),
    };
    const post = async (message: unknown): Promise<void> => void (await panel.webview.postMessage(message));
    const host = new LabPageHost({
      port: {
        post: (message) => void post(message).catch((error: unknown) => log.warn(`${page}: ${String(error)}`)),
        onMessage: (listener) => panel.webview.onDidReceiveMessage(listener),
      },
      session,
      places: this.places,
      translations: { ...l10n.bundle },
      schedule: timers,
      onProblem: (problem) => log.warn(`lab ${page}: ${problem}`),
      openTimeline: () => {
        timeline.show({ column: ViewColumn.Beside });
        const last = this.places.lastObject();
        if (last !== undefined) timeline.revealObject(last);
      },
      openPage: (other) => this.show(other),
    });
    this.open.set(page, { panel, session });
    panel.onDidDispose(() => {
      host.dispose();
      this.open.delete(page);
      if (!keep) this.endOf(session);
    });
    panel.webview.html = webviewHtml(panel.webview, extensionUri, 'lab', titleOf(page));
  }

  private endOf(session: AnySession): void {
    session.dispose();
    const ended = session.ended().finally(() => this.ending.delete(ended));
    this.ending.add(ended);
  }
}

function titleOf(page: LabPage): string {
  switch (page) {
    case 'modular':
      return l10n.t('Modular lab');
    case 'replay':
      return l10n.t('Equality-token replay');
    case 'contention':
      return l10n.t('Contention lab');
    case 'lessons':
      return l10n.t('Lessons');
  }
}
