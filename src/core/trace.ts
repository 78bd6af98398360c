import { message, type Words } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject, parseJson, stringifyJson, isTooDeep, TOO_DEEP } from '../codec/json.ts';
import type { TraceEvent, TraceHeader } from './traceEvent.ts';
import { eventProblem } from './traceCheck.ts';

/** The version of the format that this program writes, and the greatest that it reads. See `docs/trace-format.md`. */
const TRACE_VERSION = 1;

/** What was wrong with a line of a trace. `line` counts from 1. */
export interface TraceProblem {
  readonly line: number;
  /**
   * `torn-tail`: the last line is cut off and was dropped. `not-json`, `not-an-event`: a line was skipped.
   * `no-header`, `trace-newer`: the whole text is refused, no event of it is read.
   */
  readonly code: 'torn-tail' | 'not-json' | 'not-an-event' | 'no-header' | 'trace-newer';
  /** One sentence. */
  readonly message: Words;
}

/** The first line of a trace. `at` is in milliseconds since the epoch. */
export function traceHeader(creator: string, clusters: TraceHeader['clusters'], at: number): TraceHeader {
  return {
    trace: 'object-versions',
    version: 1,
    createdAt: at,
    creator,
    ...(clusters === undefined ? {} : { clusters }),
  };
}

/**
 * One line of a trace, with its line feed. Members of an `observed` event that its body holds as well (managed fields and
 * annotations) are left to the body; the reader puts them back.
 */
export function printTraceLine(item: TraceEvent | TraceHeader): string {
  return `${stringifyJson(('type' in item ? withoutRepeats(item) : item) as unknown as JsonObject)}\n`;
}

function withoutRepeats(event: TraceEvent): TraceEvent {
  const metadata = event.type === 'observed' ? event.body?.['metadata'] : undefined;
  if (event.type !== 'observed' || !isJsonObject(metadata)) return event;
  const repeatsFields = event.managedFields !== undefined && event.managedFields === metadata['managedFields'];
  const repeatsAnnotations = event.annotations !== undefined && event.annotations === metadata['annotations'];
  if (!repeatsFields && !repeatsAnnotations) return event;
  const { managedFields, annotations, ...rest } = event;
  return {
    ...rest,
    ...(repeatsFields || managedFields === undefined ? {} : { managedFields }),
    ...(repeatsAnnotations || annotations === undefined ? {} : { annotations }),
  };
}

function putBackRepeats(event: TraceEvent): TraceEvent {
  if (event.type !== 'observed' || event.body === undefined) return event;
  const metadata = event.body['metadata'];
  if (!isJsonObject(metadata)) return event;
  const { managedFields, annotations } = metadata;
  if (event.managedFields === undefined && Array.isArray(managedFields)) event.managedFields = managedFields;
  if (event.annotations === undefined && isJsonObject(annotations))
    event.annotations = annotations as Record<string, string>;
  return event;
}

/** How many problems are kept one by one; the rest is only counted. */
const KEPT_PROBLEMS = 100;

/**
 * Reads a trace from its text in pieces of any size. Total: whatever is wrong becomes a problem, and `failure` where the
 * text as a whole is refused. Several traces one after another in one text are read as one.
 */
export class TraceReader {
  /** The first header, with the clusters of later ones; undefined until it was read. */
  header: TraceHeader | undefined;
  /** The first hundred problems in order of their lines. */
  readonly problems: TraceProblem[] = [];
  /** How many problems there were in all. */
  problemCount = 0;
  /** Why nothing is read: AppError `trace-newer` or `trace-unreadable`. */
  failure: AppError | undefined;

  private line = 0;
  private pending: string[] = [];

  /** The events that are complete with this piece. */
  push(chunk: string): TraceEvent[] {
    const events: TraceEvent[] = [];
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      let text = chunk.slice(start, end);
      start = end + 1;
      if (this.pending.length > 0) {
        this.pending.push(text);
        text = this.pending.join('');
        this.pending = [];
      }
      this.take(text, events, false);
    }
    if (start < chunk.length) this.pending.push(start === 0 ? chunk : chunk.slice(start));
    return events;
  }

  /** The event of a last line without a line feed, if it is whole; a torn one is dropped and reported. */
  end(): TraceEvent[] {
    const events: TraceEvent[] = [];
    const rest = this.pending.join('');
    this.pending = [];
    if (rest !== '') this.take(rest, events, true);
    if (this.header === undefined && this.failure === undefined) this.refuseHeaderless(Math.max(this.line, 1));
    return events;
  }

  private take(text: string, events: TraceEvent[], last: boolean): void {
    this.line += 1;
    if (this.failure !== undefined || text === '' || text === '\r') return;
    let value: Json;
    try {
      value = parseJson(this.line === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text);
    } catch {
      if (this.header === undefined) this.refuseHeaderless(this.line);
      else if (last)
        this.report(
          'torn-tail',
          message`The last line is cut off and was dropped: the writer was stopped in the middle of it.`,
        );
      else this.report('not-json', message`Line ${this.line} is not JSON and was skipped.`);
      return;
    }
    if (isJsonObject(value) && typeof value['trace'] === 'string') this.takeHeader(value);
    else if (this.header === undefined) this.refuseHeaderless(this.line);
    else {
      const problem = isTooDeep(value) ? TOO_DEEP : eventProblem(value);
      if (problem === undefined) events.push(putBackRepeats(value as unknown as TraceEvent));
      else
        this.report(
          'not-an-event',
          message`Line ${this.line} is not an event of this format and was skipped: ${problem}.`,
        );
    }
  }

  private takeHeader(value: JsonObject): void {
    const { trace, version, createdAt, creator, clusters } = value;
    if (trace !== 'object-versions' || typeof version !== 'number') {
      if (this.header === undefined) this.refuseHeaderless(this.line);
      else this.report('not-an-event', message`Line ${this.line} is the header of another format and was skipped.`);
      return;
    }
    if (version > TRACE_VERSION) {
      const sentence = message`This trace has format version ${version}; this program reads versions up to ${TRACE_VERSION}.`;
      this.report('trace-newer', sentence);
      const advice = message`Update Kubernetes Object Versions to open it.`;
      this.failure = new AppError('trace-newer', sentence, { advice, details: { version } });
      return;
    }
    const known = {
      ...this.header?.clusters,
      ...(isJsonObject(clusters) ? (clusters as TraceHeader['clusters']) : {}),
    };
    this.header ??= traceHeader(
      typeof creator === 'string' ? creator : '',
      undefined,
      typeof createdAt === 'number' ? createdAt : 0,
    );
    if (Object.keys(known).length > 0) this.header.clusters = known;
  }

  private refuseHeaderless(line: number): void {
    const sentence = message`This is not a trace of Kubernetes Object Versions: its first line is not the header of one.`;
    this.report('no-header', sentence, line);
    const advice = message`Open a file that was recorded or exported by this program, or give an audit log to \`analyze\`.`;
    this.failure = new AppError('trace-unreadable', sentence, { advice });
  }

  private report(code: TraceProblem['code'], sentence: Words, line = this.line): void {
    this.problemCount += 1;
    if (this.problems.length < KEPT_PROBLEMS) this.problems.push({ line, code, message: sentence });
  }
}
