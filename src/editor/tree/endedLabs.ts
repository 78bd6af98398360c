import { l10n } from 'vscode';
import type { History } from '../../core/history.ts';
import type { GroupNode, WatchNode } from './nodes.ts';
import { currentIncarnation } from './wording.ts';

/** The objects of a watch that labs made and removed again, as one row; undefined where there are none. */
export function endedLabs(
  node: WatchNode,
  keys: readonly string[],
  madeByLabs: ReadonlySet<string>,
  { names }: History,
): GroupNode | undefined {
  if (madeByLabs.size === 0) return undefined;
  const ended = keys.filter((key) => {
    const found = madeByLabs.has(key) ? names.get(key) : undefined;
    return found !== undefined && currentIncarnation(found)?.end !== undefined;
  });
  if (ended.length === 0) return undefined;
  const id = `${node.id}/labs`;
  return { type: 'group', id, watch: node.watch, label: l10n.t('ended labs'), icon: 'beaker-stop', keys: ended };
}
