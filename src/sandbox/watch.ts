import type { JsonObject } from '../codec/json.ts';
import { StreamLine } from './eventStream.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { Kind } from './kinds/kind.ts';
import { printJson, type Output } from './negotiate.ts';
import type { ListOptions } from './queryOptions.ts';
import { apiVersionOf, bucketOf } from './registry.ts';
import { partialMetadata, table, type IncludeObject } from './render.ts';
import type { Filter } from './selectors.ts';
import { inVersion, type ApiState, type Call } from './state.ts';
import { bareError, expired } from './status.ts';
import { withToken, type Change } from './store.ts';

/** Where a watch's lines go. */
export interface WatchSink {
  write(line: StreamLine): void;
  /** Ends the stream cleanly. */
  end(): void;
  /** Bytes not yet taken by the client. */
  readonly backlog: number;
}

/** A watch asked for, checked and ready to start. */
export interface WatchRequest {
  readonly call: Call;
  readonly options: ListOptions;
  readonly filter: Filter;
  readonly output: Output;
  readonly includeObject: IncludeObject;
  /** How long behind the store this address shows things, ms. */
  readonly lagMs: number;
}

/** Without a timeout of its own a watch ends after 30 to 60 minutes. */
const DEFAULT_TIMEOUT_MS = 1_800_000;
/** With bookmarks, one comes this long before the timeout, and one every minute. */
const LAST_BOOKMARK_MS = 2000;
/** A client that does not read is cut off. */
const MAX_BACKLOG = 64 * 1024 * 1024;

/** Checks where a watch begins. Throws 500 for a version that is none. */
export function watchStart(state: ApiState, options: ListOptions): number {
  if (options.resourceVersion === '') return 0;
  const parsed = state.store.tokens.parse(options.resourceVersion);
  if ('problem' in parsed)
    throw bareError(`resourceVersion: Invalid value: ${JSON.stringify(options.resourceVersion)}: ${parsed.problem}`);
  return parsed.revision;
}

/** One open watch: sends lines until its timeout, or until it is stopped. */
export class Watch {
  private readonly state: ApiState;
  private readonly request: WatchRequest;
  private readonly sink: WatchSink;
  private readonly heartbeats: Heartbeats;
  private readonly bucket: string;
  private readonly prefix: string;
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly disposals: (() => void)[] = [];
  /** Changes up to this revision have been sent or are not to be. */
  private position = 0;
  private bookmarked = 0;
  private columnsSent = false;
  private stopped = false;

  constructor(state: ApiState, request: WatchRequest, sink: WatchSink, heartbeats: Heartbeats) {
    this.state = state;
    this.request = request;
    this.sink = sink;
    this.heartbeats = heartbeats;
    this.bucket = bucketOf(request.call.kind);
    const { namespace, kind } = request.call;
    this.prefix = kind.namespaced && namespace !== '' ? `${namespace}/` : '';
  }

  /** Sends what is already due and subscribes to the rest. `from` is `watchStart`'s answer. */
  start(from: number): void {
    const { store } = this.state;
    const { options } = this.request;
    if ((options.timeoutSeconds ?? 0) < 0) {
      this.finish();
      return;
    }
    const initial = options.sendInitialEvents ?? from === 0;
    this.position = initial || from === 0 ? store.revision : from;
    if (initial) this.sendInitial();
    else if (from !== 0 && !this.sendPast(from)) return;
    if (this.stopped) return;
    const subscription = store.subscribe(this.bucket, (change) => this.receive(change));
    const restored = store.onDidRestore(() => this.finish());
    this.disposals.push(
      () => subscription.dispose(),
      () => restored.dispose(),
    );
    this.scheduleEnd();
  }

  /** Stops without another line: the client is gone, or the connection is cut. */
  stop(): void {
    this.stopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    for (const dispose of this.disposals.splice(0)) dispose();
  }

  /** Sends the event of a version that is too old, as after a compaction, and ends. */
  expire(): void {
    this.sendExpired(this.position);
  }

  /** The watch's resource and namespace, for whoever chooses watches to disturb. */
  get target(): { group: string; resource: string; namespace: string } {
    return {
      group: this.request.call.kind.group,
      resource: this.request.call.kind.plural,
      namespace: this.request.call.namespace,
    };
  }

  private finish(): void {
    if (this.stopped) return;
    this.stop();
    this.sink.end();
  }

  private sendInitial(): void {
    const { kind } = this.request.call;
    for (const stored of this.state.store.list(this.bucket, this.prefix)) {
      if (this.request.filter.all || this.request.filter.matches(stored.object))
        this.send('ADDED', inVersion(stored.object, kind));
    }
    if (this.request.options.sendInitialEvents === true && this.request.options.allowWatchBookmarks) {
      this.sendBookmark({ annotations: { 'k8s.io/initial-events-end': 'true' } });
    }
    this.bookmarked = this.position;
  }

  /** Replays the changes after a version; false if they are compacted, which ends the watch. */
  private sendPast(from: number): boolean {
    const changes = this.state.store.changesAfter(this.bucket, from);
    this.bookmarked = from;
    if (changes === undefined) {
      this.sendExpired(from);
      return false;
    }
    for (const change of changes) this.receive(change);
    return true;
  }

