import {
  commands,
  EventEmitter,
  l10n,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
  type Disposable,
  type TreeDataProvider,
  type TreeView,
} from 'vscode';
import { findingIds, type Finding, type Severity } from '../../core/findings/finding.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys, settingIds, viewIds } from '../app/ids.ts';
import { rowCommand, type RowSource } from '../app/rowCommand.ts';
import { changeSetting, settings } from '../app/settings.ts';
import { throttle } from '../app/throttle.ts';
import { isTreeNode } from '../tree/nodes.ts';
import { ago } from '../tree/wording.ts';
import { findingTitle } from './findingTitle.ts';
import { muteKey, splitMuted } from './muting.ts';
import { groupOccurrences, type Occurrences } from './occurrences.ts';

/**
 * A row of the findings: a severity, the muted ones, what one rule says about one object (`finding` is the newest, and
 * `occurrences` has them all), or one occurrence of several.
 */
export type FindingNode =
  | { readonly type: 'severity'; readonly severity: Severity }
  | { readonly type: 'muted' }
  | { readonly type: 'finding'; readonly finding: Finding; readonly occurrences?: Occurrences };

const REFRESH_INTERVAL_MS = 1000;

const severities: readonly Severity[] = ['error', 'warning', 'info'];

/** The findings of the live log, grouped by severity; muted ones stand apart and are counted, never hidden. */
class FindingsTree implements TreeDataProvider<FindingNode> {
  private readonly editor: Editor;
  private readonly changed = new EventEmitter<undefined>();
  private readonly refresher = throttle(REFRESH_INTERVAL_MS, () => this.drawAnew());
  private look = '';
  readonly onDidChangeTreeData = this.changed.event;

  constructor(editor: Editor) {
    this.editor = editor;
  }

  /** Draws anew, soon, if any row reads otherwise than it did: each time, VS Code shows its progress bar. */
  refresh(): void {
    this.refresher.request();
  }

  private drawAnew(): void {
    const { open, muted } = splitMuted(this.editor.session.findings(), settings.muted());
    const rows = [...severities.map((severity) => open.filter((one) => one.severity === severity)), muted];
    const look = JSON.stringify(
      rows.map((own) => groupOccurrences(own).map(({ first, count }) => [muteKey(first), findingTitle(first), count])),
    );
    if (look === this.look) return;
    this.look = look;
    this.changed.fire(undefined);
  }

  getChildren(node?: FindingNode): FindingNode[] {
    const { open, muted } = splitMuted(this.editor.session.findings(), settings.muted());
    if (node === undefined) {
      const groups: FindingNode[] = severities
        .filter((severity) => open.some((finding) => finding.severity === severity))
        .map((severity) => ({ type: 'severity', severity }));
      return muted.length === 0 ? groups : [...groups, { type: 'muted' }];
    }
    if (node.type === 'finding') {
      const all = node.occurrences?.all ?? [];
      return all.length < 2 ? [] : all.map((finding) => ({ type: 'finding', finding }));
    }
    const own = node.type === 'muted' ? muted : open.filter((finding) => finding.severity === node.severity);
    return groupOccurrences(own).map((occurrences) => ({
      type: 'finding',
      finding: occurrences.newest,
      occurrences,
    }));
  }

  getTreeItem(node: FindingNode): TreeItem {
    if (node.type === 'finding') return findingItem(node, this.editor.clock.now());
    const { open, muted } = splitMuted(this.editor.session.findings(), settings.muted());
    if (node.type === 'muted') {
      const made = new TreeItem(l10n.t('Muted'), TreeItemCollapsibleState.Collapsed);
      made.id = 'muted';
      made.description = `${groupOccurrences(muted).length}`;
      made.iconPath = new ThemeIcon('mute');
      made.contextValue = 'muted';
      return made;
    }
    const count = groupOccurrences(open.filter((finding) => finding.severity === node.severity)).length;
    const made = new TreeItem(severityWord(node.severity), TreeItemCollapsibleState.Expanded);
    made.id = node.severity;
    made.description = `${count}`;
    made.iconPath = severityIcon(node.severity);
    return made;
  }

  dispose(): void {
    this.refresher.dispose();
    this.changed.dispose();
  }
}

function severityWord(severity: Severity): string {
  switch (severity) {
    case 'error':
      return l10n.t('Errors');
    case 'warning':
      return l10n.t('Warnings');
    case 'info':
      return l10n.t('Worth Knowing');
  }
}

function severityIcon(severity: Severity): ThemeIcon {
  switch (severity) {
    case 'error':
      return new ThemeIcon('error', new ThemeColor('list.errorForeground'));
    case 'warning':
      return new ThemeIcon('warning', new ThemeColor('list.warningForeground'));
    case 'info':
      return new ThemeIcon('info');
  }
}

function findingItem({ finding, occurrences }: FindingNode & { type: 'finding' }, now: number): TreeItem {
  const { object } = finding;
  const rule = finding.kind === undefined ? finding.id : `${finding.id} · ${finding.kind}`;
  const count = occurrences?.count ?? finding.count;
  const title = findingTitle(occurrences?.first ?? finding);
  const { Collapsed, None } = TreeItemCollapsibleState;
  const made = new TreeItem(
    count > 1 ? `×${count} ${title}` : title,
    (occurrences?.all.length ?? 0) > 1 ? Collapsed : None,
  );
  const name = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
  // What changes while one looks stands in the tooltip, or in the rows of the single occurrences.
  made.description = occurrences === undefined ? ago(finding.lastAt, now) : object.name;
  made.tooltip = [
    title,
    `${rule} · ${object.resource} ${name} · ${ago(finding.lastAt, now)}`,
    '',
    finding.explanation,
    '',
    finding.remedy,
    ...(finding.fields.length === 0 ? [] : ['', finding.fields.join('\n')]),
    ...(occurrences === undefined || count < 2
      ? []
      : ['', l10n.t('Occurrences: {0}, by {1}', count, occurrences.actors.join(', '))]),
  ].join('\n');
  made.iconPath = severityIcon(finding.severity);
  made.contextValue = 'finding';
  made.accessibilityInformation = {
    label: `${severityWord(finding.severity)}: ${rule}, ${object.resource} ${name}. ${finding.explanation}`,
  };
  made.command = {
    command: commandIds.openFinding,
    title: l10n.t('Show Evidence'),
    arguments: [{ type: 'finding', finding } satisfies FindingNode],
  };
  if (occurrences !== undefined) made.id = `${finding.severity} ${finding.cluster} ${muteKey(finding)}`;
  return made;
}

