import type { Finding } from '../../core/findings/finding.ts';
import type { Association } from '../../core/associations.ts';

/** A row of the tree. Rows are plain data; what they show is computed from the log when VS Code asks. */
export type TreeNode = ClusterNode | WatchNode | GroupNode | ObjectNode | IncarnationNode | DetailNode | MoreNode;

/** A cluster with watches. */
export interface ClusterNode {
  readonly type: 'cluster';
  readonly id: string;
  readonly cluster: string;
}

/** One watch. */
export interface WatchNode {
  readonly type: 'watch';
  readonly id: string;
  readonly watch: string;
}

/** Objects of one watch that have something in common: a namespace, a state, or that a lab made them and removed them. */
export interface GroupNode {
  readonly type: 'group';
  readonly icon?: string;
  readonly id: string;
  readonly watch: string;
  readonly label: string;
  /** Keys of names, in order. */
  readonly keys: readonly string[];
}

/** All that lives or lived at one name. `key` is its key in the history. */
export interface ObjectNode {
  readonly type: 'object';
  readonly id: string;
  readonly watch: string;
  readonly key: string;
}

/** One life of an object. */
export interface IncarnationNode {
  readonly type: 'incarnation';
  readonly id: string;
  readonly watch: string;
  readonly key: string;
  readonly uid: string;
}

/** A fact about an incarnation; what it shows is fixed when it is made. */
export interface DetailNode {
  readonly type: 'detail';
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  /** Plain text; line feeds are kept. */
  readonly tooltip?: string;
  readonly icon?: string;
  readonly colour?: string;
  readonly context?: string;
  readonly children?: readonly DetailNode[];
  /** The version that the row stands for. */
  readonly version?: { readonly key: string; readonly uid: string; readonly token: string };
  /** The external association that the row stands for. */
  readonly association?: Association;
  /** The finding that the row stands for: it opens its evidence. */
  readonly evidence?: Finding;
}

/** The rest of a long list, one page at a time. */
export interface MoreNode {
  readonly type: 'more';
  readonly id: string;
  /** The node whose children go on. */
  readonly parent: string;
  readonly shown: number;
  readonly total: number;
}

/** Whether a value, as a command gets it, is a row of the tree. */
export function isTreeNode(value: unknown): value is TreeNode {
  return (
    typeof value === 'object' && value !== null && 'type' in value && 'id' in value && typeof value.id === 'string'
  );
}
