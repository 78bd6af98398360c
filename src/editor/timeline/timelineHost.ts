import { randomBytes } from 'node:crypto';
import { env, l10n, type LogOutputChannel, type Webview } from 'vscode';
import { DisposableStore, toDisposable, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Finding } from '../../core/findings/finding.ts';
import type { ObjectRef } from '../../core/timeline/detailTypes.ts';
import type { TimelineFinding } from '../../core/timeline/model.ts';
import { sharedModel } from '../../core/timeline/sharedModel.ts';
import { translateWith } from '../../core/timeline/translate.ts';
import type { TraceEvent } from '../../core/traceEvent.ts';
import type { Port, Schedule } from '../../protocol/channel.ts';
import { TimelineSession, type TimelineActions as SessionActions } from '../../protocol/timelineSession.ts';
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
  showRelated(object: ObjectRef): Promise<void>;
  openFinding(id: string): Promise<void>;
  /** Lets the tree show what was known at an event; undefined: what is known now. */
  scrub(event: number | undefined): Promise<void>;
  exportTrace(shared: boolean): Promise<boolean>;
  saveImage(format: 'svg' | 'png', data: string): Promise<boolean>;
}

const FOLLOW_MS = 2 * 60_000;

const schedule: Schedule = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  return toDisposable(() => clearTimeout(timer));
};

/** One timeline webview and the session that feeds it from a source. */
export class TimelineHost implements Disposable {
  private readonly store = new DisposableStore();
  private readonly session: TimelineSession;

  constructor(webview: Webview, source: TimelineSource, actions: TimelineActions, log: LogOutputChannel) {
    const onError = (error: unknown): void => log.error(`timeline: ${String(error)}`);
    const appended = this.store.add(new Emitter<readonly TraceEvent[]>(onError));
    const found = this.store.add(new Emitter<void>(onError));
    let shown = source.log;
    const translations = { ...l10n.bundle };
    this.session = this.store.add(
      new TimelineSession({
        port: this.port(webview, log),
        source: {
          get history() {
            return source.log.history;
          },
          get lastSeq() {
            return source.log.lastSeq;
          },
          eventAt: (seq) => source.log.eventAt(seq),
          onDidAppend: appended.event,
        },
        findings: { all: () => timelineFindings(source.findings()), onDidChange: found.event },
        actions: sessionActions(source, actions, translations),
        clusterLabel: (cluster) => source.clusterLabel(cluster),
        settings: {
          timeZoneOffsetMin: -new Date().getTimezoneOffset(),
          followMs: FOLLOW_MS,
          hasCluster: source.hasCluster,
        },
        translations,
        schedule,
        onProblem: (problem) => log.warn(`timeline: ${problem}`),
      }),
    );
    this.store.add(
      source.onDidChange(({ events, findingsChanged }) => {
        if (source.log !== shown) {
          shown = source.log;
          this.session.restart();
          return;
        }
        if (findingsChanged) found.fire();
        appended.fire(events);
      }),
    );
  }

  /** Selects an event, perhaps as what proves a rule's finding, and brings it into view, once the view is there. */
  reveal(event: number, finding?: string): void {
    this.session.reveal(event, finding);
  }

  /** Brings an object's lane into view, once the view is there. */
  revealObject(object: ObjectRef): void {
    this.session.revealObject(object);
  }

  /** Sets the text of the filter, once the view is there. */
  setFilter(filter: string): void {
    this.session.setFilter(filter);
  }

  dispose(): void {
    this.store.dispose();
  }

  private port(webview: Webview, log: LogOutputChannel): Port {
    const send = async (message: unknown): Promise<void> => {
      // A hidden webview is gone; it asks for everything when it is there again.
      if (!(await webview.postMessage(message))) this.session.disconnect();
    };
    return {
      post: (message) => void send(message).catch((error: unknown) => log.warn(`timeline: ${String(error)}`)),
      onMessage: (listener) => webview.onDidReceiveMessage(listener),
    };
  }
}

function sessionActions(
  source: TimelineSource,
  actions: TimelineActions,
  translations: Readonly<Record<string, string>>,
): SessionActions {
  return {
    openDiff: ({ object, before, after }) => actions.openDiff(object, before, after),
    revealInTree: (object) => actions.revealInTree(object),
    safeEdit: (object) => actions.safeEdit(object),
    showRelated: (object) => actions.showRelated(object),
    openFinding: (id) => actions.openFinding(id),
    copy: async (text) => env.clipboard.writeText(text),
    scrub: (event) => actions.scrub(event),
    exportTrace: (shared) => actions.exportTrace(shared),
    saveImage: ({ format, data }) => actions.saveImage(format, data),
    sharedModel: async () =>
      sharedModel(source.log.eventsFrom(1), randomBytes(16).toString('hex'), translateWith(translations)),
  };
}

/** The findings as the timeline places them: with the cluster in the object's name. */
function timelineFindings(findings: readonly Finding[]): TimelineFinding[] {
  return findings.map((finding) => ({ ...finding, object: { ...finding.object, cluster: finding.cluster } }));
}
