import { EventEmitter, l10n, type ProviderResult, type TreeDataProvider, type TreeItem } from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { History, NameHistory } from '../../core/history.ts';
import type { ShownRow } from '../app/api.ts';
import { throttle, type Throttle } from '../app/throttle.ts';
import type { Associations } from '../associations/associations.ts';
import type { Clusters } from '../clusters/clusters.ts';
import type { Session } from '../session/session.ts';
import type { WatchDefinition } from '../watches/watchDefinition.ts';
import type { Responsibility } from '../../core/responsibility.ts';
import type { Watches } from '../watches/watches.ts';
import { DrawnRows, isLasting } from './drawnRows.ts';
import { endedLabs } from './endedLabs.ts';
import { incarnationDetails } from './incarnationDetails.ts';
import type { GroupNode, IncarnationNode, ObjectNode, TreeNode, WatchNode } from './nodes.ts';
import { matchesFilter, ObjectIndex, type Order } from './objectIndex.ts';
import { treeItemOf } from './treeItems.ts';
import { currentIncarnation } from './wording.ts';

/** How objects are grouped below a watch. */
export type Grouping = 'none' | 'namespace' | 'state';

/** What the tree reads. */
export interface TreeSources {
  readonly session: Session;
  readonly watches: Watches;
  readonly clusters: Clusters;
  readonly associations: Pick<Associations, 'atName'>;
  readonly now: () => number;
  responsibilities(): readonly Responsibility[];
  pageSize(): number;
}

const REFRESH_INTERVAL_MS = 500;
/**
 * VS Code may drop a request to draw some rows anew that comes while it draws: where it has not asked for them after so
 * long, and nothing else happened, it is asked for the whole tree.
 */
const ASKED_AGAIN_MS = [2000, 6000, 18_000];
/** VS Code asks for each row by itself: of more than so many, the whole tree is cheaper. */
const ROWS_AT_ONCE = 10;

/** The rows of "Watched Objects", computed from the log when VS Code asks for them. */
export class WatchedObjects implements TreeDataProvider<TreeNode>, Disposable {
  private readonly sources: TreeSources;
  private readonly index = new ObjectIndex();
  private readonly changed = new EventEmitter<TreeNode | TreeNode[] | undefined>();
  private readonly drawn = new DrawnRows();
  private readonly nodes = new Map<string, TreeNode>();
  private readonly parents = new Map<string, string>();
  private readonly pages = new Map<string, number>();
  private readonly subscriptions: Disposable[];
  private readonly refresher: Throttle;
  private order: Order = 'name';
  private grouping: Grouping = 'none';
  private filterText = '';
  private past: History | undefined;
  private asking: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(sources: TreeSources) {
    this.sources = sources;
    this.refresher = throttle(REFRESH_INTERVAL_MS, () => this.drawAnew());
    this.index.addHistory(sources.session.history);
    this.subscriptions = [
      sources.session.onDidChange(({ events }) => {
        if (sources.session.history.lastSeq === 0) this.index.clear();
        this.index.add(events);
        this.refresher.request();
      }),
      sources.watches.onDidChange(() => this.refresher.request()),
    ];
  }

  /** What is shown: order, grouping and filter. */
  get view(): { readonly order: Order; readonly grouping: Grouping; readonly filter: string } {
    return { order: this.order, grouping: this.grouping, filter: this.filterText };
  }

  /** Changes what is shown. */
  setView(view: { readonly order?: Order; readonly grouping?: Grouping; readonly filter?: string }): void {
    this.order = view.order ?? this.order;
    this.grouping = view.grouping ?? this.grouping;
    this.filterText = view.filter ?? this.filterText;
    this.pages.clear();
    this.changed.fire(undefined);
  }

  /** Shows one page more of a node's children. */
  showMore(parent: string): void {
    this.pages.set(parent, (this.pages.get(parent) ?? 1) + 1);
    const node = this.nodes.get(parent);
    this.changed.fire(node === undefined || isLasting(node) ? node : this.getParent(node));
  }

  /** A person folded a row. */
  fold(node: TreeNode): void {
    this.drawn.fold(node);
  }

  refresh(): void {
    this.refresher.request();
  }

  /** Shows what was known at a time instead of what is known now; undefined: now again. */
  showAsOf(past: History | undefined): void {
    this.past = past;
    this.changed.fire(undefined);
  }

