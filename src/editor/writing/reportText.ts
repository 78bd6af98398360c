import { l10n } from 'vscode';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';
import { stringifyJson, type Json } from '../../codec/json.ts';
import type { Attempt, Report } from '../../write/report.ts';
import { outcomeSentence } from './outcomeWords.ts';

/** What a report is about, besides the report itself. */
export interface ReportSubject {
  readonly name: string;
  readonly cluster: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** A write's report as a Markdown document. */
export function reportText(report: Report, subject: ReportSubject): string {
  const parts = [
    `# ${l10n.t('Write of {0}', subject.name)}`,
    outcomeSentence(report, subject.name),
    facts([
      [l10n.t('Outcome'), `\`${report.outcome}\``],
      [l10n.t('Cluster'), subject.cluster],
      [l10n.t('Time'), new Date(subject.at).toISOString()],
      [l10n.t('UID'), report.uid === undefined ? undefined : `\`${report.uid}\``],
      [l10n.t('Version token'), report.token === undefined ? undefined : `\`${report.token}\``],
      [l10n.t('Generation'), report.generation?.toString()],
      [
        l10n.t('Changes the desired state'),
        report.desiredStateChanged === undefined
          ? undefined
          : report.desiredStateChanged
            ? l10n.t('yes')
            : l10n.t('no'),
      ],
      [l10n.t('The name belongs to'), report.holder === undefined ? undefined : `\`${report.holder}\``],
    ]),
    section(l10n.t('Attempts'), report.attempts.map(attemptLine)),
    section(
      l10n.t('Decide'),
      (report.conflicts ?? []).map(
        (item) =>
          `- \`${item.path}\`: ${l10n.t('before {0}, theirs {1}, yours {2}', value(item.base), value(item.theirs), value(item.yours))}`,
      ),
    ),
    section(
      l10n.t('Fields that others own'),
      (report.owned ?? []).map(
        (item) => `- \`${item.path}\`: ${item.manager}${item.time === undefined ? '' : `, ${item.time}`}`,
      ),
    ),
    section(
      l10n.t('Field conflicts'),
      (report.fieldConflicts ?? []).map(
        (item) =>
          `- \`${item.path}\`: ${item.manager} (${item.operation}${item.subresource === undefined ? '' : `, ${item.subresource}`})`,
      ),
    ),
    section(
      l10n.t('Stored otherwise than asked'),
      (report.storedOtherwise ?? []).map(
        (item) =>
          `- \`${item.path}\`: ${l10n.t('asked {0}, stored {1}', value(item.asked), value(item.stored))}${item.keptBy === undefined ? '' : ` · ${l10n.t('kept: also owned by {0}', item.keptBy.join(', '))}`}`,
      ),
    ),
    section(
      l10n.t('What the server says is wrong'),
      (report.causes ?? []).map(
        (cause) =>
          `- ${cause.field === undefined ? '' : `\`${cause.field}\`: `}${inWords(cause.message ?? cause.reason ?? '', translated)}`,
      ),
    ),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function facts(rows: readonly (readonly [string, string | undefined])[]): string {
  return rows.flatMap(([label, text]) => (text === undefined ? [] : [`- ${label}: ${text}`])).join('\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`;
}

function attemptLine(attempt: Attempt): string {
  const code = attempt.code === undefined ? '' : ` (${[attempt.code, attempt.reason ?? ''].join(' ').trim()})`;
  const winners = (attempt.wonBy ?? []).map(
    (winner) =>
      `   - ${l10n.t('meanwhile {0} changed {1}', `${winner.manager} (${winner.operation}${winner.subresource === undefined ? '' : `, ${winner.subresource}`})`, winner.fields.map((field) => `\`${field}\``).join(', '))}`,
  );
  return [`${attempt.attempt}. ${attempt.outcome}${code}`, ...winners].join('\n');
}

function value(item: Json | undefined): string {
  return item === undefined ? l10n.t('nothing') : `\`${stringifyJson(item).slice(0, 200)}\``;
}
