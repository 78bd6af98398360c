import { commands, l10n, ViewColumn, window, workspace, type ExtensionContext } from 'vscode';
import { join } from 'node:path';
import { messageOf } from '../../base/appError.ts';
import { systemClock } from '../../base/clock.ts';
import { registerAround } from '../around/aroundCommands.ts';
import { registerAssociations } from '../associations/associationCommands.ts';
import { Associations } from '../associations/associations.ts';
import { Clusters } from '../clusters/clusters.ts';
import { registerBanners } from '../documents/banners.ts';
import { Decisions } from '../documents/decisions.ts';
import { registerDeleteCommands } from '../documents/deleteCommands.ts';
import { Drafts } from '../documents/drafts.ts';
import { LiveDocuments } from '../documents/liveDocuments.ts';
import { locate } from '../documents/locate.ts';
import { registerObjectCommands } from '../documents/objectCommands.ts';
import { ObjectFileSystem } from '../documents/objectFileSystem.ts';
import { ObjectSaver } from '../documents/objectSaver.ts';
import { registerResponsibilityProblems } from '../writing/responsibilityProblems.ts';
import { registerOwnerHints } from '../documents/ownerHints.ts';
import { readObject } from '../documents/readObject.ts';
import { SaveProblems } from '../documents/saveProblems.ts';
import { SaveReasons } from '../documents/saveReasons.ts';
import { TextShelf } from '../documents/textShelf.ts';
import { versionText } from '../documents/versionText.ts';
import { registerFindings } from '../findings/findingsView.ts';
import { registerLabs } from '../labs/labCommands.ts';
import { registerRecorder } from '../recorder/recordCommands.ts';
import { followSandboxFeed } from '../sandbox/sandboxFeed.ts';
import { registerSandbox } from '../sandbox/sandboxCommands.ts';
import { keepOnDisk } from '../session/diskLog.ts';
import { Session } from '../session/session.ts';
import { timelineActions } from '../timeline/timelineActions.ts';
import { TimelinePanel } from '../timeline/timelinePanel.ts';
import { liveSource } from '../timeline/timelineSource.ts';
import { registerTools } from '../tools/languageModelTools.ts';
import { registerTraceCommands } from '../trace/traceCommands.ts';
import { registerTraceEditor } from '../trace/traceEditor.ts';
import { TraceSources } from '../trace/traceSources.ts';
import { registerDecorations } from '../tree/decorations.ts';
import { WatchedObjects } from '../tree/watchedObjects.ts';
import { addDeclaredWatches, registerWatchCommands } from '../watches/watchCommands.ts';
import { declaredDefinition } from '../watches/addWatch.ts';
import { Watches } from '../watches/watches.ts';
import { registerEditCommands } from '../writing/editCommands.ts';
import { ObjectWriter } from '../writing/objectWriter.ts';
import { Reports } from '../writing/reports.ts';
import type { ObjectVersionsApi } from './api.ts';
import type { Editor } from './editor.ts';
import { commandIds, contextKeys, scheme, settingIds, viewIds } from './ids.ts';
import { commandRegistrar, failurePresenter } from './runCommand.ts';
import { changeSetting, settings } from './settings.ts';
import { limited } from './signal.ts';
import { registerStatusBar } from './statusBar.ts';
import { showPreview, showTimelineText } from './preview.ts';

export type { ObjectVersionsApi } from './api.ts';

const STORED_WATCHES = 'watches';
const STORED_ASSOCIATIONS = 'associations';
const API_LIMIT_MS = 60_000;
/** How long the feed of a sandbox waits for the first lists. */
const FEED_WAIT_MS = 5000;

