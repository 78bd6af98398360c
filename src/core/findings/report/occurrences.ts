import type { Finding, Severity } from '../finding.ts';

/** What one rule says of one object's name: one finding, or several of the same kind, as of one incarnation after another. */
export interface Occurrences {
  readonly first: Finding;
  /** In order of time; at least one. */
  readonly all: readonly Finding[];
  /** How often it happened in all. */
  readonly count: number;
}

/** From the gravest on. */
export const severities: readonly Severity[] = ['error', 'warning', 'info'];

/** Findings that belong in one section, the gravest first, then by the time of the first one. */
export function occurrencesOf(findings: readonly Finding[]): Occurrences[] {
  const inTime = findings.toSorted((a, b) => a.firstAt - b.firstAt);
  const groups = Map.groupBy(inTime, ({ severity, id, kind, cluster, object }) =>
    [severity, id, kind, cluster, object.group, object.resource, object.namespace, object.name].join('\0'),
  );
  return [...groups.values()]
    .flatMap((all) => {
      const [first] = all;
      return first === undefined ? [] : [{ first, all, count: all.reduce((sum, { count }) => sum + count, 0) }];
    })
    .sort((a, b) => severities.indexOf(a.first.severity) - severities.indexOf(b.first.severity));
}

/** The numbers of the events that prove a finding, in the order of the log. */
export function evidenceOf(finding: Finding): number[] {
  return finding.events.toSorted((a, b) => a - b);
}

/** From when to when findings are, of which there may be more than a call can have arguments. */
export function spanOf(findings: readonly Finding[]): { readonly from: number; readonly to: number } {
  let [from, to] = [Infinity, -Infinity];
  for (const { firstAt, lastAt } of findings) {
    if (firstAt < from) from = firstAt;
    if (lastAt > to) to = lastAt;
  }
  return { from, to };
}