/** The finding that a row stands for, of this view or of the tree; undefined for any other value. */
function findingOf(node: unknown): Finding | undefined {
  if (isTreeNode(node)) return node.type === 'detail' ? node.evidence : undefined;
  const isOurs = typeof node === 'object' && node !== null && 'type' in node && node.type === 'finding';
  return isOurs && 'finding' in node ? (node as Extract<FindingNode, { type: 'finding' }>).finding : undefined;
}

/** The view, its badge, its commands, and notifications of those findings that a person asked to be told of. */
export function registerFindings(editor: Editor): Disposable[] {
  const tree = new FindingsTree(editor);
  const view = window.createTreeView(viewIds.findings, { treeDataProvider: tree, showCollapseAll: true });
  const refresh = (): void => {
    tree.refresh();
    const { open } = splitMuted(editor.session.findings(), settings.muted());
    const serious = open.filter((finding) => finding.severity !== 'info').length;
    const tooltip = serious === 1 ? l10n.t('1 finding') : l10n.t('{0} findings', serious);
    void commands.executeCommand('setContext', contextKeys.hasFindings, editor.session.findings().length > 0);
    view.badge = serious === 0 ? undefined : { value: serious, tooltip };
  };
  const rows = (openOnly: boolean): RowSource => findingRows(editor, [view, editor.treeView], openOnly);
  const told = new Set<string>();
  return [
    view,
    tree,
    editor.session.onDidChange(({ findings, findingsChanged }) => {
      if (findingsChanged) refresh();
      notify(editor, findings, told);
    }),
    rowCommand(editor, commandIds.openFinding, rows(false), (node) => {
      const finding = findingOf(node);
      const event = finding?.events.at(-1);
      if (event !== undefined) editor.timeline.reveal(event, finding?.id);
    }),
    editor.command(commandIds.explainFinding, async (node) => {
      const title = l10n.t('Which finding?');
      const id = findingOf(node)?.id ?? (await window.showQuickPick([...findingIds], { title }));
      if (id !== undefined) await openFindingPage(editor, id);
    }),
    rowCommand(editor, commandIds.muteFinding, rows(true), async (node) => {
      const finding = findingOf(node);
      if (finding === undefined) return;
      const reason = await window.showInputBox({
        title: l10n.t('Mute Finding'),
        prompt: l10n.t('Why is this all right here?'),
        validateInput: (text) => (text.trim() === '' ? l10n.t('Give a reason.') : undefined),
      });
      if (reason === undefined) return;
      await changeSetting(settingIds.mutedFindings, { ...settings.muted(), [muteKey(finding)]: reason.trim() });
      refresh();
    }),
    editor.command(commandIds.unmuteFindings, async () => {
      await changeSetting(settingIds.mutedFindings, {});
      refresh();
    }),
  ];
}

/** Findings as a question offers them: those that count, and where `openOnly` is not set the muted ones after them. */
function findingRows({ session }: Editor, views: readonly TreeView<unknown>[], openOnly: boolean): RowSource {
  return {
    question: l10n.t('Which finding?'),
    selected: () => views.find(({ visible, selection }) => visible && selection.length > 0)?.selection ?? [],
    fits: (row) => findingOf(row) !== undefined,
    items: () => {
      const { open, muted } = splitMuted(session.findings(), settings.muted());
      const items = [open, openOnly ? [] : muted].flatMap(groupOccurrences).map(({ newest: finding, first }) => ({
        label: findingTitle(first),
        description: [finding.object.resource, finding.object.namespace, finding.object.name]
          .filter(Boolean)
          .join(' · '),
        detail: finding.explanation,
        row: { type: 'finding', finding } satisfies FindingNode,
      }));
      return Promise.resolve(items);
    },
  };
}

function notify(editor: Editor, findings: readonly Finding[], told: Set<string>): void {
  const wanted = settings.notify();
  for (const finding of findings) {
    const key = muteKey(finding);
    if (!wanted.includes(finding.id) || told.has(key) || key in settings.muted()) continue;
    told.add(key);
    void tell(editor, finding).catch((error: unknown) => editor.log.error(String(error)));
  }
}

async function tell(editor: Editor, finding: Finding): Promise<void> {
  const show = l10n.t('Show Evidence');
  const chosen = await window.showWarningMessage(finding.explanation, show);
  const event = finding.events.at(-1);
  if (chosen === show && event !== undefined) editor.timeline.reveal(event, finding.id);
}

/** Opens the page of a finding: the packaged one as a preview. */
export async function openFindingPage(editor: Pick<Editor, 'shelf' | 'context'>, id: string): Promise<void> {
  const { showFindingPage } = await import('./findingPage.ts');
  await showFindingPage(
    Uri.joinPath(editor.context.extensionUri, 'dist', 'docs', 'findings', `${id}.md`),
    id,
    editor.shelf,
  );
}
