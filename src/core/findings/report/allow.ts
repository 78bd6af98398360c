import { inGroup } from '../../inGroup.ts';
import { isJsonObject, type Json } from '../../../codec/json.ts';
import { doersOf, findingIds, type Finding, type FindingId, type Severity } from '../finding.ts';

/** One known finding that a person accepts, with a reason and an end. Patterns may hold `*`. */
export interface Allowance {
  readonly id: FindingId;
  readonly kind?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Whose doing it is; whom it harms is another matter each time. */
  readonly actor?: string;
  readonly reason: string;
  /** Milliseconds since the epoch; from then on the finding counts again. */
  readonly expires: number;
}

const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/;

/** Reads a parsed allow file: a list of entries. Every entry needs an id, a reason and an expiry; what is wrong is said by position. */
export function readAllowances(value: Json): { allowances: Allowance[]; problems: string[] } {
  const allowances: Allowance[] = [];
  const problems: string[] = [];
  const list = isJsonObject(value) ? value['allow'] : value;
  if (!Array.isArray(list)) return { allowances, problems: ['The allow file holds no list of entries.'] };
  for (const [index, entry] of list.entries()) {
    const read = readEntry(entry);
    if (typeof read === 'string') problems.push(`Entry ${index + 1} ${read}.`);
    else allowances.push(read);
  }
  return { allowances, problems };
}

function readEntry(entry: Json): Allowance | string {
  if (!isJsonObject(entry)) return 'is no map';
  const { id, reason, expires } = entry;
  if (!isFindingId(id)) return 'names no finding (id)';
  if (typeof reason !== 'string' || reason.trim() === '') return 'gives no reason';
  if (typeof expires !== 'string' || !DATE.test(expires)) return 'gives no expiry as a date (2027-01-31)';
  const time = dateMs(expires);
  if (Number.isNaN(time)) return `has an expiry that is no date (${expires})`;
  const patterns: Record<string, string> = {};
  for (const field of ['kind', 'resource', 'namespace', 'name', 'actor']) {
    const pattern = entry[field];
    if (pattern === undefined || pattern === null) continue;
    if (typeof pattern !== 'string') return `has a ${field} that is no text`;
    patterns[field] = pattern;
  }
  return { id, reason, expires: time, ...patterns };
}

/** Days and times in UTC, counted from 1970 by the civil calendar; a date alone means its end. */
function dateMs(text: string): number {
  const [year = 0, month = 0, day = 0, hour = 24, minute = 0, second = 0] = text
    .split(/[-T:Z]/)
    .filter((part) => part !== '')
    .map(Number);
  if (month < 1 || month > 12 || day < 1 || day > 31) return Number.NaN;
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const days =
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
  return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000;
}

/** The entry that allows a finding at a time, if any. */
export function allowanceOf(finding: Finding, allowances: readonly Allowance[], now: number): Allowance | undefined {
  return allowances.find((entry) => entry.expires > now && covers(entry, finding));
}

/** Entries that cover a finding but have expired. */
export function expiredFor(findings: readonly Finding[], allowances: readonly Allowance[], now: number): Allowance[] {
  return allowances.filter((entry) => entry.expires <= now && findings.some((finding) => covers(entry, finding)));
}

function covers(entry: Allowance, finding: Finding): boolean {
  const { object } = finding;
  return (
    entry.id === finding.id &&
    matches(entry.kind, finding.kind ?? '') &&
    matches(entry.resource, inGroup(object.resource, object.group), object.resource) &&
    matches(entry.namespace, object.namespace) &&
    matches(entry.name, object.name) &&
    (entry.actor === undefined || doersOf(finding).some((actor) => matches(entry.actor, actor)))
  );
}

function matches(pattern: string | undefined, ...values: string[]): boolean {
  if (pattern === undefined) return true;
  const expression = new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*')}$`,
  );
  return values.some((value) => expression.test(value));
}

function isFindingId(value: unknown): value is FindingId {
  return (findingIds as readonly unknown[]).includes(value);
}

/** What `--fail-on` names: ids, ids with a kind (`lost-update/token-swap`), severities and worse, or `any`. */
export interface FailOn {
  readonly ids: readonly { id: string; kind?: string }[];
  readonly from?: Severity;
  readonly any: boolean;
}

/** Whether `--fail-on` named anything. */
export function isAsked({ any, from, ids }: FailOn): boolean {
  return any || from !== undefined || ids.length > 0;
}

/** Reads a comma-separated `--fail-on`; a word that is nothing of the kind is returned as a problem. */
export function readFailOn(text: string): FailOn | { problem: string } {
  const ids: { id: string; kind?: string }[] = [];
  let from: Severity | undefined;
  let any = false;
  for (const word of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const [id = '', kind] = word.split('/');
    if (word === 'any') any = true;
    else if (word === 'error' || word === 'warning' || word === 'info') from = word;
    else if (isFindingId(id)) ids.push(kind === undefined ? { id } : { id, kind });
    else
      return {
        problem: `"${word}" is no finding; there are ${findingIds.join(', ')}, the severities error, warning and info, and any`,
      };
  }
  return { ids, any, ...(from === undefined ? {} : { from }) };
}

const RANK: Readonly<Record<Severity, number>> = { info: 0, warning: 1, error: 2 };

/** Whether a finding is one that the command is to fail on. */
export function failsOn(finding: Finding, failOn: FailOn): boolean {
  if (failOn.any || (failOn.from !== undefined && RANK[finding.severity] >= RANK[failOn.from])) return true;
  return failOn.ids.some((item) => item.id === finding.id && (item.kind === undefined || item.kind === finding.kind));
}
