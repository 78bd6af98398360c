import { inGroup } from '../../core/inGroup.ts';
import type { Finding } from '../../core/findings/finding.ts';

/** What tells the findings apart that one mute is about: the rule, its kind, and the name of the object. */
export function muteKey(finding: Finding): string {
  const { group, resource, namespace, name } = finding.object;
  const kind = finding.kind === undefined ? '' : `:${finding.kind}`;
  return `${finding.id}${kind} ${inGroup(resource, group)} ${namespace}/${name}`;
}

/** Findings that count, and those that somebody muted. */
export function splitMuted(
  findings: readonly Finding[],
  muted: Readonly<Record<string, string>>,
): { readonly open: readonly Finding[]; readonly muted: readonly Finding[] } {
  const isMuted = (finding: Finding): boolean => Object.hasOwn(muted, muteKey(finding));
  return { open: findings.filter((finding) => !isMuted(finding)), muted: findings.filter(isMuted) };
}

/** The newest first. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => b.lastAt - a.lastAt);
}
