import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { Event } from '../base/emitter.ts';
import type { History } from '../core/history.ts';
import { describeEvent } from '../core/timeline/details.ts';
import { detailContext } from '../core/timeline/detailParts.ts';
import type { ObjectRef } from '../core/timeline/detailTypes.ts';
import type { TimelineFinding, TimelineModel } from '../core/timeline/model.ts';
import { TimelineProjection } from '../core/timeline/project.ts';
import { translateWith, type Translate } from '../core/timeline/translate.ts';
import type { TraceEvent } from '../core/traceEvent.ts';
import { Channel, type Port, type Schedule } from './channel.ts';
import {
  HOST_REQUESTS,
  isTimelineToHost,
  TIMELINE_PROTOCOL,
  TIMELINE_REQUESTS,
  type EventDetails,
  type HostToTimeline,
  type TimelineRequests,
  type TimelineSettings,
  type TimelineToHost,
} from './timeline.ts';
import type { ParamsOf } from './channel.ts';

/** The log that a timeline shows; `EventLog` fits. */
export interface TimelineSource {
  readonly history: History;
  readonly lastSeq: number;
  eventAt(seq: number): TraceEvent | undefined;
  readonly onDidAppend: Event<readonly TraceEvent[]>;
}

/** The findings about that log. */
export interface FindingSource {
  all(): readonly TimelineFinding[];
  readonly onDidChange: Event<void>;
}

/** What only the host can do for the view. Each may reject with an AppError, which the view shows. */
export interface TimelineActions {
  openDiff(params: ParamsOf<TimelineRequests, 'openDiff'>, signal: AbortSignal): Promise<void>;
  revealInTree(object: ObjectRef, signal: AbortSignal): Promise<void>;
  safeEdit(object: ObjectRef, signal: AbortSignal): Promise<void>;
  showRelated(object: ObjectRef, signal: AbortSignal): Promise<void>;
  openFinding(id: string, signal: AbortSignal): Promise<void>;
  copy(text: string, signal: AbortSignal): Promise<void>;
  /** Shows the tree as of an event; undefined: as of now. */
  scrub(event: number | undefined, signal: AbortSignal): Promise<void>;
  /** Whether a file was written: a person may cancel. */
  exportTrace(shared: boolean, signal: AbortSignal): Promise<boolean>;
  saveImage(params: ParamsOf<TimelineRequests, 'saveImage'>, signal: AbortSignal): Promise<boolean>;
  /** The model of the same log with names and values replaced consistently. */
  sharedModel(signal: AbortSignal): Promise<TimelineModel>;
}

/** What a session is made of. */
export interface TimelineSessionOptions {
  readonly port: Port;
  readonly source: TimelineSource;
  readonly findings: FindingSource;
  readonly actions: TimelineActions;
  readonly clusterLabel: (cluster: string) => string;
  readonly settings: TimelineSettings;
  /** Translations of English sentences, as VS Code's l10n bundle has them. */
  readonly translations: Readonly<Record<string, string>>;
  readonly schedule: Schedule;
  /** Told of what went wrong and is no answer to a request; for the log. */
  readonly onProblem: (problem: string) => void;
}

/** How long changes are gathered before they are sent. */
const GATHER_MS = 50;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * The host's end of one timeline: projects the log once, answers the view, and sends it what comes. A view that (re)loads
 * says `ready` and gets everything anew; the session keeps nothing about what the person does in it.
 */
export class TimelineSession implements Disposable {
  private readonly options: TimelineSessionOptions;
  private readonly channel: Channel<Record<string, never>, TimelineRequests, TimelineToHost>;
  private projection: TimelineProjection;
  private readonly translate: Translate;
  private readonly disposables = new DisposableStore();
  private projectedSeq = 0;
  private findingsChanged = true;
  private sequence = 0;
  private connected = false;
  /** What was asked to be shown before the view was there: the last of each kind. */
  private waiting: HostToTimeline[] = [];
  private gathering: Disposable | undefined;

  constructor(options: TimelineSessionOptions) {
    this.options = options;
    this.translate = translateWith(options.translations);
    this.projection = this.newProjection();
    this.channel = this.disposables.add(
      new Channel({
        port: options.port,
        sends: HOST_REQUESTS,
        answers: TIMELINE_REQUESTS,
        handlers: this.handlers(),
        notifications: isTimelineToHost,
        onNotification: (message) => this.receive(message),
        onProblem: options.onProblem,
        schedule: options.schedule,
        timeoutMs: REQUEST_TIMEOUT_MS,
        translate: this.translate,
      }),
    );
    this.disposables.add(options.source.onDidAppend(() => this.gather()));
    this.disposables.add(
      options.findings.onDidChange(() => {
        this.findingsChanged = true;
        this.gather();
      }),
    );
  }

  /** Selects an event in the view and brings it into sight, where a rule is named, as what proves its finding. */
  reveal(event: number, finding?: string): void {
    this.whenConnected({ type: 'reveal', event, ...(finding === undefined ? {} : { finding }) });
  }

