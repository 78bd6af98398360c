import { inGroup } from '../../inGroup.ts';
import { dateText, preciseTimeText } from '../../timeline/axis.ts';
import { severities, type Finding } from '../finding.ts';
import type { ObjectName } from '../../traceEvent.ts';
import type { Allowance } from './allow.ts';
import type { Mark } from './mark.ts';
import { doersOfAll, evidenceOf, sectionsOf, spanOf, type Occurrences, type Section } from './occurrences.ts';

/** What is told at the end of a recording or an analysis. */
export interface FindingsReport {
  readonly findings: readonly Finding[];
  /** Findings that an allow file covers, with their entry; they count for nothing. */
  readonly allowed: readonly { finding: Finding; allowance: Allowance }[];
  /** Counts of what could not be read or known, and why. */
  readonly notAnalysed: Readonly<Record<string, unknown>>;
  /** How many events of the log were read. */
  readonly events: number;
  readonly notes: readonly string[];
}

const MAX_OCCURRENCES = 5;
/** Of many objects, so many are told of, and so many more named. */
const MAX_TOLD = 3;
const MAX_NAMED = 10;
const MAX_FIELDS = 10;
const MAX_ACTORS = 10;
const MAX_PROOF = 12;
/** So many items of a list are printed at a time. */
const PIECE = 100;

/** The name of a finding's object, as a person reads it. */
export function objectText(finding: Finding): string {
  return nameText(finding.object);
}

/** `configmaps lab/demo`, `toys.example.test lab/demo`, `namespaces demo`. */
export function nameText({ group, resource, namespace, name }: ObjectName): string {
  return `${inGroup(resource, group)} ${namespace === '' ? '' : `${namespace}/`}${name}`.trim();
}

/** `lost-update (token-swap)`. */
export function titleOf(finding: Finding): string {
  return finding.kind === undefined ? finding.id : `${finding.id} (${finding.kind})`;
}

/**
 * The JSON of `analyze --format json` and `record -o json`, in pieces, so that a long one is never held whole: a contract, to
 * which members are only added. `more` are members that follow the report's own.
 */
export function* reportJson(report: FindingsReport, more: Readonly<Record<string, unknown>> = {}): Generator<string> {
  const allowed = report.allowed.map(({ finding, allowance }) => ({
    id: finding.id,
    object: finding.object,
    reason: allowance.reason,
  }));
  const members = {
    findings: report.findings,
    notAnalysed: report.notAnalysed,
    events: report.events,
    ...(allowed.length === 0 ? {} : { allowed }),
    ...(report.notes.length === 0 ? {} : { notes: report.notes }),
    ...more,
  };
  let before = '{';
  for (const [name, value] of Object.entries(members)) {
    yield `${before}${JSON.stringify(name)}:`;
    if (Array.isArray(value)) yield* listJson(value);
    else yield JSON.stringify(value);
    before = ',';
  }
  yield '}\n';
}

function* listJson(items: readonly unknown[]): Generator<string> {
  yield '[';
  for (let from = 0; from < items.length; from += PIECE) {
    const text = JSON.stringify(items.slice(from, from + PIECE)).slice(1, -1);
    yield from === 0 ? text : `,${text}`;
  }
  yield ']';
}

/** What the number of events in a report counts, as a timeline counts something else. */
export const EVENTS_COUNT =
  'Each read, write and observation of the log counts as an event; a timeline shows each version once.';

/** Events by their number. */
type Marked = ReadonlyMap<number, Mark>;

function timeText(at: number): string {
  return `${dateText(at, 0)} ${preciseTimeText(at, 0)}`;
}

/** A time in UTC, or from when to when. */
function whenText(from: number, to: number): string {
  return from === to ? `${timeText(from)} UTC` : `${timeText(from)} to ${preciseTimeText(to, 0)} UTC`;
}

/** `, 3 times (likely)`. */
function timesText({ all, count }: Occurrences): string {
  const isLikely = all.every(({ sureness }) => sureness === 'likely');
  return `${count > 1 ? `, ${count} times` : ''}${isLikely ? ' (likely)' : ''}`;
}

function listText(values: readonly string[], most: number): string {
  return `${values.slice(0, most).join(', ')}${values.length > most ? ` and ${values.length - most} more` : ''}`;
}

function proofText(finding: Finding): string {
  return `proof: events ${listText(evidenceOf(finding).map(String), MAX_PROOF)}`;
}

