import type { Json } from '../codec/json.ts';
import type { NewTraceEvent } from '../core/traceEvent.ts';
import type { AuditReading } from './auditEvents.ts';
import { copied, LastTexts } from './lastTexts.ts';
import type { ShardView } from './shard.ts';

type Observed = NewTraceEvent & { type: 'observed' };
type Request = NewTraceEvent & { type: 'read' | 'write' };

/** How a line begins that tells of a request's end, up to what was asked. */
const BEGINNING =
  /^\{"kind":"Event","apiVersion":"audit\.k8s\.io\/v1","level":"(\w+)","auditID":"[\w-]*","stage":"ResponseComplete",(?="requestURI":")/;
const REF = ',"objectRef":{';
const VERSION = ',"resourceVersion":"';
const SUCCESS = '},"responseStatus":{"metadata":{},"code":200},';
const TIMES = /"requestReceivedTimestamp":"([\w:.+-]+)","stageTimestamp":"([\w:.+-]+)"/y;
const RECEIVED = ',"requestReceivedTimestamp":"';
/** A text that stands in JSON as it is. */
const PLAIN = /^[^"\\\p{Cc}]*$/u;
const SENT = '"requestObject":{';
const ANSWER = ',"responseObject":';
const BODY = /\{(?:"kind":"[^"\\]+","apiVersion":"[^"\\]+"|"apiVersion":"[^"\\]+","kind":"[^"\\]+"),"metadata":\{/y;
const SPEC = ',"spec":';
const STATUS = ',"status":{';

/** Of so many references requests are remembered; beyond them it begins anew. */
const MAX_REFS = 5_000;
/** So many requests are remembered of one reference, the last ones. */
const MAX_REQUESTS = 20;

/** Where in a line stands what. */
interface Parts {
  readonly level: string;
  /** Where the request begins: its URI, its verb, who sent it and by what. */
  readonly from: number;
  /** Where the reference begins. */
  readonly ref: number;
  /** What the reference says before its version; the version, '' where it has none; and where that ends. */
  readonly named: string;
  readonly token: string;
  readonly end: number;
}

/** A request for one object that succeeded, and what became of it. */
interface Known {
  /** What a line says of it before the reference, and behind the version up to what was asked or when. */
  readonly before: string;
  readonly after: string;
  /** What it says behind the times. */
  readonly ending: string;
  readonly event: Request;
  /** Of an update of another shard's object: how its body begins, and how its answer was seen. */
  readonly other?: { readonly beginning: string; readonly seen: Observed };
}

/**
 * Reads from their text lines of an audit log that say the same as an earlier one, but for times and versions: requests whose
 * bodies the log does not hold and, in a shard, updates of other shards' objects, of which versions and desired state are
 * enough. An API server writes all lines in one order; those in another are left to be parsed.
 */
export class RepeatedLines {
  private readonly view: ShardView | undefined;
  /** By what a reference says. */
  private readonly known = new Map<string, Known[]>();
  private readonly specs: LastTexts;

  constructor(parse: (text: string) => Json | undefined, view?: ShardView) {
    this.specs = new LastTexts(parse);
    this.view = view;
  }

  /** What a line says; undefined where nothing before it said the same. */
  read(line: string): AuditReading | undefined {
    if (this.view === undefined && line.includes(SENT)) return undefined;
    const parts = partsOf(line);
    const requests = parts === undefined ? undefined : this.known.get(parts.named);
    if (parts === undefined || requests === undefined) return undefined;
    const { level, from, ref, token, end } = parts;
    const known = requests.find(
      ({ before, after }) => from + before.length === ref && isAt(line, from, before) && isAt(line, end, after),
    );
    if (known === undefined) return undefined;
    const bodies = end + known.after.length;
    const isSent = line.startsWith(SENT, bodies);
    if (isSent && (known.other === undefined || this.view?.needsOnlySpec(known.other.seen) !== true)) return undefined;
    const times = timesOf(line, bodies, isSent);
    if (times === undefined || line.slice(times.end) !== known.ending) return undefined;
    const event = requestAt(known.event, times, token);
    if (event === undefined) return undefined;
    const answer = isSent ? line.indexOf(ANSWER, bodies) : -1;
    if (answer < 0 || known.other === undefined || event.type !== 'write')
      return { at: times.at, level, events: [event] };
    const seen = this.answered(line.slice(answer + ANSWER.length, times.from - 1), known.other, times.at);
    if (seen === undefined) return undefined;
    return { at: times.at, level, events: [{ ...event, result: { uid: seen.uid, token: seen.token } }, seen] };
  }

  /** Remembers what a line, parsed and read, says. */
  learn(line: string, { at, events }: AuditReading): void {
    const [event, seen] = events;
    if (event === undefined || (event.type !== 'read' && event.type !== 'write')) return;
    const isOther = event.type === 'write' && event.verb === 'replace' && this.view?.has(event.name) === false;
    if (!isOther && line.includes(SENT)) return;
    const parts = partsOf(line);
    if (parts === undefined) return;
    const { from, ref, named, token, end } = parts;
    const success = line.indexOf(SUCCESS, end);
    if (success < 0 || line.slice(end, success).includes('}')) return;
    const bodies = success + SUCCESS.length;
    const isSent = line.startsWith(SENT, bodies);
    const times = timesOf(line, bodies, isSent);
    if (times?.at !== at || !isSaid(event, times, token)) return;
    const place = { before: line.slice(from, ref), after: line.slice(end, bodies), ending: line.slice(times.end) };
    if (!isSent) {
      if (events.length === 1) this.remember(named, place, { ...event });
      return;
    }
    const beginning = bodyBeginning(line, bodies + SENT.length - 1);
    if (event.type !== 'write' || seen?.type !== 'observed' || beginning === undefined) return;
    if (event.result?.uid !== seen.uid) return;
    const { body: _sent, result: _result, ...request } = event;
    const { type, via, cluster, name, uid, apiVersion, kind, creationTimestamp } = seen;
    const slim: Observed = { type, at, via, cluster, name, uid, token: seen.token };
    if (apiVersion !== undefined) slim.apiVersion = apiVersion;
    if (kind !== undefined) slim.kind = kind;
    if (creationTimestamp !== undefined) slim.creationTimestamp = creationTimestamp;
    this.remember(named, place, request, { beginning: copied(beginning), seen: slim });
  }

  private remember(
    named: string,
    { before, after, ending }: Pick<Known, 'before' | 'after' | 'ending'>,
    event: Request,
    other?: Known['other'],
  ): void {
    if (this.known.size >= MAX_REFS) this.known.clear();
    const requests = this.known.get(named) ?? [];
    if (requests.length === 0) this.known.set(copied(named), requests);
    const place = { before: copied(before), after: copied(after), ending: copied(ending) };
    const rest = requests.filter((one) => one.before !== before || one.after !== after).slice(1 - MAX_REQUESTS);
    requests.splice(0, requests.length, ...rest, { ...place, event, ...(other === undefined ? {} : { other }) });
  }

  /** How another shard's object was answered: its version and its desired state. */
  private answered(body: string, { beginning, seen }: NonNullable<Known['other']>, at: number): Observed | undefined {
    const spec = body.indexOf(SPEC);
    const metadata = spec < 0 ? body : body.slice(0, spec);
    const token = metadata.startsWith(beginning) ? tokenIn(metadata, seen.uid) : undefined;
    if (token === undefined || metadata.includes('"deletionTimestamp"')) return undefined;
    if (spec < 0) return { ...seen, at, token, body: {} };
    const status = body.lastIndexOf(STATUS);
    const text = body.slice(spec + SPEC.length, status > spec ? status : -1);
    const value = this.specs.get(seen.uid, text);
    return value === undefined ? undefined : { ...seen, at, token, body: { spec: value } };
  }
}

function partsOf(line: string): Parts | undefined {
  const [beginning = '', level] = BEGINNING.exec(line) ?? [];
  const ref = level === undefined ? -1 : line.indexOf(REF, beginning.length);
  if (level === undefined || ref < 0) return undefined;
  const close = line.indexOf('}', ref);
  const version = line.indexOf(VERSION, ref);
  const has = version >= 0 && version < close;
  const start = has ? version + VERSION.length : close;
  const end = has ? line.indexOf('"', start) : close;
  const [named, token] = [line.slice(ref, has ? version : close), line.slice(start, end)];
  return close < 0 || !PLAIN.test(token) ? undefined : { level, from: beginning.length, ref, named, token, end };
}

/** Whether a long text stands at a place. Two slices are compared in far less time than `startsWith` takes. */
function isAt(line: string, at: number, text: string): boolean {
  return line.slice(at, at + text.length) === text;
}

interface Times {
  /** Where in the line they begin, and where they end. */
  readonly from: number;
  readonly end: number;
  readonly at: number;
  readonly received: string;
}

/** The times, which follow at once or, where a body was sent, come last. */
function timesOf(line: string, bodies: number, isSent: boolean): Times | undefined {
  const from = isSent ? line.lastIndexOf(RECEIVED) + 1 : bodies;
  TIMES.lastIndex = from;
  const [, received = '', stage = ''] = TIMES.exec(line) ?? [];
  const at = Date.parse(stage);
  return Number.isNaN(at) ? undefined : { from, end: TIMES.lastIndex, at, received };
}

/** The same request at another time, of another version; undefined where it does not say when it was sent. */
function requestAt(event: Request, { at, received }: Times, token: string): Request | undefined {
  if (event.type === 'read') return { ...event, at };
  const startedAt = Date.parse(received);
  if (Number.isNaN(startedAt)) return undefined;
  const { preconditions } = event;
  if (preconditions?.token === undefined) return { ...event, at, startedAt };
  return { ...event, at, startedAt, preconditions: { ...preconditions, token } };
}

/** Whether what changes from request to request stands where it is looked for: of two members of one name the last one counts. */
function isSaid(event: Request, { received }: Times, token: string): boolean {
  if (event.type === 'read') return true;
  return event.startedAt === Date.parse(received) && (event.preconditions?.token ?? token) === token;
}

function bodyBeginning(line: string, from: number): string | undefined {
  BODY.lastIndex = from;
  return BODY.exec(line)?.[0];
}

/** The version that stands beside the UID of an object. */
function tokenIn(body: string, uid: string): string | undefined {
  const own = `"uid":"${uid}"`;
  const at = body.indexOf(own);
  const after = at + own.length;
  if (at < 0) return undefined;
  const isAfter = body.startsWith(VERSION, after);
  const from = isAfter ? after + VERSION.length : body.lastIndexOf(VERSION, at) + VERSION.length;
  const token = body.slice(from, body.indexOf('"', from));
  const isBeside = isAfter || (from >= VERSION.length && from + token.length + '",'.length === at);
  return isBeside && PLAIN.test(token) ? token : undefined;
}
