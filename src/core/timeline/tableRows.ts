import { FLAG } from './model.ts';
import type { TimelineStore } from './store.ts';

/** The rows of the table: marks in order of arrival, runs of noise folded into their first mark. */
export interface TableRows {
  readonly length: number;
  /** The mark of a row, by its place in the columns. */
  readonly mark: Uint32Array;
  /** How many marks a row stands for. */
  readonly count: Uint32Array;
  /** The last mark that it stands for. */
  readonly last: Uint32Array;
}

/**
 * Folds runs of status-only changes and renewals of one actor into one row with a count; changes of the desired state are
 * never folded. Rows whose first mark is in `expanded` stand for one mark each.
 */
export function tableRows(
  store: TimelineStore,
  matched: Uint8Array | undefined,
  lanesShown: Uint8Array,
  expanded: ReadonlySet<number>,
): TableRows {
  const { marks } = store;
  const mark = new Uint32Array(marks.length);
  const count = new Uint32Array(marks.length);
  const last = new Uint32Array(marks.length);
  /** The row that the run of each lane stands in, plus one. */
  const open = new Uint32Array(store.lanes.length);
  let length = 0;
  for (let index = 0; index < marks.length; index += 1) {
    const lane = marks.lane.at(index);
    if (lanesShown[lane] !== 1 || (matched !== undefined && matched[index] !== 1)) continue;
    const row = (open[lane] ?? 0) - 1;
    const folds = (marks.flags.at(index) & FLAG.continuesRun) !== 0 && row >= 0 && !expanded.has(mark[row] ?? 0);
    if (folds) {
      count[row] = (count[row] ?? 0) + 1;
      last[row] = index;
      continue;
    }
    const continues = (marks.flags.at(index) & FLAG.continuesRun) !== 0 && row >= 0;
    mark[length] = index;
    count[length] = 1;
    last[length] = index;
    if (!continues) open[lane] = (marks.flags.at(index) & FLAG.foldable) === 0 ? 0 : length + 1;
    length += 1;
  }
  return { length, mark: mark.slice(0, length), count: count.slice(0, length), last: last.slice(0, length) };
}
