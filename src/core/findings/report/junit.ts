import { findingIds, type Finding } from '../finding.ts';
import { evidenceOf } from './occurrences.ts';
import { objectText, titleOf, type FindingsReport } from './report.ts';

/** The report as JUnit XML: one case a rule, which fails with its findings where `isFailure` says so. */
export function reportJunit(report: FindingsReport, isFailure: (finding: Finding) => boolean): string {
  const cases = findingIds.map((id) => {
    const found = report.findings.filter((finding) => finding.id === id);
    const failures = found.filter(isFailure);
    const rest = found.filter((finding) => !isFailure(finding));
    const allowed = report.allowed.filter((item) => item.finding.id === id);
    const body = [
      ...failures.map(
        (finding) =>
          `<failure type="${id}" message="${escape(`${titleOf(finding)} on ${objectText(finding)}`)}">${escape(textOf(finding))}</failure>`,
      ),
      ...(rest.length + allowed.length === 0
        ? []
        : [
            `<system-out>${escape([...rest.map(textOf), ...allowed.map((item) => `allowed (${item.allowance.reason}): ${textOf(item.finding)}`)].join('\n'))}</system-out>`,
          ]),
    ];
    const failed = failures.length > 0;
    return { failed, xml: `  <testcase classname="object-versions" name="${id}">${body.join('')}</testcase>` };
  });
  const failures = cases.filter((item) => item.failed).length;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="object-versions" tests="${cases.length}" failures="${failures}" errors="0" skipped="0">\n${cases.map((item) => item.xml).join('\n')}\n</testsuite>\n`;
}

function textOf(finding: Finding): string {
  return `${titleOf(finding)} on ${objectText(finding)}\n${finding.explanation}\nfields: ${finding.fields.join(', ')}\nactors: ${finding.actors.join(', ')}\nproof: events ${evidenceOf(finding).join(', ')}\n${finding.remedy}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for XML and HTML, without characters that XML forbids. */
export function escape(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '�')
    .replaceAll(/[<>&"']/g, (letter) => ENTITIES[letter] ?? letter);
}
