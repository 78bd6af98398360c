import { randomBytes } from 'node:crypto';
import { Alarm } from '../../base/alarm.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { endNote } from '../../core/endNote.ts';
import { EventLog } from '../../core/eventLog.ts';
import { createDetector, type Detector } from '../../core/findings/detect.ts';
import type { DetectorOptions } from '../../core/findings/options.ts';
import type { Finding } from '../../core/findings/finding.ts';
import type { History } from '../../core/history.ts';
import type { ClusterLabels, NewTraceEvent, TraceEvent } from '../../core/traceEvent.ts';
import { throttle, type Throttle } from '../app/throttle.ts';

/** How long finding everything anew may hold the host up at a time. */
const SLICE_MS = 8;
const EVENTS_AT_ONCE = 32;

/** How often those who look are told of news, at most. */
/** Each sandbox of a window is a cluster of its own. */
const MAX_CLUSTERS = 200;
const NEWS_INTERVAL_MS = 250;

/** How much later than its time an event may be appended: the answer of a program beside this one takes its way. */
const LATE_MS = 1_000;

/** What came since those who look were told last. */
export interface News {
  readonly events: readonly TraceEvent[];
  readonly findings: readonly Finding[];
  /** Whether `findings()` is another list now: some are new, or some hold no more. */
  readonly findingsChanged: boolean;
}

/**
 * The one log of this window, and what follows from it. Tree, timeline, findings and exports read it here, and are told of
 * news in batches.
 */
export class Session implements Disposable {
  /** The random key under which Secrets' values are hashed in this log; never stored with it. */
  readonly secretKey: string = randomBytes(16).toString('hex');
  private readonly onError: (error: unknown) => void;
  private readonly news: Emitter<News>;
  private readonly appended: Emitter<readonly TraceEvent[]>;
  private readonly begun: Emitter<void>;
  private readonly throttle: Throttle;
  private readonly clock: Clock;
  private readonly alarm: Alarm;
  private readonly named: Emitter<void>;
  private clusters: ClusterLabels = {};
  private current: EventLog = new EventLog();
  private readonly thresholds: () => DetectorOptions;
  private detector: Detector;
  private pendingEvents: TraceEvent[] = [];
  private pendingFindings: Finding[] = [];
  private findingsWent = false;
  private restored: number | undefined;
  private known: readonly Finding[] | undefined;
  private retracted = 0;
  /** A detector that is catching up with the log, under thresholds that have changed. */
  private catchingUp: Detector | undefined;

  /** `thresholds`: of the findings, asked when a log begins and when they are said to have changed. */
  constructor(
    onError: (error: unknown) => void,
    thresholds: () => DetectorOptions = () => ({}),
    clock: Clock = systemClock,
  ) {
    this.onError = onError;
    this.clock = clock;
    this.alarm = new Alarm(clock, () => this.advance());
    this.thresholds = thresholds;
    this.detector = createDetector(thresholds());
    this.news = new Emitter<News>(onError);
    this.appended = new Emitter<readonly TraceEvent[]>(onError);
    this.begun = new Emitter<void>(onError);
    this.named = new Emitter<void>(onError);
    this.throttle = throttle(NEWS_INTERVAL_MS, () => this.tell());
  }

  /** Fires with what is new, at most four times a second. */
  get onDidChange(): Event<News> {
    return this.news.event;
  }

  /** Fires at once with every batch of events, for those who keep them. */
  get onDidAppend(): Event<readonly TraceEvent[]> {
    return this.appended.event;
  }

  /** Fires when a log begins: after an earlier window's events were taken, or a person had everything forgotten. */
  get onDidBegin(): Event<void> {
    return this.begun.event;
  }

  /** Fires when a cluster is called otherwise than it was. */
  get onDidNameCluster(): Event<void> {
    return this.named.event;
  }

  get log(): EventLog {
    return this.current;
  }

  get history(): History {
    return this.current.history;
  }

  /** All findings so far; the same list until there are new ones. */
  findings(): readonly Finding[] {
    this.known ??= this.detector.findings();
    return this.known;
  }

  /** The clusters by id, for labels and for the header of an exported trace. */
  clusterLabels(): ClusterLabels {
    return this.clusters;
  }

  /** Says what a person calls a cluster; of many the last ones are kept. */
  nameCluster(id: string, label: string, server?: string): void {
    const known = this.clusters[id];
    if (known?.label === label && known.server === server) return;
    const { [id]: _before, ...others } = this.clusters;
    const kept = Object.fromEntries(Object.entries(others).slice(1 - MAX_CLUSTERS));
    this.clusters = { ...kept, [id]: { label, ...(server === undefined ? {} : { server }) } };
    this.named.fire();
  }

