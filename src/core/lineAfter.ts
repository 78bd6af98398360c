/** Lines of a text that others took the place of: `count` lines from line `from` (from 0) are `newCount` lines now. */
export interface ChangedLines {
  readonly from: number;
  readonly count: number;
  readonly newCount: number;
}

/** Where a line is after changes, which stand in order: a line that was replaced is the one at the same place among the new. */
export function lineAfter(changes: readonly ChangedLines[], line: number): number {
  let moved = line;
  for (const { from, count, newCount } of changes) {
    if (line < from) break;
    if (line < from + count) return moved - (line - from) + Math.min(line - from, Math.max(0, newCount - 1));
    moved += newCount - count;
  }
  return moved;
}
