import { l10n, window, type ExtensionContext, type LogOutputChannel } from 'vscode';
import { join } from 'node:path';
import { messageOf } from '../../base/appError.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Associations } from '../associations/associations.ts';
import { Clusters } from '../clusters/clusters.ts';
import { Decisions } from '../documents/decisions.ts';
import { Drafts } from '../documents/drafts.ts';
import { LiveDocuments } from '../documents/liveDocuments.ts';
import { locate } from '../documents/locate.ts';
import { ObjectSaver } from '../documents/objectSaver.ts';
import { readObject } from '../documents/readObject.ts';
import { SaveProblems } from '../documents/saveProblems.ts';
import { SaveReasons } from '../documents/saveReasons.ts';
import { TextShelf } from '../documents/textShelf.ts';
import { versionText } from '../documents/versionText.ts';
import { keepOnDisk } from '../session/diskLog.ts';
import { Session } from '../session/session.ts';
import { timelineActions } from '../timeline/timelineActions.ts';
import { TimelinePanel } from '../timeline/timelinePanel.ts';
import { liveSource } from '../timeline/timelineSource.ts';
import { TraceSources } from '../trace/traceSources.ts';
import { WatchedObjects } from '../tree/watchedObjects.ts';
import { addDeclaredWatches } from '../watches/watchCommands.ts';
import { Watches } from '../watches/watches.ts';
import { ObjectWriter } from '../writing/objectWriter.ts';
import { Reports } from '../writing/reports.ts';
import { viewIds } from './ids.ts';
import { showPreview } from './preview.ts';
import { commandRegistrar, failurePresenter, type RegisterCommand, type ShowFailure } from './runCommand.ts';
import { settings } from './settings.ts';
import { Walkthrough } from './walkthrough.ts';

const STORED_WATCHES = 'watches';
const STORED_ASSOCIATIONS = 'associations';

/** What every part is made from. */
class Ground {
  readonly context: ExtensionContext;
  readonly clock: Clock = systemClock;
  readonly log: LogOutputChannel;
  readonly showFailure: ShowFailure;
  readonly command: RegisterCommand;
  readonly userAgent: string;
  private readonly endings: Set<() => Promise<void>>;

  constructor(context: ExtensionContext, endings: Set<() => Promise<void>>) {
    this.context = context;
    this.endings = endings;
    this.log = this.own(window.createOutputChannel('Object Versions', { log: true }));
    this.showFailure = failurePresenter(this.log);
    this.command = commandRegistrar(this.showFailure);
    this.userAgent = `object-versions/${(context.extension.packageJSON as { version?: string }).version ?? ''}`;
  }

  readonly onError = (error: unknown): void =>
    this.log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));

  readonly now = (): number => this.clock.now();

  /** Has something disposed with the extension. */
  own<T extends Disposable>(part: T): T {
    this.context.subscriptions.push(part);
    return part;
  }

  /** Has something ended when the window closes; VS Code waits for it, though not for long. */
  onDeactivate(end: () => Promise<void>): void {
    this.endings.add(end);
  }

  /** Keeps a value with the workspace. */
  protected stored<T>(key: string): { load(): T | undefined; save(value: T): Promise<void> } {
    const { workspaceState } = this.context;
    return {
      load: () => workspaceState.get<T>(key),
      save: async (value) => workspaceState.update(key, value),
    };
  }
}

/** The parts of the extension that its commands use, each made of those above it; made once. Nothing is asked of a cluster. */
export class Editor extends Ground {
  readonly session = this.own(new Session(this.onError, settings.thresholds, this.clock));
  readonly clusters = this.own(
    new Clusters({
      clock: this.clock,
      userAgent: this.userAgent,
      kubeconfigPaths: settings.kubeconfig,
      requestsPerSecond: settings.requestsPerSecond,
      isReadOnly: settings.readOnly,
      onError: this.onError,
    }),
  );
  readonly associations = this.own(
    new Associations({
      store: this.stored(STORED_ASSOCIATIONS),
      history: () => this.session.history,
      rules: settings.associations,
      note: (events) => this.session.append(events),
      now: this.now,
      onError: this.onError,
    }),
  );
  readonly watches = this.own(
    new Watches({
      clusters: this.clusters,
      session: this.session,
      clock: this.clock,
      onError: this.onError,
      keepBodies: settings.keepBodies,
      store: this.stored(STORED_WATCHES),
    }),
  );
  readonly tree = this.own(
    new WatchedObjects({
      session: this.session,
      watches: this.watches,
      clusters: this.clusters,
      associations: this.associations,
      now: this.now,
      responsibilities: settings.responsibilities,
      pageSize: settings.pageSize,
    }),
  );
  readonly treeView = this.own(
    window.createTreeView(viewIds.watchedObjects, {
      treeDataProvider: this.tree,
      showCollapseAll: true,
      canSelectMany: true,
    }),
  );
  readonly walkthrough = new Walkthrough(`${this.context.extension.id}#objectVersions.lessons`, this.clock);
  readonly sources = new TraceSources(() => this.session.history);
  readonly shelf = this.own(new TextShelf((address) => versionText(this.sources, address), this.now));
  readonly live = this.own(
    new LiveDocuments({
      session: this.session,
      clock: this.clock,
      onError: this.onError,
      drafts: new Drafts(join(this.context.globalStorageUri.fsPath, 'drafts')),
      read: async (address, signal) => {
        const { connected, resource, target } = await locate(this.clusters, address);
        return {
          object: await readObject(connected.cluster, target, signal),
          schema: await connected.schema(resource, signal),
        };
      },
    }),
  );
  readonly decisions = this.own(new Decisions(this.shelf, this.live, this.onError));
  readonly reports = new Reports(this.shelf);
  readonly writer = new ObjectWriter({
    session: this.session,
    reports: this.reports,
    clock: this.clock,
    log: this.log,
    userAgent: this.userAgent,
    settings: settings.write,
    isReadOnly: settings.readOnly,
    keepBodies: settings.keepBodies,
    protectedContexts: settings.protectedContexts,
    responsibilities: settings.responsibilities,
    showPreview: (target, before, after) => showPreview(this.shelf, this.session.secretKey, target, before, after),
  });
  readonly saveProblems = this.own(new SaveProblems());
  readonly saveReasons = this.own(new SaveReasons());
  readonly saver = new ObjectSaver({
    live: this.live,
    writer: this.writer,
    decisions: this.decisions,
    problems: this.saveProblems,
    locate: (address) => locate(this.clusters, address),
    onError: this.onError,
  });
  readonly source = liveSource(this.session);
  readonly timeline: TimelinePanel = this.own(
    new TimelinePanel({
      extensionUri: this.context.extensionUri,
      source: this.source,
      log: this.log,
      actions: timelineActions(() => this, this.source),
    }),
  );
  private started = false;

  /** Begins to watch, when somebody looks first: the log of earlier windows is read, then the watches of the workspace and of the settings start. Doing it again does nothing. */
  start(): void {
    if (this.started) return;
    this.started = true;
    this.startWatching().catch((error: unknown) => this.showFailure(error, l10n.t('Watches of the settings')));
  }

  private async startWatching(): Promise<void> {
    const { context, session, clock, userAgent, log } = this;
    const folder = join((context.storageUri ?? context.globalStorageUri).fsPath, 'log');
    const onProblem = (problem: unknown): void => log.warn(`log on disk: ${messageOf(problem)}`);
    try {
      this.own(
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
    this.watches.start();
    await addDeclaredWatches(this);
  }
}
