import { message, type Message } from '../base/message.ts';
import type { Readable } from 'node:stream';
import { AppError } from '../base/appError.ts';
import { isJsonObject, TOO_DEEP, type Json } from '../codec/json.ts';
import { TraceReader } from '../core/trace.ts';
import type { NewTraceEvent, TraceEvent } from '../core/traceEvent.ts';
import { AuditLines, shallow } from './auditLine.ts';
import { auditEvents, type AuditContext, type AuditReading } from './auditEvents.ts';
import { inputLines } from './inputLines.ts';
import { RepeatedLines } from './repeatedLines.ts';
import type { ShardView } from './shard.ts';

/** Where in a line, at the latest, an API server writes the stage: bodies come after it. */
const ENVELOPE = 200;

/** Events of one moment, from one file. */
export interface TimedEvents {
  readonly at: number;
  readonly events: readonly (TraceEvent | NewTraceEvent)[];
}

/** What one file turned out to be, and what of it could not be read. */
export interface SourceCounts {
  kind: 'trace' | 'audit' | 'unknown';
  lines: number;
  unreadable: number;
  torn: number;
  /** Audit events by level. */
  levels: Record<string, number>;
  notes: string[];
}

/** Reads traces and audit logs as one kind of source, a batch of lines at a time. */
export class EventSource {
  readonly path: string;
  readonly counts: SourceCounts = { kind: 'unknown', lines: 0, unreadable: 0, torn: 0, levels: {}, notes: [] };
  private readonly batches: AsyncGenerator<{ lines: string[]; torn?: string }>;
  private readonly context: AuditContext;
  private readonly trace = new TraceReader();
  private readonly audit = new AuditLines();
  private readonly repeated: RepeatedLines;

  constructor(
    path: string,
    input: { stdin: Readable; signal: AbortSignal; context: AuditContext; view?: ShardView | undefined },
  ) {
    this.path = path;
    this.context = input.context;
    this.repeated = new RepeatedLines(shallow, input.view);
    this.batches = inputLines(path, input.stdin, input.signal);
  }

  /**
   * The next events; undefined at the end. That nothing stands in the file is noted.
   * @throws AppError `trace-unreadable`, `trace-newer`
   */
  async next(): Promise<TimedEvents[] | undefined> {
    const batch = await this.batches.next();
    if (batch.done === true) return this.finish();
    const { lines, torn } = batch.value;
    if (torn !== undefined) return this.takeTorn(torn);
    const timed: TimedEvents[] = [];
    for (const line of lines) this.take(line, timed);
    return timed;
  }

  private take(line: string, timed: TimedEvents[], end = '\n'): void {
    this.counts.lines += 1;
    if (this.counts.kind === 'unknown') this.counts.kind = kindOf(line);
    if (this.counts.kind === 'trace') {
      for (const event of this.trace.push(line + end)) timed.push({ at: event.at, events: [event] });
      if (this.trace.failure !== undefined) throw this.trace.failure;
      return;
    }
    if (this.counts.kind === 'unknown') {
      this.counts.unreadable += 1;
      return;
    }
    this.takeAudit(line, timed);
  }

  private takeAudit(line: string, timed: TimedEvents[]): void {
    if (isStart(line)) return;
    const known = this.repeated.read(line);
    if (known !== undefined) {
      this.count(known, timed);
      return;
    }
    let value: Json | undefined;
    try {
      value = this.audit.parse(line);
    } catch {
      // A line that is no JSON is counted and said; the others are read.
      this.counts.unreadable += 1;
      return;
    }
    if (value === undefined) {
      this.counts.unreadable += 1;
      if (this.counts.notes.length < 5)
        this.counts.notes.push(`${this.path}:${this.counts.lines}: the event is not analysed: ${String(TOO_DEEP)}.`);
      return;
    }
    const reading = auditEvents(value, this.context);
    if (reading === undefined) {
      if (!isJsonObject(value) || value['kind'] !== 'Event') this.counts.unreadable += 1;
      return;
    }
    this.repeated.learn(line, reading);
    this.count(reading, timed);
  }

  private count(reading: AuditReading, timed: TimedEvents[]): void {
    this.counts.levels[reading.level] = (this.counts.levels[reading.level] ?? 0) + 1;
    timed.push(reading);
  }

  /** A last line without its line feed is whole if it parses. */
  private takeTorn(line: string): TimedEvents[] {
    const timed: TimedEvents[] = [];
    const before = this.counts.unreadable;
    this.take(line, timed, '');
    if (this.counts.unreadable > before) {
      this.counts.unreadable = before;
      this.counts.torn += 1;
    }
    return timed;
  }

  private finish(): TimedEvents[] | undefined {
    if (this.counts.kind !== 'trace') {
      if (this.counts.lines === 0) this.counts.notes.push(`${this.path} is empty.`);
      else if (this.counts.kind === 'unknown')
        throw unreadable(message`${this.path} is neither a trace nor an audit log of audit.k8s.io/v1.`);
      return undefined;
    }
    if (this.done) return undefined;
    this.done = true;
    const rest = this.trace.end();
    for (const problem of this.trace.problems) {
      if (problem.code === 'torn-tail') this.counts.torn += 1;
      else this.counts.unreadable += 1;
      if (this.counts.notes.length < 5)
        this.counts.notes.push(`${this.path}:${problem.line}: ${String(problem.message)}`);
    }
    return rest.map((event) => ({ at: event.at, events: [event] }));
  }

  private done = false;
}

/**
 * An audit log that was just rotated is empty; that all files are is a mistake.
 * @throws AppError `trace-unreadable` where nothing stands in any of them
 */
export function refuseEmpty(sources: readonly EventSource[]): void {
  const [first] = sources;
  if (first !== undefined && sources.every(({ counts }) => counts.lines === 0))
    throw unreadable(message`${first.path} is empty.`);
}

function unreadable(what: Message): AppError {
  return new AppError('trace-unreadable', what, {
    advice: message`Give a file that \`record --trace\` wrote, or the JSON Lines of an API server’s audit log backend.`,
  });
}

const STAGE = '"stage":"';

/** Whether a line surely tells of a request's start only, told without parsing it: its end says all that and more. */
function isStart(line: string): boolean {
  const at = line.indexOf(STAGE);
  return at >= 0 && at < ENVELOPE && line.startsWith('RequestReceived"', at + STAGE.length);
}

function kindOf(line: string): SourceCounts['kind'] {
  if (line.includes('"trace":"object-versions"') || /^\s*\{\s*"trace"\s*:/.test(line)) return 'trace';
  return line.includes('audit.k8s.io/') || (line.includes('"auditID"') && line.includes('"stage"'))
    ? 'audit'
    : 'unknown';
}