  /** What the rows show: the live history, or that of the time a person scrubs through. */
  get history(): History {
    return this.past ?? this.sources.session.history;
  }

  /** VS Code asks for a row to draw it. */
  getTreeItem(node: TreeNode): TreeItem {
    const item = this.itemOf(node);
    this.drawn.gaveItem(node, item);
    return item;
  }

  /** VS Code asks for rows to draw them. */
  getChildren(node?: TreeNode): ProviderResult<TreeNode[]> {
    const children = this.known(node);
    this.drawn.gaveChildren(node, children);
    return children;
  }

  private itemOf(node: TreeNode): TreeItem {
    return treeItemOf(node, { ...this.sources, history: this.history });
  }

  /** The rows below a row, remembered with their parent; those that were there already are the same objects. */
  private known(node?: TreeNode): TreeNode[] {
    const children = node === undefined ? this.roots() : this.childrenOf(node);
    return children.map((child) => this.remember(child, node));
  }

  private remember<T extends TreeNode>(child: T, parent: TreeNode | undefined): T {
    if (parent !== undefined) this.parents.set(child.id, parent.id);
    const there = this.nodes.get(child.id);
    if (there !== undefined && isLasting(there)) return there as T;
    this.nodes.set(child.id, child);
    return child;
  }

  private drawAnew(): void {
    const stale = this.stale();
    const rows = [...stale].filter((node) => node !== undefined);
    if (stale.has(undefined) || rows.length > ROWS_AT_ONCE) this.changed.fire(undefined);
    else if (rows.length > 0) this.changed.fire(rows);
    clearTimeout(this.asking);
    if (stale.size > 0) this.askAgain(0);
  }

  private stale(): ReadonlySet<TreeNode | undefined> {
    return this.drawn.stale({ childrenOf: (node) => this.known(node), itemOf: (node) => this.itemOf(node) });
  }

  private askAgain(time: number): void {
    const pauseMs = ASKED_AGAIN_MS[time];
    if (pauseMs === undefined) return;
    this.asking = setTimeout(() => {
      if (this.stale().size === 0) return;
      this.changed.fire(undefined);
      this.askAgain(time + 1);
    }, pauseMs);
  }

  getParent(node: TreeNode): TreeNode | undefined {
    return this.nodes.get(this.parents.get(node.id) ?? '');
  }

  /** The row of a name, with its parents known, so that it can be revealed; undefined where no watch shows it. */
  findObject(key: string): ObjectNode | undefined {
    for (const root of this.roots()) {
      this.known();
      for (const watch of this.childrenOf(root)) {
        if (watch.type !== 'watch') continue;
        const definition = this.sources.watches.get(watch.watch);
        if (definition === undefined || !this.keysOf(definition).includes(key)) continue;
        this.known(root);
        const folded =
          this.grouping === 'none' ? endedLabs(watch, [key], this.index.madeByLabs, this.history) : undefined;
        const parent = folded ?? watch;
        if (folded !== undefined) this.remember(folded, watch);
        return this.remember<ObjectNode>(
          { type: 'object', id: `${parent.id}/${key}`, watch: watch.watch, key },
          parent,
        );
      }
    }
    return undefined;
  }

  /** The keys of all names that the watches show, whatever the filter. */
  watchedKeys(): ReadonlySet<string> {
    return new Set(this.sources.watches.definitions().flatMap((definition) => this.keysOf(definition)));
  }

  /** The rows below a row, or the roots, as they are shown. */
  shownRows(parent?: TreeNode): ShownRow[] {
    const children = parent === undefined ? this.roots() : this.childrenOf(parent);
    return children.map((node) => {
      const { label, description, contextValue } = this.itemOf(node);
      return {
        node,
        label: typeof label === 'string' ? label : (label?.label ?? ''),
        description: String(description ?? ''),
        context: contextValue ?? '',
      };
    });
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.refresher.dispose();
    clearTimeout(this.asking);
    this.changed.dispose();
  }

  private roots(): TreeNode[] {
    const keys = [...new Set(this.sources.watches.definitions().map((definition) => definition.cluster))];
    return keys.map((cluster) => ({ type: 'cluster', id: `cluster/${cluster}`, cluster }));
  }

