import { isAppError, messageOf } from '../../src/base/appError.ts';
import { durationText } from '../../src/core/timeline/axis.ts';
import { GROUPINGS, SORTS } from '../../src/core/timeline/layout.ts';
import { timeOfStop } from '../../src/core/timeline/navigate.ts';
import { svgOf } from '../../src/core/timeline/svg.ts';
import { translateWith } from '../../src/core/timeline/translate.ts';
import { Channel, timers, type ParamsOf } from '../../src/protocol/channel.ts';
import {
  HOST_REQUESTS,
  isHostToTimeline,
  TIMELINE_PROTOCOL,
  TIMELINE_REQUESTS,
  type HostToTimeline,
  type TimelineRequests,
} from '../../src/protocol/timeline.ts';
import { element, setText } from '../common/dom.ts';
import { FrameScheduler } from '../common/frames.ts';
import type { WebviewHost } from '../common/host.ts';
import { Chart } from './chart.ts';
import { DetailsPanel } from './detailsPanel.ts';
import { EventTable } from './eventTable.ts';
import { currentPicture, pngBase64, sharedPicture } from './exporter.ts';
import { helpDialog } from './help.ts';
import { keptState, type KeptState } from './keptState.ts';
import { onChartKey, onPageKey, showObject, type KeyActions } from './keyboard.ts';
import type { MenuItem } from './menu.ts';
import { Minimap } from './minimap.ts';
import { onThemeChange, readPalette } from './palette.ts';
import { listenToPointer, wheelPixels } from './pointer.ts';
import { Replay } from './replay.ts';
import { Rows } from './rows.ts';
import { Toolbar } from './toolbar.ts';
import { TimelineView, type Part } from './view.ts';
import { actorOfStop, laneWords, stopWords } from './words.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_MS = 300;
const LIVE_TICK_MS = 200;
const CALM_TICK_MS = 1000;

/** The timeline's page: puts the parts together, talks to the host, and draws what was touched once a frame. */
export class TimelineApp {
  private readonly host: WebviewHost;
  private readonly view: TimelineView;
  private readonly channel: Channel<TimelineRequests, typeof HOST_REQUESTS, HostToTimeline>;
  private readonly frames = new FrameScheduler(() => this.draw());
  private readonly dirty = new Set<Part>();
  private palette = readPalette();
  private readonly chart: Chart;
  private readonly rows: Rows;
  private readonly minimap: Minimap;
  private readonly toolbar: Toolbar;
  private readonly details: DetailsPanel;
  private readonly table: EventTable;
  private readonly replay: Replay;
  private help: HTMLDialogElement | undefined;
  private readonly summary = element('div', {
    class: 'sr-only',
    attributes: { role: 'status', 'aria-live': 'polite' },
  });
  private readonly toast = element('div', { class: 'toast', attributes: { role: 'alert', hidden: '' } });
  private readonly empty = element('p', { class: 'empty' });
  private readonly heading = element('h1', { class: 'sr-only' });
  private names: HTMLElement | undefined;
  private ratio = window.devicePixelRatio;
  private sequence = 0;
  private waitingForSnapshot = true;
  private keeping: ReturnType<typeof setTimeout> | undefined;