/** The events that prove a finding, each with what it was where that is known; their numbers alone where nothing is. */
function proofLines(finding: Finding, marks: Marked): string[] {
  const events = evidenceOf(finding);
  if (!events.some((seq) => marks.has(seq))) return [proofText(finding)];
  const left = events.length - MAX_PROOF;
  return [
    'proof:',
    ...events.slice(0, MAX_PROOF).map((seq) => {
      const mark = marks.get(seq);
      return mark === undefined
        ? `  event ${seq}`
        : `  ${preciseTimeText(mark.at, 0)} event ${seq}: ${mark.actor} ${markText(mark)}`;
    }),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}

/** What a mark says, with its tokens as the explanations have them. */
function markText({ text }: Mark): string {
  return text.map((part) => (typeof part === 'string' ? part : `"${part.token}"`)).join('');
}

/** What a section is about: `lost-update (token-swap) on configmaps lab/demo`, `… by operator on 500 objects`. */
export function headOf({ first, all, objects }: Section): string {
  if (objects.length === 1) return `${titleOf(first)} on ${objectText(first)}`;
  const doers = doersOfAll(all);
  return `${titleOf(first)}${doers.length === 0 ? '' : ` by ${listText(doers, MAX_TOLD)}`} on ${objects.length} objects`;
}

function sectionLines(section: Section, marks: Marked): string[] {
  const { first, all, objects } = section;
  const fields = [...new Set(all.flatMap((finding) => finding.fields))];
  const actors = [...new Set(all.flatMap((finding) => finding.actors))];
  const { from, to } = spanOf(all);
  return [
    `${first.severity}: ${headOf(section)}${timesText(section)}`,
    ...(objects.length > 1 ? objectLines(objects, marks) : occurrenceLines(all)),
    ...(fields.length === 0 ? [] : [`  fields: ${listText(fields, MAX_FIELDS)}`]),
    `  when: ${whenText(from, to)}`,
    ...(actors.length === 0 ? [] : [`  actors: ${listText(actors, MAX_ACTORS)}`]),
    ...(all.length === 1 ? proofLines(first, marks).map((line) => `  ${line}`) : []),
    `  remedy: ${first.remedy}`,
    '',
  ];
}

/** What is said of one rule and object: once, with each occurrence where there are several. */
function occurrenceLines(all: readonly Finding[]): string[] {
  if (all.length === 1) return all.map(({ explanation }) => `  ${explanation}`);
  const told = all
    .slice(0, MAX_OCCURRENCES)
    .flatMap((finding) => [
      `  - ${whenText(finding.firstAt, finding.lastAt)}${finding.count > 1 ? `, ${finding.count} times` : ''}: ${finding.explanation}`,
      `    ${proofText(finding)}`,
    ]);
  return [...told, ...(all.length > MAX_OCCURRENCES ? [`  and ${all.length - MAX_OCCURRENCES} more`] : [])];
}

/** The same of many objects: the first ones with what proves it, the names of some more, and how many are left. */
function objectLines(objects: readonly Occurrences[], marks: Marked): string[] {
  const told = objects.slice(0, MAX_TOLD).flatMap((occurrences) => {
    const { first, all } = occurrences;
    const { from, to } = spanOf(all);
    return [
      `  - ${objectText(first)}${timesText(occurrences)}, ${whenText(from, to)}: ${first.explanation}`,
      ...proofLines(first, marks).map((line) => `    ${line}`),
    ];
  });
  const more = objects.slice(MAX_TOLD).map(({ first }) => objectText(first));
  return [...told, ...(more.length === 0 ? [] : [`  and on ${listText(more, MAX_NAMED)}`])];
}

/**
 * The report for a person in a terminal. `pages`: the folder that holds the page of each finding, where there is one. `marks`:
 * the events that may be proof, as far as they were kept.
 */
export function reportText(report: FindingsReport, pages?: string, marks: readonly Mark[] = []): string {
  const marked = new Map(marks.map((mark) => [mark.seq, mark]));
  const lines = sectionsOf(report.findings).flatMap((section) => sectionLines(section, marked));
  const counts = severities.map(
    (severity) => `${report.findings.filter((finding) => finding.severity === severity).length} ${severity}`,
  );
  lines.push(`${findingsText(report)} (${counts.join(', ')}) in ${report.events} events. ${EVENTS_COUNT}`);
  const [example] = report.findings;
  if (example !== undefined)
    lines.push(
      `Each has a page: "Explain Finding" in the editor${pages === undefined ? '' : `, or ${pages}${example.id}.md`}.`,
    );
  if (report.allowed.length > 0)
    lines.push(
      `${report.allowed.length} more are allowed: ${[...new Set(report.allowed.map((item) => item.allowance.reason))].join('; ')}.`,
    );
  const missing = Object.entries(report.notAnalysed).filter(([, value]) => typeof value === 'number' && value > 0);
  if (missing.length > 0)
    lines.push(`Not analysed: ${missing.map(([what, count]) => `${String(count)} ${what}`).join(', ')}.`);
  // What an actor calls itself must not steer the terminal.
  return [...lines, ...report.notes].map((line) => `${line.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '�')}\n`).join('');
}

/** `1 finding`, `8 findings`. */
export function findingsText({ findings }: Pick<FindingsReport, 'findings'>): string {
  return findings.length === 1 ? '1 finding' : `${findings.length} findings`;
}