  private childrenOf(node: TreeNode): readonly TreeNode[] {
    switch (node.type) {
      case 'cluster':
        return this.watchesOf(node.cluster);
      case 'watch':
        return this.objectsOf(node);
      case 'group':
        return this.page(node.id, node.keys, (key) => ({
          type: 'object',
          id: `${node.id}/${key}`,
          watch: node.watch,
          key,
        }));
      case 'object':
        return this.incarnationsOf(node);
      case 'incarnation':
        return this.detailsOf(node);
      case 'detail':
        return node.children ?? [];
      case 'more':
        return [];
    }
  }

  private watchesOf(cluster: string): WatchNode[] {
    return this.sources.watches
      .definitions()
      .filter((definition) => definition.cluster === cluster)
      .map((definition) => ({ type: 'watch', id: `watch/${definition.id}`, watch: definition.id }));
  }

  private keysOf(definition: WatchDefinition): readonly string[] {
    const { clusterId } = this.sources.watches.status(definition.id);
    if (clusterId === undefined) return [];
    const { group, resource, namespace, name, labelSelector, fieldSelector } = definition;
    const scope = {
      cluster: clusterId,
      group,
      resource,
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    const known = this.index.keys(scope, this.order);
    const keys = this.past === undefined ? known : known.filter((key) => this.history.names.has(key));
    return labelSelector === undefined && fieldSelector === undefined
      ? keys
      : keys.filter((key) => this.sources.watches.delivered(definition.id, key));
  }

  private objectsOf(node: WatchNode): readonly TreeNode[] {
    const definition = this.sources.watches.get(node.watch);
    if (definition === undefined) return [];
    const { history } = this;
    let keys = this.keysOf(definition);
    if (this.filterText !== '') {
      keys = keys.filter((key) => {
        const found = history.names.get(key);
        return found !== undefined && matchesFilter(found, this.filterText);
      });
    }
    if (this.grouping !== 'none') return this.groupsOf(node, keys);
    const ended = endedLabs(node, keys, this.index.madeByLabs, history);
    const folded = new Set(ended?.keys);
    const shown = folded.size === 0 ? keys : keys.filter((key) => !folded.has(key));
    const rows = this.page(node.id, shown, (key) => ({
      type: 'object',
      id: `${node.id}/${key}`,
      watch: node.watch,
      key,
    }));
    return ended === undefined ? rows : [...rows, ended];
  }

  private groupsOf(node: WatchNode, keys: readonly string[]): GroupNode[] {
    const { history } = this;
    const groups = Map.groupBy(keys, (key) => {
      const found = history.names.get(key);
      return found === undefined ? '' : this.grouping === 'namespace' ? found.name.namespace : stateOf(found);
    });
    return [...groups]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([label, own]) => ({ type: 'group', id: `${node.id}/group/${label}`, watch: node.watch, label, keys: own }));
  }

  private page(parent: string, keys: readonly string[], nodeOf: (key: string) => TreeNode): readonly TreeNode[] {
    const limit = this.sources.pageSize() * (this.pages.get(parent) ?? 1);
    const shown: TreeNode[] = keys.slice(0, limit).map(nodeOf);
    if (keys.length > limit)
      shown.push({ type: 'more', id: `${parent}/more`, parent, shown: limit, total: keys.length });
    return shown;
  }

  private incarnationsOf(node: ObjectNode): readonly IncarnationNode[] {
    const found = this.history.names.get(node.key);
    return (found?.incarnations ?? [])
      .toReversed()
      .map(({ uid }) => ({ type: 'incarnation', id: `${node.id}/${uid}`, watch: node.watch, key: node.key, uid }));
  }

  private detailsOf(node: IncarnationNode): readonly TreeNode[] {
    const { session, associations } = this.sources;
    const incarnation = this.history.names.get(node.key)?.incarnations.find(({ uid }) => uid === node.uid);
    if (incarnation === undefined) return [];
    return incarnationDetails({
      history: this.history,
      incarnation,
      nodeId: node.id,
      key: node.key,
      now: this.sources.now(),
      findings: session.findings(),
      associations: associations.atName(incarnation.cluster, incarnation.name),
      responsibilities: this.sources.responsibilities(),
    });
  }
}

function stateOf(history: NameHistory): string {
  const current = currentIncarnation(history);
  if (current === undefined || current.end !== undefined) return l10n.t('gone');
  return current.terminatingAt === undefined ? l10n.t('living') : l10n.t('terminating');
}