/** The composition root: makes the parts, registers them, and gives what the extension exports. Nothing is asked of a cluster. */
export function activateEditor(context: ExtensionContext, endings: Set<() => Promise<void>>): ObjectVersionsApi {
  const { subscriptions, extensionUri, workspaceState, globalStorageUri } = context;
  const log = window.createOutputChannel('Object Versions', { log: true });
  const showFailure = failurePresenter(log);
  const onError = (error: unknown): void =>
    log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const clock = systemClock;
  const userAgent = `object-versions/${(context.extension.packageJSON as { version?: string }).version ?? ''}`;
  const command = commandRegistrar(showFailure);

  const session = new Session(onError, settings.thresholds);
  const clusters = new Clusters({
    clock,
    userAgent,
    kubeconfigPaths: settings.kubeconfig,
    requestsPerSecond: settings.requestsPerSecond,
    isReadOnly: settings.readOnly,
    onError,
  });
  const watches = new Watches({
    clusters,
    session,
    clock,
    onError,
    keepBodies: settings.keepBodies,
    store: {
      load: () => workspaceState.get(STORED_WATCHES),
      save: async (definitions) => workspaceState.update(STORED_WATCHES, definitions),
    },
  });
  const now = (): number => clock.now();
  const associations = new Associations({
    store: {
      load: () => workspaceState.get(STORED_ASSOCIATIONS),
      save: async (all) => workspaceState.update(STORED_ASSOCIATIONS, all),
    },
    history: () => session.history,
    rules: settings.associations,
    note: (events) => session.append(events),
    now,
    onError,
  });
  const tree = new WatchedObjects({
    session,
    watches,
    clusters,
    associations,
    now,
    responsibilities: settings.responsibilities,
    pageSize: settings.pageSize,
  });
  const treeView = window.createTreeView(viewIds.watchedObjects, {
    treeDataProvider: tree,
    showCollapseAll: true,
    canSelectMany: true,
  });
  const sources = new TraceSources(() => session.history);
  const shelf = new TextShelf((address) => versionText(sources, address), now);
  const live = new LiveDocuments({
    session,
    clock,
    onError,
    drafts: new Drafts(join(globalStorageUri.fsPath, 'drafts')),
    read: async (address, signal) => {
      const { connected, resource, target } = await locate(clusters, address);
      return {
        object: await readObject(connected.cluster, target, signal),
        schema: await connected.schema(resource, signal),
      };
    },
  });
  const decisions = new Decisions(shelf, live);
  const reports = new Reports(shelf);
  const writer = new ObjectWriter({
    session,
    reports,
    clock,
    log,
    userAgent,
    settings: settings.write,
    isReadOnly: settings.readOnly,
    keepBodies: settings.keepBodies,
    protectedContexts: settings.protectedContexts,
    responsibilities: settings.responsibilities,
    showPreview: (target, before, after) => showPreview(shelf, session.secretKey, target, before, after),
  });
  const problems = new SaveProblems();
  const reasons = new SaveReasons();
  const saver = new ObjectSaver({
    live,
    writer,
    decisions,
    problems,
    locate: (address) => locate(clusters, address),
    onError,
  });
  const source = liveSource(session);
  const timeline = new TimelinePanel({ extensionUri, source, log, actions: timelineActions(() => editor, source) });
  const editor: Editor = {
    context,
    log,
    clock,
    userAgent,
    showFailure,
    command,
    session,
    clusters,
    associations,
    watches,
    tree,
    treeView,
    shelf,
    live,
    decisions,
    writer,
    reports,
    timeline,
    start: () => start(),
    onDeactivate: (end) => void endings.add(end),
  };

  const start = starter(editor);
  const showWatchContext = (): void => {
    void commands.executeCommand('setContext', contextKeys.hasWatches, watches.definitions().length > 0);
    void commands.executeCommand('setContext', contextKeys.readOnly, settings.readOnly());
  };
  showWatchContext();
  subscriptions.push(
    log,
    session,
    clusters,
    associations,
    watches,
    tree,
    treeView,
    shelf,
    live,
    problems,
    reasons,
    timeline,
    watches.onDidChange(showWatchContext),
    clusters.onDidConnect(
      (connected) =>
        void followSandboxFeed(connected, {
          session,
          clock,
          userAgent,
          settled: (cluster, signal) => watches.settled(cluster, FEED_WAIT_MS, signal),
        }).catch(onError),
    ),
    treeView.onDidChangeVisibility(({ visible }) => {
      if (visible) start();
    }),
    workspace.registerFileSystemProvider(
      scheme,
      new ObjectFileSystem({ live, shelf, reasons, saver, isReadOnly: settings.readOnly }),
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
    command(commandIds.openWalkthrough, () =>
      commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${context.extension.id}#objectVersions.lessons`,
        false,
      ),
    ),
  );
  if (treeView.visible) start();
  if (settings.openOnStart())
    void openAll(editor, start).catch((error: unknown) => showFailure(error, l10n.t('Opening')));
  return api(editor, start);
}

/** Starts the watches when somebody looks first: those kept with the workspace and those that settings declare. */
function starter(editor: Editor): () => void {
  let started = false;
  return () => {
    if (started) return;
    started = true;
    startWatching(editor).catch((error: unknown) => editor.showFailure(error, l10n.t('Watches of the settings')));
  };
}

async function startWatching(editor: Editor): Promise<void> {
  const { context, session, clock, userAgent, log } = editor;
  const folder = join((context.storageUri ?? context.globalStorageUri).fsPath, 'log');
  const onProblem = (problem: unknown): void => log.warn(`log on disk: ${messageOf(problem)}`);
  try {
    context.subscriptions.push(
      await keepOnDisk({
        folder,
        session,
        clock,
        creator: userAgent,
        sizeMegabytes: settings.logSizeMegabytes,
        ageDays: settings.logAgeDays,
        onProblem,
      }),
    );
  } catch (error) {
    onProblem(error);
  }
  session.begin();
  editor.watches.start();
  await addDeclaredWatches(editor);
}

/** The first picture where a setting asks for it: our view on the left, the timeline beside it. */
async function openAll(editor: Editor, start: () => void): Promise<void> {
  await commands.executeCommand(`${viewIds.watchedObjects}.focus`);
  start();
  editor.timeline.show({ preserveFocus: true, column: ViewColumn.One });
}

function api({ session, watches, clusters, tree }: Editor, start: () => void): ObjectVersionsApi {
  return {
    version: 1,
    history: () => session.history,
    findings: () => session.findings(),
    watches: () => watches.definitions().map((definition) => ({ definition, status: watches.status(definition.id) })),
    async addWatch(contextName, text) {
      const signal = limited(API_LIMIT_MS);
      const definition = await declaredDefinition(await clusters.connect(contextName, signal), text, signal);
      start();
      await watches.add(definition);
      return definition;
    },
    rows: (parent) => tree.shownRows(parent),
  };
}
