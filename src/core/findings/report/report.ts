import { dateText, preciseTimeText } from '../../timeline/axis.ts';
import type { Finding, Severity } from '../finding.ts';
import type { ObjectName } from '../../traceEvent.ts';
import type { Allowance } from './allow.ts';

/** What is told at the end of a recording or an analysis. */
export interface FindingsReport {
  readonly findings: readonly Finding[];
  /** Findings that an allow file covers, with their entry; they count for nothing. */
  readonly allowed: readonly { finding: Finding; allowance: Allowance }[];
  /** Counts of what could not be read or known, and why. */
  readonly notAnalysed: Readonly<Record<string, unknown>>;
  /** What was read: events, files. */
  readonly events: number;
  readonly notes: readonly string[];
}

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];

/** Findings by severity, then by time. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) || a.firstAt - b.firstAt);
}

/** The name of a finding's object, as a person reads it. */
export function objectText(finding: Finding): string {
  return nameText(finding.object);
}

/** `configmaps lab/demo`, `toys.example.test lab/demo`, `namespaces demo`. */
export function nameText({ group, resource, namespace, name }: ObjectName): string {
  return `${group === '' ? resource : `${resource}.${group}`} ${namespace === '' ? '' : `${namespace}/`}${name}`.trim();
}

/** `lost-update (token-swap)`. */
export function titleOf(finding: Finding): string {
  return finding.kind === undefined ? finding.id : `${finding.id} (${finding.kind})`;
}

/** The JSON of `analyze --format json` and `record -o json`: a contract, to which members are only added. */
export function reportJson(report: FindingsReport): string {
  const allowed = report.allowed.map(({ finding, allowance }) => ({
    id: finding.id,
    object: finding.object,
    reason: allowance.reason,
  }));
  return `${JSON.stringify({ findings: report.findings, notAnalysed: report.notAnalysed, events: report.events, ...(allowed.length === 0 ? {} : { allowed }), ...(report.notes.length === 0 ? {} : { notes: report.notes }) })}\n`;
}

/** The time of a finding in UTC, or from when to when. */
function whenText({ firstAt, lastAt }: Finding): string {
  const first = `${dateText(firstAt, 0)} ${preciseTimeText(firstAt, 0)}`;
  return firstAt === lastAt ? `${first} UTC` : `${first} to ${preciseTimeText(lastAt, 0)} UTC`;
}

/** The report for a person in a terminal. */
export function reportText(report: FindingsReport): string {
  const lines: string[] = [];
  for (const finding of bySeverity(report.findings)) {
    const times = finding.count > 1 ? `, ${finding.count} times` : '';
    lines.push(
      `${finding.severity}: ${titleOf(finding)} on ${objectText(finding)}${times}${finding.sureness === 'likely' ? ' (likely)' : ''}`,
    );
    lines.push(`  ${finding.explanation}`);
    if (finding.fields.length > 0)
      lines.push(
        `  fields: ${finding.fields.slice(0, 10).join(', ')}${finding.fields.length > 10 ? ` and ${finding.fields.length - 10} more` : ''}`,
      );
    lines.push(`  when: ${whenText(finding)}`);
    if (finding.actors.length > 0) lines.push(`  actors: ${finding.actors.join(', ')}`);
    lines.push(
      `  proof: events ${finding.events.slice(0, 12).join(', ')}${finding.events.length > 12 ? ', …' : ''}`,
      `  remedy: ${finding.remedy}`,
      `  more: docs/findings/${finding.id}.md`,
      '',
    );
  }
  const counts = ORDER.map(
    (severity) => `${report.findings.filter((finding) => finding.severity === severity).length} ${severity}`,
  );
  lines.push(`${report.findings.length} findings (${counts.join(', ')}) in ${report.events} events.`);
  if (report.allowed.length > 0)
    lines.push(
      `${report.allowed.length} more are allowed: ${[...new Set(report.allowed.map((item) => item.allowance.reason))].join('; ')}.`,
    );
  const missing = Object.entries(report.notAnalysed).filter(([, value]) => typeof value === 'number' && value > 0);
  if (missing.length > 0)
    lines.push(`Not analysed: ${missing.map(([what, count]) => `${String(count)} ${what}`).join(', ')}.`);
  return `${[...lines, ...report.notes].join('\n')}\n`;
}
