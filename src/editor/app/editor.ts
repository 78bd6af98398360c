import type { ExtensionContext, LogOutputChannel, TreeView } from 'vscode';
import type { Clock } from '../../base/clock.ts';
import type { Associations } from '../associations/associations.ts';
import type { Clusters } from '../clusters/clusters.ts';
import type { Decisions } from '../documents/decisions.ts';
import type { LiveDocuments } from '../documents/liveDocuments.ts';
import type { TextShelf } from '../documents/textShelf.ts';
import type { Session } from '../session/session.ts';
import type { TimelinePanel } from '../timeline/timelinePanel.ts';
import type { TreeNode } from '../tree/nodes.ts';
import type { WatchedObjects } from '../tree/watchedObjects.ts';
import type { Watches } from '../watches/watches.ts';
import type { ObjectWriter } from '../writing/objectWriter.ts';
import type { Reports } from '../writing/reports.ts';
import type { RegisterCommand, ShowFailure } from './runCommand.ts';

/** The parts of the extension that its commands use; made once by the composition root. */
export interface Editor {
  readonly context: ExtensionContext;
  readonly log: LogOutputChannel;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly showFailure: ShowFailure;
  readonly command: RegisterCommand;
  readonly session: Session;
  readonly clusters: Clusters;
  readonly associations: Associations;
  readonly watches: Watches;
  readonly tree: WatchedObjects;
  readonly treeView: TreeView<TreeNode>;
  readonly shelf: TextShelf;
  readonly live: LiveDocuments;
  readonly decisions: Decisions;
  readonly writer: ObjectWriter;
  readonly reports: Reports;
  readonly timeline: TimelinePanel;
  /** Begins to watch: the log of earlier windows is read, then the watches start. Doing it again does nothing. */
  start(): void;
  /** Has something ended when the window closes; VS Code waits for it, though not for long. */
  onDeactivate(end: () => Promise<void>): void;
}
