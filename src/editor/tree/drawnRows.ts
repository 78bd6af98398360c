import { ThemeIcon, type TreeItem } from 'vscode';
import type { TreeNode } from './nodes.ts';

/** Where rows come from, as they would be drawn now. */
interface Rows {
  childrenOf(node: TreeNode | undefined): readonly TreeNode[];
  itemOf(node: TreeNode): TreeItem;
}

/**
 * What VS Code was given to draw, so that it is asked again only for what looks different now: each time that it asks, it
 * shows its progress bar. A tooltip alone, such as how long ago something was, is no reason.
 */
export class DrawnRows {
  private readonly children = new Map<string, string>();
  private readonly looks = new Map<string, string>();
  private readonly folded = new Set<string>();

  gaveChildren(parent: TreeNode | undefined, children: readonly TreeNode[]): void {
    this.children.set(parent?.id ?? '', idsOf(children));
    if (parent !== undefined) this.folded.delete(parent.id);
  }

  gaveItem(node: TreeNode, item: TreeItem): void {
    this.looks.set(node.id, lookOf(item));
    // Of a folded row that is drawn anew VS Code asks for the children once it is unfolded.
    if (this.folded.has(node.id)) this.children.delete(node.id);
  }

  /** A person folded a row. */
  fold(node: TreeNode): void {
    this.folded.add(node.id);
  }

  /** The rows to be drawn anew with all below them; undefined stands for the whole tree. */
  stale(rows: Rows): ReadonlySet<TreeNode | undefined> {
    const stale = new Set<TreeNode | undefined>();
    const visit = (node: TreeNode | undefined, owner: TreeNode | undefined): void => {
      const given = this.children.get(node?.id ?? '');
      if (given === undefined) return;
      const children = rows.childrenOf(node);
      if (idsOf(children) !== given) {
        stale.add(owner);
        return;
      }
      for (const child of children) {
        const own = isLasting(child) ? child : owner;
        const look = this.looks.get(child.id);
        if (look !== undefined && look !== lookOf(rows.itemOf(child))) stale.add(own);
        else visit(child, own);
      }
    };
    visit(undefined, undefined);
    return stale;
  }
}

/** Whether a row is told by its id alone: it stays the same object, by which VS Code knows it. */
export function isLasting({ type }: TreeNode): boolean {
  return type === 'cluster' || type === 'watch' || type === 'object' || type === 'incarnation';
}

function idsOf(nodes: readonly TreeNode[]): string {
  return nodes.map(({ id }) => id).join('\n');
}

function lookOf({ label, description, iconPath, contextValue, collapsibleState, command }: TreeItem): string {
  const icon = iconPath instanceof ThemeIcon ? [iconPath.id, iconPath.color?.id] : [];
  return JSON.stringify([label, description, icon, contextValue, collapsibleState, command?.command]);
}