  /** Brings an object's lane into sight. */
  revealObject(object: ObjectRef): void {
    this.whenConnected({ type: 'revealObject', object });
  }

  /** Sets the text of the filter. */
  setFilter(filter: string): void {
    this.whenConnected({ type: 'setFilter', filter });
  }

  /** The view is hidden, so nothing reaches it: nothing is sent until it says `ready` again. */
  disconnect(): void {
    this.connected = false;
    this.gathering?.dispose();
    this.gathering = undefined;
  }

  /** The source is another log now: everything is projected and sent anew. */
  restart(): void {
    this.projection = this.newProjection();
    this.projectedSeq = 0;
    this.findingsChanged = true;
    if (this.connected) this.sendSnapshot();
  }

  dispose(): void {
    this.gathering?.dispose();
    this.disposables.dispose();
  }

  private receive(message: TimelineToHost): void {
    if (message.type === 'problem') {
      this.options.onProblem(message.message);
      return;
    }
    if (message.type === 'ready' && message.protocol !== TIMELINE_PROTOCOL) {
      this.options.onProblem(
        `The timeline speaks protocol ${message.protocol}, not ${TIMELINE_PROTOCOL}; reload the window.`,
      );
      return;
    }
    this.connected = true;
    if (message.type === 'ready') {
      const { translations, settings } = this.options;
      this.send({ type: 'init', protocol: TIMELINE_PROTOCOL, translations, settings });
    }
    this.sendSnapshot();
    const { waiting } = this;
    this.waiting = [];
    for (const late of waiting) this.send(late);
  }

  private sendSnapshot(): void {
    this.project();
    this.sequence += 1;
    this.send({ type: 'snapshot', sequence: this.sequence, model: this.projection.model() });
  }

  private newProjection(): TimelineProjection {
    const { clusterLabel, source } = this.options;
    return new TimelineProjection({ clusterLabel, translate: this.translate, eventAt: (seq) => source.eventAt(seq) });
  }

  private whenConnected(message: HostToTimeline): void {
    if (this.connected) this.send(message);
    else this.waiting = [...this.waiting.filter(({ type }) => type !== message.type), message];
  }

  private gather(): void {
    if (!this.connected || this.gathering !== undefined) return;
    this.gathering = this.options.schedule(GATHER_MS, () => {
      this.gathering = undefined;
      this.project();
      this.sequence += 1;
      this.send({ type: 'append', sequence: this.sequence, delta: this.projection.takeDelta() });
    });
  }

  /** Brings the projection up to the end of the log. */
  private project(): void {
    const { source } = this.options;
    const events: TraceEvent[] = [];
    for (let seq = this.projectedSeq + 1; seq <= source.lastSeq; seq += 1) {
      const event = source.eventAt(seq);
      if (event !== undefined) events.push(event);
    }
    this.projectedSeq = source.lastSeq;
    this.projection.add(events, source.history);
    if (!this.findingsChanged) return;
    this.findingsChanged = false;
    this.projection.setFindings(this.options.findings.all());
  }

  private send(message: HostToTimeline): void {
    this.channel.notify(message);
  }

  private handlers(): ConstructorParameters<
    typeof Channel<Record<string, never>, TimelineRequests, TimelineToHost>
  >[0]['handlers'] {
    const { actions } = this.options;
    return {
      details: async (asked) => this.details(asked),
      openDiff: async (params, signal) => nothing(await actions.openDiff(params, signal)),
      revealInTree: async ({ object }, signal) => nothing(await actions.revealInTree(object, signal)),
      safeEdit: async ({ object }, signal) => nothing(await actions.safeEdit(object, signal)),
      showRelated: async ({ object }, signal) => nothing(await actions.showRelated(object, signal)),
      openFinding: async ({ id }, signal) => nothing(await actions.openFinding(id, signal)),
      copy: async ({ text }, signal) => nothing(await actions.copy(text, signal)),
      scrub: async ({ event }, signal) => nothing(await actions.scrub(event, signal)),
      exportTrace: async ({ shared }, signal) => ({ saved: await actions.exportTrace(shared, signal) }),
      saveImage: async (params, signal) => ({ saved: await actions.saveImage(params, signal) }),
      sharedModel: (_params, signal) => actions.sharedModel(signal),
    };
  }

  private details(asked: ParamsOf<TimelineRequests, 'details'>): EventDetails {
    const { source, findings, clusterLabel, settings } = this.options;
    const event = source.eventAt(asked.event);
    const finding =
      asked.finding === undefined
        ? undefined
        : findings.all().find((one) => one.id === asked.finding && one.events.includes(asked.event));
    const context = detailContext({
      history: source.history,
      clusterLabel,
      translate: this.translate,
      timeZoneOffsetMin: settings.timeZoneOffsetMin,
      eventAt: (seq) => source.eventAt(seq),
    });
    const details = event === undefined ? undefined : describeEvent(context, event, finding, asked.of);
    if (details !== undefined) return details;
    throw new AppError('not-found', message`Nothing more is kept about this event.`, {
      details: { event: asked.event },
    });
  }
}

function nothing(_done: void): null {
  return null;
}
