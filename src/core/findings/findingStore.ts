import type { Message } from '../../base/message.ts';
import { english, type Translate } from '../timeline/translate.ts';
import { severities, severityOf, type Finding } from './finding.ts';

/** A finding, or an occurrence of one, as a rule reports it: what it leaves out is filled in. */
export type Report = Omit<
  Finding,
  'severity' | 'count' | 'firstAt' | 'lastAt' | 'sureness' | 'explanation' | 'remedy'
> & {
  readonly explanation: Message;
  readonly remedy: Message;
  /**
   * Makes reports of one incarnation one finding. It is one where one actor does by one rule and kind the same to it, whichever
   * fields that takes each time; a key holds more only where that makes it another bug.
   */
  readonly key: string;
  /** The occurrence that this tells of, where later events may say otherwise of it. Default: one that stands. */
  readonly part?: string;
  readonly at: number;
  /** When it began. Default: `at`. */
  readonly from?: number;
  readonly severity?: Finding['severity'];
  readonly sureness?: Finding['sureness'];
  /** How many occurrences this report stands for (default 1), or, with `total`, how many there are of its part by now. */
  readonly count?: number;
  readonly total?: number;
};

/** Which finding was told: the key of its report and the UID of its object. */
export interface Told {
  readonly key: string;
  readonly uid: string;
}

const MAX_EVENTS = 64;
const MAX_FIELDS = 100;
const MAX_ACTORS = 50;
/** Occurrences of one finding that can be taken back; the oldest stand from then on. */
const MAX_PARTS = 64;
/** Of those that stand, so many are known again where they are told once more. */
const MAX_SETTLED = 1_000;
const STANDING = '';

/** One finding by its parts, in the order in which they were first told. */
interface Entry {
  readonly parts: Map<string, Finding>;
  /** The last of the parts that stand for good now. */
  readonly settled: Set<string>;
}

/** Collects reports into findings: reports of one incarnation with one key grow one finding. */
export class FindingStore {
  private readonly byKey = new Map<string, Entry>();
  private readonly changed = new Set<string>();
  private readonly maxFindings: number;
  private readonly translate: Translate;
  private size = 0;
  /** Findings and parts of them that did not fit any more. */
  dropped = 0;
  /** Findings and parts of them that were taken back. */
  retracted = 0;

  constructor(maxFindings: number, translate: Translate) {
    this.maxFindings = maxFindings;
    this.translate = translate;
  }

  report(report: Report): void {
    const { part = STANDING, total } = report;
    const key = placeOf({ key: report.key, uid: report.object.uid });
    const entry = this.byKey.get(key) ?? { parts: new Map<string, Finding>(), settled: new Set<string>() };
    if (entry.settled.has(part)) return;
    const known = entry.parts.get(part);
    if (known === undefined && this.size >= this.maxFindings) {
      this.dropped += 1;
      return;
    }
    const told = this.findingOf(report);
    if (known === undefined) this.size += 1;
    const grown = known === undefined ? told : union(known, told);
    entry.parts.set(part, total === undefined ? grown : { ...grown, count: total });
    if (entry.parts.size > MAX_PARTS && settleOldest(entry)) this.size -= 1;
    this.byKey.set(key, entry);
    this.changed.add(key);
  }

  private findingOf(report: Report): Finding {
    const { key: _key, part: _part, total: _total, at, from = at, count = 1, explanation, remedy, ...rest } = report;
    const { severity = severityOf[report.id], sureness = 'certain' } = report;
    // As text they are English, and made faster: a log can have a refusal in every tenth line.
    const words = (said: Message): string => (this.translate === english ? String(said) : said.inWords(this.translate));
    return bounded({
      severity,
      sureness,
      ...rest,
      explanation: words(explanation),
      remedy: words(remedy),
      count,
      firstAt: from,
      lastAt: at,
    });
  }

  /** Takes back a finding that later evidence disproves, or the part of it that it disproves. */
  retract(told: Told, part: string = STANDING): void {
    const key = placeOf(told);
    const entry = this.byKey.get(key);
    if (entry?.parts.delete(part) !== true) return;
    this.retracted += 1;
    this.size -= 1;
    if (entry.parts.size > 0) {
      this.changed.add(key);
      return;
    }
    this.byKey.delete(key);
    this.changed.delete(key);
  }

  drain(): Finding[] {
    if (this.changed.size === 0) return [];
    const found = [...this.changed].flatMap((key) => {
      const entry = this.byKey.get(key);
      return entry === undefined ? [] : whole(entry);
    });
    this.changed.clear();
    return found;
  }

  all(): Finding[] {
    return [...this.byKey.values()].flatMap(whole);
  }
}

function placeOf({ key, uid }: Told): string {
  return `${key}\0${uid}`;
}

/** The finding that all its parts are together. */
function whole({ parts }: Entry): Finding[] {
  const [first, ...rest] = parts.values();
  return first === undefined ? [] : [rest.reduce(union, first)];
}

/** Lets the oldest occurrence stand for good; says whether that makes one part of two. */
function settleOldest({ parts, settled }: Entry): boolean {
  const standing = parts.get(STANDING);
  const oldest = parts.keys().find((part) => part !== STANDING);
  const told = oldest === undefined ? undefined : parts.get(oldest);
  if (oldest === undefined || told === undefined) return false;
  parts.delete(oldest);
  settled.add(oldest);
  if (settled.size > MAX_SETTLED) settled.delete(settled.values().next().value ?? '');
  parts.set(STANDING, standing === undefined ? told : union(standing, told));
  return standing !== undefined;
}

/** Two tellings of one finding as one: what the later one says holds, unless it is less sure. */
function union(known: Finding, later: Finding): Finding {
  const isWeaker = known.sureness === 'certain' && later.sureness === 'likely';
  const { explanation, remedy } = isWeaker ? known : later;
  return bounded({
    ...known,
    severity: severities.indexOf(later.severity) < severities.indexOf(known.severity) ? later.severity : known.severity,
    sureness: isWeaker ? known.sureness : later.sureness,
    explanation,
    remedy,
    count: known.count + later.count,
    firstAt: Math.min(known.firstAt, later.firstAt),
    lastAt: Math.max(known.lastAt, later.lastAt),
    actors: joined(known.actors, later.actors),
    fields: joined(known.fields, later.fields),
    events: joined(known.events, later.events),
    ...(known.details === undefined && later.details === undefined
      ? {}
      : { details: { ...known.details, ...later.details } }),
  });
}

function joined<T>(known: readonly T[], later: readonly T[]): readonly T[] {
  const all = new Set(known);
  for (const one of later) all.add(one);
  return all.size === known.length ? known : [...all];
}

function bounded(finding: Finding): Finding {
  const { actors, fields, events } = finding;
  return {
    ...finding,
    actors: actors.slice(0, MAX_ACTORS),
    fields: fields.slice(0, MAX_FIELDS),
    events:
      events.length <= MAX_EVENTS
        ? [...events]
        : [...events.slice(0, MAX_EVENTS / 2), ...events.slice(-MAX_EVENTS / 2)],
  };
}
