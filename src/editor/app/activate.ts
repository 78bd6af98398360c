import { commands, l10n, ViewColumn, workspace, type ExtensionContext } from 'vscode';
import { registerAround } from '../around/aroundCommands.ts';
import { registerAssociations } from '../associations/associationCommands.ts';
import { registerBanners } from '../documents/banners.ts';
import { registerDeleteCommands } from '../documents/deleteCommands.ts';
import { registerObjectCommands } from '../documents/objectCommands.ts';
import { ObjectFileSystem } from '../documents/objectFileSystem.ts';
import { registerResponsibilityProblems } from '../writing/responsibilityProblems.ts';
import { registerOwnerHints } from '../documents/ownerHints.ts';
import { registerFindings } from '../findings/findingsView.ts';
import { registerLabs } from '../labs/labCommands.ts';
import { registerRecorder } from '../recorder/recordCommands.ts';
import { followSandboxFeed } from '../sandbox/sandboxFeed.ts';
import { registerSandbox } from '../sandbox/sandboxCommands.ts';
import { registerTools } from '../tools/languageModelTools.ts';
import { registerTraceCommands } from '../trace/traceCommands.ts';
import { registerTraceEditor } from '../trace/traceEditor.ts';
import { registerDecorations } from '../tree/decorations.ts';
import { registerWatchCommands } from '../watches/watchCommands.ts';
import { declaredDefinition } from '../watches/addWatch.ts';
import { registerEditCommands } from '../writing/editCommands.ts';
import type { ObjectVersionsApi } from './api.ts';
import { registerCommandLine } from './commandLine.ts';
import { registerDocumentation } from './documentation.ts';
import { Editor } from './editor.ts';
import { commandIds, contextKeys, scheme, settingIds, viewIds } from './ids.ts';
import { changeSetting, settings } from './settings.ts';
import { limited } from './signal.ts';
import { registerStatusBar } from './statusBar.ts';
import { showTimelineText } from './preview.ts';

export type { ObjectVersionsApi } from './api.ts';

const API_LIMIT_MS = 60_000;
/** How long the feed of a sandbox waits for the first lists. */
const FEED_WAIT_MS = 5000;

/** The composition root: makes the parts, registers what they do, and gives what the extension exports. */
export function activateEditor(context: ExtensionContext, endings: Set<() => Promise<void>>): ObjectVersionsApi {
  const editor = new Editor(context, endings);
  const { session, clusters, watches, treeView, live, shelf, saver, saveReasons, sources, source, timeline } = editor;
  const { clock, userAgent, onError, showFailure, command, log, now } = editor;
  const showWatchContext = (): void => {
    void commands.executeCommand('setContext', contextKeys.hasWatches, watches.definitions().length > 0);
    void commands.executeCommand('setContext', contextKeys.readOnly, settings.readOnly());
  };
  showWatchContext();
  context.subscriptions.push(
    watches.onDidChange(showWatchContext),
    clusters.onDidConnect(
      (connected) =>
        void followSandboxFeed(connected, {
          session,
          clock,
          userAgent,
          settled: (cluster, signal) => watches.settled(cluster, FEED_WAIT_MS, signal),
          onSandbox: () => editor.walkthrough.complete(contextKeys.sandboxSeen),
        }).catch(onError),
    ),
    treeView.onDidCollapseElement(({ element }) => editor.tree.fold(element)),
    treeView.onDidChangeVisibility(({ visible }) => {
      if (visible) editor.start();
    }),
    workspace.registerFileSystemProvider(
      scheme,
      new ObjectFileSystem({ live, shelf, reasons: saveReasons, saver, isReadOnly: settings.readOnly }),
      { isCaseSensitive: true },
    ),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`objectVersions.${settingIds.kubeconfig}`)) {
        clusters.reset();
        watches.retryFailed();
      }
      const judging = [settingIds.thresholds, settingIds.externalReferences, settingIds.responsibilities];
      const presets = settingIds.responsibilityPresets;
      if ([...judging, presets].some((name) => event.affectsConfiguration(`objectVersions.${name}`)))
        session.judgeAnew();
      if (event.affectsConfiguration('objectVersions')) showWatchContext();
    }),
    registerDecorations(session, now),
    ...registerBanners(editor),
    ...registerStatusBar(editor),
    ...registerWatchCommands(editor),
    ...registerObjectCommands(editor),
    ...registerDeleteCommands(editor),
    ...registerEditCommands(editor),
    ...registerAssociations(editor),
    ...registerAround(editor),
    ...registerFindings(editor),
    ...registerSandbox(editor),
    ...registerRecorder(editor),
    ...registerLabs(editor),
    ...registerTraceCommands(editor),
    registerTraceEditor(editor, sources),
    ...registerTools(editor),
    command(commandIds.openTimeline, () => timeline.show()),
    command(commandIds.showTimelineAsText, () => showTimelineText(editor, source)),
    registerOwnerHints(editor, sources, settings.responsibilities),
    registerResponsibilityProblems(onError),
    command(commandIds.showLog, () => log.show()),
    command(commandIds.toggleReadOnly, () => changeSetting(settingIds.readOnly, !settings.readOnly())),
    registerDocumentation(editor),
    registerCommandLine(editor),
    command(commandIds.openWalkthrough, () => editor.walkthrough.open()),
  );
  if (treeView.visible) editor.start();
  if (settings.openOnStart()) void openAll(editor).catch((error: unknown) => showFailure(error, l10n.t('Opening')));
  return api(editor);
}

/** The first picture where a setting asks for it: our view on the left, the timeline beside it. */
async function openAll(editor: Editor): Promise<void> {
  await commands.executeCommand(`${viewIds.watchedObjects}.focus`);
  editor.start();
  editor.timeline.show({ preserveFocus: true, column: ViewColumn.One });
}

function api(editor: Editor): ObjectVersionsApi {
  const { session, watches, clusters, tree } = editor;
  return {
    version: 1,
    history: () => session.history,
    findings: () => session.findings(),
    watches: () => watches.definitions().map((definition) => ({ definition, status: watches.status(definition.id) })),
    async addWatch(contextName, text) {
      const signal = limited(API_LIMIT_MS);
      const definition = await declaredDefinition(await clusters.connect(contextName, signal), text, signal);
      editor.start();
      await watches.add(definition);
      return definition;
    },
    rows: (parent) => tree.shownRows(parent),
  };
}
