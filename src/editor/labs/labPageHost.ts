import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Channel, type Handlers, type Port, type RequestChecks, type Schedule } from '../../protocol/channel.ts';
import { COMMON_REQUESTS, isLabToHost, LAB_PROTOCOL, type HostToLab, type LabToHost } from '../../protocol/lab.ts';
import type { LabPage, LabState } from '../../protocol/labStates.ts';
import type { LabPlaces, LabSession } from './labPlaces.ts';
import { translateWith } from '../../core/timeline/translate.ts';

/** What a page's host is made of. */
export interface LabPageHostParts<P extends LabPage, R extends RequestChecks> {
  readonly port: Port;
  readonly session: LabSession<P, R>;
  readonly places: LabPlaces;
  /** Translations of the page's English sentences; empty where the language is English. */
  readonly translations: Readonly<Record<string, string>>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: string) => void;
  openTimeline(): void;
  openPage(page: LabPage): void;
}

const HOST_REQUESTS = {} satisfies RequestChecks;
/** The host waits for nothing of a page. */
const REQUEST_LIMIT_MS = 30_000;

/**
 * Feeds one lab's page: a page that (re)loads says `ready` and gets the whole state; afterwards it gets the whole again
 * whenever it changed. The session goes on while the page is hidden.
 */
export class LabPageHost<P extends LabPage, R extends RequestChecks> implements Disposable {
  private readonly parts: LabPageHostParts<P, R>;
  private readonly store = new DisposableStore();
  private readonly channel: Channel<typeof HOST_REQUESTS, R & typeof COMMON_REQUESTS, LabToHost>;
  private ready = false;
  private sequence = 0;

  constructor(parts: LabPageHostParts<P, R>) {
    this.parts = parts;
    const { session, places } = parts;
    const common: Handlers<typeof COMMON_REQUESTS> = {
      choosePlace: async (_params, signal) => {
        await places.choose(signal);
        return null;
      },
      openTimeline: async () => {
        parts.openTimeline();
        return null;
      },
      openPage: async ({ page }) => {
        parts.openPage(page);
        return null;
      },
    };
    this.channel = this.store.add(
      new Channel({
        port: parts.port,
        sends: HOST_REQUESTS,
        answers: { ...session.requests, ...COMMON_REQUESTS },
        handlers: { ...session.handlers, ...common },
        notifications: isLabToHost,
        onNotification: (message: LabToHost) => this.take(message),
        onProblem: parts.onProblem,
        schedule: parts.schedule,
        timeoutMs: REQUEST_LIMIT_MS,
        translate: translateWith(parts.translations),
      }),
    );
    this.store.add(session.onDidChange(() => this.send()));
    this.store.add(places.onDidChange(() => this.send()));
  }

  dispose(): void {
    this.store.dispose();
  }

  private take(message: LabToHost): void {
    const { onProblem, session, translations } = this.parts;
    if (message.type === 'problem') onProblem(message.message);
    else if (message.protocol === LAB_PROTOCOL) {
      this.ready = true;
      this.channel.notify({
        type: 'init',
        protocol: LAB_PROTOCOL,
        page: session.page,
        translations,
      } satisfies HostToLab);
      this.send();
    } else onProblem(`the page speaks protocol ${message.protocol}, this extension ${LAB_PROTOCOL}; reload the window`);
  }

  private send(): void {
    if (!this.ready) return;
    this.sequence += 1;
    const state: LabState = this.parts.session.state();
    this.channel.notify({ type: 'state', sequence: this.sequence, state } satisfies HostToLab);
  }
}