  constructor(host: WebviewHost, root: HTMLElement) {
    this.host = host;
    this.view = new TimelineView(
      (parts) => this.touched(parts),
      () => Date.now(),
    );
    this.channel = new Channel({
      port: host.port,
      sends: TIMELINE_REQUESTS,
      answers: HOST_REQUESTS,
      handlers: {},
      notifications: isHostToTimeline,
      onNotification: (message) => this.receive(message),
      onProblem: (problem) => this.channel.notify({ type: 'problem', message: problem }),
      schedule: timers,
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
    this.chart = new Chart(this.view, this.palette);
    this.rows = new Rows(this.view);
    this.details = new DetailsPanel(this.view, this.detailsActions());
    this.table = new EventTable(this.view, () => this.details.root.focus());
    this.replay = new Replay(this.view, (event) => this.ask('scrub', event === undefined ? {} : { event }));
    this.minimap = new Minimap(this.view, this.palette, (at) => this.replay.moveTo(at));
    const keys = this.keyActions();
    this.toolbar = new Toolbar(this.view, {
      exports: () => this.exports(),
      toggleReplay: keys.toggleReplay,
      showHelp: keys.toggleHelp,
    });
    this.assemble(root, keys);
    this.restore();
  }

  /** Tells the host that this page listens. */
  start(): void {
    this.channel.notify({ type: 'ready', protocol: TIMELINE_PROTOCOL });
  }

  private assemble(root: HTMLElement, keys: KeyActions): void {
    const keyHelp = element('p', { class: 'sr-only', attributes: { id: 'timeline-keys' } });
    const header = element('header', { class: 'header' }, this.toolbar.root);
    const corner = element('div', { class: 'corner' });
    const names = element('nav', { class: 'names' }, this.rows.root);
    const main = element('main', { class: 'main' }, this.heading, keyHelp, this.chart.root, this.empty);
    this.names = names;
    root.classList.add('timeline');
    root.append(
      header,
      corner,
      this.minimap.root,
      this.minimap.axis,
      names,
      main,
      this.details.root,
      this.replay.root,
      this.table.root,
      this.summary,
      this.toast,
    );
    listenToPointer(this.chart, this.view);
    this.chart.root.addEventListener('keydown', (event) => onChartKey(event, keys, this.view));
    document.addEventListener('keydown', (event) => onPageKey(event, keys, this.view));
    this.rows.root.addEventListener('wheel', (event) => this.view.scrollBy(wheelPixels(event).dy), { passive: true });
    const resize = new ResizeObserver(() => this.resize());
    for (const box of [this.chart.root, this.minimap.root]) resize.observe(box);
    onThemeChange(() => this.retheme());
    const calm =
      matchMedia('(prefers-reduced-motion: reduce)').matches ||
      document.body.classList.contains('vscode-reduce-motion');
    setInterval(() => this.tick(), calm ? CALM_TICK_MS : LIVE_TICK_MS);
    if (document.body.classList.contains('vscode-using-screen-reader')) this.view.table = true;
  }

  private tick(): void {
    // On another screen the page keeps its size; what is drawn takes up the ratio.
    if (this.ratio !== window.devicePixelRatio) this.view.touch();
    this.ratio = window.devicePixelRatio;
    if (!document.hidden) this.view.layOutIfDue();
    if (document.hidden || !this.view.live || !this.view.settings.hasCluster) return;
    this.view.follow();
  }

  private resize(): void {
    this.view.namesWidth = this.names?.clientWidth ?? 0;
    this.chart.resize();
    this.minimap.resize();
    this.view.touch();
  }

  private retheme(): void {
    this.palette = readPalette();
    this.chart.setPalette(this.palette);
    this.minimap.setPalette(this.palette);
    this.view.touch();
  }

  private receive(message: HostToTimeline): void {
    switch (message.type) {
      case 'init':
        document.title = 'Timeline';
        this.view.configure(translateWith(message.translations), message.settings);
        this.help = undefined;
        return;
      case 'snapshot':
        this.sequence = message.sequence;
        this.waitingForSnapshot = false;
        this.view.setModel(message.model);
        return;
      case 'append':
        if (!this.waitingForSnapshot) this.append(message);
        return;
      case 'reveal':
        if (!this.view.selectEvent(message.event, true, message.finding))
          this.say(this.view.translate('That event is not on the timeline.'));
        return;
      case 'revealObject':
        if (!showObject(this.view, message.object))
          this.say(this.view.translate('That object is not on the timeline.'));
        return;
      case 'setFilter':
        this.view.setFilter(message.filter);
        return;
    }
  }

  /** An append that does not follow the last message, or does not fit, is answered by asking for everything. */
  private append(message: HostToTimeline & { type: 'append' }): void {
    const follows = message.sequence === this.sequence + 1;
    this.sequence = message.sequence;
    if (follows && this.view.append(message.delta)) return;
    this.waitingForSnapshot = true;
    this.channel.notify({ type: 'resync', sequence: message.sequence });
  }

  private touched(parts: readonly Part[]): void {
    for (const part of parts) this.dirty.add(part);
    this.frames.request();
    this.keeping ??= setTimeout(() => {
      this.keeping = undefined;
      this.host.keep(keptState(this.view));
    }, KEEP_MS);
  }

  private draw(): void {
    const dirty = new Set(this.dirty);
    this.dirty.clear();
    document.body.classList.toggle('with-table', this.view.table);
    if (dirty.has('scene')) this.chart.drawScene();
    if (dirty.has('scene') || dirty.has('overlay')) this.chart.drawOverlay();
    if (dirty.has('rows')) this.rows.draw();
    if (dirty.has('minimap')) this.minimap.draw();
    if (dirty.has('toolbar')) this.toolbar.draw();
    if (dirty.has('toolbar') || dirty.has('overlay')) this.replay.draw();
    if (dirty.has('details')) this.details.draw();
    if (dirty.has('table')) this.table.draw();
    if (dirty.has('details') || dirty.has('toolbar')) this.summarize();
  }

  /** What a screen reader hears: what is measured, the selection, or how much there is. */
  private summarize(): void {
    const { view } = this;
    const { translate, store, selection } = view;
    this.chart.root.setAttribute('aria-label', translate('Timeline of {0} objects', store.lanes.length));
    setText(
      this.empty,
      view.hasData
        ? view.layout.rows.length === 0
          ? translate('No object matches the filter.')
          : ''
        : translate('Nothing has been seen yet.'),
    );
    this.empty.hidden = this.empty.textContent === '';
    setText(this.heading, translate('Timeline'));
    this.names?.setAttribute('aria-label', translate('Objects'));
    const keyHelp = document.getElementById('timeline-keys');
    if (keyHelp !== null)
      setText(
        keyHelp,
        translate(
          'Arrow keys go from event to event, Enter shows details, T opens a table of the same events, ? lists all keys.',
        ),
      );
    if (view.measure !== undefined) setText(this.summary, this.chart.measureWords(view.measure));
    else if (selection === undefined) setText(this.summary, '');
    else if (selection.type === 'annotation')
      setText(this.summary, `${selection.annotation.text}, ${laneWords(store, selection.lane)}`);
    else {
      const ago = durationText(store.lastAt - timeOfStop(store, selection));
      setText(
        this.summary,
        [
          stopWords(store, selection, translate),
          laneWords(store, selection.lane),
          actorOfStop(store, selection),
          translate('{0} before the end', ago),
        ]
          .filter((part) => part !== '')
          .join(', '),
      );
    }
  }

  private keyActions(): KeyActions {
    return {
      focusFilter: () => this.toolbar.filter.focus(),
      focusDetails: () => this.details.root.focus(),
      leaveDetails: () => {
        if (this.details.root.contains(document.activeElement)) this.chart.root.focus();
      },
      focusTable: () => requestAnimationFrame(() => this.table.focus()),
      toggleReplay: () => this.replay.toggle(),
      toggleHelp: () => {
        this.help ??= helpDialog(this.view.translate);
        if (!this.help.isConnected) document.body.append(this.help);
        if (this.help.open) this.help.close();
        else this.help.showModal();
      },
    };
  }

  private detailsActions(): ConstructorParameters<typeof DetailsPanel>[1] {
    return {
      details: (asked, signal) => this.channel.request('details', asked, { signal }),
      openDiff: (diff) => this.ask('openDiff', diff),
      revealInTree: ({ object }) => this.ask('revealInTree', { object }),
      safeEdit: ({ object }) => this.ask('safeEdit', { object }),
      showRelated: ({ object }) => this.ask('showRelated', { object }),
      openFinding: (id) => this.ask('openFinding', { id }),
      copy: (text) => this.ask('copy', { text }),
    };
  }

  /** Sends a request whose result needs no more than a word when it fails. */
  private ask<M extends keyof TimelineRequests>(method: M, params: ParamsOf<TimelineRequests, M>): void {
    void this.run(() => this.channel.request(method, params));
  }

  private async run(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isAppError(error, 'cancelled')) this.say(messageOf(error));
    }
  }

