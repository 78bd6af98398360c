import { env, l10n, type LogOutputChannel, type Webview } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../base/disposable.ts';
import type { Finding } from '../../core/findings/finding.ts';
import { detailContext } from '../../core/timeline/detailParts.ts';
import { describeEvent } from '../../core/timeline/details.ts';
import type { EventDetails, ObjectRef } from '../../core/timeline/detailTypes.ts';
import type { TimelineFinding } from '../../core/timeline/model.ts';
import { TimelineProjection } from '../../core/timeline/project.ts';
import { fillIn, type Translate } from '../../core/timeline/translate.ts';
import { Channel, type Schedule } from '../../protocol/channel.ts';
import {
  HOST_REQUESTS,
  isTimelineToHost,
  TIMELINE_PROTOCOL,
  TIMELINE_REQUESTS,
  type HostToTimeline,
  type TimelineRequests,
  type TimelineToHost,
} from '../../protocol/timeline.ts';
import { sharedModel } from './sharedModel.ts';
import type { TimelineSource } from './timelineSource.ts';

/** What a person can do from the timeline. */
export interface TimelineActions {
  openDiff(
    object: ObjectRef,
    before: { uid: string; token: string },
    after: { uid: string; token: string },
  ): Promise<void>;
  revealInTree(object: ObjectRef): Promise<void>;
  safeEdit(object: ObjectRef): Promise<void>;
  openFinding(id: string): Promise<void>;
  /** Lets the tree show what was known at an event; undefined: what is known now. */
  scrub(event: number | undefined): Promise<void>;
  exportTrace(shared: boolean): Promise<boolean>;
  saveImage(format: 'svg' | 'png', data: string): Promise<boolean>;
}

const FOLLOW_MS = 2 * 60_000;
const REQUEST_LIMIT_MS = 30_000;

/** Our words for the timeline's English sentences, from the same table as the rest of the extension. */
const translate: Translate = (sentence, ...values) => {
  const translated = l10n.bundle?.[sentence];
  return fillIn(translated ?? sentence, values);
};

const schedule: Schedule = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  return toDisposable(() => clearTimeout(timer));
};

/**
 * Feeds one timeline webview from a source. A view that (re)loads says `ready` and gets everything; afterwards it gets what
 * came since. Nothing is sent while it is hidden, because it is not there then.
 */
export class TimelineHost implements Disposable {
  private readonly webview: Webview;
  private readonly source: TimelineSource;
  private readonly log: LogOutputChannel;
  private readonly store = new DisposableStore();
  private readonly channel: Channel<typeof HOST_REQUESTS, TimelineRequests, TimelineToHost>;
  private projection: TimelineProjection;
  private projected: TimelineSource['log'];
  private ready = false;
  private sequence = 0;
  private waiting: HostToTimeline[] = [];

  constructor(webview: Webview, source: TimelineSource, actions: TimelineActions, log: LogOutputChannel) {
    this.webview = webview;
    this.source = source;
    this.log = log;
    this.projected = source.log;
    this.projection = this.project();
    this.channel = this.store.add(
      new Channel({
        port: { post: (message) => this.post(message), onMessage: (listener) => webview.onDidReceiveMessage(listener) },
        sends: HOST_REQUESTS,
        answers: TIMELINE_REQUESTS,
        handlers: this.handlers(actions),
        notifications: isTimelineToHost,
        onNotification: (message) => this.take(message),
        onProblem: (problem) => log.warn(`timeline: ${problem}`),
        schedule,
        timeoutMs: REQUEST_LIMIT_MS,
      }),
    );
    this.store.add(source.onDidChange(({ events, findings }) => this.append(events, findings.length > 0)));
  }

  /** Selects an event and brings it into view, once the view is there. */
  reveal(event: number): void {
    this.whenReady({ type: 'reveal', event });
  }

  /** Brings an object's lane into view, once the view is there. */
  revealObject(object: ObjectRef): void {
    this.whenReady({ type: 'revealObject', object });
  }

  setFilter(filter: string): void {
    this.whenReady({ type: 'setFilter', filter });
  }

  dispose(): void {
    this.store.dispose();
  }

