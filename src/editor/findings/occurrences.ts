import type { Finding } from '../../core/findings/finding.ts';
import { muteKey, sortFindings } from './muting.ts';

/** What one rule says about one object, however often: the newest first, at least one. */
export interface Occurrences {
  readonly newest: Finding;
  readonly all: readonly Finding[];
  /** How often it happened in all. */
  readonly count: number;
  /** Who did it, the newest first, each once. */
  readonly actors: readonly string[];
}

/** Findings of one rule, kind and object together; the group with the newest finding first. */
export function groupOccurrences(findings: readonly Finding[]): Occurrences[] {
  const groups = Map.groupBy(sortFindings(findings), (finding) => `${finding.cluster} ${muteKey(finding)}`);
  return [...groups.values()].flatMap((all) => {
    const [newest] = all;
    if (newest === undefined) return [];
    const count = all.reduce((sum, finding) => sum + finding.count, 0);
    const actors = [...new Set(all.flatMap(({ actors: [first] }) => (first === undefined ? [] : [first])))];
    return [{ newest, all, count, actors }];
  });
}