  /** Appends what was seen or done. */
  append(events: readonly NewTraceEvent[]): void {
    const appended = this.current.appendAll(events);
    for (const event of appended) this.pendingFindings.push(...this.detect((detector) => detector.add(event)));
    this.pendingEvents.push(...appended);
    this.appended.fire(appended);
    this.throttle.request();
    this.setAlarm();
  }

  /** Takes the events of an earlier window: they become part of the log, and are not appended to it on disk once more. */
  restore(events: readonly NewTraceEvent[]): void {
    if (events.length === 0) return;
    const restored = this.current.appendAll(events);
    for (const event of restored) this.pendingFindings.push(...this.detect((detector) => detector.add(event)));
    this.pendingEvents.push(...restored);
    this.restored = Math.max(this.restored ?? 0, ...restored.map((event) => event.at));
    this.throttle.request();
    this.setAlarm();
  }

  /**
   * The log up to now as a trace: its events, and a note that says until when time was judged here, so that whoever opens it
   * finds the same.
   */
  *exported(): Generator<TraceEvent> {
    const { current } = this;
    const { lastSeq, history } = current;
    const last = current.eventAt(lastSeq);
    this.advance();
    const until = Math.max(history.lastAt, this.clock.now() - LATE_MS);
    for (const event of current.eventsFrom(1)) if (event.seq <= lastSeq) yield event;
    if (last !== undefined) yield { ...endNote(until, last.cluster, 'watch'), seq: lastSeq + 1 };
  }

  /** When the last event of an earlier window was seen; undefined where there is none. */
  get restoredUntil(): number | undefined {
    return this.restored;
  }

  /** Forgets everything; watches go on and are seen anew with their next change. */
  clear(): void {
    this.current = new EventLog();
    this.detector = createDetector(this.thresholds());
    this.alarm.set(undefined);
    this.catchingUp = undefined;
    this.retracted = 0;
    this.known = undefined;
    this.pendingEvents = [];
    this.pendingFindings = [];
    this.restored = undefined;
    this.news.fire({ events: [], findings: [], findingsChanged: true });
    this.begun.fire();
  }

  /**
   * The thresholds have changed: everything that is in memory is judged anew, in slices so that nothing waits for it. Until
   * then the findings stay as they are. What was found in events that are no longer in memory goes.
   */
  judgeAnew(): void {
    const detector = createDetector(this.thresholds());
    this.catchingUp = detector;
    this.catchUp(detector, 1);
  }

  private catchUp(detector: Detector, from: number): void {
    if (this.catchingUp !== detector) return;
    const end = performance.now() + SLICE_MS;
    let next = from;
    for (const event of this.current.eventsFrom(from)) {
      if (event.seq > from && event.seq % EVENTS_AT_ONCE === 0 && performance.now() > end) break;
      detector.add(event);
      next = event.seq + 1;
    }
    if (next <= this.current.lastSeq) {
      setImmediate(() => this.catchUp(detector, next));
      return;
    }
    this.catchingUp = undefined;
    this.detector = detector;
    this.retracted = detector.retracted();
    this.known = undefined;
    this.findingsWent = true;
    this.throttle.request();
    this.setAlarm();
  }

  /** Says that what there is of earlier windows was taken. */
  begin(): void {
    this.begun.fire();
  }

  dispose(): void {
    this.catchingUp = undefined;
    this.alarm.dispose();
    this.throttle.dispose();
    this.news.dispose();
    this.appended.dispose();
    this.begun.dispose();
    this.named.dispose();
  }

  /** What only time can tell is told in time, whether or not anything else happens. */
  private advance(): void {
    const found = this.detect((detector) => detector.advance(this.clock.now() - LATE_MS));
    this.pendingFindings.push(...found);
    if (found.length > 0 || this.findingsWent) this.throttle.request();
    this.setAlarm();
  }

  private setAlarm(): void {
    const due = this.detector.due();
    this.alarm.set(due === undefined ? undefined : due + LATE_MS);
  }

  private detect(look: (detector: Detector) => readonly Finding[]): readonly Finding[] {
    try {
      const found = look(this.detector);
      if (this.detector.retracted() > this.retracted) {
        this.retracted = this.detector.retracted();
        this.findingsWent = true;
      }
      if (found.length > 0 || this.findingsWent) this.known = undefined;
      return found;
    } catch (error) {
      this.onError(error);
      return [];
    }
  }

  private tell(): void {
    const findingsChanged = this.findingsWent || this.pendingFindings.length > 0;
    const news = { events: this.pendingEvents, findings: this.pendingFindings, findingsChanged };
    this.findingsWent = false;
    this.pendingEvents = [];
    this.pendingFindings = [];
    this.news.fire(news);
  }
}
