import { isAppError, messageOf } from '../../src/base/appError.ts';
import { translateWith } from '../../src/core/timeline/translate.ts';
import { Channel, timers } from '../../src/protocol/channel.ts';
import { isHostToLab, LAB_PROTOCOL, LAB_REQUESTS, type HostToLab, type LabToHost } from '../../src/protocol/lab.ts';
import type { LabPage, LabState } from '../../src/protocol/labStates.ts';
import { element, setText } from '../common/dom.ts';
import type { WebviewHost } from '../common/host.ts';
import { ContentionView } from './contentionView.ts';
import { LessonsView } from './lessonsView.ts';
import { ModularView } from './modularView.ts';
import { pageTitle, type LabView, type ViewParts } from './parts.ts';
import { ReplayView } from './replayView.ts';

/** A lab may wait for a person's answer and for a server: its requests end by themselves, or by the person. */
const REQUEST_LIMIT_MS = 30 * 60_000;
const NO_REQUESTS = {};

/** The app of all labs' pages: the host says which page this one is, and everything that it shows. */
export class LabApp {
  private readonly root: HTMLElement;
  private readonly host: WebviewHost;
  private readonly channel: Channel<typeof LAB_REQUESTS, typeof NO_REQUESTS, HostToLab>;
  private readonly problem = element('p', { class: 'problem', attributes: { role: 'alert' } });
  private readonly status = element('p', { class: 'sr-only', attributes: { role: 'status', 'aria-live': 'polite' } });
  private view: LabView | undefined;
  private sequence = 0;

  constructor(host: WebviewHost, root: HTMLElement) {
    this.root = root;
    this.host = host;
    this.channel = new Channel({
      port: host.port,
      sends: LAB_REQUESTS,
      answers: NO_REQUESTS,
      handlers: {},
      notifications: isHostToLab,
      onNotification: (message: HostToLab) => this.take(message),
      onProblem: (message: string) => this.channel.notify({ type: 'problem', message } satisfies LabToHost),
      schedule: timers,
      timeoutMs: REQUEST_LIMIT_MS,
    });
  }

  /** Asks the host for everything. */
  start(): void {
    this.channel.notify({ type: 'ready', protocol: LAB_PROTOCOL } satisfies LabToHost);
  }

  private take(message: HostToLab): void {
    if (message.type === 'init') this.build(message);
    else if (message.sequence > this.sequence) {
      this.sequence = message.sequence;
      this.show(message.state);
    }
  }

  private build({ page, translations, protocol }: Extract<HostToLab, { type: 'init' }>): void {
    const translate = translateWith(translations);
    this.root.replaceChildren();
    if (protocol !== LAB_PROTOCOL) {
      this.root.append(element('p', { text: translate('This view is out of date: reload the window.') }));
      return;
    }
    this.sequence = 0;
    const parts: ViewParts = {
      translate,
      ask: (method, params) => this.ask(() => this.channel.request(method, params)),
      refuse: (sentence) => this.refuse(sentence),
      announce: (sentence) => setText(this.status, sentence),
      kept: this.host.kept,
      keep: (state) => this.host.keep(state),
    };
    this.view = viewOf(page, parts);
    const others = (['lessons', 'modular', 'replay', 'contention'] as const).map((other) =>
      element('button', {
        class: 'link',
        text: pageTitle(translate, other),
        attributes: { type: 'button', ...(other === page ? { 'aria-current': 'page' } : {}) },
        onClick: () => void parts.ask('openPage', { page: other }),
      }),
    );
    const nav = element('nav', { class: 'labs', attributes: { 'aria-label': translate('Labs') } }, ...others);
    const main = element(
      'main',
      {},
      element('h1', { text: pageTitle(translate, page) }),
      this.problem,
      this.view.root,
      this.status,
    );
    document.title = pageTitle(translate, page);
    this.root.append(nav, main);
  }

  private show(state: LabState): void {
    this.view?.update(state);
  }

  /** Runs a request; what goes wrong is said in the page. Resolves to whether it went well. */
  private async ask(request: () => Promise<null>): Promise<boolean> {
    setText(this.problem, '');
    try {
      await request();
      return true;
    } catch (error) {
      if (isAppError(error, 'cancelled')) return false;
      this.refuse(
        isAppError(error) ? [error.message, error.advice].filter((part) => part !== '').join(' ') : messageOf(error),
      );
      return false;
    }
  }

  private refuse(sentence: string): void {
    setText(this.problem, sentence);
    this.problem.scrollIntoView({ block: 'nearest' });
  }
}

function viewOf(page: LabPage, parts: ViewParts): LabView {
  switch (page) {
    case 'modular':
      return new ModularView(parts);
    case 'replay':
      return new ReplayView(parts);
    case 'contention':
      return new ContentionView(parts);
    case 'lessons':
      return new LessonsView(parts);
  }
}