  private say(text: string): void {
    setText(this.toast, text);
    this.toast.hidden = false;
    setTimeout(() => {
      this.toast.hidden = true;
    }, 6000);
  }

  private exports(): MenuItem[] {
    const { translate } = this.view;
    const image = (format: 'svg' | 'png', shared: boolean) => () => void this.run(() => this.saveImage(format, shared));
    const trace = (shared: boolean) => () => this.ask('exportTrace', { shared });
    return [
      { label: translate('Picture (PNG)'), run: image('png', false) },
      { label: translate('Picture (SVG)'), run: image('svg', false) },
      { label: translate('Trace'), run: trace(false) },
      { label: translate('Picture to share (PNG, names replaced)'), run: image('png', true) },
      { label: translate('Picture to share (SVG, names replaced)'), run: image('svg', true) },
      { label: translate('Trace to share (names and values replaced)'), run: trace(true) },
    ];
  }

  private async saveImage(format: 'svg' | 'png', shared: boolean): Promise<void> {
    const picture = shared
      ? sharedPicture(this.view, await this.channel.request('sharedModel', {}))
      : currentPicture(this.view);
    const data = format === 'svg' ? svgOf(picture, this.palette) : pngBase64(picture, this.palette);
    if (data !== undefined) await this.channel.request('saveImage', { format, data });
    else this.say(this.view.translate('The picture is too large for a PNG. Save it as SVG.'));
  }

  /** Takes up what the person had chosen before the view was hidden. */
  private restore(): void {
    const kept = (typeof this.host.kept === 'object' && this.host.kept !== null ? this.host.kept : {}) as KeptState;
    const { view } = this;
    if (typeof kept.from === 'number' && typeof kept.to === 'number' && kept.to > kept.from)
      view.scale = { from: kept.from, to: kept.to, width: 1 };
    if (Array.isArray(kept.collapsed)) for (const key of kept.collapsed) view.collapsed.add(String(key));
    if (Array.isArray(kept.opened)) for (const key of kept.opened) view.opened.add(String(key));
    if (Array.isArray(kept.expanded)) for (const key of kept.expanded) view.expanded.add(String(key));
    view.grouping = GROUPINGS.find((grouping) => grouping === kept.grouping) ?? 'object';
    view.sort = SORTS.find((sort) => sort === kept.sort) ?? 'name';
    view.compact = kept.compact === true;
    view.table ||= kept.table === true;
    view.live = kept.live !== false;
    if (typeof kept.filter === 'string') view.setFilter(kept.filter);
    view.awaited = {
      event: typeof kept.event === 'number' ? kept.event : undefined,
      finding: typeof kept.finding === 'string' ? kept.finding : undefined,
      top: typeof kept.top === 'number' ? kept.top : 0,
    };
    view.touch();
  }
}
