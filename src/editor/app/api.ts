import type { Finding } from '../../core/findings/finding.ts';
import type { History } from '../../core/history.ts';
import type { TreeNode } from '../tree/nodes.ts';
import type { WatchDefinition } from '../watches/watchDefinition.ts';
import type { WatchStatus } from '../watches/watches.ts';

/** A row of the tree as it is shown. */
export interface ShownRow {
  readonly node: TreeNode;
  readonly label: string;
  readonly description: string;
  readonly context: string;
}

/**
 * What other extensions, and the tests, may ask of this one. Everything is read-only but the watches.
 * Versioned: members are only added.
 */
export interface ObjectVersionsApi {
  readonly version: 1;
  history(): History;
  findings(): readonly Finding[];
  watches(): readonly { readonly definition: WatchDefinition; readonly status: WatchStatus }[];
  /** Watches something, such as `deployments in shop`, on a context of the kubeconfig. Rejects as the cluster's errors say. */
  addWatch(context: string, watch: string): Promise<WatchDefinition>;
  /** The rows of the tree below a row, or its roots. */
  rows(parent?: TreeNode): readonly ShownRow[];
}
