import type { Message } from '../../base/message.ts';
import { english, type Translate } from '../timeline/translate.ts';
import { severityOf, type Finding } from './finding.ts';

/** A finding as a rule reports it: what it leaves out is filled in. `key` makes reports of the same thing one finding. */
export type Report = Omit<
  Finding,
  'severity' | 'count' | 'firstAt' | 'lastAt' | 'sureness' | 'explanation' | 'remedy'
> & {
  readonly explanation: Message;
  readonly remedy: Message;
  readonly key: string;
  readonly at: number;
  readonly severity?: Finding['severity'];
  readonly sureness?: Finding['sureness'];
  /** How many occurrences this report stands for (default 1), or, with `total`, how many there are by now. */
  readonly count?: number;
  readonly total?: number;
};

const MAX_EVENTS = 64;

/** Collects reports into findings: reports with one key grow one finding. */
export class FindingStore {
  private readonly byKey = new Map<string, Finding>();
  private readonly changed = new Set<string>();
  private readonly maxFindings: number;
  private readonly translate: Translate;
  /** Findings that did not fit any more. */
  dropped = 0;
  /** Findings that were taken back. */
  retracted = 0;

  constructor(maxFindings: number, translate: Translate) {
    this.maxFindings = maxFindings;
    this.translate = translate;
  }

  report(report: Report): void {
    const { key, at, total, count, severity, sureness, ...rest } = report;
    const known = this.byKey.get(key);
    if (known === undefined) {
      if (this.byKey.size >= this.maxFindings) {
        this.dropped += 1;
        return;
      }
      const finding = {
        severity: severity ?? severityOf[report.id],
        sureness: sureness ?? 'certain',
        ...rest,
        ...this.words(report),
        count: total ?? count ?? 1,
        firstAt: at,
        lastAt: at,
      };
      this.byKey.set(key, { ...finding, events: boundedEvents(rest.events) });
    } else {
      this.byKey.set(key, { ...grown(known, report, at), ...this.words(report) });
    }
    this.changed.add(key);
  }

  private words({ explanation, remedy }: Report): Pick<Finding, 'explanation' | 'remedy'> {
    // As text they are English, and made faster: a log can have a refusal in every tenth line.
    const words = (said: Message): string => (this.translate === english ? String(said) : said.inWords(this.translate));
    return { explanation: words(explanation), remedy: words(remedy) };
  }

  /** The finding of a key, if it was reported. */
  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** Takes back a finding that later evidence disproves. */
  retract(key: string): void {
    if (this.byKey.delete(key)) this.retracted += 1;
    this.changed.delete(key);
  }

  drain(): Finding[] {
    const found = [...this.changed].flatMap((key) => this.byKey.get(key) ?? []);
    this.changed.clear();
    return found;
  }

  all(): Finding[] {
    return [...this.byKey.values()];
  }
}

function grown(known: Finding, report: Report, at: number): Finding {
  return {
    ...known,
    count: report.total ?? known.count + (report.count ?? 1),
    firstAt: Math.min(known.firstAt, at),
    lastAt: Math.max(known.lastAt, at),
    actors: union(known.actors, report.actors),
    fields: union(known.fields, report.fields),
    events: boundedEvents(union(known.events, report.events)),
    details: { ...known.details, ...report.details },
  };
}

function union<T>(a: readonly T[], b: readonly T[]): T[] {
  return [...new Set([...a, ...b])];
}

function boundedEvents(events: readonly number[]): number[] {
  if (events.length <= MAX_EVENTS) return [...events];
  return [...events.slice(0, MAX_EVENTS / 2), ...events.slice(-MAX_EVENTS / 2)];
}
