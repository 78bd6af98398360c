import type { Finding } from '../core/findings/finding.ts';

/** Findings in the order in which they begin; where that is one moment, in an order that only depends on what they say. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const texts = new Map<Finding, string>();
  const textOf = (finding: Finding): string => {
    const text = texts.get(finding) ?? JSON.stringify(finding);
    texts.set(finding, text);
    return text;
  };
  return findings.toSorted((a, b) => {
    const difference = a.firstAt - b.firstAt || (a.events[0] ?? 0) - (b.events[0] ?? 0);
    if (difference !== 0) return difference;
    return textOf(a) < textOf(b) ? -1 : 1;
  });
}
