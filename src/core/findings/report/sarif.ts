import { hashText } from '../../hash.ts';
import { doersOf, findingIds, severityOf, type Finding, type FindingId, type Severity } from '../finding.ts';
import { objectText, titleOf, type FindingsReport } from './report.ts';

const LEVEL: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

/**
 * The report as SARIF 2.1.0 (OASIS), for code scanning. Objects are logical locations; the physical one, without which code
 * scanning takes no result, is the log that was read (`input`, its path or name). Fingerprints make runs comparable.
 */
export function reportSarif(report: FindingsReport, tool: { version: string }, input: string): string {
  const uri = input.split(/[\\/]/).map(encodeURIComponent).join('/');
  const rules = findingIds.map((id) => ({
    id,
    name: id,
    shortDescription: { text: id },
    help: {
      text: `The page docs/findings/${id}.md, which "Explain Finding" opens in the editor, says what it means and what to do.`,
    },
    defaultConfiguration: { level: LEVEL[severityOf[id]] },
  }));
  const driver = { name: 'object-versions', version: tool.version, rules };
  const known = new Map<string, number>();
  const found = report.findings.map((finding) => resultOf(finding, uri, known));
  const suppressed = report.allowed.map(({ finding, allowance }) => ({
    ...resultOf(finding, uri, known),
    suppressions: [{ kind: 'external', justification: allowance.reason }],
  }));
  const run = { tool: { driver }, results: [...found, ...suppressed] };
  return `${JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }, undefined, 1)}\n`;
}

/** Rules about the object alone: who did it is known in one run and not in another. */
const OF_OBJECT: ReadonlySet<FindingId> = new Set(['recreated', 'stale-reference']);

/** What makes findings of several runs the same, whatever fields they took and how often: the rule, its object and who did it. */
function identityOf(finding: Finding): string {
  const doers = OF_OBJECT.has(finding.id) ? [] : doersOf(finding).toSorted();
  return [finding.id, finding.kind ?? '', objectText(finding), ...doers].join('|');
}

/** `known` counts the results of one identity. */
function resultOf(finding: Finding, uri: string, known: Map<string, number>): Record<string, unknown> {
  const identity = identityOf(finding);
  const nth = (known.get(identity) ?? 0) + 1;
  known.set(identity, nth);
  return {
    ruleId: finding.id,
    ruleIndex: findingIds.indexOf(finding.id),
    level: LEVEL[finding.severity],
    message: { text: `${titleOf(finding)} on ${objectText(finding)}: ${finding.explanation} ${finding.remedy}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: objectText(finding), kind: 'object' }],
      },
    ],
    partialFingerprints: {
      primaryLocationLineHash: `${hashText(identity)}:${nth}`,
      'objectVersions/v2': nth === 1 ? identity : `${identity}|${nth}`,
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
