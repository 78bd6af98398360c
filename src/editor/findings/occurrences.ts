import type { Finding } from '../../core/findings/finding.ts';
import { muteKey, sortFindings } from './muting.ts';

/** What one rule says about one object, however often: the newest first, at least one. */
export interface Occurrences {
  readonly newest: Finding;
  /** The one that the whole is called by: it stays when there is another one. */
  readonly first: Finding;
  readonly all: readonly Finding[];
  /** How often it happened in all. */
  readonly count: number;
  /** Who did it, the newest first, each once. */
  readonly actors: readonly string[];
}

/** Findings of one rule, kind and object together; the group that began first is first, so that what comes moves nothing. */
export function groupOccurrences(findings: readonly Finding[]): Occurrences[] {
  const groups = Map.groupBy(sortFindings(findings), (finding) => `${finding.cluster} ${muteKey(finding)}`);
  return [...groups.values()]
    .flatMap((all): Occurrences[] => {
      const [newest] = all;
      const [first] = all.toSorted((a, b) => a.firstAt - b.firstAt);
      if (newest === undefined || first === undefined) return [];
      const count = all.reduce((sum, finding) => sum + finding.count, 0);
      const actors = [...new Set(all.flatMap(({ actors: [one] }) => (one === undefined ? [] : [one])))];
      return [{ newest, first, all, count, actors }];
    })
    .sort((a, b) => a.first.firstAt - b.first.firstAt);
}
