import { findingIds, severityOf, type Finding, type Severity } from '../finding.ts';
import { objectText, titleOf, type FindingsReport } from './report.ts';

const LEVEL: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

/** The report as SARIF 2.1.0 (OASIS), for code scanning. Objects are logical locations; a fingerprint makes runs comparable. */
export function reportSarif(report: FindingsReport, tool: { version: string }): string {
  const rules = findingIds.map((id) => ({
    id,
    name: id,
    shortDescription: { text: id },
    helpUri: `https://github.com/object-versions/object-versions/blob/main/docs/findings/${id}.md`,
    defaultConfiguration: { level: LEVEL[severityOf[id]] },
  }));
  const driver = { name: 'object-versions', version: tool.version, rules };
  const suppressed = report.allowed.map(({ finding, allowance }) => ({
    ...resultOf(finding),
    suppressions: [{ kind: 'external', justification: allowance.reason }],
  }));
  const run = { tool: { driver }, results: [...report.findings.map(resultOf), ...suppressed] };
  return `${JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }, undefined, 1)}\n`;
}

function resultOf(finding: Finding): Record<string, unknown> {
  return {
    ruleId: finding.id,
    ruleIndex: findingIds.indexOf(finding.id),
    level: LEVEL[finding.severity],
    message: { text: `${titleOf(finding)} on ${objectText(finding)}: ${finding.explanation} ${finding.remedy}` },
    locations: [{ logicalLocations: [{ fullyQualifiedName: objectText(finding), kind: 'object' }] }],
    partialFingerprints: {
      'objectVersions/v1': [finding.id, finding.kind ?? '', objectText(finding), ...finding.fields.slice(0, 5)].join(
        '|',
      ),
    },
    occurrenceCount: finding.count,
    properties: {
      actors: finding.actors,
      fields: finding.fields,
      events: finding.events,
      uid: finding.object.uid,
      sureness: finding.sureness,
    },
  };
}
