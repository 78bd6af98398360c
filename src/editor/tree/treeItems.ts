import { l10n, MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from 'vscode';
import { inGroup } from '../../core/inGroup.ts';
import type { AppError } from '../../base/appError.ts';
import type { History } from '../../core/history.ts';
import { commandIds } from '../app/ids.ts';
import { sandboxKey, sandboxLabel } from '../clusters/clusters.ts';
import { describeScope } from '../watches/watchDefinition.ts';
import type { WatchStatus } from '../watches/watches.ts';
import { objectUri } from './decorations.ts';
import type {
  ClusterNode,
  DetailNode,
  GroupNode,
  IncarnationNode,
  MoreNode,
  ObjectNode,
  TreeNode,
  WatchNode,
} from './nodes.ts';
import { incarnationRow, objectRow, type ObjectRow } from './objectRows.ts';
import type { TreeSources } from './watchedObjects.ts';
import { ago, currentIncarnation } from './wording.ts';
import { sentenceOf, translated } from '../app/translated.ts';

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

/** What rows are drawn from: the sources of the tree, and the history that it shows. */
export interface Drawing extends TreeSources {
  readonly history: History;
}

/** How a row is drawn. */
export function treeItemOf(node: TreeNode, sources: Drawing): TreeItem {
  switch (node.type) {
    case 'cluster':
      return clusterItem(node, sources);
    case 'watch':
      return watchItem(node, sources);
    case 'group':
      return groupItem(node);
    case 'object':
      return objectItem(node, sources);
    case 'incarnation':
      return incarnationItem(node, sources);
    case 'detail':
      return detailItem(node);
    case 'more':
      return moreItem(node);
  }
}

function item(label: string, state: TreeItemCollapsibleState, id: string): TreeItem {
  const made = new TreeItem(label, state);
  made.id = id;
  return made;
}

function icon(name: string, colour?: string): ThemeIcon {
  return new ThemeIcon(name, colour === undefined ? undefined : new ThemeColor(colour));
}

function clusterItem(node: ClusterNode, { clusters }: Drawing): TreeItem {
  const isSandbox = node.cluster === sandboxKey;
  const connected = clusters.get(node.cluster);
  const made = item(isSandbox ? sandboxLabel() : node.cluster, Expanded, node.id);
  made.iconPath = icon(isSandbox ? 'beaker' : 'server-environment');
  if (connected !== undefined) {
    made.description = connected.cluster.url;
    made.tooltip = `${connected.label}\n${connected.cluster.url}\n${l10n.t('in the log: {0}', connected.id)}`;
  }
  made.contextValue = 'cluster';
  return made;
}

function watchItem(node: WatchNode, { watches, now }: Drawing): TreeItem {
  const definition = watches.get(node.watch);
  if (definition === undefined) return item(node.watch, None, node.id);
  const status = watches.status(node.watch);
  const title = inGroup(definition.resource, definition.group);
  const made = item(title, Expanded, node.id);
  const scope = describeScope(definition, l10n.t('all namespaces'));
  const state = describeStatus(status, now());
  made.description = [scope, state].filter((part) => part !== '').join(' · ');
  made.iconPath = phaseIcon(status);
  made.tooltip = status.error === undefined ? `${title}\n${scope}\n${state}` : failureTooltip(title, status.error);
  made.contextValue = status.phase === 'failed' ? 'watch failed' : 'watch';
  made.accessibilityInformation = { label: [title, scope, state].filter((part) => part !== '').join(', ') };
  return made;
}

function failureTooltip(title: string, error: AppError): MarkdownString {
  const text = new MarkdownString();
  const { sentence, advice } = error.inWords(translated);
  text.appendText(`${title}\n\n${sentence}\n\n${advice}`);
  return text;
}

function phaseIcon(status: WatchStatus): ThemeIcon {
  switch (status.phase) {
    case 'idle':
      return icon('eye-closed');
    case 'connecting':
    case 'listing':
      // What was there once is read anew in the background: no reason for anything to turn.
      return status.lastHeardAt === undefined ? icon('loading~spin') : icon('eye', 'disabledForeground');
    case 'live':
      return icon('eye', 'charts.green');
    case 'waiting':
      return icon('warning', 'list.warningForeground');
    case 'failed':
      return icon('error', 'list.errorForeground');
  }
}

/** The state of a watch in one sentence: nothing while all is well. */
function describeStatus(status: WatchStatus, now: number): string {
  const heard = status.lastHeardAt === undefined ? '' : l10n.t('last heard {0}', ago(status.lastHeardAt, now));
  switch (status.phase) {
    case 'idle':
    case 'live':
      return '';
    case 'connecting':
      return l10n.t('connecting');
    case 'listing':
      return l10n.t('reading');
    case 'waiting':
      return [status.error?.inWords(translated).sentence ?? l10n.t('waiting to try again'), heard]
        .filter((part) => part !== '')
        .join(' · ');
    case 'failed':
      return status.error === undefined ? l10n.t('failed') : sentenceOf(status.error);
  }
}

function groupItem(node: GroupNode): TreeItem {
  const made = item(node.label === '' ? l10n.t('no namespace') : node.label, Collapsed, node.id);
  made.description = `${node.keys.length}`;
  made.iconPath = icon(node.icon ?? 'symbol-namespace');
  made.contextValue = 'group';
  return made;
}

function objectItem(node: ObjectNode, { history, watches, now }: Drawing): TreeItem {
  const found = history.names.get(node.key);
  if (found === undefined) return item(node.key, None, node.id);
  const made = drawn(objectRow(found, now(), watches.get(node.watch)?.namespace === undefined), node.id);
  const current = currentIncarnation(found);
  if (current !== undefined) made.resourceUri = objectUri(node.key);
  if (current !== undefined && current.end === undefined) {
    made.command = { command: commandIds.openObject, title: l10n.t('Open Object'), arguments: [node] };
  }
  return made;
}

function incarnationItem(node: IncarnationNode, { history, now }: Drawing): TreeItem {
  const found = history.names.get(node.key);
  const incarnation = found?.incarnations.find(({ uid }) => uid === node.uid);
  if (found === undefined || incarnation === undefined) return item(node.uid, None, node.id);
  return drawn(incarnationRow(found, incarnation, now()), node.id);
}

function drawn(row: ObjectRow, id: string): TreeItem {
  const made = item(row.label, Collapsed, id);
  made.description = row.description;
  made.tooltip = row.tooltip;
  made.iconPath = icon(row.icon, row.colour);
  made.contextValue = row.context;
  made.accessibilityInformation = { label: row.spoken };
  return made;
}

function detailItem(node: DetailNode): TreeItem {
  const made = item(node.label, node.children === undefined || node.children.length === 0 ? None : Collapsed, node.id);
  if (node.description !== undefined) made.description = node.description;
  made.tooltip = node.tooltip ?? [node.label, node.description ?? ''].join('\n');
  if (node.icon !== undefined) made.iconPath = icon(node.icon, node.colour);
  made.contextValue = node.context ?? 'detail';
  made.accessibilityInformation = {
    label: [node.label, node.description ?? ''].filter((part) => part !== '').join(', '),
  };
  if (node.context === 'version')
    made.command = { command: commandIds.openVersion, title: l10n.t('Open Version'), arguments: [node] };
  if (node.evidence !== undefined)
    made.command = { command: commandIds.openFinding, title: l10n.t('Show Evidence'), arguments: [node] };
  return made;
}

function moreItem(node: MoreNode): TreeItem {
  const made = item(l10n.t('Show more ({0} of {1} shown)', node.shown, node.total), None, node.id);
  made.iconPath = icon('ellipsis');
  made.command = { command: commandIds.showMore, title: l10n.t('Show More'), arguments: [node] };
  return made;
}