  private sendExpired(from: number): void {
    const { tokens, compactedRevision } = this.state.store;
    const status = expired(
      `too old resource version: ${tokens.print(from)} (${tokens.print(compactedRevision)})`,
    ).status;
    this.sink.write(eventLine('ERROR', status));
    this.stop();
    this.sink.end();
  }

  private receive(change: Change): void {
    const { lagMs } = this.request;
    if (lagMs > 0) this.after(Math.max(0, change.at + lagMs - this.state.clock.now()), () => this.deliver(change));
    else this.deliver(change);
  }

  private deliver(change: Change): void {
    if (this.stopped || change.revision <= this.position || !change.key.startsWith(this.prefix)) return;
    this.position = change.revision;
    const { filter, output } = this.request;
    const was = change.before !== undefined && (filter.all || filter.matches(change.before.object));
    const is = change.after !== undefined && (filter.all || filter.matches(change.after.object));
    if (!was && !is) return;
    this.bookmarked = change.revision;
    if (output.as === undefined) this.write(changeLine(this.state, change, was, is, this.request.call.kind));
    else
      this.send(
        is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED',
        changeObject(this.state, change, is, this.request.call.kind),
      );
  }

  private send(type: string, object: JsonObject): void {
    // No event has the form of a list: the server ends a watch that asked for that.
    if (this.request.output.as === 'PartialObjectMetadataList') this.finish();
    if (!this.stopped) this.write(eventLine(type, this.transformed(object)));
  }

  private write(line: StreamLine): void {
    this.sink.write(line);
    if (this.sink.backlog > MAX_BACKLOG) this.finish();
  }

  private transformed(object: JsonObject): JsonObject {
    const { output, includeObject, call } = this.request;
    if (output.as === undefined) return object;
    if (output.as !== 'Table') return partialMetadata(object, output);
    const version = (object['metadata'] as JsonObject)['resourceVersion'];
    const rows = table(call.kind, [object], output, includeObject, this.state.clock.now(), !this.columnsSent);
    this.columnsSent = true;
    return { ...rows, metadata: version === undefined ? {} : { resourceVersion: version } };
  }

  private sendBookmark(more: JsonObject = {}): void {
    const { kind } = this.request.call;
    const revision = Math.max(this.position, this.state.store.revision);
    const metadata: JsonObject = { resourceVersion: this.state.store.tokens.print(revision), ...more };
    const { as, metaVersion } = this.request.output;
    const object: JsonObject =
      as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
        ? { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata }
        : { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata };
    this.write(eventLine('BOOKMARK', object));
    this.bookmarked = revision;
  }

  private scheduleEnd(): void {
    const { options } = this.request;
    const seconds = options.timeoutSeconds ?? 0;
    const timeoutMs =
      seconds === 0 ? DEFAULT_TIMEOUT_MS * (1 + this.state.clock.random()) : Math.max(0, seconds * 1000);
    this.after(timeoutMs, () => this.finish());
    if (options.allowWatchBookmarks && this.request.lagMs === 0) this.scheduleBookmarks(timeoutMs);
  }

  /**
   * One every minute, which says that the watch is alive: the real server's comes too where nothing of this resource moves,
   * for its store always does (leases). And one shortly before the end, if the server has moved on since the last line.
   */
  private scheduleBookmarks(timeoutMs: number): void {
    const beating = this.heartbeats.add(() => this.sendBookmark());
    this.disposals.push(() => beating.dispose());
    this.after(timeoutMs > LAST_BOOKMARK_MS ? timeoutMs - LAST_BOOKMARK_MS : timeoutMs / 2, () => {
      if (this.state.store.revision > this.bookmarked) this.sendBookmark();
    });
  }

  private after(ms: number, work: () => void): void {
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        if (!this.stopped) work();
      },
      Math.min(ms, 2_147_483_647),
    );
    this.timers.add(timer);
  }
}

function eventLine(type: string, object: JsonObject): StreamLine {
  return new StreamLine(`${printJson({ type, object })}\n`);
}

/** Lines of one change, made once for all watches that send it alike. */
const lines = new WeakMap<Change, Map<string, StreamLine>>();

function changeLine(state: ApiState, change: Change, was: boolean, is: boolean, kind: Kind): StreamLine {
  const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
  const id = `${type} ${kind.group}/${kind.version}`;
  let known = lines.get(change);
  if (known === undefined) {
    known = new Map();
    lines.set(change, known);
  }
  let line = known.get(id);
  if (line === undefined) {
    line = eventLine(type, changeObject(state, change, is, kind));
    known.set(id, line);
  }
  return line;
}

/** The object of an event: the new content, or for one that is gone or left the selection the previous one with the new version. */
function changeObject(state: ApiState, change: Change, is: boolean, kind: Kind): JsonObject {
  if (is && change.after !== undefined) return inVersion(change.after.object, kind);
  const before = change.before?.object ?? {};
  return inVersion(withToken(before, state.store.tokens.print(change.revision)), kind);
}