  private handlers(
    actions: TimelineActions,
  ): ConstructorParameters<typeof Channel<typeof HOST_REQUESTS, TimelineRequests, TimelineToHost>>[0]['handlers'] {
    return {
      details: async ({ event }) => this.details(event),
      openDiff: async ({ object, before, after }) => done(actions.openDiff(object, before, after)),
      revealInTree: async ({ object }) => done(actions.revealInTree(object)),
      safeEdit: async ({ object }) => done(actions.safeEdit(object)),
      openFinding: async ({ id }) => done(actions.openFinding(id)),
      copy: async ({ text }) => done(Promise.resolve(env.clipboard.writeText(text))),
      scrub: async ({ event }) => done(actions.scrub(event)),
      exportTrace: async ({ shared }) => ({ saved: await actions.exportTrace(shared) }),
      saveImage: async ({ format, data }) => ({ saved: await actions.saveImage(format, data) }),
      sharedModel: async () => sharedModel(this.source, translate),
    };
  }

  private details(seq: number): EventDetails {
    const { log } = this.source;
    const event = log.eventAt(seq);
    const context = detailContext({
      history: log.history,
      clusterLabel: (cluster) => this.source.clusterLabel(cluster),
      translate,
      timeZoneOffsetMin: timeZoneOffsetMin(),
    });
    const finding = timelineFindings(this.source.findings()).find(({ events }) => events.includes(seq));
    const details = event === undefined ? undefined : describeEvent(context, event, finding);
    if (details === undefined) throw new AppError('not-found', l10n.t('Nothing is known of this event any more.'));
    return this.source.hasCluster ? details : { ...details, canEdit: false };
  }

  private project(): TimelineProjection {
    const { log } = this.source;
    const projection = new TimelineProjection({
      clusterLabel: (cluster) => this.source.clusterLabel(cluster),
      translate,
      eventAt: (seq) => log.eventAt(seq),
    });
    projection.add([...log.eventsFrom(1)], log.history);
    projection.setFindings(timelineFindings(this.source.findings()));
    return projection;
  }

  private take(message: TimelineToHost): void {
    switch (message.type) {
      case 'ready':
        if (message.protocol === TIMELINE_PROTOCOL) this.start();
        else
          this.log.error(
            `timeline: the view speaks protocol ${message.protocol}, this extension ${TIMELINE_PROTOCOL}; reload the window`,
          );
        break;
      case 'resync':
        this.sendSnapshot();
        break;
      case 'problem':
        this.log.error(`timeline: ${message.message}`);
        break;
    }
  }

  private start(): void {
    this.ready = true;
    this.channel.notify({
      type: 'init',
      protocol: TIMELINE_PROTOCOL,
      translations: translations(),
      settings: { timeZoneOffsetMin: timeZoneOffsetMin(), followMs: FOLLOW_MS, hasCluster: this.source.hasCluster },
    } satisfies HostToTimeline);
    this.sendSnapshot();
    for (const message of this.waiting) this.channel.notify(message);
    this.waiting = [];
  }

  private sendSnapshot(): void {
    this.sequence += 1;
    this.channel.notify({
      type: 'snapshot',
      sequence: this.sequence,
      model: this.projection.model(),
    } satisfies HostToTimeline);
  }

  private append(events: Parameters<TimelineProjection['add']>[0], newFindings: boolean): void {
    const { log } = this.source;
    if (log !== this.projected) {
      this.projected = log;
      this.projection = this.project();
      if (this.ready) this.sendSnapshot();
      return;
    }
    this.projection.add(events, log.history);
    if (newFindings) this.projection.setFindings(timelineFindings(this.source.findings()));
    if (!this.ready) return;
    this.sequence += 1;
    this.channel.notify({
      type: 'append',
      sequence: this.sequence,
      delta: this.projection.takeDelta(),
    } satisfies HostToTimeline);
  }

  private whenReady(message: HostToTimeline): void {
    if (this.ready) this.channel.notify(message);
    else this.waiting.push(message);
  }

  private post(message: unknown): void {
    void this.send(message).catch((error: unknown) => this.log.warn(`timeline: ${String(error)}`));
  }

  private async send(message: unknown): Promise<void> {
    // A hidden webview is gone; it asks for everything when it is there again.
    if (!(await this.webview.postMessage(message))) this.ready = false;
  }
}

/** The findings as the timeline places them: with the cluster in the object's name. */
function timelineFindings(findings: readonly Finding[]): TimelineFinding[] {
  return findings.map((finding) => ({ ...finding, object: { ...finding.object, cluster: finding.cluster } }));
}

function timeZoneOffsetMin(): number {
  return -new Date().getTimezoneOffset();
}

async function done(work: Promise<void>): Promise<null> {
  await work;
  return null;
}

function translations(): Record<string, string> {
  return { ...l10n.bundle };
}
